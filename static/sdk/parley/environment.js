/** What differs between a browser and Node, and between one tab and several. */

const PROPAGATION_MS = 300;

/** The Storage interface in memory. */
export class MemoryStorage {
  #rows = new Map();

  get length() {
    return this.#rows.size;
  }

  key(index) {
    return [...this.#rows.keys()][index] ?? null;
  }

  getItem(key) {
    return this.#rows.get(key) ?? null;
  }

  setItem(key, value) {
    this.#rows.set(key, String(value));
  }

  removeItem(key) {
    this.#rows.delete(key);
  }
}

export function defaultStorage() {
  try {
    // Browsers that forbid storage throw at the access; Node warns when no file is configured.
    return isBrowser() ? globalThis.localStorage : new MemoryStorage();
  } catch {
    return new MemoryStorage();
  }
}

export function isBrowser() {
  return typeof document === "object" && document !== null;
}

export function randomId() {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * In a browser: calls `online` when the network is back or the page is looked at again, `offline` when the network
 * is gone. Returns the function that ends this.
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
    this.isShared = isBrowser() && storage === safely(() => globalThis.localStorage);
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

  /** Runs `work` while no other tab (and nothing else here) holds the lock of that name. */
  lock(name, work) {
    const full = `${this.name}.${name}`;
    if (this.#hasLocks) return navigator.locks.request(full, work);
    const before = this.#queues.get(full) ?? Promise.resolve();
    const result = before.then(work, work);
    this.#queues.set(full, result.catch(() => {}));
    return result;
  }

  /** The name of this tab, by which the others can wait for its end. */
  get id() {
    if (this.#id === null) {
      this.#id = randomId();
      // Held as long as it lives; a browser takes it from a tab that is closed or dies.
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

  /** Waits until what another tab has just stored can be read here: browsers pass it on a moment later. */
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

function safely(read) {
  try {
    return read();
  } catch {
    return null;
  }
}
