// Short messages at the edge of the window: notice(text), or with an action: notice(text, {label, act}).
import { t } from "./i18n.js";
import { createStore } from "./store.js";

// Those that are shown, oldest first.
export const list = createStore({ notices: [] });

const SECONDS = 6;
let last = 0;

/**
 * `gone` is called once when the notice goes, whether by time, by its buttons, or for another one.
 * @param {string} text
 * @param {{ label?: string, act?: () => void, gone?: () => void, kind?: "info" | "danger", seconds?: number }} [options]
 */
export function notice(text, { label, act, gone, kind = "info", seconds = SECONDS } = {}) {
  last += 1;
  const entry = { id: last, text, label, act, gone, kind, seconds, heldBy: new Set() };
  show([...list.getSnapshot().notices.filter((other) => other.text !== text), entry].slice(-3));
  startTime(entry);
  return () => dismiss(entry.id);
}

export function dismiss(id) {
  show(list.getSnapshot().notices.filter((other) => other.id !== id));
}

function show(next) {
  const before = list.getSnapshot().notices;
  list.set({ notices: next });
  for (const entry of before.filter((other) => !next.includes(other))) {
    clearTimeout(entry.timer);
    entry.gone?.();
  }
}

export function startTime(entry) {
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
