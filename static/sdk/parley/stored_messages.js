import { hasDatabases, openDatabase } from "./storage.js";

const STORE = "files";

/**
 * The unsent messages of this browser, separately for each user: entries in the storage of the sign-in, and the files
 * of image messages in IndexedDB. Tabs that share the storage share both.
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
    this.keepsFiles = tabs.isShared && hasDatabases();
    this.#sweep();
  }

  /** The messages of the signed-in user. */
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

  /** Calls `act` when a tab has closed whose messages are still here. */
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

  /** Undefined when the file is lost, null when it cannot be read now. */
  fileOf(clientId) {
    if (!this.keepsFiles) return undefined;
    return this.#files("readonly", (files) => files.get(this.#key(clientId))).catch(() => null);
  }

  /**
   * Stores a file, then calls `then`, which stores the message: a tab that sees the message can send it. Without room
   * for the file, nothing happens.
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

  /** Removes files without a message: their tab was closed too early, or their user has signed out. */
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
    // Each has its own key, so that two tabs do not overwrite each other.
    return `${this.prefix}${this.#parley.session.userId}.${clientId}`;
  }

  #keys(prefix) {
    const keys = Array.from({ length: this.#storage.length }, (_, index) => this.#storage.key(index));
    return keys.filter((key) => key?.startsWith(prefix));
  }

  async #files(mode, act) {
    this.#database ??= openDatabase(`${this.#parley.name}.outbox`, STORE);
    const transaction = (await this.#database).transaction(STORE, mode);
    const request = act(transaction.objectStore(STORE));
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
    });
    return request.result;
  }
}
