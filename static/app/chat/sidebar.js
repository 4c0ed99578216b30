// The left pane: the search, conversations.
import { LIMITS } from "../../sdk/parley/limits.js";
import { parley } from "../client.js";
import { html, useEffect, useRef, useState } from "../lib/html.js";
import { shortTime, t, tn } from "../lib/i18n.js";
import { NOTHING, useStore } from "../lib/store.js";
import { draftOf } from "../state/drafts.js";
import { muted } from "../state/muted.js";
import { statusOf } from "../state/rows.js";
import { store } from "../state/store.js";
import { Avatar, nameOf } from "../ui/avatar.js";
import { Icon } from "../ui/icon.js";
import { isComposing } from "../ui/keys.js";
import { Loading, Retry } from "../ui/loading.js";
import { Pure } from "../ui/pure.js";
import { plainText } from "./format.js";
import { Found } from "./found.js";
import { callIcon, previewText } from "./preview.js";

class Entry extends Pure {
  static keys = ["row", "typing", "here", "online", "draft", "waiting", "isMuted"];

  render({ row, typing, here, online, draft, waiting, isMuted }) {
    const { other_user: user, last_message: last, unread_count: unread, id } = row;
    const own = last && last.sender_id === parley.session.userId;
    const link = `chat-${id}`;
    const line = typing
      ? html`<span class="typing">${t("typing…")}</span>`
      : draft && (!here || !last)
        ? html`<span class="danger-text">${t("Draft:")}</span><span class="cut" dir="auto">${draft}</span>`
        : last && !waiting
          ? html`${own && last.kind !== "call" && html`<span class="muted">${t("You:")}</span>`}${last.kind === "call" && html`<${Icon} name=${callIcon(last.call)} size=${16} />`}<span class="cut" dir="auto">${previewText(last, own)}</span>`
          : html`<span class="muted">${t("You:")}</span><span class="cut" dir="auto">${waiting?.body ? plainText(waiting.body) : t("Image")}</span>`;
    return html`<li aria-labelledby=${link}><a id=${link} class="entry" href=${`/app/chats/${id}`} aria-current=${here ? "page" : undefined}>
      <span class="entry-avatar"><${Avatar} user=${user} />${online && html`<span class="dot" title=${t("online")}></span>`}</span>
      <span class="entry-line"><span class="entry-name" dir="auto">${nameOf(user)}</span>
        <span class="entry-time">${last && html`${own && !typing && html`<span class=${`entry-status ${statusOf(last, row)}`} aria-hidden="true">${statusOf(last, row) === "sent" ? "✓" : "✓✓"}</span> `}<time datetime=${last.created_at}>${shortTime(last.created_at)}</time>`}</span></span>
      <span class="entry-line"><span class="entry-text">${line}</span>
        <span class="entry-marks">${isMuted && html`<${Icon} name="mute" size=${16} />`}${unread > 0 && html`<span class="count"><span aria-hidden="true">${unread}</span><span class="visually-hidden">${tn("{n} unread", "{n} unread", unread)}</span></span>`}</span></span>
    </a></li>`;
  }
}

function Row({ row, here, draft, waiting, isMuted }) {
  const { other_user: user, is_blocked: isBlocked } = row;
  const typing = useStore(store.typing(row.id), (ids) => ids.length > 0);
  const online = useStore(isBlocked ? NOTHING : store.presence(user.id), (presence) => Boolean(presence?.online));
  return html`<${Entry} row=${row} typing=${typing} here=${here} online=${online} draft=${draft} waiting=${waiting} isMuted=${isMuted} />`;
}

// `isHit`: a message that was found has led to the open conversation; what was found stays.
export function Sidebar({ id, isHit }) {
  const { conversations, byId, hasMore, error } = useStore(store.conversations);
  const unsent = useStore(store.outbox);
  const mutedIds = useStore(muted, ({ ids }) => ids);
  const [query, setQuery] = useState("");
  const pane = useRef(null);
  useEffect(() => {
    if (id && !isHit) setQuery("");
  }, [id]);

  const onKeyDown = (event) => {
    if (isComposing(event)) return;
    if (event.key === "Escape" && query) {
      setQuery("");
      pane.current.querySelector("input").focus();
      return;
    }
    // The first one that was found, not one of the words before.
    if (event.key === "Enter" && event.target.type === "search")
      pane.current.querySelector('[aria-busy="false"] .person')?.click();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const places = [pane.current.querySelector("input"), ...pane.current.querySelectorAll(".entry")];
    const next = places[places.indexOf(document.activeElement) + step];
    if (next) {
      event.preventDefault();
      next.focus();
    }
  };
  const list = useRef(null);
  const loadNear = () => {
    const { scrollTop, clientHeight, scrollHeight } = list.current;
    // Hidden on a phone.
    if (clientHeight > 0 && scrollHeight - scrollTop - clientHeight < 600)
      store.conversations.loadOlder().catch(() => {});
  };
  // A list that does not fill a tall window is never scrolled. One that was read anew has its first page again.
  useEffect(loadNear, [conversations, hasMore]);
  // The one that is open may be further down than the list is loaded.
  const listed = conversations ?? [];
  const open = byId[id];
  // The last one of each conversation that waits for the server.
  const waiting = new Map(unsent.map((item) => [item.conversation_id, item]));
  // A conversation without a message, or whose messages were cleared, comes with the next one.
  const rows = (open && !listed.some((row) => row.id === id) ? [...listed, open] : listed).filter(
    (row) => row.last_message || waiting.has(row.id) || draftOf(row.id),
  );
  const load = () => void store.conversations.load().catch(() => {});
  const Heading = id ? "h2" : "h1";
  return html`<div class="side" ref=${pane} onKeyDown=${onKeyDown}>
    <header class="side-head"><${Heading} tabindex="-1">${t("Chats")}<//>
      <div class="search-box"><${Icon} name="search" size=${20} />
        <input type="search" class="input" aria-label=${t("Search people")} maxlength=${LIMITS.searchLength} placeholder=${t("Search")} autocomplete="off" value=${query} onInput=${(event) => setQuery(event.target.value)} /></div></header>
    <div ref=${list} class="side-scroll" role="group" aria-label=${t("Chats")} tabindex="-1" onScroll=${loadNear}>
      ${
        query.trim()
          ? html`<${Found} query=${query.trim()} heading=${id ? "h3" : "h2"} />`
          : html`
        ${!conversations && error && html`<${Retry} error=${error} onRetry=${load} className="side-note" />`}
        ${!conversations && !error && html`<${Loading} />`}
        ${conversations && rows.length === 0 && html`<p class="side-note muted">${t("No conversations yet. Search for a person to write to.")}</p>`}
        <ul class="entries" aria-label=${t("Conversations")}>${rows.map(
          (row) =>
            html`<${Row} key=${row.id} row=${row} here=${row.id === id} draft=${draftOf(row.id)} waiting=${waiting.get(row.id)} isMuted=${mutedIds.includes(row.id)} />`,
        )}</ul>`
      }
    </div>
  </div>`;
}
