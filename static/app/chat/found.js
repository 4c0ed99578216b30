// What the search of the left pane finds: people, and messages of all conversations.
import { parley } from "../client.js";
import { html, useEffect, useState } from "../lib/html.js";
import { shortTime, t, tn } from "../lib/i18n.js";
import { errorText, failed } from "../lib/notices.js";
import { useStore } from "../lib/store.js";
import { store } from "../state/store.js";
import { Avatar, nameOf } from "../ui/avatar.js";
import { marked } from "../ui/marked.js";
import { plainText } from "./format.js";

const WAIT_MS = 200;
// Messages are asked for less often than the text changes.
const LONG_WAIT_MS = 400;
const HITS = 20;
// Pages without a hit that are asked for one after the other.
const MOST_EMPTY = 4;
const BEFORE_HIT = 24;

// {found: {query, …}, error} of a search that begins a moment after the text has changed. What failed without a
// connection is tried again with the next one.
function useAsked(query, wait, ask) {
  const [found, setFound] = useState(null);
  const [error, setError] = useState(null);
  const [tries, setTries] = useState(0);
  useEffect(
    () => error && parley.on("status", ({ status }) => status === "online" && setTries((count) => count + 1)),
    [error],
  );
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const reply = await ask(query, abort.signal);
        setFound({ query, ...reply });
        setError(null);
      } catch (problem) {
        if (problem.code !== "aborted") setError(problem);
      }
    }, wait);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [query, tries]);
  return { found, error, setFound };
}

const askPeople = (q, signal) => parley.messages.searchUsers({ q, limit: 30 }, { signal });

function People({ query, asked: { found, error } }) {
  if (error) return html`<p class="side-note danger-text">${errorText(error)}</p>`;
  if (!found) return html`<p class="side-note muted">${t("Searching…")}</p>`;
  const { users } = found;
  return html`<p class="side-note muted" aria-live="polite">${users.length ? tn("{n} person found", "{n} people found", users.length) : t("No people found")}</p>
    <ul class="entries" aria-label=${t("People")} aria-busy=${found.query !== query}>${users.map(
      (user) => html`<li key=${user.id}><a class="entry person" href=${`/app/people/${user.id}`}>
      <span class="entry-avatar"><${Avatar} user=${user} /></span><span class="entry-line"><span class="entry-name" dir="auto">${nameOf(user)}</span></span>
      <span class="entry-line"><span class="entry-text"><bdi dir="ltr">@${user.username}</bdi></span></span></a></li>`,
    )}</ul>`;
}

// The server reads a part of long conversations at a time: a page without a hit need not be the last one.
async function askMessages(q, signal, cursor = null) {
  let reply = null;
  for (let pages = 0; pages < MOST_EMPTY; pages += 1) {
    reply = await parley.messages.searchEverywhere({ q, limit: HITS, ...(cursor ? { cursor } : {}) }, { signal });
    cursor = reply.next_cursor;
    if (reply.messages.length > 0 || !cursor) break;
  }
  return { messages: reply.messages, cursor };
}

// A line of the text around what was searched for; its beginning where the server has found it in another spelling.
function Excerpt({ body, query }) {
  const placeIn = (line) => line.toLowerCase().indexOf(query.toLowerCase());
  const plain = plainText(body).replace(/\s+/g, " ");
  // The query may be one of the marks.
  const text = placeIn(plain) < 0 ? body.replace(/\s+/g, " ") : plain;
  const at = placeIn(text);
  if (at < 0) return text;
  const from = at > BEFORE_HIT ? text.indexOf(" ", at - BEFORE_HIT) + 1 || at : 0;
  const start = Math.min(from, at);
  return html`${start > 0 && "…"}${marked(text.slice(start), query)}`;
}

// `isTold`: the reason of an error stands above already.
function Messages({ query, heading: Heading, asked: { found, error, setFound }, isTold }) {
  const [isLoading, setLoading] = useState(false);
  const people = useStore(store.conversations, ({ byId }) => byId);
  useEffect(() => {
    for (const id of new Set(found?.messages.map((message) => message.conversation_id)))
      if (!people[id]) store.conversations.loadOne(id).catch(() => {});
  }, [found]);
  const goOn = async () => {
    setLoading(true);
    try {
      const more = await askMessages(found.query, undefined, found.cursor);
      // Another text may be searched for by now.
      setFound((now) => (now === found ? { ...found, ...more, messages: [...found.messages, ...more.messages] } : now));
    } catch (problem) {
      failed(problem);
    }
    setLoading(false);
  };
  const hits = found?.messages.filter((message) => people[message.conversation_id]) ?? [];
  return html`<section aria-labelledby="found-messages"><${Heading} id="found-messages" class="side-heading">${t("Messages")}<//>
    ${error && !isTold && html`<p class="side-note danger-text">${errorText(error)}</p>`}
    ${!found && !error && html`<p class="side-note muted">${t("Searching…")}</p>`}
    ${found && found.messages.length === 0 && html`<p class="side-note muted" aria-live="polite">${t("No messages found")}</p>`}
    <ul class="entries" aria-labelledby="found-messages" aria-busy=${found?.query !== query}>${hits.map((message) => {
      const { other_user: user } = people[message.conversation_id];
      const isOwn = message.sender_id === parley.session.userId;
      return html`<li key=${message.id}><a class="entry hit" href=${`/app/chats/${message.conversation_id}?message=${message.id}&text=${encodeURIComponent(found.query)}`}>
        <span class="entry-avatar"><${Avatar} user=${user} /></span>
        <span class="entry-line"><span class="entry-name" dir="auto">${nameOf(user)}</span><span class="entry-time"><time datetime=${message.created_at}>${shortTime(message.created_at)}</time></span></span>
        <span class="entry-line"><span class="entry-text">${isOwn && html`<span class="muted">${t("You:")}</span>`}<span class="cut" dir="auto"><${Excerpt} body=${message.body} query=${found.query} /></span></span></span></a></li>`;
    })}</ul>
    ${found?.cursor && html`<p class="side-note"><button type="button" class="button" disabled=${isLoading} onClick=${goOn}>${t("Search older messages")}</button></p>`}
  </section>`;
}

export function Found({ query, heading }) {
  const people = useAsked(query, WAIT_MS, askPeople);
  const messages = useAsked(query, LONG_WAIT_MS, askMessages);
  const isTold = people.error && messages.error && errorText(people.error) === errorText(messages.error);
  return html`<${People} query=${query} asked=${people} />
    <${Messages} query=${query} heading=${heading} asked=${messages} isTold=${isTold} />`;
}
