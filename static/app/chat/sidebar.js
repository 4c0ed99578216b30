// The left pane: user search, conversations.
import { LIMITS } from "../../sdk/parley.js";
import { parley } from "../client.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { day, dayName, t, time, tn } from "../i18n.js";
import { chats, loadChats, loadMoreChats } from "../state/chats.js";
import { statusOf } from "../state/rows.js";
import { useStore } from "../store.js";
import { Avatar, nameOf } from "../ui/avatar.js";
import { Icon } from "../ui/icon.js";
import { errorText } from "../ui/notices.js";
import { Pure } from "../ui/pure.js";
import { draftOf } from "./drafts.js";
import { callIcon, previewText } from "./preview.js";
import { muted } from "./muted.js";

const WAIT_MS = 200;

function shortTime(value) {
  const date = new Date(value);
  if (date.toDateString() === new Date().toDateString()) return time(value);
  const name = dayName(value);
  return name === day(value) ? date.toLocaleDateString(document.documentElement.lang, { day: "numeric", month: "short" }) : name;
}

class Entry extends Pure {
  static keys = ["row", "typing", "here", "online", "draft", "isMuted"];

  render({ row, typing, here, online, draft, isMuted }) {
    const { other_user: user, last_message: last, unread_count: unread, id } = row;
    const own = last && last.sender_id === parley.session.userId;
    const link = `chat-${id}`;
    const line = typing
      ? html`<span class="typing">${t("typing…")}</span>`
      : draft && !here
        ? html`<span class="danger-text">${t("Draft:")}</span><span class="cut" dir="auto">${draft}</span>`
        : last
          ? html`${own && html`<span class="muted">${t("You:")}</span>`}${last.kind === "call" && html`<${Icon} name=${callIcon(last.call)} size=${16} />`}<span class="cut" dir="auto">${previewText(last, own)}</span>`
          : html`<span class="muted">${t("No messages yet")}</span>`;
    return html`<li aria-labelledby=${link}><a id=${link} class="entry" href=${`/app/chats/${id}`} aria-current=${here ? "page" : undefined}>
      <span class="entry-avatar"><${Avatar} user=${user} />${online && html`<span class="dot" title=${t("online")}></span>`}</span>
      <span class="entry-line"><span class="entry-name" dir="auto">${nameOf(user)}</span>
        <span class="entry-time">${last && html`${own && !typing && html`<span class=${`entry-status ${statusOf(last, row)}`} aria-hidden="true">${statusOf(last, row) === "sent" ? "✓" : "✓✓"}</span> `}<time datetime=${last.created_at}>${shortTime(last.created_at)}</time>`}</span></span>
      <span class="entry-line"><span class="entry-text">${line}</span>
        <span class="entry-marks">${isMuted && html`<${Icon} name="mute" size=${16} />`}${unread > 0 && html`<span class="count"><span aria-hidden="true">${unread}</span><span class="visually-hidden">${tn("{n} unread", "{n} unread", unread)}</span></span>`}</span></span>
    </a></li>`;
  }
}

function People({ query }) {
  const [found, setFound] = useState(null);
  const [error, setError] = useState(null);
  const [tries, setTries] = useState(0);
  // What failed without a connection is tried again with the next one.
  useEffect(() => error && parley.on("status", ({ status }) => status === "online" && setTries((count) => count + 1)), [error]);
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const reply = await parley.messages.searchUsers({ q: query, limit: 30 }, { signal: abort.signal });
        setFound({ query, people: reply.users });
        setError(null);
      } catch (problem) {
        if (problem.code !== "aborted") setError(problem);
      }
    }, WAIT_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [query, tries]);
  if (error) return html`<p class="side-note danger-text">${errorText(error)}</p>`;
  if (!found) return html`<p class="side-note muted">${t("Searching…")}</p>`;
  const { people } = found;
  return html`<p class="side-note muted" aria-live="polite">${people.length ? tn("{n} person found", "{n} people found", people.length) : t("No people found")}</p>
    <ul class="entries" aria-label=${t("People")} aria-busy=${found.query !== query}>${people.map((user) => html`<li key=${user.id}><a class="entry person" href=${`/app/people/${user.id}`}>
      <span class="entry-avatar"><${Avatar} user=${user} /></span><span class="entry-line"><span class="entry-name" dir="auto">${nameOf(user)}</span></span>
      <span class="entry-line"><span class="entry-text"><bdi dir="ltr">@${user.username}</bdi></span></span></a></li>`)}</ul>`;
}

export function Sidebar({ id }) {
  const state = useStore(chats);
  const mutedIds = useStore(muted, ({ ids }) => ids);
  const [query, setQuery] = useState("");
  const pane = useRef();
  useEffect(() => setQuery(""), [id]);

  const onKeyDown = (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape" && query) {
      setQuery("");
      pane.current.querySelector("input").focus();
      return;
    }
    // The first one that was found, not one of the words before.
    if (event.key === "Enter" && event.target.type === "search") pane.current.querySelector('[aria-busy="false"] .person')?.click();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const places = [pane.current.querySelector("input"), ...pane.current.querySelectorAll(".entry")];
    const next = places[places.indexOf(document.activeElement) + step];
    if (next) {
      event.preventDefault();
      next.focus();
    }
  };
  const list = useRef();
  const loadNear = () => {
    const { scrollTop, clientHeight, scrollHeight } = list.current;
    // Hidden on a phone.
    if (clientHeight > 0 && scrollHeight - scrollTop - clientHeight < 600) loadMoreChats().catch(() => {});
  };
  // A list that does not fill a tall window is never scrolled.
  useEffect(loadNear, [state.cursor]);
  const rows = state.ids.map((each) => state.byId[each]).filter((row) => row.last_message || row.id === id || draftOf(row.id));
  const Heading = id ? "h2" : "h1";
  return html`<div class="side" ref=${pane} onKeyDown=${onKeyDown}>
    <header class="side-head"><${Heading} tabindex="-1">${t("Chats")}<//>
      <div class="search-box"><${Icon} name="search" size=${20} />
        <input type="search" class="input" aria-label=${t("Search people")} maxlength=${LIMITS.searchLength} placeholder=${t("Search people")} autocomplete="off" value=${query} onInput=${(event) => setQuery(event.target.value)} /></div></header>
    <div ref=${list} class="side-scroll" onScroll=${loadNear}>
      ${query.trim() ? html`<${People} query=${query.trim()} />` : html`
        ${state.failed && html`<p class="side-note">${errorText(state.failed)} <button type="button" class="text-button" onClick=${loadChats}>${t("Try again")}</button></p>`}
        ${!state.loaded && !state.failed && html`<div class="spinner" role="progressbar" aria-label=${t("Loading")}></div>`}
        ${state.loaded && rows.length === 0 && html`<p class="side-note muted">${t("No conversations yet. Search for a person to write to.")}</p>`}
        <ul class="entries" aria-label=${t("Conversations")}>${rows.map((row) => html`<${Entry} key=${row.id} row=${row} here=${row.id === id}
          typing=${Boolean(state.typing[row.id])} online=${Boolean(!row.is_blocked && state.presence[row.other_user.id]?.online)} draft=${draftOf(row.id)} isMuted=${mutedIds.includes(row.id)} />`)}</ul>`}
    </div>
  </div>`;
}
