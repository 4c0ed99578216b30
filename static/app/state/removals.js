// Notifications that the reader has removed: hidden at once, removed on the server when it can no longer be undone.
import { parley } from "../client.js";
import { failed } from "../lib/notices.js";
import { createStore } from "../lib/store.js";

// Hidden here, maybe still on the server.
export const removals = createStore({ ids: new Set() });
// What sends the removals that can still be undone, by notification.
const waiting = new Map();

const hide = (id) => removals.set(({ ids }) => ({ ids: new Set([...ids, id]) }));
const show = (id) =>
  removals.set(({ ids }) => ids.has(id) && { ids: new Set([...ids].filter((other) => other !== id)) });

// The request is sent with `send`, when it can no longer be undone, or when the page goes or the user signs out before
// that. `sent` is called then.
export function remove(id, sent) {
  const send = async () => {
    if (waiting.get(id) !== send) return;
    waiting.delete(id);
    sent();
    try {
      await parley.notifications.delete({ notification_id: id }, { keepalive: true });
    } catch (error) {
      // It is back already, or the user has signed out.
      if (!removals.getSnapshot().ids.has(id)) return;
      show(id);
      failed(error);
    }
  };
  waiting.set(id, send);
  hide(id);
  const undo = () => waiting.get(id) === send && waiting.delete(id) && show(id);
  return { send, undo };
}

export const sendRemovals = () => Promise.all([...waiting.values()].map((send) => send()));

export function listen() {
  addEventListener("pagehide", sendRemovals);
  // Firefox may end a closed tab while it tells of `pagehide`.
  document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && sendRemovals());
  parley.on("notification.new", ({ notification }) => {
    // Something new has happened to it: it is not to be removed unseen.
    if (!notification || !removals.getSnapshot().ids.has(notification.id)) return;
    waiting.delete(notification.id);
    show(notification.id);
  });
  parley.on("signedout", () => {
    waiting.clear();
    removals.set({ ids: new Set() });
  });
}
