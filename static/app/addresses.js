// The addresses that modules besides the table of routes name.
export const HOME = "/app/chats";
export const SIGN_IN = "/app/sign-in";
export const SIGNED_OUT = "/app/signed-out";

// Where a sign-in leads: to the page that was asked for, if it is one of ours.
export const nextPage = (query) => (query.next?.startsWith("/app/") ? query.next : HOME);
