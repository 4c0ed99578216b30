// An observable value with subscribers.
import { useLayoutEffect, useState } from "./html.js";

export function createStore(initial) {
  let value = initial;
  const listeners = new Set();
  return {
    get: () => value,
    // A part of the value, or a function from the old value to a part of the new one.
    set(change) {
      const part = typeof change === "function" ? change(value) : change;
      if (!part || Object.keys(part).every((key) => Object.is(part[key], value[key]))) return;
      value = { ...value, ...part };
      for (const listener of [...listeners]) listener(value);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

// Redraws the component when what `select` takes from the store changes.
export function useStore(store, select = (value) => value) {
  const selected = select(store.get());
  const [, redraw] = useState(0);
  useLayoutEffect(() => {
    let last = selected;
    const check = (value) => {
      const next = select(value);
      if (!Object.is(next, last)) {
        last = next;
        redraw((count) => count + 1);
      }
    };
    check(store.get());
    return store.subscribe(check);
  });
  return selected;
}

// State shared by the whole client: the signed-in user, the connection, counts, notices.
export const app = createStore({
  user: null,
  status: "connecting",
  retryAt: null,
  // What signed-in users need could not be loaded.
  isBroken: false,
  unread: 0,
  messageUnread: 0,
  notices: [],
});
