// The list of conversations, kept true by the events.
import { forThisUser, parley } from "../client.js";
import { createStore } from "../store.js";

const PAGE = 30;
const EMPTY = { loaded: false, failed: null, ids: [], byId: {}, typing: {}, presence: {}, cursor: null, hasMore: false };
export const chats = createStore(EMPTY);

const activity = (row) => (row.last_message ? Date.parse(row.last_message.created_at) : 0);

function sorted(byId, ids) {
  return [...ids].sort((one, other) => activity(byId[other]) - activity(byId[one]) || other - one);
}

// Stores conversations from the server.
export function put(rows) {
  chats.set(({ byId, ids }) => {
    const next = { ...byId };
    for (const row of rows) next[row.id] = { ...row };
    const known = new Set([...ids, ...rows.map((row) => row.id)]);
    return { byId: next, ids: sorted(next, known) };
  });
}

export function change(id, part) {
  chats.set(({ byId, ids }) => {
    if (!byId[id]) return null;
    const next = { ...byId, [id]: { ...byId[id], ...part } };
    return { byId: next, ids: "last_message" in part ? sorted(next, ids) : ids };
  });
}

// What is under way: the conversations that changed since it was asked for, and are asked for once more.
const underWay = new Set();

async function loading(request, store) {
  const changed = new Set();
  underWay.add(changed);
  try {
    const reply = await forThisUser(request);
    store(reply);
    return reply;
  } finally {
    underWay.delete(changed);
    for (const id of changed) fetchChat(id).catch(() => {});
  }
}

export async function loadChats() {
  try {
    const request = parley.messages.listConversations({ limit: PAGE });
    const reply = await loading(request, ({ conversations }) => put(conversations));
    const open = Object.values(chats.get().byId).filter((row) => !reply.conversations.some(({ id }) => id === row.id));
    chats.set({ loaded: true, failed: null, cursor: reply.next_cursor, hasMore: reply.has_more });
    // What stood further down may have changed as well.
    for (const row of open.slice(0, PAGE)) fetchChat(row.id).catch(() => {});
  } catch (error) {
    if (!chats.get().loaded && error.code !== "aborted") chats.set({ failed: error });
  }
}

let loadingMore = false;
export async function loadMoreChats() {
  const { hasMore, cursor } = chats.get();
  if (!hasMore || loadingMore) return;
  loadingMore = true;
  try {
    const request = parley.messages.listConversations({ limit: PAGE, cursor });
    const reply = await loading(request, ({ conversations }) => put(conversations));
    chats.set({ cursor: reply.next_cursor, hasMore: reply.has_more });
  } finally {
    loadingMore = false;
  }
}

const fetching = new Map();
export function fetchChat(id) {
  if (!fetching.has(id)) {
    const request = parley.messages.getConversation({ conversation_id: id }).finally(() => fetching.delete(id));
    const work = loading(request, ({ conversation }) => put([conversation])).then(({ conversation }) => conversation);
    fetching.set(id, work);
  }
  return fetching.get(id);
}

export async function startChat(userId) {
  const { conversation } = await parley.messages.startConversation({ user_id: userId });
  put([conversation]);
  return conversation;
}

export function preview({ id, kind, body, sender_id, created_at, call }) {
  return { id, kind, body: body ?? "", sender_id, created_at, call };
}

// What an event does not tell in full. A reply that is under way may not know of it, either.
function fetchAgain(id) {
  for (const changed of underWay) changed.add(id);
  fetchChat(id).catch(() => {});
}

function known(id, act) {
  for (const changed of underWay) changed.add(id);
  if (chats.get().byId[id]) act(chats.get().byId[id]);
  else if (chats.get().loaded) fetchChat(id).catch(() => {});
}

export function listen() {
  const on = parley.on.bind(parley);
  on("message.new", ({ conversation_id: id, message, unread_count }) => {
    known(id, () => change(id, { last_message: preview(message), unread_count }));
    typing(id, message.sender_id, false);
  });
  on("outbox.sent", ({ message }) => {
    known(message.conversation_id, ({ last_message: last }) => {
      if (!last || last.id < message.id) change(message.conversation_id, { last_message: preview(message) });
    });
  });
  on("message.edited", ({ conversation_id: id, message, unread_count }) => {
    known(id, (row) => change(id, { unread_count, ...(row.last_message?.id === message.id ? { last_message: preview(message) } : {}) }));
  });
  on("message.deleted", ({ conversation_id: id, unread_count, last_message }) => known(id, () => change(id, { unread_count, last_message })));
  on("conversation.created", ({ conversation }) => put([conversation]));
  on("conversation.cleared", ({ conversation_id: id }) => fetchAgain(id));
  on("conversation.read", ({ conversation_id: id, user_id, last_read_id, unread_count }) => {
    known(id, (row) => {
      if (user_id === parley.session.userId) change(id, { last_read_id: Math.max(row.last_read_id ?? 0, last_read_id), unread_count });
      else change(id, { other_last_read_id: Math.max(row.other_last_read_id ?? 0, last_read_id) });
    });
  });
  on("conversation.delivered", ({ conversation_id: id, user_id, delivered_id }) => {
    if (user_id === parley.session.userId) return;
    known(id, (row) => change(id, { other_delivered_id: Math.max(row.other_delivered_id ?? 0, delivered_id) }));
  });
  on("block.changed", ({ user_id }) => {
    const row = Object.values(chats.get().byId).find(({ other_user: other }) => other.id === user_id);
    if (row) fetchAgain(row.id);
  });
  // Who is blocked gets no event of it.
  const refused = ({ conversation_id: id, error }) => error.code === "user_blocked" && fetchAgain(id);
  on("typing.refused", refused);
  on("outbox.failed", refused);
  on("typing", ({ conversation_id, user_id, is_typing }) => typing(conversation_id, user_id, is_typing));
  // Without a connection it is unknown who is online; with the next one it is asked for again.
  on("status", ({ status }) => status === "offline" && chats.set({ presence: {} }));
  on("presence", (row) => chats.set(({ presence }) => ({ presence: { ...presence, [row.user_id]: row } })));
  on("reload", () => loadChats());
  on("synced", () => refreshCounts());
  on("signedout", () => {
    fetching.clear();
    chats.set(EMPTY);
  });
}

// Receipts are no durable events: after a break the rows that are open are asked for again.
function refreshCounts() {
  for (const id of chats.get().ids.slice(0, 5)) fetchChat(id).catch(() => {});
}

function typing(id, userId, isTyping) {
  if (userId === parley.session.userId || Boolean(chats.get().typing[id]) === isTyping) return;
  chats.set((state) => ({ typing: { ...state.typing, [id]: isTyping } }));
}
