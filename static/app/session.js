// The signed-in user of this window: the start, a sign-in, the end.
import { Client } from "../sdk/parley/client.js";
import { SIGNED_OUT } from "./addresses.js";
import { forThisUser, OWN_WINDOW, parley } from "./client.js";
import { language, onLanguage } from "./lib/i18n.js";
import { isKeeping, ofWindow, storedHere } from "./lib/stored.js";
import { load } from "./load.js";
import { navigate } from "./router.js";
import { app } from "./state/app.js";

// Signs in for this window only; the page loads anew with it, unless the browser keeps nothing over that. Goes to the
// address that `findPlace` resolves to, which gets the client that has signed in.
export async function signInWindow(login, findPlace) {
  if (!isKeeping) {
    app.set({ isDemo: true });
    await parley.auth.login(login);
    navigate(await findPlace(parley));
    return;
  }
  const own = new Client({ storage: ofWindow });
  await own.auth.login(login);
  storedHere.setItem(OWN_WINDOW, "1");
  location.assign(await findPlace(own));
}

export async function signOut(next = "/app/") {
  app.set({ leaving: true });
  await (await load("signed_in.js")).finish();
  try {
    await parley.session.signOut();
  } finally {
    storedHere.removeItem(OWN_WINDOW);
    location.assign(next);
  }
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
const prepare = () =>
  (prepared ??= load("signed_in.js").then(async (module) => {
    await module.prepare();
    app.set({ Navigation: module.Navigation });
  }));

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
  app.set({ status: parley.status, isDemo: Boolean(storedHere.getItem(OWN_WINDOW)) });
  parley.on("status", ({ status, retryAt, reason }) =>
    app.set({ status, retryAt: retryAt ?? null, offlineReason: reason ?? null }),
  );
  parley.on("signedin", enter);
  parley.on("profile.updated", (data) => app.set(({ user: old }) => ({ user: { ...old, ...data.user } })));
  parley.on("signedout", ({ reason }) => {
    app.set({ user: null });
    // Who signs in again goes on where the session ended.
    const query = new URLSearchParams(reason === "signed_out" ? { reason } : { reason, next: location.pathname });
    if (!app.getSnapshot().leaving) navigate(`${SIGNED_OUT}?${query}`, { replace: true });
  });
  if (parley.session.isSignedIn) await enter();
}
