// Short messages at the edge of the window: notice(text), or with an action: notice(text, {label, act}).
import { html, useEffect } from "../html.js";
import { t } from "../i18n.js";
import { app, useStore } from "../store.js";

const SECONDS = 6;
let last = 0;

export function notice(text, { label, act, kind = "info", seconds = SECONDS } = {}) {
  last += 1;
  const entry = { id: last, text, label, act, kind, seconds };
  app.set(({ notices }) => ({ notices: [...notices.filter((other) => other.text !== text), entry].slice(-3) }));
  return () => dismiss(entry.id);
}

export function dismiss(id) {
  app.set(({ notices }) => ({ notices: notices.filter((other) => other.id !== id) }));
}

// What went wrong, in the reader's language: the server's words, or ours where it has not answered.
export function errorText(error) {
  const hasText = error?.message && error.message !== error.code;
  // With 502 and the like a proxy answers in place of the server.
  if (error?.code === "network_error" || (!hasText && error?.status >= 500)) return t("The server cannot be reached.");
  return hasText ? error.message : t("Something went wrong");
}

export function failed(error) {
  if (error?.code !== "aborted") notice(errorText(error), { kind: "danger" });
}

export function Notices() {
  const notices = useStore(app, (state) => state.notices);
  return html`<div class="notices" aria-live="polite">${notices.map((entry) => html`<${Notice} key=${entry.id} ...${entry} />`)}</div>`;
}

function Notice({ id, text, label, act, kind, seconds }) {
  useEffect(() => {
    const timer = setTimeout(() => dismiss(id), seconds * 1000);
    return () => clearTimeout(timer);
  }, []);
  const run = () => {
    dismiss(id);
    act();
  };
  return html`<div class=${`notice ${kind}`}><span>${text}</span>
    ${label && html`<button class="text-button" onClick=${run}>${label}</button>`}
    <button class="icon-button" aria-label=${t("Dismiss")} onClick=${() => dismiss(id)}>×</button></div>`;
}
