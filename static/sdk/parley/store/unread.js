import { Loads } from "./loads.js";
import { Part } from "./part.js";

const NONE = Object.freeze({ unread_count: 0, message_unread_count: 0 });
// Longer than a report of what was seen takes.
const SETTLE_MS = 3_000;

/**
 * The two numbers of the badge: unread notifications and unread messages. What the reader has seen is taken off before
 * the server knows it. A message into a conversation that is followed to its end is seen at once, but counts on the
 * server until it is told: a larger number that has no other reason is shown only when it stays.
 */
export class Unread extends Part {
  #context;
  #loads = new Loads();
  #told = NONE;
  // By conversation: how many messages of the number that was told last have been seen.
  #seen = new Map();
  #timers = {};
  // Something has happened elsewhere: the next number is news.
  #hasNews = false;
  // A reply has told the numbers: the server sends no badge that is equal to the last one that it has sent.
  #isFromReply = false;

  constructor(context) {
    super(NONE, context.changed);
    this.#context = context;
    const apply = (name, act) => context.on(name, (data) => this.#loads.apply(() => act(data)));
    context.on("message.new", ({ conversation_id: id, message }) => {
      if (message.sender_id !== context.parley.session.userId && !context.reading.isFollowed(id)) this.#hasNews = true;
      if (this.#isFromReply) this.#checkLater();
    });
    apply("badge", ({ unread_count, message_unread_count }) => {
      this.#tell({ unread_count, message_unread_count });
      this.#hasNews = false;
      this.#isFromReply = false;
      clearTimeout(this.#timers.check);
      delete this.#timers.check;
    });
    apply("notification.new", ({ notification, unread_count }) => {
      const target = notification?.target;
      const isSeen = target?.type === "conversation" && context.reading.isFollowed(target.id);
      this.#tell({ unread_count }, { isNews: Boolean(notification) && !isSeen });
    });
    apply("notification.read_all", ({ unread_count }) => this.#tell({ unread_count }));
    const refresh = () => this.load().catch(() => {});
    context.on("reload", () => {
      this.#loads.abandon();
      refresh();
    });
    // The badge is no durable event: one that was missed does not come again.
    context.on("synced", refresh);
    context.on("signedout", () => {
      this.#loads.abandon();
      this.#told = NONE;
      this.#seen.clear();
      this.stop();
      this._set(NONE);
    });
  }

  /** Reads the numbers from the server. */
  load() {
    return this.#context.refreshes.ask("unread", () =>
      this.run(() => this.#context.parley.notifications.unreadCount()),
    );
  }

  /** Of the store: the reply of a request that tells one of the numbers, or both. */
  run(request) {
    return this.#loads.run(request, (reply) => {
      this.#isFromReply = true;
      this.#tell(Object.fromEntries(Object.keys(NONE).flatMap((name) => (name in reply ? [[name, reply[name]]] : []))));
    });
  }

  /** Of the store: as many more messages of this conversation have been seen; fewer with a negative number. */
  see(conversationId, count) {
    this.#seen.set(conversationId, (this.#seen.get(conversationId) ?? 0) + count);
    this.#follow("message_unread_count", false);
  }

  stop() {
    for (const timer of Object.values(this.#timers)) clearTimeout(timer);
    this.#timers = {};
  }

  #checkLater() {
    this.#timers.check ??= setTimeout(() => {
      delete this.#timers.check;
      this.load().catch(() => {});
    }, SETTLE_MS);
    this.#timers.check.unref?.();
  }

  #tell(part, { isNews = this.#hasNews } = {}) {
    this.#told = { ...this.#told, ...part };
    if ("message_unread_count" in part) this.#seen = this.#context.conversations.seenAhead();
    for (const name of Object.keys(part)) this.#follow(name, isNews);
  }

