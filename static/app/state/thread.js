// The messages of a conversation: a stretch of the history without gaps, oldest first.
import { parley } from "../client.js";
import { createStore } from "../store.js";
import { chats } from "./chats.js";

const PAGE = 50;
const MOST_ABOVE_UNREAD = 80;
const KEPT = 6;
// A reader at the end needs no long history: the memory stays the same however long the window is open.
const MOST_AT_END = 600;
const LEFT_AT_END = 300;
// After a failed page the next one is not asked for at once.
const PAUSE_MS = 3000;
const threads = new Map();
// Replies that are under way: what happens meanwhile is not in them, and happens again once they are here.
const underWay = new Set();

const EMPTY = { messages: [], pending: [], loaded: false, failed: null, busy: false, paused: false, hasOlder: false, hasNewer: false, firstUnread: null };

export function thread(id) {
  const store = threads.get(id) ?? createStore({ ...EMPTY, id, pending: parley.outbox.items(id) });
  // The one that was opened last is forgotten last.
  threads.delete(id);
  threads.set(id, store);
  if (threads.size > KEPT) threads.delete(threads.keys().next().value);
  return store;
}

async function loadPage(id, query) {
  const { messages, has_more: hasMore } = await parley.messages.list({ conversation_id: id, limit: PAGE, ...query });
  return { messages: messages.reverse(), hasMore };
}

async function loading(id, work) {
  const page = { id, missed: [] };
  underWay.add(page);
  try {
    await work();
  } finally {
    underWay.delete(page);
    for (const act of page.missed) act();
  }
}

// One request at a time and conversation; a second one while it runs is left out.
async function once(store, work) {
  if (store.get().busy || store.get().paused) return;
  store.set({ busy: true });
  try {
    await loading(store.get().id, work);
  } catch (error) {
    store.set(store.get().loaded ? { paused: true } : { failed: error });
    // The log that is drawn then asks again if it still needs the page.
    setTimeout(() => store.set({ paused: false }), PAUSE_MS);
  } finally {
    store.set({ busy: false });
  }
}

// The newest page, or the stretch around the first unread message.
export function open(id) {
  const store = thread(id);
  const row = chats.get().byId[id];
  const unread = row?.unread_count ?? 0;
  if (store.get().loaded && !store.get().hasNewer) {
    store.set({ firstUnread: firstUnread(store.get().messages, row) });
    return Promise.resolve();
  }
  return once(store, async () => {
    const part = unread > MOST_ABOVE_UNREAD ? await around(id, row.last_read_id + 1) : await newest(id, Math.max(PAGE, unread + 20));
    store.set({ ...part, firstUnread: firstUnread(part.messages, row), loaded: true, failed: null });
  });
}

function firstUnread(messages, row) {
  if (!row?.unread_count) return null;
  const me = parley.session.userId;
  return messages.find((message) => message.id > (row.last_read_id ?? 0) && message.sender_id !== me)?.id ?? null;
}

async function newest(id, limit = PAGE) {
  const page = await loadPage(id, { limit });
  return { messages: page.messages, hasOlder: page.hasMore, hasNewer: false };
}

async function around(id, messageId) {
  const [older, newer] = await Promise.all([loadPage(id, { before: messageId }), loadPage(id, { after: messageId - 1 })]);
  return { messages: [...older.messages, ...newer.messages], hasOlder: older.hasMore, hasNewer: newer.hasMore };
}

export function loadOlder(id) {
  const store = thread(id);
  const first = store.get().messages[0];
  if (!first || !store.get().hasOlder) return Promise.resolve();
  return once(store, async () => {
    const page = await loadPage(id, { before: first.id, limit: 100 });
    // A jump may have replaced the stretch meanwhile: what does not join on is left out.
    store.set(({ messages }) => (messages[0]?.id === first.id ? { messages: [...page.messages, ...messages], hasOlder: page.hasMore } : null));
  });
}

export function loadNewer(id) {
  const store = thread(id);
  const last = store.get().messages.at(-1);
  if (!last || !store.get().hasNewer) return Promise.resolve();
  return once(store, async () => {
    const page = await loadPage(id, { after: last.id, limit: 100 });
    store.set(({ messages }) => (messages.at(-1)?.id === last.id ? { messages: [...messages, ...page.messages], hasNewer: page.hasMore } : null));
  });
}

// Makes sure that a message is among those that are here. Resolves to whether it is.
export async function reach(id, messageId, isWanted) {
  const store = thread(id);
  const has = () => store.get().messages.some((message) => message.id === messageId);
  if (!has()) await replace(store, () => around(id, messageId), isWanted);
  return has();
}

export async function latest(id, isWanted) {
  const store = thread(id);
  if (store.get().hasNewer) await replace(store, () => newest(id), isWanted);
}

