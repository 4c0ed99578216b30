import { Loads } from "./loads.js";
import { Part, share, shareRows } from "./part.js";

const PAGE = 50;
const LARGEST_PAGE = 100;
// As much of what was here is loaded anew after a gap that the events do not fill.
const MOST_AGAIN = 300;
// Of the conversations without listeners, those that were used last keep their messages.
const KEPT = 10;
// Calls that count as unread messages.
const MISSED = ["missed", "canceled", "busy"];
const EMPTY = Object.freeze({ messages: null, hasOlder: false, hasNewer: false, isLoading: false, error: null });

/**
 * The messages of one conversation: a stretch of its history without gaps, oldest first. At its end stand those that
 * wait for the server, with their `state`.
 */
export class Messages extends Part {
  #context;
  #parley;
  #loads = new Loads();
  #isWanted = false;
  #least = PAGE;
  // Null until loaded.
  #stretch = null;
  #waiting = [];
  #shownWaiting = [];
  #isLoadingOlder = false;
  #isLoadingNewer = false;

  #onUse;

  /** `onUse` is called before something is loaded. */
  constructor(context, conversationId, onUse) {
    super(EMPTY, context.changed);
    this.#onUse = onUse;
    this.#context = context;
    this.#parley = context.parley;
    this.conversationId = conversationId;
    this.setWaiting(context.parley.outbox.items(conversationId));
  }

  /** Loads the newest page, or `least` messages (100 with one request), unless messages are here. */
  load({ least = PAGE } = {}) {
    this.#use();
    this.#least = least;
    return this.#stretch ? Promise.resolve() : this.#refresh();
  }

  /** Loads the page before the first message that is here. */
  async loadOlder() {
    const first = this.#stretch?.[0];
    if (!first || !this.getSnapshot().hasOlder || this.#isLoadingOlder) return;
    this.#isLoadingOlder = true;
    try {
      await this.#load(
        () => this.#page({ before: first.id, limit: LARGEST_PAGE }),
        // Another stretch may have taken the place of this one.
        ({ messages, hasMore }) =>
          this.#stretch?.[0]?.id === first.id && this.#keep([...messages, ...this.#stretch], { hasOlder: hasMore }),
      );
    } finally {
      this.#isLoadingOlder = false;
    }
  }