  #number(name) {
    const seen = name === "message_unread_count" ? [...this.#seen.values()].reduce((sum, count) => sum + count, 0) : 0;
    return Math.max(0, this.#told[name] - seen);
  }

  #follow(name, isNews) {
    const isOnlySeen = this.#number(name) > this.getSnapshot()[name] && this.#context.reading.isFollowing && !isNews;
    if (isOnlySeen) {
      this.#timers[name] ??= setTimeout(() => this.#show(name), SETTLE_MS);
      this.#timers[name].unref?.();
    } else this.#show(name);
  }

  #show(name) {
    clearTimeout(this.#timers[name]);
    delete this.#timers[name];
    this._set({ [name]: this.#number(name) });
  }
}

const PAUSE_MS = 700;
const LEAST_MS = 60;
const AGAIN_MS = 3_500;

/**
 * What the reader has seen of each conversation. The server is told of it soon; a count that it made before that is
 * larger than what is shown.
 */
export class Reading {
  #context;
  // By conversation: the open views, each with a function that tells whether what arrives next is seen at once.
  #views = new Map();
  // By conversation: `seen`, the furthest message; `latest`, the last one that was named; `told`, what was reported.
  #places = new Map();

  constructor(context) {
    this.#context = context;
    // A server that was restored has forgotten some of it, and of what it says now that is not known.
    context.on("reload", ({ reason }) => reason !== "start" && this.#tellAgain());
    context.on("signedout", () => this.stop());
  }

  /** Returns the function that ends this. */
  follow(id, isAtEnd) {
    const view = { isAtEnd };
    if (!this.#views.has(id)) this.#views.set(id, new Set());
    this.#views.get(id).add(view);
    return () => {
      const views = this.#views.get(id);
      if (!views?.delete(view)) return;
      if (views.size === 0) this.#views.delete(id);
      this.#context.conversations.recount(id);
    };
  }

  isFollowed(id) {
    return [...(this.#views.get(id) ?? [])].some(({ isAtEnd }) => isAtEnd());
  }

  get isFollowing() {
    return [...this.#views.keys()].some((id) => this.isFollowed(id));
  }

  /** The furthest message that was seen here; 0 if none was. */
  seenIn(id) {
    return this.#places.get(id)?.seen ?? 0;
  }

  see(id, messageId) {
    const place = this.#places.get(id) ?? { seen: 0, latest: 0, told: 0, toldAt: 0, timer: null };
    this.#places.set(id, place);
    place.latest = messageId;
    place.seen = Math.max(place.seen, messageId);
    this.#context.conversations.recount(id);
    this.#plan(id, place);
  }

  stop() {
    for (const { timer } of this.#places.values()) clearTimeout(timer);
    this.#places.clear();
  }

  #plan(id, place) {
    if (place.timer || place.seen <= Math.max(place.told, this.#context.conversations.readIn(id))) return;
    this.#wait(id, place, Math.max(LEAST_MS, place.toldAt + PAUSE_MS - Date.now()));
  }

  #tellAgain() {
    for (const [id, place] of this.#places) {
      place.told = 0;
      if (!place.timer) this.#wait(id, place, LEAST_MS);
    }
  }

  #wait(id, place, ms) {
    place.timer = setTimeout(() => {
      place.timer = null;
      this.#tell(id, place);
    }, ms);
    place.timer.unref?.();
  }

  async #tell(id, place) {
    const messageId = place.seen;
    if (messageId <= place.told) return;
    place.told = messageId;
    place.toldAt = Date.now();
    try {
      await this.#context.conversations.markRead(id, messageId);
    } catch (error) {
      if (this.#places.get(id) !== place) return;
      place.told = 0;
      if (error.isTemporary) {
        if (!place.timer) this.#wait(id, place, AGAIN_MS);
        return;
      }
      if (error.code !== "aborted") {
        // It has been deleted meanwhile: the last one before it counts.
        place.seen = place.latest < messageId ? place.latest : 0;
        this.#context.conversations.recount(id);
      }
      this.#plan(id, place);
    }
  }
}
