const STORE = "files";

/**
 * The unsent messages of this browser: rows in the storage of the session, of each user separately, and the files of
 * image messages in IndexedDB. Tabs that share the storage share both.
 */
export class StoredMessages {
  #parley;
  #storage;
  #tabs;
  #database = null;

  constructor(parley, storage, tabs) {
    this.#parley = parley;
    this.#storage = storage;
    this.#tabs = tabs;
    this.prefix = `${parley.name}.outbox.`;
    this.keepsFiles = tabs.isShared && Boolean(globalThis.indexedDB);
    this.#sweep();
  }

  /** The rows of the signed-in user. */
  rows() {
    const keys = this.#keys(`${this.prefix}${this.#parley.session.userId}.`);
    return keys.map((key) => JSON.parse(this.#storage.getItem(key) ?? "null")).filter(Boolean);
  }

  get(clientId) {
    return JSON.parse(this.#storage.getItem(this.#key(clientId)) ?? "null");
  }

  set(row) {
    this.#storage.setItem(this.#key(row.client_id), JSON.stringify({ ...row, tab: this.#tabs.id }));
  }

  /** Calls `act` when a tab is gone whose messages are still here. */
  inherit(act) {
    for (const { tab } of this.rows()) this.#tabs.whenGone(tab, act);
  }

  delete({ client_id, has_file }) {
    const key = this.#key(client_id);
    this.#storage.removeItem(key);
    if (has_file && this.keepsFiles) this.#files("readwrite", (files) => files.delete(key)).catch(() => {});
  }

  /** Removes the messages of all users. */
  clear() {
    for (const key of this.#keys(this.prefix)) this.#storage.removeItem(key);
    this.#sweep();
  }

  /** Undefined when it is lost, null when it cannot be read now. */
  fileOf(clientId) {
    if (!this.keepsFiles) return undefined;
    return this.#files("readonly", (files) => files.get(this.#key(clientId))).catch(() => null);
  }

  /**
   * Stores a file, then calls `then`, which sets the row: a tab that sees the message can send it.
   * Where there is no room, nothing happens.
   */
  async keepFile(clientId, file, then) {
    if (!this.keepsFiles) return;
    const key = this.#key(clientId);
    const work = async () => {
      await this.#files("readwrite", (files) => files.put(file, key));
      then();
      if (this.#storage.getItem(key) === null) await this.#files("readwrite", (files) => files.delete(key));
    };
    await this.#tabs.lock("files", work).catch(() => {});
  }

  /** Removes files without a row: of a tab that was closed too early, or of a user who has signed out. */
  #sweep() {
    if (!this.keepsFiles) return;
    const work = async () => {
      for (const key of await this.#files("readonly", (files) => files.getAllKeys())) {
        if (this.#storage.getItem(key) === null) await this.#files("readwrite", (files) => files.delete(key));
      }
    };
    this.#tabs.lock("files", work).catch(() => {});
  }

  #key(clientId) {
    // A key for each: two tabs that write at once do not overwrite each other.
    return `${this.prefix}${this.#parley.session.userId}.${clientId}`;
  }

  #keys(prefix) {
    const keys = Array.from({ length: this.#storage.length }, (_, index) => this.#storage.key(index));
    return keys.filter((key) => key?.startsWith(prefix));
  }

  async #files(mode, act) {
    this.#database ??= connect(`${this.#parley.name}.outbox`);
    const transaction = (await this.#database).transaction(STORE, mode);
    const request = act(transaction.objectStore(STORE));
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
    });
    return request.result;
  }
}

function connect(name) {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
