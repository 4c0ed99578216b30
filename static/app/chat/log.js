// The log of a conversation: rows, the reader's place in them, the keyboard.
import { html, useCallback, useEffect, useMemo, useRef, useState } from "../html.js";
import { dayName, t, tn } from "../i18n.js";
import { rowsOf, statusOf } from "../state/rows.js";
import { latest, loadNewer, loadOlder, reach, trim } from "../state/thread.js";
import { Icon } from "../ui/icon.js";
import { failed } from "../ui/notices.js";
import { VirtualList } from "../ui/virtual_list.js";
import { Message, Pending } from "./message.js";
import { keepPlace, placeOf } from "./place.js";
import { reader } from "./reading.js";

const MARK_MS = 2000;

const upperFirst = (text) => text.charAt(0).toLocaleUpperCase() + text.slice(1);
const Divider = ({ rowKey, kind, text }) => html`<div class=${`divider ${kind}`} data-key=${rowKey}><span>${text}</span></div>`;

// control.current = {jump(messageId), toEnd()} for the conversation around it.
export function Log({ id, state, row, me, names, actions, marked, control }) {
  const rows = useMemo(() => rowsOf(state, me), [state.messages, state.pending, state.firstUnread, state.hasNewer, me]);
  const list = useRef();
  const drawn = useRef(rows);
  drawn.current = rows;
  const [{ atEnd, far }, setEnd] = useState({ atEnd: true, far: false });
  const [flash, setFlash] = useState(null);
  const [current, setCurrent] = useState(null);
  const [below, setBelow] = useState(0);
  const reading = useMemo(() => reader(id), [id]);
  useEffect(() => () => reading.close(), [reading]);

  const keyOf = (messageId) => drawn.current.find((entry) => entry.message?.id === messageId)?.key;
  const focusMessage = (messageId) => requestAnimationFrame(() => {
    const element = list.current?.box.querySelector(`[data-message-id="${messageId}"]`);
    element?.focus({ preventScroll: true });
    element?.scrollIntoView({ block: "nearest" });
  });
  // Of several ways that the reader asks for, the last one counts.
  const ways = useRef(0);
  const newWay = () => {
    const way = (ways.current += 1);
    return () => way === ways.current;
  };
  const jump = useCallback(async (messageId, { flashing = true, where = "center" } = {}) => {
    const isWanted = newWay();
    const isHere = await reach(id, messageId, isWanted);
    if (!isWanted()) return true;
    if (!isHere) return false;
    // The rows of what was just loaded are drawn first.
    await new Promise(requestAnimationFrame);
    list.current?.show(keyOf(messageId), where);
    setCurrent(messageId);
    if (flashing) {
      // The quote that led here may be drawn no longer: the focus goes along.
      if (document.activeElement === document.body || list.current.box.contains(document.activeElement)) focusMessage(messageId);
      setFlash(messageId);
      setTimeout(() => setFlash((value) => (value === messageId ? null : value)), MARK_MS);
    }
    return true;
  }, [id]);
  const toEnd = useCallback(async () => {
    const isWanted = newWay();
    try {
      await latest(id, isWanted);
    } catch (error) {
      failed(error);
      return;
    }
    if (!isWanted()) return;
    await new Promise(requestAnimationFrame);
    list.current?.goToEnd();
    setBelow(0);
  }, [id]);
  // The button that leads there goes, and so may the message that had the focus.
  const toEndWithFocus = () => toEnd().then(() => list.current?.box.focus({ preventScroll: true }));
  control.current = { jump, toEnd };

  const started = useRef(false);
  const connect = useCallback((instance) => {
    list.current = instance;
    if (started.current) return;
    started.current = true;
    const kept = placeOf(id);
    if (kept) jump(kept, { flashing: false, where: "end" });
    else if (state.firstUnread) instance.show("unread", "start");
  }, [id]);

  const onPlace = useCallback((next) => {
    setEnd((old) => (old.atEnd === next.atEnd && old.far === next.far ? old : next));
    if (next.atEnd) setBelow(0);
    const key = list.current?.lastInWindow();
    const shown = drawn.current.find((entry) => entry.key === key)?.message;
    if (shown) reading.seen(shown.id);
    keepPlace(id, next.atEnd && next.isLast ? null : shown?.id);
    if (next.atEnd && next.isLast) trim(id);
  }, [reading]);

  // What arrives below the window is counted on the button that leads there.
  const lastId = state.messages.at(-1)?.id ?? 0;
  const lastSeen = useRef(lastId);
  useEffect(() => {
    const fresh = state.messages.filter((message) => message.id > lastSeen.current && message.sender_id !== me).length;
    lastSeen.current = Math.max(lastSeen.current, lastId);
    if (fresh && list.current && !list.current.isAtEnd) setBelow((count) => count + fresh);
  }, [lastId]);

  const focusable = current ?? state.messages.at(-1)?.id;
  const draw = (entry) => {
    const { key, type } = entry;
    if (type === "day") return html`<${Divider} key=${key} rowKey=${key} kind="day" text=${upperFirst(dayName(entry.at))} />`;
    if (type === "unread") return html`<${Divider} key=${key} rowKey=${key} kind="new" text=${t("Unread messages")} />`;
    if (type === "pending") return html`<${Pending} key=${key} rowKey=${key} item=${entry.item} continues=${entry.continues} />`;
    return html`<${Message} key=${key} rowKey=${key} message=${entry.message} own=${entry.own} continues=${entry.continues} names=${names} actions=${actions}
      status=${entry.own ? statusOf(entry.message, row) : null} current=${entry.message.id === focusable} marked=${entry.message.id === (marked ?? flash)} />`;
  };

  const onKeyDown = (event) => {
    const article = event.target.closest("article");
    const inMenu = event.target.closest(".popup, dialog, a");
    if (inMenu) return;
    const steps = { ArrowUp: -1, ArrowDown: 1 };
    if (event.key in steps) {
      const messages = state.messages;
      const at = article ? messages.findIndex((message) => message.id === Number(article.dataset.messageId)) : messages.length;
      const next = messages[at + steps[event.key]];
      if (!next) return;
      event.preventDefault();
      setCurrent(next.id);
      focusMessage(next.id);
    } else if (event.key === "End") {
      event.preventDefault();
      toEndWithFocus();
    } else if (event.key === "Enter" && event.target === article) {
      event.preventDefault();
      article.querySelector(".message-actions")?.click();
    }
  };

  const head = html`<div class="log-head">${state.hasOlder
    ? html`<div class="spinner" role="progressbar" aria-label=${t("Loading older messages")}></div>`
    : html`<p class="muted small">${t("This is the beginning of the conversation.")}</p>`}</div>`;
  const label = below ? tn("Jump to latest, {n} new message", "Jump to latest, {n} new messages", below) : t("Jump to latest");
  return html`<div class="log-frame">
    <${VirtualList} className="log" label=${t("Messages")} rows=${rows} draw=${draw} follow=${!state.hasNewer} head=${head} control=${connect} onKeyDown=${onKeyDown}
      onStart=${() => loadOlder(id)} onEnd=${() => loadNewer(id)} onPlace=${(next) => onPlace({ ...next, isLast: !state.hasNewer })} />
    ${(far || state.hasNewer || (below > 0 && !atEnd)) && html`<button type="button" class="to-end" aria-label=${label} title=${label} onClick=${toEndWithFocus}>
      <${Icon} name="down" />${below > 0 && html`<span class="count" aria-hidden="true">${below}</span>`}</button>`}
  </div>`;
}
