// An observable value with subscribers, and the hook that reads one: of this kind, or a part of the SDK's store.
import { useLayoutEffect, useRef, useState } from "./html.js";

export function createStore(initial) {
  let value = initial;
  const listeners = new Set();
  return {
    getSnapshot: () => value,
    // A part of the value, or a function from the old value to a part of the new one.
    set(change) {
      const part = typeof change === "function" ? change(value) : change;
      if (!part || Object.keys(part).every((key) => Object.is(part[key], value[key]))) return;
      value = { ...value, ...part };
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** @type {any} In place of a part that is not wanted. */
export const NOTHING = { getSnapshot: () => null, subscribe: () => () => {} };

// Redraws the component when what `select` takes from the source changes.
export function useStore(source, select = (/** @type {any} */ value) => value) {
  const [, redraw] = useState(0);
  const drawn = useRef(null);
  const selected = select(source.getSnapshot());
  drawn.current = { select, selected };
  useLayoutEffect(() => {
    const check = () => {
      const { select: now, selected: before } = drawn.current;
      if (!Object.is(now(source.getSnapshot()), before)) redraw((count) => count + 1);
    };
    const end = source.subscribe(check);
    check();
    return end;
  }, [source]);
  return selected;
}
