import { MemoryStorage } from "./storage.js";

/** What a storage with asynchronous methods holds, in memory; changes are written in their order. */
export class MirroredStorage extends MemoryStorage {
  #storage;
  #written = Promise.resolve();

  static async open(storage, name) {
    const keys = (await storage.getAllKeys()).filter((key) => key.startsWith(`${name}.`));
    const rows = await Promise.all(keys.map(async (key) => [key, await storage.getItem(key)]));
    const mirror = new MirroredStorage();
    for (const [key, value] of rows) if (value !== null) mirror.setItem(key, value);
    mirror.#storage = storage;
    return mirror;
  }

  setItem(key, value) {
    super.setItem(key, value);
    this.#write((storage) => storage.setItem(key, String(value)));
  }

  removeItem(key) {
    super.removeItem(key);
    this.#write((storage) => storage.removeItem(key));
  }

  /** Resolves when everything is written. */
  async flush() {
    await this.#written;
  }

  #write(act) {
    // A value that cannot be written stays in memory.
    if (this.#storage) this.#written = this.#written.then(() => act(this.#storage)).catch(() => {});
  }
}
