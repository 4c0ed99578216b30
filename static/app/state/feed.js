// The notifications, newest first, kept true by the events.
import { forThisUser, parley } from "../client.js";
import { app, createStore } from "../store.js";
import { failed } from "../ui/notices.js";

const PAGE = 30;
const EMPTY = { rows: [], loaded: false, failed: null, cursor: null, hasMore: false };
export const feed = createStore(EMPTY);

// Removed here, maybe not yet on the server.
const removed = new Set();
// What sends the removals that can still be undone, by notification.
const waiting = new Map();
// Requests that are under way: what events tell meanwhile is newer than their replies, and is told again after those.
const underWay = new Set();

async function loading(request, store) {
  const missed = [];
  underWay.add(missed);
  try {
    const reply = await forThisUser(request);
    store(reply);
    for (const act of missed) act();
  } finally {
    underWay.delete(missed);
  }
}

const newestFirst = (one, other) => Date.parse(other.created_at) - Date.parse(one.created_at) || other.id - one.id;

export async function loadFeed() {
  try {
    await loading(parley.notifications.list({ limit: PAGE }), (reply) => {
      feed.set({ rows: reply.notifications.filter(({ id }) => !removed.has(id)), loaded: true, failed: null, cursor: reply.next_cursor ?? null, hasMore: Boolean(reply.has_more) });
      app.set({ unread: reply.unread_count });
    });
  } catch (error) {
    if (!feed.get().loaded && error.code !== "aborted") feed.set({ failed: error });
  }
}

export async function loadMoreFeed() {
  const { cursor, hasMore } = feed.get();
  if (!hasMore) return;
  const reply = await parley.notifications.list({ limit: PAGE, cursor });
  // The list was loaded anew meanwhile, or the user has signed out.
  if (feed.get().cursor !== cursor) return;
  const known = new Set([...removed, ...feed.get().rows.map(({ id }) => id)]);
  feed.set(({ rows }) => ({ rows: [...rows, ...reply.notifications.filter(({ id }) => !known.has(id))], cursor: reply.next_cursor ?? null, hasMore: Boolean(reply.has_more) }));
}

export async function readAll() {
  await loading(parley.notifications.readAll(), (reply) => {
    feed.set(({ rows }) => ({ rows: rows.map((row) => ({ ...row, is_read: true })) }));
    app.set({ unread: reply.unread_count, messageUnread: reply.message_unread_count });
  });
}

export async function readOne(id) {
  feed.set(({ rows }) => ({ rows: rows.map((row) => (row.id === id ? { ...row, is_read: true } : row)) }));
  const reply = await forThisUser(parley.notifications.read({ notification_id: id }));
  if (reply.unread_count !== undefined) app.set({ unread: reply.unread_count });
}

// Removed from the list at once. The request is sent with `send`, when it can no longer be undone, or when the page goes
// or the user signs out before that.
export function remove(id) {
  const row = feed.get().rows.find((other) => other.id === id);
  const send = async () => {
    if (waiting.get(id) !== send) return;
    waiting.delete(id);
    try {
      await parley.notifications.delete({ notification_id: id }, { keepalive: true });
    } catch (error) {
      // It is back already, or the user has signed out.
      if (!removed.has(id)) return;
      putBack(row);
      failed(error);
    }
  };
  waiting.set(id, send);
  removed.add(id);
  feed.set(({ rows }) => ({ rows: rows.filter((other) => other.id !== id) }));
  const undo = () => waiting.get(id) === send && waiting.delete(id) && putBack(row);
  return { send, undo };
}

export const sendRemovals = () => Promise.all([...waiting.values()].map((send) => send()));

function putBack(row) {
  removed.delete(row.id);
  feed.set(({ rows }) => ({ rows: [...rows.filter(({ id }) => id !== row.id), row].sort(newestFirst) }));
}

export function listen() {
  addEventListener("pagehide", sendRemovals);
  parley.on("notification.new", ({ notification, unread_count }) => {
    // Something new has happened to it: it is not to be removed unseen.
    if (notification && removed.delete(notification.id)) waiting.delete(notification.id);
    const act = () => {
      // Null when it was removed before its event came.
      if (feed.get().loaded && notification && !removed.has(notification.id)) putBack(notification);
      app.set({ unread: unread_count });
    };
    act();
    for (const missed of underWay) missed.push(act);
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
    forThisUser(parley.notifications.unreadCount()).then(
      (reply) => app.set({ unread: reply.unread_count, messageUnread: reply.message_unread_count }),
      () => {},
    );
  });
  parley.on("signedout", () => {
    waiting.clear();
    removed.clear();
    feed.set(EMPTY);
  });
}