// With another stretch, unless the reader has gone elsewhere by the time it is here.
const replace = (store, load, isWanted) =>
  loading(store.get().id, async () => {
    const stretch = await load();
    if (isWanted()) store.set(stretch);
  });

// To be called while the end is in sight; what goes is loaded again when the reader scrolls up.
export function trim(id) {
  threads.get(id)?.set(({ messages, hasNewer }) =>
    !hasNewer && messages.length > MOST_AT_END ? { messages: messages.slice(-LEFT_AT_END), hasOlder: true } : null);
}

// The messages with one more, or with what one has become.
function withMessage(messages, message) {
  let at = messages.length;
  while (at > 0 && messages[at - 1].id > message.id) at -= 1;
  const isHere = at > 0 && messages[at - 1].id === message.id;
  return [...messages.slice(0, isHere ? at - 1 : at), message, ...messages.slice(at)];
}

function add(message) {
  const store = threads.get(message.conversation_id);
  if (!store) return;
  store.set(({ messages, pending, hasNewer, loaded }) => ({
    pending: message.client_id ? pending.filter((item) => item.client_id !== message.client_id) : pending,
    ...(loaded && !hasNewer ? { messages: withMessage(messages, message) } : {}),
  }));
}

export function update(id, messageId, part) {
  threads.get(id)?.set(({ messages }) => ({
    messages: messages.map((message) => {
      if (message.id === messageId) return { ...message, ...part };
      return message.reply_to?.id === messageId ? { ...message, reply_to: { ...message.reply_to, ...part } } : message;
    }),
  }));
}

function drop(id, messageId) {
  threads.get(id)?.set(({ messages }) => ({
    messages: messages
      .filter((message) => message.id !== messageId)
      .map((message) => (message.reply_to_id === messageId ? { ...message, reply_to: null } : message)),
  }));
}

function dropUpTo(id, messageId) {
  threads.get(id)?.set(({ messages }) => ({ messages: messages.filter((message) => message.id > messageId), hasOlder: false }));
}

// After a break that is too long for the log of events: what changed in the newest page, or that page alone.
async function refresh(store) {
  const { id, loaded } = store.get();
  if (!loaded) return;
  await loading(id, async () => {
    const page = await loadPage(id, {});
    store.set(({ messages, hasOlder, hasNewer }) => {
      if (hasNewer) return null;
      if (!page.hasMore) return { messages: page.messages, hasOlder: false };
      const first = page.messages[0].id;
      const joinsOn = messages.some((message) => message.id >= first);
      if (!joinsOn) return { messages: page.messages, hasOlder: true };
      return { messages: [...messages.filter((message) => message.id < first), ...page.messages], hasOlder };
    });
  });
}

export async function edit(message, body) {
  await loading(message.conversation_id, async () => {
    const reply = await parley.messages.edit({ message_id: message.id, body });
    update(message.conversation_id, message.id, reply.message);
  });
}

export async function remove(message) {
  await parley.messages.delete({ message_id: message.id });
  drop(message.conversation_id, message.id);
}

export async function react(message, emoji) {
  const me = parley.session.userId;
  const mine = message.reactions.find((row) => row.emoji === emoji)?.user_ids.includes(me);
  const params = { message_id: message.id, emoji };
  await loading(message.conversation_id, async () => {
    const { reactions } = mine ? await parley.messages.unreact(params) : await parley.messages.react(params);
    update(message.conversation_id, message.id, { reactions });
  });
}

export async function clear(id) {
  const { cleared_up_to_id: last } = await parley.messages.clearConversation({ conversation_id: id });
  dropUpTo(id, last);
}

export function listen() {
  const on = (type, act) => parley.on(type, (data) => {
    const id = data.conversation_id ?? data.message.conversation_id;
    act(data, id);
    for (const page of underWay) if (page.id === id) page.missed.push(() => act(data, id));
  });
  on("message.new", ({ message }) => add(message));
  on("outbox.sent", ({ message }) => add(message));
  on("message.edited", ({ message }, id) => update(id, message.id, message));
  on("message.reactions", ({ message_id, reactions }, id) => update(id, message_id, { reactions }));
  on("message.deleted", ({ message_id }, id) => drop(id, message_id));
  on("conversation.cleared", ({ cleared_up_to_id: last }, id) => dropUpTo(id, last));
  parley.on("reload", () => {
    for (const store of threads.values()) refresh(store).catch(() => {});
  });
  parley.on("outbox", ({ items }) => {
    for (const [id, store] of threads) {
      const waiting = items.filter((item) => item.conversation_id === id);
      const arrived = (item) => store.get().messages.some((message) => message.client_id === item.client_id);
      store.set({ pending: waiting.filter((item) => !arrived(item)) });
    }
  });
  parley.on("signedout", () => threads.clear());
}
