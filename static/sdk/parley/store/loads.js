import { ParleyError } from "../errors.js";
import { waitAfter } from "../reconnect.js";

/**
 * Replies that replace a part of the state. An event that arrives while one is under way may be newer than the reply:
 * it is applied at once, and again after the reply. Events carry whole objects, so that applying one twice is safe.
 */
export class Loads {
  #underWay = new Set();

  /** The reply of `request`, after `keep` has stored it. Rejects with `aborted` if it was abandoned meanwhile. */
  async run(request, keep) {
    const load = { changes: [] };
    this.#underWay.add(load);
    try {
      const reply = await request();
      if (!this.#underWay.delete(load)) throw new ParleyError("aborted");
      keep(reply);
      for (const change of load.changes) change();
      return reply;
    } finally {
      this.#underWay.delete(load);
    }
  }

  /** Applies what an event says. */
  apply(change) {
    change();
    for (const { changes } of this.#underWay) changes.push(change);
  }

  /** The replies under way come from another state of the server, or belong to another user. */
  abandon() {
    this.#underWay.clear();
  }
}

/** The pages below a list, which are asked for one at a time. `refreshes` read the list anew under that name. */
export class NextPages {
  #refreshes;
  #name;
  #isUnderWay = false;

  constructor(refreshes, name) {
    this.#refreshes = refreshes;
    this.#name = name;
  }

  /** Runs `load`, and again if the list was read anew meanwhile: that page belonged to the list before. */
  async load(load) {
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    try {
      for (;;) {
        try {
          return await load();
        } catch (error) {
          if (error.code !== "aborted") throw error;
        }
        if (!(await this.#refreshes.settled(this.#name))) return;
      }
    } finally {
      this.#isUnderWay = false;
    }
  }
}

/**
 * Reads that have to succeed at last. Those of one name run one after the other; what is asked for while it runs, runs
 * once more. After a failure that may pass it is tried again, with growing pauses and with the next connection.
 */
export class Refreshes {
  #entries = new Map();

  constructor(context) {
    context.on("ready", () => this.#tryAgain());
  }

  /** Resolves when the work is done; rejects when this try fails. */
  ask(name, work) {
    const entry = this.#entries.get(name) ?? { name, failures: 0, timer: null, running: null };
    this.#entries.set(name, entry);
    entry.work = work;
    entry.isAsked = true;
    entry.running ??= this.#run(entry);
    return entry.running;
  }

  /** The same, for a caller that waits for nothing. */
  askLater(name, work) {
    this.ask(name, work).catch(() => {});
  }

  /** Resolves when no work of that name is under way: to false if it has failed. */
  async settled(name) {
    try {
      await this.#entries.get(name)?.running;
      return true;
    } catch {
      return false;
    }
  }

  stop() {
    for (const { timer } of this.#entries.values()) clearTimeout(timer);
    this.#entries.clear();
  }

  async #run(entry) {
    clearTimeout(entry.timer);
    try {
      while (entry.isAsked) {
        entry.isAsked = false;
        await entry.work().catch((error) => {
          // A later request for the same work takes the place of the one that was abandoned.
          if (error.code !== "aborted" || !entry.isAsked) throw error;
        });
      }
      this.#forget(entry);
    } catch (error) {
      if (error.isTemporary && error.code !== "aborted") this.#runLater(entry, error);
      else this.#forget(entry);
      throw error;
    } finally {
      entry.running = null;
    }
  }

  #runLater(entry, { status, retryAfter }) {
    if (this.#entries.get(entry.name) !== entry) return;
    entry.failures += 1;
    const wait = Math.max((retryAfter ?? 0) * 1000, waitAfter(entry.failures, status));
    entry.timer = setTimeout(() => this.askLater(entry.name, entry.work), wait);
    entry.timer.unref?.();
  }

  #forget(entry) {
    if (this.#entries.get(entry.name) === entry) this.#entries.delete(entry.name);
  }

  #tryAgain() {
    for (const { name, work, failures } of [...this.#entries.values()]) if (failures > 0) this.askLater(name, work);
  }
}
