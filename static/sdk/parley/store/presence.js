import { Part } from "./part.js";

/** Whether a user is online: `{user_id, online, last_seen_at}`, null while unknown. Watched while there are listeners. */
export class UserPresence extends Part {
  #parley;
  #userId;
  #watchers = 0;
  #stop = null;

  constructor(context, userId) {
    super(null, context.changed);
    this.#parley = context.parley;
    this.#userId = userId;
    this.note(context.parley.presence.get(userId) ?? null);
    const listen = this.subscribe;
    this.subscribe = (listener) => this.#watch(listen(listener));
  }

  note(row) {
    this._set(row);
  }

  #watch(end) {
    this.#watchers += 1;
    if (!this.#stop) {
      this.#stop = this.#parley.presence.watch([this.#userId]);
      this.note(this.#parley.presence.get(this.#userId) ?? null);
    }
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      end();
      this.#watchers -= 1;
      if (this.#watchers > 0) return;
      this.#stop();
      this.#stop = null;
      // What happens from now on is not told.
      this.note(null);
    };
  }
}

export class AllPresence {
  #context;
  #parts = new Map();

  constructor(context) {
    this.#context = context;
    context.on("presence", (row) => this.#parts.get(row.user_id)?.note(row));
    // Without a connection it is unknown who is online; with the next one the SDK asks again.
    const clear = () => this.#parts.forEach((part) => part.note(null));
    context.on("status", ({ status }) => status === "offline" && clear());
    context.on("signedout", clear);
  }

  of(userId) {
    if (!this.#parts.has(userId)) this.#parts.set(userId, new UserPresence(this.#context, userId));
    return this.#parts.get(userId);
  }

  get parts() {
    return this.#parts;
  }
}

const NO_USERS = Object.freeze([]);

/** The ids of those who are typing in one conversation. A notice ends by itself (presence.js). */
export class Typing extends Part {
  constructor(context) {
    super(NO_USERS, context.changed);
  }

  note(userId, isTyping) {
    const others = this.getSnapshot().filter((id) => id !== userId);
    if (isTyping === others.length < this.getSnapshot().length) return;
    this._set(isTyping ? [...others, userId] : others.length > 0 ? others : NO_USERS);
  }

  clear() {
    this._set(NO_USERS);
  }
}

export class AllTyping {
  #context;
  #parts = new Map();

  constructor(context) {
    this.#context = context;
    context.on("typing", ({ conversation_id, user_id, is_typing }) => {
      if (user_id !== context.parley.session.userId) this.of(conversation_id).note(user_id, is_typing);
    });
    const clear = () => this.#parts.forEach((part) => part.clear());
    context.on("status", ({ status }) => status === "offline" && clear());
    context.on("signedout", clear);
  }

  of(conversationId) {
    if (!this.#parts.has(conversationId)) this.#parts.set(conversationId, new Typing(this.#context));
    return this.#parts.get(conversationId);
  }

  get parts() {
    return this.#parts;
  }
}
