// Every page: its address, its module (loaded when it is first wanted) and for whom it is.
// `open` pages need no sign-in; `wide` pages bring their own panes.
const landing = () => import("./pages/landing.js");
const chats = () => import("./chat/chats.js");
const settings = () => import("./pages/settings.js");
export const ROUTES = [
  { path: "/", open: true, guest: true, load: landing },
  { path: "/app", open: true, guest: true, load: landing },
  { path: "/app/sign-up", open: true, guest: true, load: () => import("./pages/signup.js") },
  { path: "/app/verify", open: true, load: () => import("./pages/verify.js") },
  { path: "/app/sign-in", open: true, guest: true, load: () => import("./pages/signin.js") },
  { path: "/app/two-step", open: true, guest: true, load: () => import("./pages/two_step.js") },
  { path: "/app/recovery", open: true, guest: true, load: () => import("./pages/recovery.js") },
  { path: "/app/forgot", open: true, guest: true, load: () => import("./pages/forgot.js") },
  { path: "/app/reset", open: true, guest: true, load: () => import("./pages/reset.js") },
  { path: "/app/signed-out", open: true, load: () => import("./pages/signed_out.js") },
  { path: "/app/help", open: true, load: () => import("./pages/help.js") },
  { path: "/app/chats", wide: true, load: chats },
  { path: "/app/chats/:id", wide: true, load: chats },
  { path: "/app/people/:person", wide: true, load: chats },
  { path: "/app/calls", load: () => import("./calls/history.js") },
  { path: "/app/notifications", load: () => import("./feed/feed.js") },
  { path: "/app/settings", load: settings },
  { path: "/app/settings/:section", load: settings },
];
export const HOME = "/app/chats";
// Where a sign-in leads: to the page that was asked for, if it is one of ours.
export const nextPage = (query) => (query.next?.startsWith("/app/") ? query.next : HOME);
export const SIGN_IN = "/app/sign-in";
export const SIGNED_OUT = "/app/signed-out";
