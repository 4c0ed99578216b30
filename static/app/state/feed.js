// The notifications, newest first, kept true by the events.
import { parley } from "../client.js";
import { app, createStore } from "../store.js";
import { failed } from "../ui/notices.js";

const PAGE = 30;
const EMPTY = { rows: [], loaded: false, failed: null, cursor: null, hasMore: false };
export const feed = createStore(EMPTY);

// Removed here, maybe not yet on the server.
const removed = new Set();
// What sends the removals that can still be undone.
const waiting = new Set();

const newestFirst = (one, other) => Date.parse(other.created_at) - Date.parse(one.created_at) || other.id - one.id;

export async function loadFeed() {
  try {
    const reply = await parley.notifications.list({ limit: PAGE });
    feed.set({ rows: reply.notifications.filter(({ id }) => !removed.has(id)), loaded: true, failed: null, cursor: reply.next_cursor ?? null, hasMore: Boolean(reply.has_more) });
    app.set({ unread: reply.unread_count });
  } catch (error) {
    if (!feed.get().loaded) feed.set({ failed: error });
  }
}

export async function loadMoreFeed() {
  const { cursor, hasMore } = feed.get();
  if (!hasMore) return;
  const reply = await parley.notifications.list({ limit: PAGE, cursor });
  const known = new Set(feed.get().rows.map(({ id }) => id));
  feed.set(({ rows }) => ({ rows: [...rows, ...reply.notifications.filter(({ id }) => !known.has(id))], cursor: reply.next_cursor ?? null, hasMore: Boolean(reply.has_more) }));
}

export async function readAll() {
  const reply = await parley.notifications.readAll();
  feed.set(({ rows }) => ({ rows: rows.map((row) => ({ ...row, is_read: true })) }));
  app.set({ unread: reply.unread_count, messageUnread: reply.message_unread_count });
}

export async function readOne(id) {
  feed.set(({ rows }) => ({ rows: rows.map((row) => (row.id === id ? { ...row, is_read: true } : row)) }));
  const reply = await parley.notifications.read({ notification_id: id });
  if (reply.unread_count !== undefined) app.set({ unread: reply.unread_count });
}

// Removed from the list at once. The request is sent with `send`, when it can no longer be undone, or when the page goes
// or the user signs out before that.
export function remove(id) {
  const row = feed.get().rows.find((other) => other.id === id);
  const send = async () => {
    if (!waiting.delete(send)) return;
    try {
      await parley.notifications.delete({ notification_id: id }, { keepalive: true });
    } catch (error) {
      putBack(row);
      failed(error);
    }
  };
  waiting.add(send);
  removed.add(id);
  feed.set(({ rows }) => ({ rows: rows.filter((other) => other.id !== id) }));
  const undo = () => waiting.delete(send) && putBack(row);
  return { send, undo };
}

export const sendRemovals = () => Promise.all([...waiting].map((send) => send()));

function putBack(row) {
  removed.delete(row.id);
  feed.set(({ rows }) => ({ rows: [...rows.filter(({ id }) => id !== row.id), row].sort(newestFirst) }));
}

export function listen() {
  addEventListener("pagehide", sendRemovals);
  parley.on("notification.new", ({ notification, unread_count }) => {
    // Null when it was removed before its event came.
    if (feed.get().loaded && notification) putBack(notification);
    app.set({ unread: unread_count });
  });
  parley.on("notification.read_all", () => {
    if (feed.get().loaded) loadFeed();
  });
  parley.on("badge", ({ unread_count }) => {
    // Rows go away without an event of their own: an undone like, a conversation that was read.
    const shown = feed.get().rows.filter((row) => !row.is_read).length;
    if (feed.get().loaded && unread_count < shown) loadFeed();
  });
  parley.on("reload", () => {
    if (feed.get().loaded) loadFeed();
    parley.notifications.unreadCount().then(
      (reply) => app.set({ unread: reply.unread_count, messageUnread: reply.message_unread_count }),
      () => {},
    );
  });
  parley.on("signedout", () => feed.set(EMPTY));
}
