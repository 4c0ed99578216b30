// What surrounds every page: navigation, the connection's state, notices, calls.
import { parley } from "./client.js";
import { config } from "./config.js";
import { html, useEffect, useRef, useState } from "./html.js";
import { onLanguage, t, tn, useLanguage } from "./i18n.js";
import { Icon } from "./ui/icon.js";
import { Banner } from "./ui/banner.js";
import { Notices } from "./ui/notices.js";
import { NavLink, match, navigate, useLinks, usePlace } from "./router.js";
import { ROUTES, SIGN_IN, nextPage } from "./routes.js";
import { app, useStore } from "./store.js";
import { usePageTitle, useTitle } from "./title.js";

function useRoute() {
  const { path, search } = usePlace();
  for (const route of ROUTES) {
    const params = match(route.path, path);
    if (params) return { route, params, query: Object.fromEntries(new URLSearchParams(search)), path };
  }
  return { route: null, params: {}, query: {}, path };
}

// The module of a page that was loaded last; while another one is loading, that of the page before.
function usePage(route) {
  const [page, setPage] = useState(null);
  useEffect(() => {
    let wanted = true;
    if (route) {
      route.load().then(
        (module) => wanted && setPage({ load: route.load, Component: module.default }),
        () => wanted && setPage({ load: route.load, Component: Unavailable }),
      );
    }
    return () => {
      wanted = false;
    };
  }, [route?.load]);
  return page;
}

function Unavailable() {
  const reloadOnceOnline = () => parley.on("status", ({ status }) => status === "online" && location.reload());
  const again = () => {
    if (parley.status === "online" || !parley.session.isSignedIn) return location.reload();
    // Without a connection a reload would leave the client.
    reloadOnceOnline();
    return parley.connect();
  };
  // By itself only after a connection was lost: without one so far, this page has just been loaded.
  useEffect(() => (parley.place ? reloadOnceOnline() : undefined), []);
  useTitle(t("This page could not be loaded"));
  return html`<main class="page"><h1 tabindex="-1">${t("This page could not be loaded")}</h1>
    <p><button class="button" onClick=${again}>${t("Try again")}</button></p></main>`;
}

function Missing() {
  useTitle(t("There is no such page"));
  return html`<main class="page"><h1 tabindex="-1">${t("There is no such page")}</h1><p><a href="/app/">${t("Back to Parley")}</a></p></main>`;
}

// A page that is there at once needs no sign of its loading.
const PATIENCE_MS = 400;

function Loading() {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return isShown && html`<div class="spinner" role="progressbar" aria-label=${t("Loading")}></div>`;
}

function Navigation() {
  const unread = useStore(app, (state) => state.unread);
  const messages = useStore(app, (state) => state.messageUnread);
  return html`<nav class="rail" aria-label=${t("Main")}>
    <${NavLink} href="/app/chats"><${Icon} name="chats" /><span>${t("Chats")}</span><${Count} value=${messages} /><//>
    <${NavLink} href="/app/calls"><${Icon} name="phone" /><span>${t("Calls")}</span><//>
    <${NavLink} href="/app/notifications"><${Icon} name="bell" /><span>${t("Notifications")}</span><${Count} value=${unread} /><//>
    <${NavLink} href="/app/settings"><${Icon} name="settings" /><span>${t("Settings")}</span><//>
  </nav>`;
}

function Count({ value }) {
  return value > 0 && html`<span class="count" aria-hidden="true">${value > 99 ? "99+" : value}</span>
    <span class="visually-hidden">${tn("{n} unread", "{n} unread", value)}</span>`;
}

// Before a module that could not be loaded is asked for again.
const LAYER_PAUSE_MS = 5000;

// Calls ring on every page; their module is loaded once the first page stands.
function CallLayer() {
  const [Layer, setLayer] = useState(null);
  const [failures, setFailures] = useState(0);
  useEffect(() => {
    let timer;
    import("./calls/layer.js").then(
      (module) => setLayer(() => module.default),
      () => {
        timer = setTimeout(() => setFailures(failures + 1), LAYER_PAUSE_MS);
      },
    );
    return () => clearTimeout(timer);
  }, [failures]);
  return Layer && html`<${Layer} />`;
}

export function App() {
  const [, redraw] = useState(0);
  const user = useStore(app, (state) => state.user);
  const isBroken = useStore(app, (state) => state.isBroken);
  const { route, params, query, path } = useRoute();
  const page = usePage(route);
  const body = useRef();
  const first = useRef(true);
  useLinks();
  usePageTitle();
  useEffect(() => onLanguage(() => redraw((count) => count + 1)), []);
  useEffect(() => {
    if (user?.language) useLanguage(user.language, { addresses: config.catalogs });
  }, [user?.language]);

  const signedIn = Boolean(user);
  useEffect(() => {
    if (route && !route.open && !signedIn && !parley.session.isSignedIn) navigate(`${SIGN_IN}?next=${encodeURIComponent(path)}`, { replace: true });
    if (route?.guest && signedIn && !parley.session.twoStep) navigate(nextPage(query), { replace: true });
    // An address that is not confirmed yet comes first.
    if (route && !route.open && user?.is_verified === false) navigate(`/app/verify?email=${encodeURIComponent(user.email)}`, { replace: true });
  }, [route, signedIn, user?.is_verified]);

  // A new page takes the focus, so that a keyboard or a screen reader goes on there.
  useEffect(() => {
    if (!page) return;
    if (!first.current && !body.current?.contains(document.activeElement)) body.current?.querySelector("h1")?.focus();
    first.current = false;
  }, [page]);

  const allowed = route && (route.open || signedIn) && !(route.guest && signedIn);
  let Page = null;
  if (!route) Page = Missing;
  else if (isBroken && !route.open) Page = Unavailable;
  else if (allowed) Page = page?.load === route.load ? page.Component : Loading;
  return html`
    <a class="skip" href="#content" onClick=${skip}>${t("Skip to the content")}</a>
    <${Banner} />
    <div class=${`shell ${signedIn ? "signed-in" : "signed-out"}`}>
      ${signedIn && html`<${Navigation} />`}
      <div class="body" id="content" ref=${body} tabindex="-1">${Page && html`<${Page} params=${params} query=${query} />`}</div>
    </div>
    ${signedIn && html`<${CallLayer} />`}
    <${Notices} />`;
}

function skip(event) {
  event.preventDefault();
  document.getElementById("content")?.focus();
}
