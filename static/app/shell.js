// What surrounds every page: navigation, the connection's state, notices, calls.
import { nextPage, SIGN_IN } from "./addresses.js";
import { Banner } from "./banner.js";
import { parley } from "./client.js";
import { config } from "./config.js";
import { html, useEffect, useRef, useState } from "./lib/html.js";
import { onLanguage, t, useLanguage } from "./lib/i18n.js";
import { useStore } from "./lib/store.js";
import { usePageTitle, useTitle } from "./lib/title.js";
import { load } from "./load.js";
import { canReload } from "./reload.js";
import { match, navigate, useLinks, usePlace } from "./router.js";
import { ROUTES } from "./routes.js";
import { app } from "./state/app.js";
import { Loading } from "./ui/loading.js";
import { Notices } from "./ui/notices.js";

function useRoute() {
  const { path, search } = usePlace();
  for (const route of ROUTES) {
    const params = match(route.path, path);
    if (params) return { route, params, query: Object.fromEntries(new URLSearchParams(search)), path };
  }
  return { route: null, params: {}, query: {}, path };
}

// Pages that could not be loaded.
const failed = new Set();

// The module of a page that was loaded last; while another one is loading, that of the page before.
function usePage(route) {
  const [page, setPage] = useState(null);
  useEffect(() => {
    let wanted = true;
    if (route) {
      route.load().then(
        (module) => wanted && setPage({ load: route.load, Component: module.default }),
        () => {
          if (!wanted) return;
          // Under its other address, too: a module that it imports is missing, for which only a reload helps.
          if (failed.has(route.load) && parley.status === "online" && canReload()) location.reload();
          failed.add(route.load);
          setPage({ load: route.load, Component: Unavailable });
        },
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
  useTitle(t("This page doesn't exist"));
  return html`<main class="page"><h1 tabindex="-1">${t("This page doesn't exist")}</h1><p><a href="/app/">${t("Back to {product}", { product: config.product })}</a></p></main>`;
}

// A page that is there at once needs no sign of its loading.
const PATIENCE_MS = 400;

function Waiting() {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return isShown && html`<${Loading} />`;
}

// Before a module that could not be loaded is asked for again.
const LAYER_PAUSE_MS = 5000;
// Of those tries. After that one of the modules that it imports is missing, for which only a reload helps.
const LAYER_TRIES = 3;

// Calls ring on every page; their module is loaded once the first page stands.
function CallLayer({ path }) {
  const [Layer, setLayer] = useState(null);
  const [failures, setFailures] = useState(0);
  useEffect(() => {
    let timer;
    load("calls/layer.js").then(
      (module) => setLayer(() => module.default),
      () => {
        if (failures >= LAYER_TRIES && parley.status === "online" && canReload()) location.reload();
        else timer = setTimeout(() => setFailures(failures + 1), LAYER_PAUSE_MS);
      },
    );
    return () => clearTimeout(timer);
  }, [failures]);
  return Layer && html`<${Layer} path=${path} />`;
}

export function App() {
  const [, redraw] = useState(0);
  const user = useStore(app, (state) => state.user);
  const Navigation = useStore(app, (state) => state.Navigation);
  const isBroken = useStore(app, (state) => state.isBroken);
  const { route, params, query, path } = useRoute();
  const page = usePage(route);
  const body = useRef(null);
  const first = useRef(true);
  useLinks();
  usePageTitle();
  useEffect(() => onLanguage(() => redraw((count) => count + 1)), []);
  const known = useRef(null);
  useEffect(() => {
    if (!user?.language) return;
    // Visitors share a demo user: the page stays in the language of each, until they choose another one.
    const isKept = app.getSnapshot().isDemo && !known.current;
    known.current = user.language;
    if (!isKept) useLanguage(user.language, { addresses: config.catalogs });
  }, [user?.language]);

  const signedIn = Boolean(user);
  useEffect(() => {
    if (route && !route.open && !signedIn && !app.getSnapshot().leaving && !parley.session.isSignedIn)
      navigate(`${SIGN_IN}?next=${encodeURIComponent(path)}`, { replace: true });
    if (route?.guest && signedIn && !parley.session.twoStep) navigate(nextPage(query), { replace: true });
    // An address that is not confirmed yet comes first.
    if (route && !route.open && user?.is_verified === false)
      navigate(`/app/verify?email=${encodeURIComponent(user.email)}`, { replace: true });
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
  else if (allowed) Page = page?.load === route.load ? page.Component : Waiting;
  return html`
    <a class="skip" href="#content" onClick=${skip}>${t("Skip to the content")}</a>
    <${Banner} />
    <div class=${`shell ${signedIn ? "signed-in" : "signed-out"}`}>
      ${signedIn && Navigation && html`<${Navigation} />`}
      <div class="body" id="content" ref=${body} tabindex="-1">${Page && html`<${Page} params=${params} query=${query} />`}</div>
    </div>
    ${signedIn && html`<${CallLayer} path=${path} />`}
    <${Notices} />`;
}

function skip(event) {
  event.preventDefault();
  document.getElementById("content")?.focus();
}
