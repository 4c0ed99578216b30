// Before an entry of a list goes: what takes the focus after it, the next button or the heading. Returns a function to be called then.
export function focusAfter(button) {
  const buttons = [...(button.closest("ul")?.querySelectorAll("button") ?? [])];
  const at = buttons.indexOf(button);
  const next = buttons[at + 1] ?? buttons[at - 1] ?? button.closest("section").querySelector("h2");
  // Not from where the reader went meanwhile.
  return () => [button, document.body].includes(document.activeElement) && next.focus();
}

// Once what is drawn next stands: `element` takes the focus of what has gone.
export const focusIfLost = (element) =>
  requestAnimationFrame(() => document.activeElement === document.body && element?.focus({ preventScroll: true }));

// Calls `act` whenever the user comes back to this window: another one may have changed what it shows.
export function onReturn(act) {
  const visible = () => document.visibilityState === "visible" && act();
  document.addEventListener("visibilitychange", visible);
  addEventListener("focus", visible);
  return () => {
    document.removeEventListener("visibilitychange", visible);
    removeEventListener("focus", visible);
  };
}
