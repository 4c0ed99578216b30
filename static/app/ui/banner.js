// The state of the connection while it is not as it should be, and the wait after too many requests.
import { parley } from "../client.js";
import { html, useEffect, useState } from "../html.js";
import { t, tn } from "../i18n.js";
import { app, useStore } from "../store.js";

// A connection that comes about at once needs no words.
const PATIENCE = 700;

export function useSeconds(until) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!until) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [until]);
  return until ? Math.max(0, Math.ceil((until - now) / 1000)) : 0;
}

function Limited() {
  const [until, setUntil] = useState(0);
  const left = useSeconds(until);
  useEffect(() => parley.on("ratelimited", ({ retryAfter }) => setUntil(Date.now() + (retryAfter || 1) * 1000)), []);
  return left > 0 && html`<div class="banner" role="status" aria-live="off">
    ${tn("Too many requests. Try again in {n} second.", "Too many requests. Try again in {n} seconds.", left)}</div>`;
}

export function Banner() {
  const status = useStore(app, (state) => state.status);
  const user = useStore(app, (state) => state.user);
  const [shown, setShown] = useState(false);
  const bad = Boolean(user) && status !== "online";
  useEffect(() => {
    if (!bad) {
      setShown(false);
      return undefined;
    }
    const timer = setTimeout(() => setShown(true), status === "offline" ? 0 : PATIENCE);
    return () => clearTimeout(timer);
  }, [bad, status]);
  const text = status === "offline" ? t("Offline") : t("Connecting…");
  return html`<div class="banners">
    ${bad && shown && html`<div class="banner" role="status" aria-label=${text}><span>${text}</span>
      ${status === "offline" && html`<span class="banner-hint">${t("Messages are sent once you are back online.")}</span>
        <button class="text-button" onClick=${() => parley.connect()}>${t("Connect now")}</button>`}</div>`}
    <${Limited} />
  </div>`;
}
