// The only connection of this window to the API, and its signed-in user.
import { Parley, ParleyError } from "../sdk/parley.js";
import { language, onLanguage } from "./i18n.js";
import { navigate } from "./router.js";
import { SIGNED_OUT } from "./routes.js";
import { app } from "./store.js";

// A demo user belongs to one window (session storage), so that one browser can show two of them side by side.
const OWN_WINDOW = "parley.window";

export const parley = new Parley({ storage: sessionStorage.getItem(OWN_WINDOW) ? sessionStorage : localStorage });

let leaving = false;

// Signs in for this window only; the page loads anew with it.
export async function signInWindow(login) {
  const own = new Parley({ storage: sessionStorage });
  await own.auth.login(login);
  sessionStorage.setItem(OWN_WINDOW, "1");
  location.assign("/app/chats");
}

export async function signOut(next = "/app/") {
  leaving = true;
  await (await import("./signed_in.js")).finish();
  try {
    await parley.session.signOut();
  } finally {
    sessionStorage.removeItem(OWN_WINDOW);
    location.assign(next);
  }
}

// The reply, unless another user is signed in by the time it is here, or none.
export async function forThisUser(request) {
  const { userId } = parley.session;
  const reply = await request;
  if (parley.session.userId !== userId) throw new ParleyError("aborted");
  return reply;
}

// Data that the sign-in reply lacks: the language of the account, the picture. An unconfirmed account has to wait for it.
export async function loadProfile() {
  try {
    const { profile } = await forThisUser(parley.profile.get());
    app.set(({ user }) => user && { user: { ...user, ...profile } });
  } catch {
    // Whatever is wrong, the connection says it, too.
  }
}

let prepared = null;
const prepare = () => (prepared ??= import("./signed_in.js").then((module) => module.prepare()));

async function enter() {
  try {
    await prepare();
  } catch {
    app.set({ isBroken: true });
    return;
  }
  if (!parley.session.isSignedIn) return;
  app.set({ user: parley.session.user });
  parley.connect();
  loadProfile();
}

export async function start() {
  parley.language = language();
  onLanguage((code) => {
    parley.language = code;
  });
  app.set({ status: parley.status });
  parley.on("status", ({ status, retryAt }) => app.set({ status, retryAt: retryAt ?? null }));
  parley.on("signedin", enter);
  parley.on("profile.updated", (data) => app.set(({ user: old }) => ({ user: { ...old, ...data.user } })));
  parley.on("badge", (badge) => app.set({ unread: badge.unread_count, messageUnread: badge.message_unread_count }));
  parley.on("signedout", ({ reason }) => {
    app.set({ user: null, unread: 0, messageUnread: 0 });
    // Who signs in again goes on where the session ended.
    const query = new URLSearchParams(reason === "signed_out" ? { reason } : { reason, next: location.pathname });
    if (!leaving) navigate(`${SIGNED_OUT}?${query}`, { replace: true });
  });
  if (parley.session.isSignedIn) await enter();
}
