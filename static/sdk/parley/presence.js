const MOST_WATCHED = 100;
const TYPING_AGAIN_MS = 4_000;
const TYPING_SILENCE_MS = 5_000;
const TYPING_EXPIRES_MS = 6_000;

/** Online status of the users that any part of the app watches; requested again after each reconnect. */
export class Presence {
  #parley;
  #watchers = new Set();
  #known = new Map();
  #timer = null;

  constructor(parley) {
    this.#parley = parley;
    parley.on("presence", (data) => this.#learn(data));
    parley.on("ready", () => this.#ask());
    parley.on("signedout", () => this.#known.clear());
  }

  /** `{user_id, online, last_seen_at}`, or undefined when it is not known or hidden. */
  get(userId) {
    return this.#known.get(userId);
  }

  /** Returns the function that stops watching. */
  watch(userIds, handler = null) {
    const watcher = { userIds: new Set(userIds), handler };
    this.#watchers.add(watcher);
    this.#askSoon();
    return () => {
      this.#watchers.delete(watcher);
      this.#askSoon();
    };
  }

  #askSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), 50);
  }

  async #ask() {
    const watched = new Set([...this.#watchers].flatMap(({ userIds }) => [...userIds]));
    for (const userId of this.#known.keys()) if (!watched.has(userId)) this.#known.delete(userId);
    if (this.#parley.status !== "online") return;
    try {
      const user_ids = [...watched].slice(-MOST_WATCHED);
      const { presence } = await this.#parley.command("presence.watch", { user_ids });
      for (const row of presence) this.#parley.emit("presence", row);
      // The user is hidden or blocked now.
      const shown = new Set(presence.map((row) => row.user_id));
      for (const user_id of user_ids) {
        if (this.#known.has(user_id) && !shown.has(user_id))
          this.#parley.emit("presence", { user_id, online: false, last_seen_at: null });
      }
    } catch {
      // Requested again with the next `ready`.
    }
  }

  #learn(data) {
    this.#known.set(data.user_id, data);
    for (const { userIds, handler } of [...this.#watchers]) if (userIds.has(data.user_id)) handler?.(data);
  }
}

/** Typing notices: sent at most every four seconds, and ended when a peer falls silent. */
export class Typing {
  #parley;
  #mine = new Map();
  #theirs = new Map();

  constructor(parley) {
    this.#parley = parley;
    parley.on("typing", (data) => this.#onTyping(data));
    parley.on("message.new", ({ message }) => this.#end(message.conversation_id, message.sender_id));
    parley.on("signedout", () => this.close());
  }

  note(conversationId, isTyping) {
    const mine = this.#mine.get(conversationId) ?? { sentAt: 0, timer: null };
    clearTimeout(mine.timer);
    if (!isTyping) {
      if (this.#mine.delete(conversationId)) this.#send(conversationId, false);
      return;
    }
    mine.timer = setTimeout(() => this.note(conversationId, false), TYPING_SILENCE_MS);
    this.#mine.set(conversationId, mine);
    if (Date.now() - mine.sentAt < TYPING_AGAIN_MS) return;
    mine.sentAt = Date.now();
    this.#send(conversationId, true);
  }

  close() {
    for (const { timer } of this.#mine.values()) clearTimeout(timer);
    for (const timer of this.#theirs.values()) clearTimeout(timer);
    this.#mine.clear();
    this.#theirs.clear();
  }

  #send(conversationId, isTyping) {
    if (this.#parley.status !== "online") return;
    this.#parley.command("typing", { conversation_id: conversationId, is_typing: isTyping }).catch((error) => {
      // A lost notice does not matter. A refusal may be the first sign of a block.
      if (error.code === "user_blocked")
        this.#parley.emit("typing.refused", { conversation_id: conversationId, error });
    });
  }

  #onTyping({ conversation_id, user_id, is_typing }) {
    const key = `${conversation_id} ${user_id}`;
    clearTimeout(this.#theirs.get(key));
    this.#theirs.delete(key);
    if (is_typing)
      this.#theirs.set(
        key,
        setTimeout(() => this.#end(conversation_id, user_id), TYPING_EXPIRES_MS),
      );
  }

  #end(conversation_id, user_id) {
    if (this.#theirs.has(`${conversation_id} ${user_id}`)) {
      this.#parley.emit("typing", { conversation_id, user_id, is_typing: false });
    }
  }
}
