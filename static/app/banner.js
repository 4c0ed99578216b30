// The state of the connection while it is not as it should be, and the wait after too many requests.
import { parley } from "./client.js";
import { html, useEffect, useState } from "./lib/html.js";
import { t, tn } from "./lib/i18n.js";
import { useStore } from "./lib/store.js";
import { app } from "./state/app.js";
import { useSeconds } from "./ui/seconds.js";

// A connection that comes about at once needs no words.
const PATIENCE = 700;

function Limited() {
  const [until, setUntil] = useState(0);
  const left = useSeconds(until);
  useEffect(() => parley.on("ratelimited", ({ retryAfter }) => setUntil(Date.now() + (retryAfter || 1) * 1000)), []);
  return (
    left > 0 &&
    html`<div class="banner" role="status" aria-live="off">
    ${tn("Too many requests. Try again in {n} second.", "Too many requests. Try again in {n} seconds.", left)}</div>`
  );
}

export function Banner() {
  const status = useStore(app, (state) => state.status);
  const reason = useStore(app, (state) => state.offlineReason);
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
  const hint =
    reason === "forbidden"
      ? t("The service accepts no connection from this address. Open it at its own address.")
      : t("Messages will be sent when you're back online.");
  return html`<div class="banners">
    ${
      bad &&
      shown &&
      html`<div class="banner" role="status" aria-label=${text}><span>${text}</span>
      ${
        status === "offline" &&
        html`<span class="banner-hint">${hint}</span>
        <button class="text-button" onClick=${() => parley.connect()}>${t("Retry")}</button>`
      }</div>`
    }
    <${Limited} />
  </div>`;
}
