// Short messages at the edge of the window: notice(text), or with an action: notice(text, {label, act}).
import { html, useEffect } from "../html.js";
import { t } from "../i18n.js";
import { app, useStore } from "../store.js";

const SECONDS = 6;
let last = 0;

// `gone` is called once when the notice goes, whether by time, by its buttons, or for another one.
export function notice(text, { label, act, gone, kind = "info", seconds = SECONDS } = {}) {
  last += 1;
  const entry = { id: last, text, label, act, gone, kind, seconds, heldBy: new Set() };
  show([...app.get().notices.filter((other) => other.text !== text), entry].slice(-3));
  startTime(entry);
  return () => dismiss(entry.id);
}

export function dismiss(id) {
  show(app.get().notices.filter((other) => other.id !== id));
}

function show(next) {
  const before = app.get().notices;
  app.set({ notices: next });
  for (const entry of before.filter((other) => !next.includes(other))) {
    clearTimeout(entry.timer);
    entry.gone?.();
  }
}

function startTime(entry) {
  clearTimeout(entry.timer);
  entry.timer = setTimeout(() => dismiss(entry.id), entry.seconds * 1000);
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
  return html`<div class="notices" aria-live="polite">${notices.map((entry) => html`<${Notice} key=${entry.id} entry=${entry} />`)}</div>`;
}

// Stays while the pointer is over it or the focus is in it; after that, its time begins anew.
function Notice({ entry }) {
  const { id, text, label, act, kind, heldBy } = entry;
  const hold = ({ type }) => {
    heldBy.add(type);
    clearTimeout(entry.timer);
  };
  const release = (type) => heldBy.delete(type) && !heldBy.size && app.get().notices.includes(entry) && startTime(entry);
  // A dialog takes its notices with it: then no event tells that the pointer or the focus has left.
  useEffect(() => () => {
    release("pointerenter");
    release("focusin");
  }, []);
  const run = () => {
    act();
    dismiss(id);
  };
  return html`<div class=${`notice ${kind}`} onPointerEnter=${hold} onPointerLeave=${() => release("pointerenter")}
      onFocusIn=${hold} onFocusOut=${() => release("focusin")}><span>${text}</span>
    ${label && html`<button class="text-button" onClick=${run}>${label}</button>`}
    <button class="icon-button" aria-label=${t("Dismiss")} onClick=${() => dismiss(id)}>×</button></div>`;
}
