// Fingers on a message: a long press opens its menu, a swipe towards the end of the line replies.
import { useEffect, useRef } from "../lib/html.js";

const PRESS_MS = 500;
// A finger never lies quite still.
const SLOP = 10;
const REPLY_AT = 56;
const FARTHEST = 72;
// A browser sends the click of a finger up to so much later than its end.
const CLICK_MS = 400;
// From there the system goes back a page.
const EDGE = 24;

const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const isSelecting = () => String(getSelection()) !== "";

function move(article, by) {
  const line = /** @type {HTMLElement} */ (article.querySelector(".bubble-line"));
  line.style.transition = by ? "none" : "";
  line.style.transform = by && !isStill() ? `translateX(${by}px)` : "";
}

/** Handlers for the element around the log; `onReply(messageId)` is null where nothing can be answered. */
export function useGestures(onReply) {
  // The finger: where it came down, on what, and what has become of it.
  const finger = useRef(null);
  // Until then a click is that of a finger that has acted already.
  const clickUntil = useRef(0);
  const forget = () => {
    if (!finger.current) return;
    clearTimeout(finger.current.timer);
    const { article } = finger.current;
    finger.current = null;
    move(article, 0);
    article.classList.remove("to-reply");
  };
  useEffect(() => forget, []);

  const press = () => {
    const { article } = finger.current;
    if (isSelecting()) return forget();
    finger.current.isPressed = true;
    article.querySelector(".message-actions").click();
    return undefined;
  };
  const onPointerDown = (event) => {
    const article = event.target.closest("article[data-message-id]");
    const isOne = event.isPrimary && event.pointerType === "touch";
    forget();
    clickUntil.current = 0;
    if (!article || !isOne || event.target.closest("a, .popup, .icon-button, .reaction") || isSelecting()) return;
    finger.current = { article, x: event.clientX, y: event.clientY, by: 0, timer: setTimeout(press, PRESS_MS) };
  };
  const onPointerMove = (event) => {
    const now = finger.current;
    if (!now || now.isPressed || !event.isPrimary) return;
    const across = event.clientX - now.x;
    const down = event.clientY - now.y;
    if (Math.hypot(across, down) > SLOP) clearTimeout(now.timer);
    if (!now.isSwiping && Math.abs(down) > SLOP) {
      forget();
      return;
    }
    const forward = getComputedStyle(now.article).direction === "rtl" ? -1 : 1;
    const canSwipe = onReply && now.x > EDGE && now.x < innerWidth - EDGE && !event.target.closest("pre");
    if (!canSwipe || (!now.isSwiping && across * forward <= SLOP)) return;
    now.isSwiping = true;
    now.by = Math.max(0, Math.min(FARTHEST, across * forward));
    move(now.article, now.by * forward);
    now.article.classList.toggle("to-reply", now.by >= REPLY_AT);
  };
  const onPointerUp = () => {
    const now = finger.current;
    if (now?.isPressed || now?.isSwiping) clickUntil.current = performance.now() + CLICK_MS;
    forget();
    if (now?.isSwiping && now.by >= REPLY_AT && !isSelecting()) onReply(Number(now.article.dataset.messageId));
  };
  const onClickCapture = (event) => {
    // A click of the keyboard has no place.
    if (performance.now() > clickUntil.current || !event.isTrusted || event.detail === 0) return;
    clickUntil.current = 0;
    event.preventDefault();
    event.stopPropagation();
  };
  // Some browsers ask for a menu at a long press by themselves.
  const onContextMenuCapture = (event) => {
    if (!finger.current?.isPressed) return clearTimeout(finger.current?.timer);
    event.preventDefault();
    return event.stopPropagation();
  };
  return { onPointerDown, onPointerMove, onPointerUp, onPointerCancel: forget, onClickCapture, onContextMenuCapture };
}
