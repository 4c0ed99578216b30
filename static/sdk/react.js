/**
 * Hooks for React 18 or later, on the store. React is the one of the app: this package does not hold a copy.
 * Types: react.d.ts.
 */
import { createContext, createElement, useContext, useEffect, useMemo, useRef, useSyncExternalStore } from "react";

const ClientContext = createContext(null);
const UNKNOWN = Symbol("unknown");
const NOTHING = Object.freeze({
  getSnapshot: () => null,
  getInitialSnapshot: () => null,
  subscribe: () => () => {},
});
const NO_USERS = Object.freeze([]);

/** Gives the client to the hooks below it. The app connects it, and closes it when it is done. */
export function ParleyProvider({ client, children }) {
  return createElement(ClientContext.Provider, { value: client }, children);
}

/** The client. */
export function useParley() {
  const client = useContext(ClientContext);
  if (!client) throw new Error("There is no <ParleyProvider client={…}> around this component.");
  return client;
}

/** "connecting", "online" or "offline". */
export function useStatus() {
  const client = useParley();
  return useEvents(["status"], () => client.status, "offline");
}

/** The signed-in user, or null. */
export function useUser() {
  const client = useParley();
  const names = ["signedin", "signedout", "session.renewed", "profile.updated"];
  return useEvents(names, () => client.session.user, null);
}

/** The list of conversations, or what `selector` takes from its state. It is loaded with the first use. */
export function useConversations(selector, isEqual) {
  const { conversations } = useParley().store;
  useLoad(conversations);
  return usePages(conversations, selector, isEqual);
}

/** One conversation, also one that is further down the list; undefined until it is here. */
export function useConversation(id) {
  const { conversations } = useParley().store;
  useEffect(() => {
    if (id != null) conversations.loadOne(id).catch(() => {});
  }, [conversations, id]);
  return useSelected(conversations, ({ byId }) => (id == null ? undefined : byId[id]));
}

/** The messages of a conversation, with `send` and the functions that load more; null without an id. */
export function useMessages(id) {
  const client = useParley();
  const part = id == null ? null : client.store.messages(id);
  useLoad(part);
  const state = useSnapshot(part ?? NOTHING);
  const actions = useMemo(
    () =>
      part && {
        ...loadersOf(part),
        send: (body, more = {}) => client.outbox.send({ conversation_id: part.conversationId, body, ...more }),
      },
    [client, part],
  );
  return useMemo(() => state && { ...state, ...actions }, [state, actions]);
}

/** `{message_unread_count, unread_count}`. */
export function useUnread() {
  const { unread } = useParley().store;
  useLoad(unread);
  return useSnapshot(unread);
}

/** The ids of those who are typing in a conversation. */
export function useTyping(id) {
  const { store } = useParley();
  return useSnapshot(id == null ? NOTHING : store.typing(id)) ?? NO_USERS;
}

/** Whether a user is online: `{user_id, online, last_seen_at}`, null while unknown. */
export function usePresence(userId) {
  const { store } = useParley();
  return useSnapshot(userId == null ? NOTHING : store.presence(userId));
}

/** The notifications, or what `selector` takes from their state. They are loaded with the first use. */
export function useNotifications(selector, isEqual) {
  const { notifications } = useParley().store;
  useLoad(notifications);
  return usePages(notifications, selector, isEqual);
}

/** The call of this tab as it is now, or null. */
export function useCall() {
  const { calls } = useParley().store;
  return useSelected(calls, ({ current }) => current);
}

// --- What they share -----------------------------------------------------------------------------

function useSnapshot(source) {
  return useSyncExternalStore(source.subscribe, source.getSnapshot, source.getInitialSnapshot);
}

/** Selects anew when the selector changes, and keeps the last selection while the next one is equal. */
function useSelected(part, selector, isEqual = Object.is) {
  const last = useRef(UNKNOWN);
  const view = useMemo(
    () =>
      part.select((value) => {
        const next = selector(value);
        return last.current !== UNKNOWN && isEqual(last.current, next) ? last.current : next;
      }),
    [part, selector, isEqual],
  );
  const selected = useSnapshot(view);
  useEffect(() => {
    last.current = selected;
  });
  return selected;
}

const all = (state) => state;

function usePages(part, selector, isEqual) {
  const selected = useSelected(part, selector ?? all, isEqual);
  return useMemo(() => (selector ? selected : { ...selected, ...loadersOf(part) }), [part, selector, selected]);
}

/** The functions of a part that load more; they tell of a failure in `error`. */
function loadersOf(part) {
  const names = ["loadOlder", "loadNewer", "loadAround", "loadNewest"].filter((name) => part[name]);
  return Object.fromEntries(names.map((name) => [name, (...values) => part[name](...values).catch(() => {})]));
}

/** A failure is in the `error` of the part, which tries again by itself. */
function useLoad(part) {
  useEffect(() => {
    part?.load().catch(() => {});
  }, [part]);
}

function useEvents(names, read, initial) {
  const client = useParley();
  const subscribe = useMemo(
    () => (listener) => {
      const offs = names.map((name) => client.on(name, listener));
      return () => offs.forEach((off) => off());
    },
    // The names are always the same ones.
    [client],
  );
  return useSyncExternalStore(subscribe, read, () => initial);
}
