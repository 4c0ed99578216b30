// The log of a conversation: rows, the reader's place in them, the keyboard.
import { parley } from "../client.js";
import { html, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../lib/html.js";
import { dayName, t, tn } from "../lib/i18n.js";
import { failed } from "../lib/notices.js";
import { keepPlace, placeOf } from "../state/place.js";
import { partsOf, rowsOf, statusOf } from "../state/rows.js";
import { store } from "../state/store.js";
import { Icon } from "../ui/icon.js";
import { Loading } from "../ui/loading.js";
import { VirtualList } from "../ui/virtual_list.js";
import { useGestures } from "./gestures.js";
import { Message, Pending } from "./message.js";

const MARK_MS = 2000;
// By then everything that was missed while there was no connection has arrived.
const CATCH_UP_MS = 3000;
// A reader at the end needs no long history: the memory stays the same however long the window is open. What goes is
// loaded again when the reader scrolls up.
const MOST_AT_END = 600;
const LEFT_AT_END = 300;
// After a failed page the next one is not asked for at once.
const PAUSE_MS = 3000;

const upperFirst = (text) => text.charAt(0).toLocaleUpperCase() + text.slice(1);
const dayOf = ({ created_at: at }) => upperFirst(dayName(at));
const Divider = ({ rowKey, kind, text }) =>
  html`<div class=${`divider ${kind}`} data-key=${rowKey}><span>${text}</span></div>`;

// control.current = {jump(messageId), toEnd()} for the conversation around it.
// `unread` is the first message that was unread when it was opened, `hit` the one that a link leads to.
// `found` is {id, text} of the one that a search has led to.
export function Log({ id, state, hit, unread, row, me, names, actions, found, control }) {
  const messages = store.messages(id);
  const [firstUnread, setFirstUnread] = useState(unread);
  const rows = useMemo(() => rowsOf({ ...state, firstUnread }, me), [state, firstUnread, me]);
  const list = useRef(null);
  const drawn = useRef(rows);
  drawn.current = rows;
  const [{ atEnd, far }, setEnd] = useState({ atEnd: true, far: false });
  // The day of the first row in the window, unless that row says it itself.
  const [day, setDay] = useState("");
  const [flash, setFlash] = useState(null);
  const [current, setCurrent] = useState(null);
  const lastSeen = useRef(0);
  // The reader's place has been found; before that, nothing that is drawn has been seen.
  const isPlaced = useRef(false);
  const isFollowing = useRef(false);
  // What was missed without a connection arrives faster than it is drawn: it has been seen only once it stands still.
  const isCatchingUp = useRef(false);
  const isSeenAtOnce = () =>
    isPlaced.current && isFollowing.current && !isCatchingUp.current && document.visibilityState === "visible";
  useLayoutEffect(() => messages.follow(isSeenAtOnce), [id]);
  useEffect(() => {
    let timer;
    const end = () => {
      clearTimeout(timer);
      isCatchingUp.current = false;
      list.current?.watchFrame();
    };
    const stops = [
      parley.on("synced", end),
      parley.on("status", ({ status }) => {
        clearTimeout(timer);
        if (status !== "online") isCatchingUp.current = true;
        else timer = setTimeout(end, CATCH_UP_MS);
      }),
    ];
    return () => {
      clearTimeout(timer);
      for (const stop of stops) stop();
    };
  }, []);

  const isPaused = useRef(false);
  const [, setTries] = useState(0);
  const loadMore = (load) => {
    if (isPaused.current) return;
    load().catch(() => {
      isPaused.current = true;
      // What is drawn then asks again if it still needs the page.
      setTimeout(() => {
        isPaused.current = false;
        setTries((count) => count + 1);
      }, PAUSE_MS);
    });
  };

  const messageOf = (key) => drawn.current.find((entry) => entry.key === key)?.message;
  const keyOf = (messageId) =>
    drawn.current.find((entry) => partsOf(entry).some(({ message }) => message?.id === messageId))?.key;
  const focusMessage = (messageId) =>
    requestAnimationFrame(() => {
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
  const jump = useCallback(
    async (messageId, { flashing = true, where = "center" } = {}) => {
      const isWanted = newWay();
      const isHere = await messages.loadAround(messageId, { isWanted });
      if (!isWanted()) return true;
      if (!isHere) return false;
      // The rows of what was just loaded are drawn first.
      await new Promise(requestAnimationFrame);
      await list.current?.show(keyOf(messageId), where);
      setCurrent(messageId);
      if (flashing) {
        // The quote that led here may be drawn no longer: the focus goes along.
        if (document.activeElement === document.body || list.current.box.contains(document.activeElement))
          focusMessage(messageId);
        setFlash(messageId);
        setTimeout(() => setFlash((value) => (value === messageId ? null : value)), MARK_MS);
      }
      return true;
    },
    [id],
  );
  const toEnd = useCallback(async () => {
    const isWanted = newWay();
    try {
      await messages.loadNewest({ isWanted });
    } catch (error) {
      failed(error);
      return;
    }
    if (!isWanted()) return;
    await new Promise(requestAnimationFrame);
    list.current?.goToEnd();
  }, [id]);
  // The button that leads there goes, and so may the message that had the focus.
  const toEndWithFocus = () => toEnd().then(() => list.current?.box.focus({ preventScroll: true }));
  control.current = { jump, toEnd };

  const started = useRef(false);
  const connect = useCallback(
    (instance) => {
      list.current = instance;
      if (started.current) return;
      started.current = true;
      const placed = () => {
        isPlaced.current = true;
        instance.updateRange();
      };
      const kept = placeOf(id);
      // What was asked for comes before what is unread, and that before the place where the reader was.
      if (hit) actions.jump(hit).then(placed);
      else if (firstUnread) instance.show("unread", "start").then(placed);
      else if (kept)
        jump(kept, { flashing: false, where: "end" })
          .catch(() => {})
          .then(placed);
      else placed();
    },
    [id],
  );

  useEffect(() => {
    if (hit && isPlaced.current) actions.jump(hit);
  }, [hit]);

  const onPlace = useCallback(
    (next) => {
      setEnd((old) => (old.atEnd === next.atEnd && old.far === next.far ? old : next));
      isFollowing.current = next.atEnd && next.isLast;
      const { message, item } = drawn.current.find((entry) => entry.key === next.first) ?? {};
      setDay(message || item ? dayOf(message ?? item) : "");
      if (!isPlaced.current) return;
      keepPlace(id, isFollowing.current ? null : messageOf(list.current?.lastInWindow())?.id);
      if (isFollowing.current) messages.trim(MOST_AT_END, LEFT_AT_END);
    },
    [id],
  );
  const onDrawn = useCallback(
    (key) => {
      const shown = messageOf(key);
      if (!isPlaced.current || !shown) return;
      lastSeen.current = Math.max(lastSeen.current, shown.id);
      messages.see(shown.id);
    },
    [id],
  );

  // What arrives while the window is hidden is marked, so that the reader finds where it begins.
  const lastId = state.messages.at(-1)?.id ?? 0;
  const lastKnown = useRef(lastId);
  useEffect(() => {
    const fresh = state.messages.find((message) => message.id > lastKnown.current && message.sender_id !== me);
    const isMarked = firstUnread > lastSeen.current;
    lastKnown.current = Math.max(lastKnown.current, lastId);
    if (fresh && !isMarked && !state.hasNewer && document.visibilityState !== "visible") setFirstUnread(fresh.id);
  }, [lastId]);

  const focusable = current ?? state.messages.at(-1)?.id;
  const draw = (entry) => {
    const { key, type } = entry;
    if (type === "day") return html`<${Divider} key=${key} rowKey=${key} kind="day" text=${dayOf(entry)} />`;
    if (type === "unread") return html`<${Divider} key=${key} rowKey=${key} kind="new" text=${t("Unread messages")} />`;
    if (type === "album")
      return html`<div key=${key} data-key=${key} class=${`album ${entry.own ? "own" : ""} ${entry.continues ? "continues" : ""}`}>
        ${entry.parts.map((part) => drawMessage({ ...part, continues: true }))}</div>`;
    return drawMessage(entry, key);
  };
  // The row of a message has a key; one of an album is not a row.
  const drawMessage = ({ key, message, item, own, continues }, rowKey = undefined) =>
    item
      ? html`<${Pending} key=${key} rowKey=${rowKey} item=${item} continues=${continues} />`
      : html`<${Message} key=${key} rowKey=${rowKey} message=${message} own=${own} continues=${continues} names=${names} actions=${actions}
      status=${own ? statusOf(message, row) : null} current=${message.id === focusable} marked=${message.id === (found?.id ?? flash)} wanted=${message.id === found?.id ? found.text : ""} />`;

  const onKeyDown = (event) => {
    const article = event.target.closest("article");
    const inMenu = event.target.closest(".popup, dialog, a");
    if (inMenu) return;
    const steps = { ArrowUp: -1, ArrowDown: 1 };
    if (event.key in steps) {
      const at = article
        ? state.messages.findIndex((message) => message.id === Number(article.dataset.messageId))
        : state.messages.length;
      const next = state.messages[at + steps[event.key]];
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

  const reply = (messageId) => {
    const message = state.messages.find((entry) => entry.id === messageId);
    if (message) actions.reply(message);
  };
  const gestures = useGestures(actions.blocked ? null : reply);

  const head = html`<div class="log-head">${
    state.hasOlder
      ? html`<${Loading} label=${t("Loading older messages")} />`
      : html`<p class="muted small">${t("This is the beginning of the conversation.")}</p>`
  }</div>`;
  const below = row.unread_count;
  const label = below
    ? tn("Jump to latest, {n} new message", "Jump to latest, {n} new messages", below)
    : t("Jump to latest");
  return html`<div class="log-frame" ...${gestures}>
    <${VirtualList} className="log" label=${t("Messages")} rows=${rows} draw=${draw} follow=${!state.hasNewer} head=${head} control=${connect} onKeyDown=${onKeyDown}
      onStart=${() => loadMore(() => messages.loadOlder())} onEnd=${() => loadMore(() => messages.loadNewer())} onPlace=${(next) => onPlace({ ...next, isLast: !state.hasNewer })} onDrawn=${onDrawn} isHeld=${() => isCatchingUp.current} />
    ${day && html`<div class="divider day stays" aria-hidden="true"><span>${day}</span></div>`}
    ${
      (far || state.hasNewer || (below > 0 && !atEnd)) &&
      html`<button type="button" class="to-end" aria-label=${label} title=${label} onClick=${toEndWithFocus}>
      <${Icon} name="down" />${below > 0 && html`<span class="count" aria-hidden="true">${below}</span>`}</button>`
    }
  </div>`;
}