  /** Loads the page after the last message that is here, where the stretch does not reach the end. */
  async loadNewer() {
    const last = lastOf(this.#stretch);
    if (!last || !this.getSnapshot().hasNewer || this.#isLoadingNewer) return;
    this.#isLoadingNewer = true;
    try {
      await this.#load(
        () => this.#page({ after: last.id, limit: LARGEST_PAGE }),
        ({ messages, hasMore }) =>
          lastOf(this.#stretch)?.id === last.id && this.#keep([...this.#stretch, ...messages], { hasNewer: hasMore }),
      );
    } finally {
      this.#isLoadingNewer = false;
    }
  }

  /** Loads the messages around this one in place of those that are here. Resolves to whether it is among them. */
  async loadAround(messageId, { isWanted = () => true } = {}) {
    this.#use();
    const has = () => Boolean(this.#stretch?.some(({ id }) => id === messageId));
    if (has()) return true;
    await this.#load(
      async () => {
        const [older, newer] = await Promise.all([
          this.#page({ before: messageId }),
          this.#page({ after: messageId - 1 }),
        ]);
        return { messages: [...older.messages, ...newer.messages], hasOlder: older.hasMore, hasNewer: newer.hasMore };
      },
      ({ messages, ...ends }) => isWanted() && this.#keep(messages, ends),
    );
    return has();
  }

  /** Loads the newest page in place of a stretch that does not reach the end. */
  async loadNewest({ isWanted = () => true } = {}) {
    if (this.#stretch && !this.getSnapshot().hasNewer) return;
    this.#use();
    await this.#load(
      () => this.#page({}),
      ({ messages, hasMore }) => isWanted() && this.#keep(messages, { hasOlder: hasMore, hasNewer: false }),
    );
  }

  // --- What the reader does --------------------------------------------------------------------

  /**
   * The reader has seen everything up to this message: the counts tell it at once, the server is told soon. To be
   * called for what a window in sight has shown.
   */
  see(messageId) {
    this.#context.reading.see(this.conversationId, messageId);
  }

  /**
   * While the messages are shown: `isAtEnd()` tells whether what arrives next is seen at once, so that it does not
   * count. Returns the function that ends this.
   */
  follow(isAtEnd) {
    return this.#context.reading.follow(this.conversationId, isAtEnd);
  }

  async edit(messageId, body) {
    const request = () => this.#parley.messages.edit({ message_id: messageId, body });
    await this.#loads.run(request, ({ message }) => this.#stretch && this.#edited(message));
  }

  async delete(messageId) {
    const request = () => this.#parley.messages.delete({ message_id: messageId });
    await this.#loads.run(request, () => this.#stretch && this.#removed(messageId));
  }

  react(messageId, emoji) {
    return this.#react(messageId, () => this.#parley.messages.react({ message_id: messageId, emoji }));
  }

  unreact(messageId, emoji) {
    return this.#react(messageId, () => this.#parley.messages.unreact({ message_id: messageId, emoji }));
  }

  /** Removes all messages for this user only. */
  async clear() {
    const request = () => this.#parley.messages.clearConversation({ conversation_id: this.conversationId });
    await this.#loads.run(request, ({ cleared_up_to_id: last }) => this.#stretch && this.#cleared(last));
  }

  async #react(messageId, request) {
    await this.#loads.run(request, ({ reactions }) => this.#stretch && this.#reacted(messageId, reactions));
  }

  /** Of the store: how many messages are unread once everything up to this one was seen; `row` as the server told it. */
  unreadAfter(messageId, { unread_count: told, last_read_id: read }) {
    const { userId } = this.#parley.session;
    const isCounted = ({ sender_id: sender, kind, call }) =>
      sender !== userId && (kind !== "call" || MISSED.includes(call?.outcome));
    const count = (from, to) => {
      let found = 0;
      for (let place = placeOf(this.#stretch, from + 1); this.#stretch[place]?.id <= to; place += 1)
        if (isCounted(this.#stretch[place])) found += 1;
      return found;
    };
    if (!this.#stretch) return told;
    return this.getSnapshot().hasNewer ? Math.max(0, told - count(read ?? 0, messageId)) : count(messageId, Infinity);
  }

  // --- The stretch -----------------------------------------------------------------------------

  /** Keeps the newest `left` messages when there are more than `most` and the stretch reaches the end. */
  trim(most, left) {
    if (!this.#stretch || this.getSnapshot().hasNewer || this.#stretch.length <= most) return;
    this.#show(this.#stretch.slice(-left), { hasOlder: true });
  }

  // --- Loading ---------------------------------------------------------------------------------

  /** Of the store: everything here may be out of date. */
  reload() {
    this.#loads.abandon();
    if (this.#isWanted) this.#refresh().catch(() => {});
  }

  /** Of the store: there is no use for these messages now, or they belong to another user. */
  forget() {
    this.#loads.abandon();
    this.#stretch = null;
    this.#waiting = this.#shownWaiting = [];
    this.#isWanted &&= this.isWatched;
    this._set(EMPTY);
  }

  get isWanted() {
    return this.#isWanted;
  }

  #use() {
    this.#isWanted = true;
    this.#onUse();
  }

  #refresh() {
    return this.#context.refreshes.ask(`messages ${this.conversationId}`, () => this.#loadAgain());
  }

  async #loadAgain() {
    try {
      await this.#visibly(
        () =>
          this.#loads.run(
            () => (this.getSnapshot().hasNewer && this.#stretch?.length ? this.#samePages() : this.#newestPages()),
            ({ messages, ...ends }) => this.#keep(messages, ends),
          ),
        { isLoading: this.#stretch === null },
      );
    } catch (error) {
      if (error.status === 404) {
        this.#stretch = null;
        this._set({ ...EMPTY, error });
      }
      throw error;
    }
  }

  async #load(request, keep) {
    try {
      await this.#visibly(() => this.#loads.run(request, keep), { isLoading: true });
    } catch (error) {
      // What was here is loaded anew.
      if (error.code !== "aborted") throw error;
    }
  }

  async #visibly(work, start) {
    this._set(start);
    try {
      await work();
      this._set({ isLoading: false, error: null });
    } catch (error) {
      this._set(error.code === "aborted" ? { isLoading: false } : { isLoading: false, error });
      throw error;
    }
  }

  async #page(query) {
    const params = { conversation_id: this.conversationId, limit: PAGE, ...query };
    const { messages, has_more: hasMore } = await this.#parley.messages.list(params);
    return { messages: messages.reverse(), hasMore };
  }

  /** The end of the history, about as much of it as is here. */
  async #newestPages() {
    const wanted = Math.min(MOST_AGAIN, Math.max(this.#least, this.#stretch?.length ?? 0));
    let { messages, hasMore } = await this.#page({ limit: Math.min(LARGEST_PAGE, wanted) });
    while (hasMore && messages.length < wanted) {
      const older = await this.#page({ limit: LARGEST_PAGE, before: messages[0].id });
      messages = [...older.messages, ...messages];
      hasMore = older.hasMore;
    }
    return { messages, hasOlder: hasMore, hasNewer: false };
  }

  /** What is left of a stretch that does not reach the end. */
  async #samePages() {
    const [first, last] = [this.#stretch[0].id, lastOf(this.#stretch).id];
    let { messages, hasMore } = await this.#page({ limit: LARGEST_PAGE, after: first - 1 });
    while (hasMore && lastOf(messages).id < last && messages.length < MOST_AGAIN) {
      const newer = await this.#page({ limit: LARGEST_PAGE, after: lastOf(messages).id });
      messages = [...messages, ...newer.messages];
      hasMore = newer.hasMore;
    }
    if (messages.length === 0) return this.#newestPages();
    return { messages, hasOlder: this.getSnapshot().hasOlder, hasNewer: hasMore };
  }

  // --- Events ----------------------------------------------------------------------------------

  /** Applies what an event of this conversation says. */
  apply(act) {
    this.#loads.apply(() => this.#stretch && act());
  }

  add(message) {
    this.#loads.apply(() => {
      this.#waiting = this.#waiting.filter(({ client_id }) => client_id !== message.client_id);
      if (!this.#stretch || this.getSnapshot().hasNewer) return;
      const place = placeOf(this.#stretch, message.id);
      const isHere = this.#stretch[place]?.id === message.id;
      const next = [...this.#stretch];
      next.splice(place, isHere ? 1 : 0, isHere ? share(this.#stretch[place], message) : message);
      this.#show(next);
    });
  }

  edited(message) {
    this.apply(() => this.#edited(message));
  }

  reacted(messageId, reactions) {
    this.apply(() => this.#reacted(messageId, reactions));
  }

  removed(messageId) {
    this.apply(() => this.#removed(messageId));
  }

  cleared(upToId) {
    this.apply(() => this.#cleared(upToId));
  }

  #edited(message) {
    const { id, body } = message;
    this.#replace((other) => {
      if (other.id === id) return message;
      return other.reply_to?.id === id ? { ...other, reply_to: { ...other.reply_to, body: quoted(body) } } : other;
    });
  }

  #reacted(messageId, reactions) {
    this.#replace((message) => (message.id === messageId ? { ...message, reactions } : message));
  }

  #removed(messageId) {
    const left = this.#stretch.filter(({ id }) => id !== messageId);
    this.#show(left.map((message) => (message.reply_to_id === messageId ? withoutQuote(message) : message)));
  }

  #cleared(upToId) {
    const left = this.#stretch.filter(({ id }) => id > upToId);
    const show = left.map((message) => (message.reply_to_id <= upToId ? withoutQuote(message) : message));
    this.#show(show, left.length < this.#stretch.length ? { hasOlder: false } : {});
  }

  setWaiting(items) {
    const isSent = ({ client_id }) => this.#stretch?.some((message) => message.client_id === client_id);
    this.#waiting = items.filter((item) => !isSent(item));
    if (this.#stretch) this.#show(this.#stretch);
  }

  #replace(change) {
    this.#show(this.#stretch.map((message) => share(message, change(message))));
  }

  /** Shows what a reply holds; a message that is here and did not change stays the same object. */
  #keep(messages, ends) {
    this.#show(shareRows(this.#stretch, messages), ends);
  }

  #show(stretch, part = {}) {
    this.#stretch = stretch;
    const shown = this.#waiting.map((item) => this.#shown(item));
    this.#shownWaiting = shareRows(this.#shownWaiting, shown, ({ client_id }) => client_id);
    const { hasNewer } = { ...this.getSnapshot(), ...part };
    const isEnd = !hasNewer && shown.length > 0;
    this._set({ messages: isEnd ? [...stretch, ...this.#shownWaiting] : stretch, ...part });
    // The rest of this stretch has gone.
    if (hasNewer && stretch.length === 0) this.#refresh().catch(() => {});
  }

  /** A message that waits, in the shape of the others. */
  #shown({ client_id, conversation_id, body, reply_to_id, created_at, state, error, retryAt, file, progress }) {
    const replied = reply_to_id && this.#stretch.find(({ id }) => id === reply_to_id);
    return {
      id: null,
      conversation_id,
      sender_id: this.#parley.session.userId,
      kind: file ? "image" : "text",
      body,
      media_url: null,
      media: null,
      reply_to_id,
      reply_to: replied ? replyPreviewOf(replied) : null,
      is_edited: false,
      edited_at: null,
      reactions: [],
      call: null,
      client_id,
      created_at,
      state,
      error,
      retryAt,
      file,
      progress,
    };
  }
}

export class AllMessages {
  #context;
  #lists = new Map();

  constructor(context) {
    this.#context = context;
    const { on } = context;
    const listOf = (id) => this.#lists.get(id);
    const added = ({ message }) => listOf(message.conversation_id)?.add(message);
    on("message.new", added);
    on("outbox.sent", added);
    on("message.edited", ({ conversation_id, message }) => listOf(conversation_id)?.edited(message));
    on("message.reactions", (data) => listOf(data.conversation_id)?.reacted(data.message_id, data.reactions));
    on("message.deleted", ({ conversation_id, message_id }) => listOf(conversation_id)?.removed(message_id));
    on("conversation.cleared", (data) => listOf(data.conversation_id)?.cleared(data.cleared_up_to_id));
    on("outbox", ({ items }) => {
      for (const [id, list] of this.#lists)
        list.setWaiting(items.filter(({ conversation_id }) => conversation_id === id));
    });
    on("reload", () => {
      for (const list of this.#lists.values()) list.reload();
    });
    on("signedout", () => {
      for (const list of this.#lists.values()) list.forget();
    });
  }

  of(conversationId) {
    if (!this.#lists.has(conversationId)) {
      const list = new Messages(this.#context, conversationId, () => this.#used(list));
      this.#lists.set(conversationId, list);
    }
    return this.#lists.get(conversationId);
  }

  /** The one that was used last is forgotten last. */
  #used(list) {
    this.#lists.delete(list.conversationId);
    this.#lists.set(list.conversationId, list);
    const idle = [...this.#lists.values()].filter((other) => other.isWanted && !other.isWatched && other !== list);
    for (const other of idle.slice(0, -KEPT)) other.forget();
  }

  get parts() {
    return this.#lists;
  }
}

const lastOf = (messages) => messages?.[messages.length - 1];

const withoutQuote = (message) => (message.reply_to ? { ...message, reply_to: null } : message);

/** Where the message of that id stands, or would stand. */
function placeOf(messages, id) {
  let [low, high] = [0, messages.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (messages[middle].id < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The messages that wait for the server, or were refused. */
export class OutboxItems extends Part {
  constructor(context) {
    super(Object.freeze([]), context.changed);
    this._set(context.parley.outbox.items());
    context.on("outbox", ({ items }) => this._set(shareRows(this.getSnapshot(), items, ({ client_id }) => client_id)));
  }
}

/** What other rows show of a message. */

// In characters as the server counts them: those of Unicode.
const REPLY_LENGTH = 200;

/** The `last_message` of a conversation. */
export function lastMessageOf({ id, kind, body, sender_id, call, created_at, attachment }) {
  const preview = { id, kind, body: body ?? "", sender_id, call, created_at };
  if (attachment === undefined) return preview;
  return { ...preview, attachment: attachment && { type: attachment.type, name: attachment.name } };
}

/** The `reply_to` of a message that replies to this one. */
export function replyPreviewOf({ id, sender_id, kind, body, media_url, media }) {
  return { id, sender_id, kind, body: quoted(body), media_url, thumb_url: media?.thumb_url ?? null };
}

export const quoted = (body) => (body === null ? null : [...body].slice(0, REPLY_LENGTH).join(""));
