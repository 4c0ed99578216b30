import { randomId, SENDING_MS } from "./environment.js";
import { ParleyError } from "./errors.js";
import { StoredMessages } from "./stored_messages.js";

const LONGEST_BACKOFF_MS = 30_000;
// How often a message is sent again after a server error before it counts as failed.
const SERVER_ERRORS = 8;

/**
 * Messages that wait for the server. Each has a `client_id`, so that sending one again after a lost
 * reply does not double it. Of one conversation they go out in order, from one tab at a time.
 */
export class Outbox {
  #parley;
  #tabs;
  #stored;
  // Kept in this tab only: files, progress, errors of the last try, and messages that are not stored.
  #here = new Map();
  #running = new Map();
  #timer = null;
  #wakesAt = Infinity;
  #failures = 0;
  #count = 0;

  constructor(parley, storage, tabs) {
    this.#parley = parley;
    this.#tabs = tabs;
    this.#stored = new StoredMessages(parley, storage, tabs);
    tabs.on(({ type, key }) => {
      const isMine = type === "outbox" || (type === "storage" && key?.startsWith(this.#stored.prefix));
      if (isMine) this.#changed();
    });
    parley.on("ready", () => this.flush());
    parley.on("signedin", () => this.#changed());
    parley.on("message.new", ({ message }) => this.#arrived(message));
    parley.on("signedout", ({ forget }) => this.#forget(forget));
    this.#loadFiles();
  }

  /** Puts a text message into the queue and sends it as soon as possible. */
  send({ conversation_id, body, reply_to_id = null }) {
    return this.#add({ conversation_id, body, reply_to_id });
  }

  /** Queues an image message. It waits in this tab only if the browser cannot keep its file over a reload. */
  sendImage({ conversation_id, file, body = "", reply_to_id = null }) {
    return this.#add({ conversation_id, body, reply_to_id }, file);
  }

  /** The waiting messages, oldest first. */
  items(conversationId = null) {
    const rows = [...[...this.#here.values()].map(({ row }) => row).filter(Boolean), ...this.#stored.rows()];
    const mine = rows.filter((row) => conversationId === null || row.conversation_id === conversationId);
    mine.sort((one, other) => one.order - other.order || (one.client_id < other.client_id ? -1 : 1));
    return mine.map((row) => this.#shown(row));
  }

  retry(clientId) {
    const row = this.#row(clientId);
    if (!row) return;
    this.#at(clientId).serverErrors = 0;
    this.#save({ ...row, error: null });
    this.#emitItems();
    this.flush();
  }

  remove(clientId) {
    const row = this.#row(clientId);
    if (!row) return;
    this.#here.get(clientId)?.abort?.abort();
    this.#delete(row);
    this.#emitItems();
  }

  /** Sends all messages that can be sent now. Called automatically when the connection comes back. */
  flush() {
    const waiting = this.items().filter(({ state }) => state !== "failed");
    for (const conversationId of new Set(waiting.map((item) => item.conversation_id))) {
      if (this.#running.has(conversationId)) continue;
      const work = this.#tabs.lock(`outbox.${conversationId}`, () => this.#sendAll(conversationId), SENDING_MS);
      this.#running.set(conversationId, work);
      work.finally(() => {
        this.#running.delete(conversationId);
        const next = this.#next(conversationId);
        if (!next) return;
        if (this.#isPaused(conversationId)) this.#wakeAt(this.#here.get(next.client_id).retryAt);
        // A message may have been added since the last check.
        else this.flush();
      });
    }
  }

  close() {
    clearTimeout(this.#timer);
  }

  // --- Sending ---------------------------------------------------------------------------------

  async #sendAll(conversationId) {
    for (let row = this.#next(conversationId); row; row = this.#next(conversationId)) {
      if (this.#isPaused(conversationId) || !this.#parley.session.isSignedIn) return;
      if (!(await this.#sendOne(row))) return;
    }
  }

  /** Whether the next message may be sent. */
  async #sendOne(row) {
    const here = this.#at(row.client_id);
    here.isSending = true;
    here.abort = new AbortController();
    this.#emitItems(false);
    try {
      const { message } = await this.#request(row, here);
      this.#failures = 0;
      this.#sent(row.client_id, message);
      return true;
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      return this.#failed(row, here, error);
    } finally {
      here.isSending = false;
      this.#emitItems();
    }
  }

  async #request({ conversation_id, body, reply_to_id, client_id, has_file }, here) {
    const { signal } = here.abort;
    const params = { conversation_id, body, client_id, ...(reply_to_id ? { reply_to_id } : {}) };
    // A file that cannot be read now is tried again. Without its file a message is lost.
    if (has_file && !(await this.#fileOf(client_id)))
      throw new ParleyError(this.#row(client_id) ? "file_unreadable" : "aborted");
    if (!has_file) return this.#parley.rest.call("messages_send", params, { signal });
    const onProgress = (loaded, total) => {
      here.progress = total ? loaded / total : 0;
      this.#emitItems(false);
    };
    return this.#parley.rest.call("messages_send_image", { ...params, file: here.file }, { signal, onProgress });
  }

  #failed(row, here, error) {
    if (error.code === "aborted") return true;
    if (!this.#row(row.client_id) || !this.#parley.session.isSignedIn) return false;
    here.serverErrors = (here.serverErrors ?? 0) + (error.status === 500 ? 1 : 0);
    if (!error.isTemporary || here.serverErrors >= SERVER_ERRORS) {
      this.#save({
        ...this.#row(row.client_id),
        error: { code: error.code, message: error.message, status: error.status },
      });
      this.#parley.emit("outbox.failed", { client_id: row.client_id, conversation_id: row.conversation_id, error });
      return true;
    }
    this.#failures += 1;
    const backoff = Math.min(LONGEST_BACKOFF_MS, 1000 * 2 ** Math.min(this.#failures - 1, 8));
    const wait = error.retryAfter ? error.retryAfter * 1000 + 100 : backoff * (0.5 + Math.random() / 2);
    // After a refused connection the socket triggers the next try; a rate limit says when to try again.
    here.retryAt = Date.now() + wait;
    here.isHeldByServer = error.status !== 0;
    return false;
  }

  /** Timers may fire a moment early, so a conversation that is still paused waits again. */
  #wakeAt(time) {
    if (time >= this.#wakesAt) return;
    clearTimeout(this.#timer);
    this.#wakesAt = time;
    this.#timer = setTimeout(
      () => {
        this.#wakesAt = Infinity;
        this.flush();
      },
      Math.max(1, Math.ceil(time - Date.now())),
    );
  }

  #arrived(message) {
    if (message.client_id && message.sender_id === this.#parley.session.userId) this.#sent(message.client_id, message);
  }

  /** Reported by the reply and by the event; the first one counts. */
  #sent(clientId, message) {
    const row = this.#row(clientId);
    if (!row) return;
    this.#delete(row);
    this.#parley.emit("outbox.sent", { client_id: clientId, message });
    this.#emitItems();
  }

  // --- Rows ------------------------------------------------------------------------------------

  #add({ conversation_id, body, reply_to_id }, file = null) {
    this.#count += 1;
    const now = this.#parley.now();
    const row = {
      client_id: randomId(),
      conversation_id,
      body,
      reply_to_id,
      created_at: new Date(now).toISOString(),
      order: now + (this.#count % 1000) / 1000,
      error: null,
      has_file: file !== null,
    };
    if (file) this.#here.set(row.client_id, { row, file, progress: 0 });
    else this.#save(row);
    if (file) this.#keepFile(row.client_id, file);
    this.#emitItems();
    this.flush();
    return this.#shown(row);
  }

  /** @returns {any} An OutboxItem (parley.d.ts). */
  #shown(/** @type {any} */ { order, error, has_file, tab, ...row }) {
    const here = this.#here.get(row.client_id) ?? {};
    const state = error ? "failed" : here.isSending ? "sending" : "waiting";
    const retryAt = here.retryAt > Date.now() && !error ? here.retryAt : null;
    return { ...row, state, error, retryAt, file: here.file ?? null, progress: here.progress ?? 0 };
  }

  #next(conversationId) {
    const item = this.items(conversationId).find(({ state }) => state !== "failed");
    return item ? this.#row(item.client_id) : null;
  }

  #isPaused(conversationId) {
    const next = this.#next(conversationId);
    const here = next && this.#here.get(next.client_id);
    if (!here?.retryAt || here.retryAt <= Date.now()) return false;
    return here.isHeldByServer || this.#parley.status !== "online";
  }

  #at(clientId) {
    if (!this.#here.has(clientId)) this.#here.set(clientId, {});
    return this.#here.get(clientId);
  }

  #row(clientId) {
    return this.#here.get(clientId)?.row ?? this.#stored.get(clientId);
  }

  #save(row) {
    const here = this.#here.get(row.client_id);
    if (here) here.retryAt = null;
    if (here?.row) here.row = row;
    else this.#stored.set(row);
  }

  #delete(row) {
    this.#here.delete(row.client_id);
    this.#stored.delete(row);
  }

  // --- Files -----------------------------------------------------------------------------------

  #keepFile(clientId, file) {
    this.#stored.keepFile(clientId, file, () => {
      const here = this.#here.get(clientId);
      // Sent, removed or signed out meanwhile.
      if (!here?.row) return;
      this.#stored.set(here.row);
      here.row = null;
      this.#emitItems();
    });
  }

  async #fileOf(clientId) {
    const here = this.#at(clientId);
    here.file ??= await this.#stored.fileOf(clientId);
    const row = this.#row(clientId);
    if (row && here.file === undefined) this.#delete(row);
    return here.file;
  }

  /** The previews of images that have waited since before a reload, or in another tab. */
  async #loadFiles() {
    for (const { client_id } of this.items().filter(({ file }) => !file)) {
      if (!this.#row(client_id)?.has_file) continue;
      await this.#fileOf(client_id);
      this.#emitItems(false);
    }
  }

  // --- Other tabs and users --------------------------------------------------------------------

  #changed() {
    // An upload that was cancelled in another tab.
    for (const [clientId, { file, abort }] of this.#here) if (file && !this.#row(clientId)) abort?.abort();
    this.#emitItems(false);
    this.#loadFiles();
    this.#stored.inherit(() => this.flush());
  }

  /** The user has signed out, so nothing unsent stays on this device. After an expiry it waits for the same user. */
  #forget(isEnded) {
    for (const { abort } of this.#here.values()) abort?.abort();
    this.#here.clear();
    if (isEnded) this.#stored.clear();
    this.#emitItems(false);
  }

  #emitItems(alsoOtherTabs = true) {
    if (alsoOtherTabs) this.#tabs.post({ type: "outbox" });
    this.#parley.emit("outbox", { items: this.items() });
  }
}
