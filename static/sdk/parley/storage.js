/** The only module that uses the browser's storage, which may be forbidden, missing or full. */

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

const PROBE = "parley.probe";

function usable(name) {
  try {
    const storage = globalThis[name];
    // A storage that can be read may still refuse every write.
    storage.setItem(PROBE, "");
    storage.removeItem(PROBE);
    return storage;
  } catch {
    return null;
  }
}

const found = new Map();

/** "localStorage" or "sessionStorage"; where the browser has neither, in memory until the page is closed. */
export function browserStorage(name) {
  if (!found.has(name)) found.set(name, usable(name) ?? new MemoryStorage());
  return found.get(name);
}

/** Whether stored data outlives the page. */
export function isKept(storage) {
  return !(storage instanceof MemoryStorage);
}

/** The same storage; values for which it has no room stay in memory. */
export class SafeStorage {
  #storage;
  #rest = new MemoryStorage();

  constructor(storage) {
    this.#storage = storage;
  }

  get length() {
    return this.#keys().length;
  }

  key(index) {
    return this.#keys()[index] ?? null;
  }

  getItem(key) {
    return this.#rest.getItem(key) ?? this.#storage.getItem(key);
  }

  setItem(key, value) {
    try {
      this.#storage.setItem(key, value);
      this.#rest.removeItem(key);
    } catch {
      this.#rest.setItem(key, value);
    }
  }

  removeItem(key) {
    this.#rest.removeItem(key);
    this.#storage.removeItem(key);
  }

  #keys() {
    const keys = (storage) => Array.from({ length: storage.length }, (_, index) => storage.key(index));
    return [...new Set([...keys(this.#storage), ...keys(this.#rest)])];
  }
}

/** Whether the browser may keep files. Opening the database may still fail. */
export function hasDatabases() {
  try {
    return Boolean(globalThis.indexedDB);
  } catch {
    return false;
  }
}

/** An IndexedDB database with one object store. */
export function openDatabase(name, store) {
  return new Promise((resolve, reject) => {
    const request = globalThis.indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(store);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
