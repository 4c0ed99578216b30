import { HOME, SIGN_IN, SIGNED_OUT } from "./addresses.js";
import { load } from "./load.js";

// Every page: its address, its module (loaded when it is first wanted) and for whom it is.
// `open` pages need no sign-in; `wide` pages bring their own panes.
const later = (name) => () => load(name);
const landing = later("pages/landing.js");
const chats = later("pages/chats.js");
const settings = later("pages/settings/page.js");
export const ROUTES = [
  { path: "/", open: true, guest: true, load: landing },
  { path: "/app", open: true, guest: true, load: landing },
  { path: "/app/sign-up", open: true, guest: true, load: later("pages/signup.js") },
  { path: "/app/verify", open: true, load: later("pages/verify.js") },
  { path: SIGN_IN, open: true, guest: true, load: later("pages/signin.js") },
  { path: "/app/two-step", open: true, guest: true, load: later("pages/two_step.js") },
  { path: "/app/recovery", open: true, guest: true, load: later("pages/recovery.js") },
  { path: "/app/forgot", open: true, guest: true, load: later("pages/forgot.js") },
  { path: "/app/reset", open: true, guest: true, load: later("pages/reset.js") },
  { path: SIGNED_OUT, open: true, load: later("pages/signed_out.js") },
  { path: "/app/help", open: true, load: later("pages/help.js") },
  { path: HOME, wide: true, load: chats },
  { path: "/app/chats/:id", wide: true, load: chats },
  { path: "/app/people/:person", wide: true, load: chats },
  { path: "/app/calls", load: later("pages/calls.js") },
  { path: "/app/notifications", load: later("pages/notifications.js") },
  { path: "/app/settings", load: settings },
  { path: "/app/settings/:section", load: settings },
];
