import { Loads, NextPages } from "./loads.js";
import { lastMessageOf } from "./messages.js";
import { Part, sameList, share } from "./part.js";

const PAGE = 30;
const LARGEST_PAGE = 100;

/**
 * The list of conversations, newest activity first, and those that were asked for by their id. The server sorts by the
 * newest message that a conversation ever had. That number is not in the rows: for those of a page the order says as
 * much as is needed.
 */
export class Conversations extends Part {
  #context;
  #parley;
  #loads = new Loads();
  #isWanted = false;
  // Asked for by their id, so they are kept although they are further down than the pages that are loaded.
  #picked = new Set();
  // The ids of the list, and the least that each one's newest message ever may have as its id.
  #order = [];
  #activity = new Map();
  // As the server told them, by id.
  #rows = {};
  #cursor = null;
  #pages;

  constructor(context) {
    super({ conversations: null, byId: {}, hasMore: false, isLoading: false, error: null }, context.changed);
    this.#context = context;
    this.#parley = context.parley;
    this.#pages = new NextPages(context.refreshes, "conversations");
    this.#listen();
  }

  /** Loads the first page, unless it is here. */
  load() {
    this.#isWanted = true;
    return this.getSnapshot().conversations ? Promise.resolve() : this.#refresh();
  }

  /** Loads the next page, if there is one. */
  loadOlder() {
    return this.#pages.load(async () => {
      const { conversations, hasMore } = this.getSnapshot();
      if (!conversations || !hasMore) return;
      await this.#visibly(() =>
        this.#loads.run(
          () => this.#parley.messages.listConversations({ limit: PAGE, cursor: this.#cursor }),
          (reply) => this.#keepPage(reply, this.#order),
        ),
      );
    });
  }

  /** The conversation of that id, which need not be in the pages that are loaded. */
  async loadOne(id) {
    this.#picked.add(id);
    // It may come with the list.
    if (!this.#rows[id]) await this.#context.refreshes.settled("conversations");
    if (!this.#rows[id]) await this.#refetch(id);
    return this.getSnapshot().byId[id];
  }

  /** Reads a conversation anew: the end of a block that the other user has made has no event. */
  async refreshOne(id) {
    await this.#refetch(id);
    return this.getSnapshot().byId[id];
  }

  /** The conversation with that user, which is opened if there is none. */
  async start(userId) {
    const { userId: own } = this.#parley.session;
    let id;
    const request = async () => {
      const reply = await this.#parley.messages.startConversation({ user_id: userId });
      ({ id } = reply.conversation);
      return reply;
    };
    try {
      await this.#loads.run(request, ({ conversation }) => this.#put([conversation]));
    } catch (error) {
      // When the list was read anew meanwhile, the conversation is there all the same.
      if (id === undefined || own !== this.#parley.session.userId) throw error;
    }
    return this.loadOne(id);
  }

  // --- Reading ---------------------------------------------------------------------------------

  /** Of the store: the last message that was read, as the server told it; 0 if unknown. */
  readIn(id) {
    return this.#rows[id]?.last_read_id ?? 0;
  }

  /** Of the store: tells the server that everything up to this message was read. */
  async markRead(id, messageId) {
    const { markRead } = this.#parley.messages;
    const read = ({ last_read_id, unread_count }) => {
      const user_id = this.#parley.session.userId;
      if (last_read_id >= this.readIn(id)) this.#read({ conversation_id: id, user_id, last_read_id, unread_count });
    };
    // The row before the badge, which takes off what was seen of the rows.
    await this.#context.unread.run(async () => {
      const request = () => markRead({ conversation_id: id, message_id: messageId });
      const { message_unread_count } = await this.#loads.run(request, read);
      // Its `unread_count` is that of the conversation, not of the notifications.
      return { message_unread_count };
    });
  }

  /** Of the store: the reader has seen more of a conversation. */
  recount(id) {
    const [shown, row] = [this.getSnapshot().byId[id], this.#rows[id]];
    if (!row) return;
    const count = this.#unreadOf(row);
    if (count === shown.unread_count) return;
    this.#show(this.#rows);
    this.#context.unread.see(id, shown.unread_count - count);
  }

  /** Of the store: by conversation, how many of the messages that the server counts as unread were seen. */
  seenAhead() {
    const rows = Object.values(this.#rows).map((row) => [row.id, row.unread_count - this.#unreadOf(row)]);
    return new Map(/** @type {[number, number][]} */ (rows.filter(([, count]) => count > 0)));
  }

  #unreadOf(row) {
    const { id, unread_count: told } = row;
    const { reading, messages } = this.#context;
    if (told === 0 || reading.isFollowed(id)) return 0;
    const seen = reading.seenIn(id);
    return seen > this.readIn(id) ? messages.of(id).unreadAfter(seen, row) : told;
  }

  // --- Loading ---------------------------------------------------------------------------------

  #refresh() {
    return this.#context.refreshes.ask("conversations", () => this.#loadFirst());
  }

  async #loadFirst() {
    const limit = Math.min(LARGEST_PAGE, Math.max(PAGE, this.#order.length));
    const load = () =>
      this.#loads.run(
        () => this.#parley.messages.listConversations({ limit }),
        (reply) => {
          this.#activity.clear();
          this.#keepPage(reply, []);
        },
      );
    await this.#visibly(load, { isLoading: this.getSnapshot().conversations === null });
    for (const id of this.#picked) if (!this.#order.includes(id)) this.#refetchLater(id);
  }

  async #visibly(work, start = { isLoading: true }) {
    this._set(start);
    try {
      await work();
      this._set({ isLoading: false, error: null });
    } catch (error) {
      this._set(error.code === "aborted" ? { isLoading: false } : { isLoading: false, error });
      throw error;
    }
  }

  #keepPage({ conversations, next_cursor: cursor, has_more: hasMore }, above) {
    const below = conversations.map(({ id }) => id).filter((id) => !above.includes(id));
    this.#order = [...above, ...below];
    this.#cursor = cursor;
    const kept = Object.values(this.#rows).filter(({ id }) => above.includes(id) || this.#picked.has(id));
    const rows = rowsById([...kept, ...conversations]);
    let least = 0;
    for (const id of [...this.#order].reverse()) {
      least = Math.max(least, this.#activity.get(id) ?? 0, rows[id]?.last_message?.id ?? 0);
      this.#activity.set(id, least);
    }
    this.#show(rows, { hasMore }, true);
  }

  #refetchLater(id) {
    this.#refetch(id).catch(() => {});
  }

  #refetch(id) {
    return this.#context.refreshes.ask(`conversation ${id}`, async () => {
      try {
        await this.#loads.run(
          () => this.#parley.messages.getConversation({ conversation_id: id }),
          ({ conversation }) => this.#put([conversation]),
        );
      } catch (error) {
        if (error.status === 404) this.#drop(id);
        throw error;
      }
    });
  }

  // --- Rows ------------------------------------------------------------------------------------

  #show(told, part = {}, isListed = this.getSnapshot().conversations !== null) {
    this.#rows = told;
    const before = this.getSnapshot();
    const shown = Object.values(told).map((row) => ({ ...row, unread_count: this.#unreadOf(row) }));
    const rows = share(before.byId, rowsById(shown));
    const listed = this.#order.map((id) => rows[id]).filter(Boolean);
    this._set({ byId: rows, conversations: isListed ? sameList(before.conversations, listed) : null, ...part });
  }

  #put(rows) {
    this.#show({ ...this.#rows, ...rowsById(rows) });
  }

  #change(id, part) {
    const row = this.#rows[id];
    if (row) this.#put([{ ...row, ...part }]);
  }

  #drop(id) {
    const { [id]: gone, ...left } = this.#rows;
    this.#order = this.#order.filter((other) => other !== id);
    this.#activity.delete(id);
    this.#picked.delete(id);
    this.#show(left);
  }

  /** A message has come: the conversation moves up. */
  #rise(id, messageId) {
    if ((this.#activity.get(id) ?? 0) >= messageId) return;
    this.#activity.set(id, messageId);
    const others = this.#order.filter((other) => other !== id);
    const below = others.findIndex((other) => this.#activity.get(other) < messageId);
    const place = below === -1 ? others.length : below;
    // It belongs to a page that is not loaded.
    if (below === -1 && this.getSnapshot().hasMore && others.length === this.#order.length) return;
    this.#order = [...others.slice(0, place), id, ...others.slice(place)];
  }

  // --- Events ----------------------------------------------------------------------------------

  #listen() {
    const { on } = this.#context;
    const apply = (name, act) => on(name, (data) => this.#loads.apply(() => act(data)));
    apply("message.new", ({ conversation_id: id, message, unread_count }) => {
      this.#arrived(id, message, { unread_count });
    });
    apply("outbox.sent", ({ message }) => this.#arrived(message.conversation_id, message, {}));
    apply("message.edited", ({ conversation_id: id, message, unread_count }) => {
      const isLast = this.#rows[id]?.last_message?.id === message.id;
      this.#change(id, { unread_count, ...(isLast ? { last_message: lastMessageOf(message) } : {}) });
    });
    apply("message.reactions", ({ conversation_id: id, unread_count }) => this.#change(id, { unread_count }));
    apply("message.deleted", ({ conversation_id: id, unread_count, last_message }) =>
      this.#change(id, { unread_count, last_message }),
    );
    apply("conversation.read", (data) => this.#read(data));
    apply("conversation.delivered", ({ conversation_id: id, user_id, delivered_id }) => {
      const row = this.#rows[id];
      if (row && user_id !== this.#parley.session.userId && row.other_delivered_id !== null)
        this.#change(id, { other_delivered_id: Math.max(row.other_delivered_id, delivered_id) });
    });
    apply("conversation.created", ({ conversation }) => this.#appeared(conversation));
    apply(
      "conversation.updated",
      ({ conversation }) => conversation && this.#known(conversation.id, () => this.#put([conversation])),
    );
    apply("conversation.cleared", ({ conversation_id: id }) => this.#known(id, () => this.#refetchLater(id)));
    apply("block.changed", ({ user_id }) => {
      const row = Object.values(this.#rows).find(({ other_user: other }) => other.id === user_id);
      if (row) this.#refetchLater(row.id);
    });
    // The blocked user gets no event of the block, nor of its end.
    const refused = ({ conversation_id: id, error }) =>
      error.code === "user_blocked" && this.#known(id, () => this.#refetchLater(id));
    apply("typing.refused", refused);
    apply("outbox.failed", refused);
    apply("typing", ({ conversation_id: id }) => this.#unblocked(id));
    on("reload", () => this.#reload());
    // A block by the other user has no event.
    on("synced", () => this.#isWanted && this.#refresh().catch(() => {}));
    on("signedout", () => this.#forget());
  }

  #arrived(id, message, counts) {
    this.#rise(id, message.id);
    const row = this.#rows[id];
    if (!row) {
      if (this.#isWanted) this.#refetchLater(id);
      return;
    }
    const isNewest = !row.last_message || row.last_message.id <= message.id;
    this.#change(id, { ...counts, ...(isNewest ? { last_message: lastMessageOf(message) } : {}) });
    this.#unblocked(id);
  }

  #unblocked(id) {
    if (this.#rows[id]?.is_blocked) this.#refetchLater(id);
  }

  #read({ conversation_id: id, user_id, last_read_id: read, unread_count }) {
    const row = this.#rows[id];
    if (!row) return;
    if (user_id === this.#parley.session.userId) {
      this.#change(id, { unread_count, last_read_id: Math.max(row.last_read_id, read) });
      return;
    }
    this.#change(id, {
      other_last_read_id: Math.max(row.other_last_read_id ?? 0, read),
      other_delivered_id: row.other_delivered_id === null ? null : Math.max(row.other_delivered_id, read),
    });
  }

  #appeared(conversation) {
    if (!conversation) return;
    if (this.#rows[conversation.id]) this.#put([conversation]);
    // Its place in the list is known to the server only.
    if (this.#isWanted && !this.#order.includes(conversation.id)) this.#refresh().catch(() => {});
  }

  #known(id, act) {
    if (this.#rows[id]) act();
  }

  #reload() {
    this.#loads.abandon();
    if (this.#isWanted) this.#refresh().catch(() => {});
    else for (const id of this.#picked) this.#refetchLater(id);
  }

  #forget() {
    this.#loads.abandon();
    this.#picked.clear();
    this.#activity.clear();
    this.#order = [];
    this.#rows = {};
    this.#cursor = null;
    this.#isWanted &&= this.isWatched;
    this._set({ conversations: null, byId: {}, hasMore: false, isLoading: false, error: null });
  }
}

const rowsById = (rows) => Object.fromEntries(rows.map((row) => [row.id, row]));
