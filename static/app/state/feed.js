// What the page of notifications shows: notifications but those of messages, which the chats show; missed calls;
// sign-ins of other devices; security changes. And how much of it is unread.
import { forThisUser, parley } from "../client.js";
import { useEffect, useMemo } from "../lib/html.js";
import { createStore, useStore } from "../lib/store.js";
import { app } from "./app.js";
import { isMissed } from "./calls.js";
import { removals } from "./removals.js";
import { store } from "./store.js";

const isShown = ({ type }) => type !== "message";
// What fails stands in the state.
const quietly = (promise) => void promise.catch(() => {});

function useNotifications() {
  const { notifications: all, hasMore, error } = useStore(store.notifications);
  const removed = useStore(removals, ({ ids }) => ids);
  const rows = useMemo(() => all?.filter((row) => isShown(row) && !removed.has(row.id)) ?? null, [all, removed]);
  return { all, rows, hasMore, error };
}

// The server counts the notifications of messages, too: those that are unread are looked at.
export function useUnread() {
  const { unread_count: count } = useStore(store.unread);
  const { all, rows, hasMore } = useNotifications();
  useEffect(() => {
    if (count > 0 && !all) quietly(store.notifications.load());
    else if (hasMore && all.filter((row) => !row.is_read).length < count) quietly(store.notifications.loadOlder());
  }, [count, all]);
  return count > 0 ? (rows ?? []).filter((row) => !row.is_read).length : 0;
}

// Sign-ins of the same device on one day are one row, at the time of the last one, with their count.
function byDevice(sessions) {
  const rows = new Map();
  for (const session of sessions) {
    const key = `${session.device_name} ${new Date(session.created_at).toDateString()}`;
    const { count = 0, ...last } = rows.get(key) ?? session;
    rows.set(key, { ...(last.created_at > session.created_at ? last : session), count: count + 1 });
  }
  return [...rows.values()];
}

const nothing = { signIns: null, changes: null, error: null };
const security = createStore(nothing);

export async function loadSecurity() {
  try {
    const [{ sessions }, { changes }] = await forThisUser(
      Promise.all([parley.auth.sessionsList(), parley.auth.securityChanges()]),
    );
    const signIns = byDevice(sessions.filter((session) => !session.is_current));
    // A type may have several changes, each at another time.
    const named = changes.map((change) => ({ ...change, id: `${change.type}-${change.created_at}` }));
    security.set({ signIns, changes: named, error: null });
  } catch (error) {
    if (error.code !== "aborted") security.set({ error });
  }
}

parley.on("signedout", () => security.set(nothing));

const entries = (kind, rows) =>
  (rows ?? []).map((row) => ({ kind, key: `${kind}-${row.id}`, at: row.created_at, row }));

/** The entries, newest first, down to where all of it is loaded; `loadOlder` goes on from there. */
export function useFeed() {
  const userId = useStore(app, ({ user }) => user?.id);
  const notifications = useNotifications();
  const calls = useStore(store.calls);
  const { signIns, changes, error } = useStore(security);
  const load = () => {
    quietly(store.notifications.load());
    quietly(store.calls.load());
    loadSecurity();
  };
  useEffect(load, []);

  const pages = [
    { part: store.notifications, last: notifications.all?.at(-1), hasMore: notifications.hasMore },
    { part: store.calls, last: calls.calls?.at(-1), hasMore: calls.hasMore },
  ].filter(({ hasMore, last }) => hasMore && last);
  const from = pages.map(({ last }) => last.created_at).reduce((one, other) => (one > other ? one : other), "");
  const missed = calls.calls?.filter((call) => isMissed(call, userId));
  return {
    load,
    entries: [
      ...entries("notification", notifications.rows),
      ...entries("call", missed),
      ...entries("sign-in", signIns),
      ...entries("security", changes),
    ]
      .filter(({ at }) => at >= from)
      .sort((one, other) => (one.at === other.at ? 0 : one.at < other.at ? 1 : -1)),
    isLoaded: Boolean(notifications.all && calls.calls && signIns),
    error: (!notifications.all && notifications.error) || (!calls.calls && calls.error) || (!signIns && error),
    hasMore: pages.length > 0,
    // Changes with each page that was loaded, though nothing of it may be shown.
    position: from,
    loadOlder: () =>
      pages.filter(({ last }) => last.created_at === from).forEach(({ part }) => quietly(part.loadOlder())),
  };
}
