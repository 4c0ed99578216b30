// The notices that are shown (lib/notices.js).
import { html, useEffect } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { dismiss, list, startTime } from "../lib/notices.js";
import { useStore } from "../lib/store.js";

export function Notices() {
  const notices = useStore(list, (state) => state.notices);
  return html`<div class="notices" aria-live="polite">${notices.map((entry) => html`<${Notice} key=${entry.id} entry=${entry} />`)}</div>`;
}

// Stays while the pointer is over it or the focus is in it; after that, its time begins anew.
function Notice({ entry }) {
  const { id, text, label, act, kind, heldBy } = entry;
  const hold = ({ type }) => {
    heldBy.add(type);
    clearTimeout(entry.timer);
  };
  const release = (type) =>
    heldBy.delete(type) && !heldBy.size && list.getSnapshot().notices.includes(entry) && startTime(entry);
  // A dialog takes its notices with it: then no event tells that the pointer or the focus has left.
  useEffect(
    () => () => {
      release("pointerenter");
      release("focusin");
    },
    [],
  );
  const run = () => {
    act();
    dismiss(id);
  };
  return html`<div class=${`notice ${kind}`} onPointerEnter=${hold} onPointerLeave=${() => release("pointerenter")}
      onFocusIn=${hold} onFocusOut=${() => release("focusin")}><span>${text}</span>
    ${label && html`<button class="text-button" onClick=${run}>${label}</button>`}
    <button class="icon-button" aria-label=${t("Dismiss")} onClick=${() => dismiss(id)}>×</button></div>`;
}
