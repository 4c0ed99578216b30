// A layer beside a button, in the top layer of the browser: nothing cuts it off.
import { html, useEffect, useLayoutEffect, useRef } from "../lib/html.js";
import { isComposing } from "./keys.js";

const MARGIN = 8;

// Beside the anchor, below it where there is room, and always inside the window.
function place(element, anchor) {
  const around = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = element;
  const rtl = getComputedStyle(anchor).direction === "rtl";
  const wanted = rtl ? around.left : around.right - width;
  const left = Math.max(MARGIN, Math.min(wanted, innerWidth - width - MARGIN));
  const below = around.bottom + 4;
  const top = below + height + MARGIN <= innerHeight ? below : Math.max(MARGIN, around.top - height - 4);
  element.style.left = `${left}px`;
  element.style.top = `${top}px`;
}

export function Popup({ anchor, onClose, children, className = "", ...rest }) {
  const self = useRef(null);
  useLayoutEffect(() => {
    const element = self.current;
    if (element.showPopover) element.showPopover();
    place(element, anchor);
  }, []);
  useEffect(() => {
    const outside = (event) => {
      if (!self.current?.contains(event.target) && !anchor.contains(event.target)) onClose(false);
    };
    const away = () => onClose(false);
    document.addEventListener("pointerdown", outside, true);
    addEventListener("resize", away);
    return () => {
      document.removeEventListener("pointerdown", outside, true);
      removeEventListener("resize", away);
    };
  }, [onClose]);
  const onKeyDown = (event) => {
    if (isComposing(event)) return undefined;
    if (event.key !== "Escape") return rest.onKeyDown?.(event);
    event.preventDefault();
    event.stopPropagation();
    return onClose(true);
  };
  return html`<div ...${rest} ref=${self} class=${`popup ${className}`} popover="manual" onKeyDown=${onKeyDown}>${children}</div>`;
}
