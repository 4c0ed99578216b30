/** The differences between a browser and Node, and between one tab and several. */
import { browserStorage, isKept, MemoryStorage } from "./storage.js";

const PROPAGATION_MS = 300;
/** How long to wait for a tab that sends messages and may have stopped. A message sent by both has one `client_id`. */
export const SENDING_MS = 90_000;

export function defaultStorage() {
  // Node warns when no file is configured.
  return isBrowser() ? browserStorage("localStorage") : new MemoryStorage();
}

export function isBrowser() {
  return typeof document === "object" && document !== null;
}

export function randomId() {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A signal that aborts with the first of several; undefined for none. Safari before 17.4 has no `AbortSignal.any`. */
export function anySignal(signals) {
  if (signals.length < 2) return signals[0];
  const controller = new AbortController();
  for (const signal of signals) {
    const abort = () => controller.abort(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true, signal: controller.signal });
  }
  return controller.signal;
}

export function timeoutSignal(ms) {
  if (AbortSignal.timeout) return AbortSignal.timeout(ms);
  const controller = new AbortController();
  setTimeout(() => controller.abort(new DOMException("", "TimeoutError")), ms);
  return controller.signal;
}

const failures = new Map();
// Bundlers take an address that is made of `import.meta.url` in one expression for that of a file to copy.
const here = import.meta.url;

/**
 * Imports a module of this folder with `load`, which names it, so that bundlers find it. A browser may remember the
 * failure of a module until the page is closed, so a failed module is requested again under another address.
 */
export async function importAgain(name, load) {
  const count = failures.get(name);
  try {
    if (!count) return await load();
    return await import(/* @vite-ignore */ new URL(`${name}?retry=${count}`, here).href).catch(load);
  } catch (error) {
    failures.set(name, (count ?? 0) + 1);
    throw error;
  }
}

export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * In a browser: calls `online` when the network is back or the page becomes visible, `offline` when the network is
 * lost. Returns the function that ends this.
 */
export function onNetwork({ online, offline }) {
  if (!isBrowser()) return () => {};
  const visible = () => document.visibilityState === "visible" && online();
  addEventListener("online", online);
  addEventListener("offline", offline);
  document.addEventListener("visibilitychange", visible);
  return () => {
    removeEventListener("online", online);
    removeEventListener("offline", offline);
    document.removeEventListener("visibilitychange", visible);
  };
}

/** The tabs of one browser that share a sign-in: messages among them, and locks. */
export class Tabs {
  #channel = null;
  #handlers = new Set();
  #queues = new Map();
  #onStorage = null;
  #id = null;
  #leave = null;
  #awaited = new Set();

  constructor(name, storage) {
    this.name = name;
    this.isShared = isBrowser() && isKept(storage) && storage === browserStorage("localStorage");
    if (!this.isShared) return;
    if (typeof BroadcastChannel === "function") {
      this.#channel = new BroadcastChannel(name);
      this.#channel.onmessage = ({ data }) => this.#dispatch(data);
    }
    // The channel may be missing, or a tab may die before it could post what it wrote.
    this.#onStorage = ({ key }) => {
      if (key === null || key.startsWith(`${name}.`)) this.#dispatch({ type: "storage", key });
    };
    addEventListener("storage", this.#onStorage);
  }

  on(handler) {
    this.#handlers.add(handler);
  }

  post(message) {
    this.#channel?.postMessage(message);
  }

  /**
   * Runs `work` while no other tab (and nothing else here) holds the lock of that name. A tab that the system has
   * stopped may hold it for ever, so `work` runs without it after `patience` milliseconds.
   */
  async lock(name, work, patience = Infinity) {
    const full = `${this.name}.${name}`;
    if (this.#hasLocks) return this.#lockAmongTabs(full, work, patience);
    const before = this.#queues.get(full) ?? Promise.resolve();
    const result = before.then(work, work);
    this.#queues.set(
      full,
      result.catch(() => {}),
    );
    return result;
  }

  async #lockAmongTabs(full, work, patience) {
    const waiting = new AbortController();
    const timer = patience < Infinity ? setTimeout(() => waiting.abort(), patience) : null;
    let hasBegun = false;
    const begin = () => {
      hasBegun = true;
      clearTimeout(timer);
      return work();
    };
    try {
      return await navigator.locks.request(full, { signal: waiting.signal }, begin);
    } catch (error) {
      // The lock was not granted in time, or was refused by the browser.
      if (hasBegun) throw error;
      return begin();
    }
  }

  /** The name of this tab, by which the others can wait for its end. */
  get id() {
    if (this.#id === null) {
      this.#id = randomId();
      // Held as long as the tab lives; the browser releases it when the tab closes or dies.
      if (this.#hasLocks) this.lock(`tab.${this.#id}`, () => new Promise((resolve) => (this.#leave = resolve)));
    }
    return this.#id;
  }

  /** Runs `act` once when the tab of that name is gone, where that can be known. */
  whenGone(id, act) {
    if (!id || id === this.#id || this.#awaited.has(id) || !this.#hasLocks) return;
    this.#awaited.add(id);
    this.lock(`tab.${id}`, () => this.#handlers.size > 0 && act());
  }

  /** Waits until this tab can read what another tab has just stored, which browsers pass on with a delay. */
  async waitForStorage() {
    if (this.isShared) await sleep(PROPAGATION_MS);
  }

  close() {
    this.#leave?.();
    this.#channel?.close();
    if (this.#onStorage) removeEventListener("storage", this.#onStorage);
    this.#handlers.clear();
  }

  get #hasLocks() {
    return this.isShared && Boolean(globalThis.navigator?.locks);
  }

  #dispatch(message) {
    for (const handler of this.#handlers) handler(message);
  }
}
