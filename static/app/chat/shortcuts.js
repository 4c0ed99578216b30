// Keys that work wherever the focus is on the page of the chats.
import { useEffect } from "../lib/html.js";
import { isComposing } from "../ui/keys.js";

const FIELDS = "input, textarea, select, [contenteditable], .popup, dialog";

function focusSearch(page) {
  const box = page.querySelector(".side input[type=search]");
  if (!box?.checkVisibility?.()) return false;
  box.focus();
  return true;
}

// The conversation above or below the open one; the first or last one when none is open.
function openNext(page, step) {
  const entries = [...page.querySelectorAll(".entries .entry:not(.person, .hit)")];
  const at = entries.findIndex((entry) => entry.ariaCurrent);
  const next = at < 0 ? entries.at(step > 0 ? 0 : -1) : entries[at + step];
  next?.click();
  return Boolean(next);
}

// What is typed anywhere belongs to the message.
function type(page, target) {
  if (!target.closest(FIELDS)) page.querySelector(".message-box")?.focus();
}

/** Ctrl+K finds people, Alt with an arrow goes to the next conversation, a letter goes into the message. */
export function useShortcuts(page) {
  useEffect(() => {
    const onKeyDown = (event) => {
      if (event.defaultPrevented || isComposing(event) || document.querySelector("dialog:modal")) return;
      const { key, ctrlKey, metaKey, altKey, shiftKey, target } = event;
      const isOrder = ctrlKey || metaKey;
      const step = { ArrowDown: 1, ArrowUp: -1 }[key];
      if (isOrder && !altKey && !shiftKey && key.toLowerCase() === "k") {
        if (focusSearch(page.current)) event.preventDefault();
      } else if (altKey && !isOrder && !shiftKey && step) {
        if (openNext(page.current, step)) event.preventDefault();
      } else if ([...key].length === 1 && key !== " " && !isOrder && !altKey) {
        type(page.current, target);
      }
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}
