import { run } from "../emitter.js";

/** A part of the state: a value that is replaced, never changed, and keeps its reference while nothing changes. */
export class Part {
  #value;
  #initial;
  #listeners = new Set();
  #onChange;

  constructor(value, onChange) {
    this.#value = this.#initial = value;
    this.#onChange = onChange;
  }

  getSnapshot = () => this.#value;

  /** The value before anything was loaded: what a server renders, and a browser that takes over from it. */
  getInitialSnapshot = () => this.#initial;

  /** Calls `listener` after each change. Returns the function that ends this. */
  subscribe = (listener) => {
    // The same function may subscribe twice.
    const entry = () => run(listener, []);
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  };

  /** What `selector` takes from this part, as a part whose listeners are called only when that changes. */
  select(selector, isEqual = Object.is) {
    return select(this, selector, isEqual);
  }

  get isWatched() {
    return this.#listeners.size > 0;
  }

  /** Replaces the value, or some of its keys. Without a difference nothing happens. */
  _set(change) {
    const before = this.#value;
    const isPartial = typeof change === "object" && change !== null && !Array.isArray(change) && before !== null;
    const isSame = isPartial
      ? Object.keys(change).every((key) => Object.is(change[key], before[key]))
      : Object.is(change, before);
    if (isSame) return;
    this.#value = isPartial ? { ...before, ...change } : change;
    for (const listener of [...this.#listeners]) listener();
    this.#onChange();
  }
}

export function select(source, selector, isEqual = Object.is) {
  let from;
  let selected;
  let isKnown = false;
  const getSnapshot = () => {
    const value = source.getSnapshot();
    if (isKnown && value === from) return selected;
    const next = selector(value);
    if (!isKnown || !isEqual(selected, next)) selected = next;
    from = value;
    isKnown = true;
    return selected;
  };
  const subscribe = (listener) => {
    let last = getSnapshot();
    return source.subscribe(() => {
      const next = getSnapshot();
      if (Object.is(next, last)) return;
      last = next;
      listener();
    });
  };
  let initial = null;
  const getInitialSnapshot = () => (initial ??= { value: selector(source.getInitialSnapshot()) }).value;
  return { getSnapshot, getInitialSnapshot, subscribe };
}

/** Keeps the references of what did not change, so that a view that compares them does not draw it again. */

/** `after`, with all parts that are equal in `before` taken from there. */
export function share(before, after) {
  if (Object.is(before, after)) return before;
  if (Array.isArray(before) && Array.isArray(after)) return shareItems(before, after, before);
  if (!isPlain(before) || !isPlain(after)) return after;
  const keys = Object.keys(after);
  const shared = Object.fromEntries(keys.map((key) => [key, share(before[key], after[key])]));
  const isSame = keys.length === Object.keys(before).length && keys.every((key) => Object.is(shared[key], before[key]));
  return isSame ? before : shared;
}

/** The same for lists of things with an `id` (or another key), which may have moved. */
export function shareRows(before, after, keyOf = (/** @type {any} */ { id }) => id) {
  const known = new Map((before ?? []).map((row) => [keyOf(row), row]));
  return shareItems(
    before ?? [],
    after,
    after.map((row) => known.get(keyOf(row))),
  );
}

function shareItems(before, after, counterparts) {
  return sameList(
    before,
    after.map((item, index) => share(counterparts[index], item)),
  );
}

/** `before`, if `after` has the same items in the same order. */
export function sameList(before, after) {
  const isSame = before?.length === after.length && after.every((item, index) => Object.is(item, before[index]));
  return isSame ? before : after;
}

function isPlain(value) {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
