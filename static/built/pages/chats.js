import { waitAfter, ParleyError, run, parley, useStore, A, d, html, t, errorText, duration, notice, T, P, F, Icon, Notices, onNavigation, Q, w, tn, createStore, readStored, stored, app, failed, LIMITS, language, config, bytes, Loading, number as number$1, b, load, NOTHING, ago, navigate, storedHere, x, time, dateTime, dayName, useTitle, isKeeping, shortTime, Retry, usePlace, forThisUser, useUnreadTitle, NavLink } from '../first.js';

/**
 * Replies that replace a part of the state. An event that arrives while one is under way may be newer than the reply:
 * it is applied at once, and again after the reply. Events carry whole objects, so that applying one twice is safe.
 */
class Loads {
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
class NextPages {
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
class Refreshes {
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

/** A part of the state: a value that is replaced, never changed, and keeps its reference while nothing changes. */
class Part {
  #value;
  #initial;
  #listeners = new Set();
  #onChange;

  constructor(value, onChange) {
    this.#value = this.#initial = value;
    this.#onChange = onChange;
  }

  getSnapshot = () => this.#value;

  /** The value before anything was loaded: what a server renders, and a browser that takes over from it. */
  getInitialSnapshot = () => this.#initial;

  /** Calls `listener` after each change. Returns the function that ends this. */
  subscribe = (listener) => {
    // The same function may subscribe twice.
    const entry = () => run(listener, []);
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  };

  /** What `selector` takes from this part, as a part whose listeners are called only when that changes. */
  select(selector, isEqual = Object.is) {
    return select(this, selector, isEqual);
  }

  get isWatched() {
    return this.#listeners.size > 0;
  }

  /** Replaces the value, or some of its keys. Without a difference nothing happens. */
  _set(change) {
    const before = this.#value;
    const isPartial = typeof change === "object" && change !== null && !Array.isArray(change) && before !== null;
    const isSame = isPartial
      ? Object.keys(change).every((key) => Object.is(change[key], before[key]))
      : Object.is(change, before);
    if (isSame) return;
    this.#value = isPartial ? { ...before, ...change } : change;
    for (const listener of [...this.#listeners]) listener();
    this.#onChange();
  }
}

function select(source, selector, isEqual = Object.is) {
  let from;
  let selected;
  let isKnown = false;
  const getSnapshot = () => {
    const value = source.getSnapshot();
    if (isKnown && value === from) return selected;
    const next = selector(value);
    if (!isKnown || !isEqual(selected, next)) selected = next;
    from = value;
    isKnown = true;
    return selected;
  };
  const subscribe = (listener) => {
    let last = getSnapshot();
    return source.subscribe(() => {
      const next = getSnapshot();
      if (Object.is(next, last)) return;
      last = next;
      listener();
    });
  };
  let initial = null;
  const getInitialSnapshot = () => (initial ??= { value: selector(source.getInitialSnapshot()) }).value;
  return { getSnapshot, getInitialSnapshot, subscribe };
}

/** Keeps the references of what did not change, so that a view that compares them does not draw it again. */

/** `after`, with all parts that are equal in `before` taken from there. */
function share(before, after) {
  if (Object.is(before, after)) return before;
  if (Array.isArray(before) && Array.isArray(after)) return shareItems(before, after, before);
  if (!isPlain(before) || !isPlain(after)) return after;
  const keys = Object.keys(after);
  const shared = Object.fromEntries(keys.map((key) => [key, share(before[key], after[key])]));
  const isSame = keys.length === Object.keys(before).length && keys.every((key) => Object.is(shared[key], before[key]));
  return isSame ? before : shared;
}

/** The same for lists of things with an `id` (or another key), which may have moved. */
function shareRows(before, after, keyOf = (/** @type {any} */ { id }) => id) {
  const known = new Map((before ?? []).map((row) => [keyOf(row), row]));
  return shareItems(
    before ?? [],
    after,
    after.map((row) => known.get(keyOf(row))),
  );
}

function shareItems(before, after, counterparts) {
  return sameList(
    before,
    after.map((item, index) => share(counterparts[index], item)),
  );
}

/** `before`, if `after` has the same items in the same order. */
function sameList(before, after) {
  const isSame = before?.length === after.length && after.every((item, index) => Object.is(item, before[index]));
  return isSame ? before : after;
}

function isPlain(value) {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

const PAGE$6 = 30;
const LARGEST_PAGE$3 = 100;
const EMPTY$2 = Object.freeze({ current: null, calls: null, hasMore: false, isLoading: false, error: null });
const SHOWN = ["id", "conversation_id", "caller_id", "media", "direction", "state", "isLive", "outcome", "endReason"];
const SHOWN_MEDIA = ["peerRinging", "answeredAt", "mediaConnected", "reconnecting", "localStream", "remoteStream"];
const SHOWN_DEVICES = ["remote", "muted", "cameraOn", "sharing", "cameraError", "microphoneError", "quality"];
const ALL_SHOWN = [...SHOWN, ...SHOWN_MEDIA, ...SHOWN_DEVICES];

/** The call of this tab, and the calls of the user, newest first. */
class CallsPart extends Part {
  #context;
  #parley;
  #loads = new Loads();
  #isWanted = false;
  #stop = () => {};
  #pages;

  constructor(context) {
    super(EMPTY$2, context.changed);
    this.#context = context;
    this.#parley = context.parley;
    this.#pages = new NextPages(context.refreshes, "calls");
    if (this.#parley.calls.current) this.#follow(this.#parley.calls.current);
    context.on("call", ({ call }) => this.#follow(call));
    context.on("call.updated", ({ call }) => this.#loads.apply(() => this.#updated(call)));
    context.on("reload", () => {
      this.#loads.abandon();
      if (this.#isWanted) this.#refresh().catch(() => {});
    });
    context.on("signedout", () => {
      this.#loads.abandon();
      this.#isWanted &&= this.isWatched;
      this.#stop();
      this._set(EMPTY$2);
    });
  }

  /** Loads the newest calls, unless they are here. */
  load() {
    this.#isWanted = true;
    return this.getSnapshot().calls ? Promise.resolve() : this.#refresh();
  }

  /** Loads the calls before the oldest one that is here. */
  loadOlder() {
    return this.#pages.load(async () => {
      const { calls, hasMore } = this.getSnapshot();
      if (!calls || !hasMore) return;
      const before = calls[calls.length - 1].id;
      await this.#visibly({ limit: PAGE$6, before }, (older) => [
        ...this.getSnapshot().calls.filter(({ id }) => id >= before),
        ...older,
      ]);
    });
  }

  /** An ended call stays in `current` until this is called, or the next one begins. */
  dismiss() {
    if (this.getSnapshot().current?.isLive) return;
    this.#stop();
    this._set({ current: null });
  }

  #refresh() {
    return this.#context.refreshes.ask("calls", () => {
      const { calls } = this.getSnapshot();
      const limit = Math.min(LARGEST_PAGE$3, Math.max(PAGE$6, calls?.length ?? 0));
      return this.#visibly({ limit }, (rows) => rows, { isLoading: calls === null });
    });
  }

  async #visibly(params, merge, start = { isLoading: true }) {
    this._set(start);
    try {
      await this.#loads.run(
        () => this.#parley.calls.list(params),
        ({ calls, has_more: hasMore }) =>
          this._set({ calls: shareRows(this.getSnapshot().calls, merge(calls)), hasMore }),
      );
      this._set({ isLoading: false, error: null });
    } catch (error) {
      this._set(error.code === "aborted" ? { isLoading: false } : { isLoading: false, error });
      throw error;
    }
  }

  #updated(row) {
    const { calls, hasMore } = this.getSnapshot();
    if (!calls) return;
    // Of one of the two who has left for good; which call it was is not said.
    if (!row) return void this.#refresh().catch(() => {});
    const others = calls.filter(({ id }) => id !== row.id);
    const isBelow = hasMore && others.every(({ id }) => id > row.id);
    const rows = isBelow ? others : [...others, row].sort((one, other) => other.id - one.id);
    this._set({ calls: shareRows(calls, rows) });
  }

  #follow(call) {
    this.#stop();
    const show = () =>
      this._set({ current: { call, ...Object.fromEntries(ALL_SHOWN.map((key) => [key, call[key]])) } });
    const offs = [call.on("change", show), call.on("ended", show)];
    this.#stop = () => offs.forEach((off) => off());
    show();
  }
}

const PAGE$5 = 50;
const LARGEST_PAGE$2 = 100;
// As much of what was here is loaded anew after a gap that the events do not fill.
const MOST_AGAIN = 300;
// Calls that count as unread messages.
const MISSED$1 = ["missed", "canceled", "busy"];
const EMPTY$1 = Object.freeze({ messages: null, hasOlder: false, hasNewer: false, isLoading: false, error: null });

/**
 * The messages of one conversation: a stretch of its history without gaps, oldest first. At its end stand those that
 * wait for the server, with their `state`.
 */
let Messages$1 = class Messages extends Part {
  #context;
  #parley;
  #loads = new Loads();
  #isWanted = false;
  #least = PAGE$5;
  // Null until loaded.
  #stretch = null;
  #waiting = [];
  #shownWaiting = [];
  #isLoadingOlder = false;
  #isLoadingNewer = false;

  #onUse;

  /** `onUse` is called before something is loaded. */
  constructor(context, conversationId, onUse) {
    super(EMPTY$1, context.changed);
    this.#onUse = onUse;
    this.#context = context;
    this.#parley = context.parley;
    this.conversationId = conversationId;
    this.setWaiting(context.parley.outbox.items(conversationId));
  }

  /** Loads the newest page, or `least` messages (100 with one request), unless messages are here. */
  load({ least = PAGE$5 } = {}) {
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
        () => this.#page({ before: first.id, limit: LARGEST_PAGE$2 }),
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
        () => this.#page({ after: last.id, limit: LARGEST_PAGE$2 }),
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
      sender !== userId && (kind !== "call" || MISSED$1.includes(call?.outcome));
    const count = (from, to) => {
      let found = 0;
      for (let place = placeOf$1(this.#stretch, from + 1); this.#stretch[place]?.id <= to; place += 1)
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
    this._set(EMPTY$1);
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
        this._set({ ...EMPTY$1, error });
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
    const params = { conversation_id: this.conversationId, limit: PAGE$5, ...query };
    const { messages, has_more: hasMore } = await this.#parley.messages.list(params);
    return { messages: messages.reverse(), hasMore };
  }

  /** The end of the history, about as much of it as is here. */
  async #newestPages() {
    const wanted = Math.min(MOST_AGAIN, Math.max(this.#least, this.#stretch?.length ?? 0));
    let { messages, hasMore } = await this.#page({ limit: Math.min(LARGEST_PAGE$2, wanted) });
    while (hasMore && messages.length < wanted) {
      const older = await this.#page({ limit: LARGEST_PAGE$2, before: messages[0].id });
      messages = [...older.messages, ...messages];
      hasMore = older.hasMore;
    }
    return { messages, hasOlder: hasMore, hasNewer: false };
  }

  /** What is left of a stretch that does not reach the end. */
  async #samePages() {
    const [first, last] = [this.#stretch[0].id, lastOf(this.#stretch).id];
    let { messages, hasMore } = await this.#page({ limit: LARGEST_PAGE$2, after: first - 1 });
    while (hasMore && lastOf(messages).id < last && messages.length < MOST_AGAIN) {
      const newer = await this.#page({ limit: LARGEST_PAGE$2, after: lastOf(messages).id });
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
      const place = placeOf$1(this.#stretch, message.id);
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
};

class AllMessages {
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
      const list = new Messages$1(this.#context, conversationId, () => this.#used(list));
      this.#lists.set(conversationId, list);
    }
    return this.#lists.get(conversationId);
  }

  /** The one that was used last is forgotten last. */
  #used(list) {
    this.#lists.delete(list.conversationId);
    this.#lists.set(list.conversationId, list);
    const idle = [...this.#lists.values()].filter((other) => other.isWanted && !other.isWatched && other !== list);
    for (const other of idle.slice(0, -10)) other.forget();
  }

  get parts() {
    return this.#lists;
  }
}

const lastOf = (messages) => messages?.[messages.length - 1];

const withoutQuote = (message) => (message.reply_to ? { ...message, reply_to: null } : message);

/** Where the message of that id stands, or would stand. */
function placeOf$1(messages, id) {
  let [low, high] = [0, messages.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (messages[middle].id < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The messages that wait for the server, or were refused. */
class OutboxItems extends Part {
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
function lastMessageOf({ id, kind, body, sender_id, call, created_at, attachment }) {
  const preview = { id, kind, body: body ?? "", sender_id, call, created_at };
  if (attachment === undefined) return preview;
  return { ...preview, attachment: attachment && { type: attachment.type, name: attachment.name } };
}

/** The `reply_to` of a message that replies to this one. */
function replyPreviewOf({ id, sender_id, kind, body, media_url, media }) {
  return { id, sender_id, kind, body: quoted(body), media_url, thumb_url: media?.thumb_url ?? null };
}

const quoted = (body) => (body === null ? null : [...body].slice(0, REPLY_LENGTH).join(""));

const PAGE$4 = 30;
const LARGEST_PAGE$1 = 100;

/**
 * The list of conversations, newest activity first, and those that were asked for by their id. The server sorts by the
 * newest message that a conversation ever had. That number is not in the rows: for those of a page the order says as
 * much as is needed.
 */
class Conversations extends Part {
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
          () => this.#parley.messages.listConversations({ limit: PAGE$4, cursor: this.#cursor }),
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
    const limit = Math.min(LARGEST_PAGE$1, Math.max(PAGE$4, this.#order.length));
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

const PAGE$3 = 30;
const LARGEST_PAGE = 100;
const EMPTY = Object.freeze({ notifications: null, hasMore: false, isLoading: false, error: null });

/** The notifications, newest first. */
class Notifications extends Part {
  #context;
  #parley;
  #loads = new Loads();
  #isWanted = false;
  #cursor = null;
  #pages;

  constructor(context) {
    super(EMPTY, context.changed);
    this.#context = context;
    this.#parley = context.parley;
    this.#pages = new NextPages(context.refreshes, "notifications");
    const refresh = () => this.#isWanted && this.#refresh().catch(() => {});
    context.on("notification.new", (data) => this.#loads.apply(() => this.#changed(data)));
    context.on("notification.read_all", refresh);
    // A block takes the other's notifications away.
    context.on("block.changed", refresh);
    context.on("badge", ({ unread_count }) => {
      const shown = this.getSnapshot().notifications?.filter((row) => !row.is_read).length ?? 0;
      // Rows that went without an event: another user has blocked this user.
      if (unread_count < shown) refresh();
    });
    context.on("reload", () => {
      this.#loads.abandon();
      refresh();
    });
    context.on("signedout", () => {
      this.#loads.abandon();
      this.#isWanted &&= this.isWatched;
      this.#cursor = null;
      this._set(EMPTY);
    });
  }

  /** Loads the first page, unless it is here. */
  load() {
    this.#isWanted = true;
    return this.getSnapshot().notifications ? Promise.resolve() : this.#refresh();
  }

  /** Loads the next page, if there is one. */
  loadOlder() {
    return this.#pages.load(async () => {
      const { notifications, hasMore } = this.getSnapshot();
      if (!notifications || !hasMore) return;
      await this.#visibly({ limit: PAGE$3, cursor: this.#cursor }, (reply) => {
        const above = this.getSnapshot().notifications;
        const known = new Set(above.map(({ id }) => id));
        this.#keep([...above, ...reply.notifications.filter(({ id }) => !known.has(id))], reply);
      });
    });
  }

  /** Marks one as read: here at once, then on the server. */
  read(id) {
    return this.#markRead(
      (row) => row.id === id,
      () => this.#parley.notifications.read({ notification_id: id }),
    );
  }

  /** The same for all of them. */
  readAll() {
    return this.#markRead(
      () => true,
      () => this.#parley.notifications.readAll(),
    );
  }

  async #markRead(isMeant, request) {
    const mark = () => {
      const rows = this.getSnapshot().notifications;
      if (rows)
        this._set({
          notifications: rows.map((row) => (isMeant(row) && !row.is_read ? { ...row, is_read: true } : row)),
        });
    };
    mark();
    try {
      await this.#loads.run(() => this.#context.unread.run(request), mark);
    } catch (error) {
      if (this.#isWanted) this.#refresh().catch(() => {});
      throw error;
    }
  }

  #refresh() {
    return this.#context.refreshes.ask("notifications", () => {
      const { notifications } = this.getSnapshot();
      const limit = Math.min(LARGEST_PAGE, Math.max(PAGE$3, notifications?.length ?? 0));
      return this.#visibly({ limit }, (reply) => this.#keep(reply.notifications, reply), {
        isLoading: notifications === null,
      });
    });
  }

  async #visibly(params, keep, start = { isLoading: true }) {
    this._set(start);
    try {
      await this.#loads.run(() => this.#parley.notifications.list(params), keep);
      this._set({ isLoading: false, error: null });
    } catch (error) {
      this._set(error.code === "aborted" ? { isLoading: false } : { isLoading: false, error });
      throw error;
    }
  }

  #keep(rows, { next_cursor: cursor, has_more: hasMore }) {
    this.#cursor = cursor;
    this._set({ notifications: shareRows(this.getSnapshot().notifications, rows), hasMore });
  }

  #changed({ notification_id: id, notification }) {
    const { notifications, hasMore } = this.getSnapshot();
    if (!notifications) return;
    const others = notifications.filter((row) => row.id !== id);
    const rows = notification ? [...others, notification].sort(newestFirst) : others;
    // It belongs to a page that is not loaded.
    const isBelow = hasMore && notification && rows[rows.length - 1] === notification;
    this._set({ notifications: shareRows(notifications, isBelow ? others : rows) });
  }
}

const newestFirst = (one, other) =>
  one.created_at === other.created_at ? other.id - one.id : one.created_at < other.created_at ? 1 : -1;

/** Whether a user is online: `{user_id, online, last_seen_at}`, null while unknown. Watched while there are listeners. */
class UserPresence extends Part {
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

class AllPresence {
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
class Typing extends Part {
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

class AllTyping {
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

const NONE = Object.freeze({ unread_count: 0, message_unread_count: 0 });
// Longer than a report of what was seen takes.
const SETTLE_MS = 3_000;

/**
 * The two numbers of the badge: unread notifications and unread messages. What the reader has seen is taken off before
 * the server knows it. A message into a conversation that is followed to its end is seen at once, but counts on the
 * server until it is told: a larger number that has no other reason is shown only when it stays.
 */
class Unread extends Part {
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

const PAUSE_MS$1 = 700;
const LEAST_MS = 60;
const AGAIN_MS = 3_500;

/**
 * What the reader has seen of each conversation. The server is told of it soon; a count that it made before that is
 * larger than what is shown.
 */
class Reading {
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
    this.#wait(id, place, Math.max(LEAST_MS, place.toldAt + PAUSE_MS$1 - Date.now()));
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

/**
 * The state of the signed-in user, as far as it was loaded, kept true by the events. Each part has a snapshot that is
 * replaced when something changes, and listeners.
 */
class Store {
  #offs = [];
  #listeners = new Set();
  #snapshot = null;
  #initial;
  #messages;
  #typing;
  #presence;

  /** `parley` is the client that the store belongs to. */
  constructor(parley) {
    const context = {
      parley,
      // The next event does not wait for what a handler asks for.
      on: (name, handler) => this.#offs.push(parley.on(name, (data) => void handler(data))),
      changed: () => this.#changed(),
      // What the parts have of one another.
      refreshes: null,
      reading: null,
      messages: null,
      conversations: null,
      unread: null,
    };
    const refreshes = new Refreshes(context);
    context.refreshes = refreshes;
    this.#offs.push(() => refreshes.stop());
    // Before the parts ask for something anew.
    context.on("signedout", () => refreshes.stop());
    const reading = new Reading(context);
    context.reading = reading;
    // Before the counts, which are made of them.
    this.#messages = new AllMessages(context);
    context.messages = this.#messages;
    this.conversations = new Conversations(context);
    context.conversations = this.conversations;
    this.unread = new Unread(context);
    context.unread = this.unread;
    this.#offs.push(
      () => reading.stop(),
      () => this.unread.stop(),
    );
    this.notifications = new Notifications(context);
    this.calls = new CallsPart(context);
    this.outbox = new OutboxItems(context);
    this.#typing = new AllTyping(context);
    this.#presence = new AllPresence(context);
    this.#initial = this.getSnapshot();
  }

  /** The messages of a conversation. */
  messages(conversationId) {
    return this.#messages.of(conversationId);
  }

  /** The ids of those who are typing in a conversation. */
  typing(conversationId) {
    return this.#typing.of(conversationId);
  }

  /** Whether a user is online. */
  presence(userId) {
    return this.#presence.of(userId);
  }

  /** All parts. */
  getSnapshot = () => {
    const before = this.#snapshot;
    if (before?.isCurrent) return before.value;
    const parts = ["conversations", "unread", "notifications", "calls", "outbox"];
    const value = {
      ...Object.fromEntries(parts.map((name) => [name, this[name].getSnapshot()])),
      messages: together(before?.value.messages, this.#messages.parts),
      typing: together(before?.value.typing, this.#typing.parts),
      presence: together(before?.value.presence, this.#presence.parts),
    };
    this.#snapshot = { value, isCurrent: true };
    return value;
  };

  getInitialSnapshot = () => this.#initial;

  /** Calls `listener` after each change of any part. Returns the function that ends this. */
  subscribe = (listener) => {
    const entry = () => run(listener, []);
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  };

  select(selector, isEqual = Object.is) {
    return select(this, selector, isEqual);
  }

  /** Ends the store: nothing changes any more. */
  close() {
    for (const off of this.#offs) off();
  }

  #changed() {
    if (this.#snapshot) this.#snapshot.isCurrent = false;
    for (const listener of [...this.#listeners]) listener();
  }
}

/** The snapshots of parts by their id; the same object while none has changed. */
function together(before, parts) {
  const entries = [...parts].map(([id, part]) => [id, part.getSnapshot()]);
  const isSame =
    before && entries.length === Object.keys(before).length && entries.every(([id, value]) => before[id] === value);
  return isSame ? before : Object.fromEntries(entries);
}

// The state of the signed-in user, which the SDK keeps true. What is shown is taken from it.

const store = new Store(parley);

// The call of this window, and who the other participant is.

const MISSED = ["missed", "canceled", "busy"];

const isMissed = ({ caller_id: caller, outcome }, userId) => caller !== userId && MISSED.includes(outcome);

const dismiss = () => store.calls.dismiss();

// Drawn anew with each change of it.
const useCall = () => useStore(store.calls, ({ current }) => current)?.call ?? null;

// The other participant of a conversation; null until loaded.
function usePeer(conversationId) {
  A(() => {
    if (conversationId) peerOf(conversationId).catch(() => {});
  }, [conversationId]);
  return useStore(store.conversations, ({ byId }) => byId[conversationId]?.other_user ?? null);
}

const peerOf = async (conversationId) => (await store.conversations.loadOne(conversationId)).other_user;

// A user's picture, or their initials on a colour derived from the user.

const TONES = 6;

const nameOf = (user) => [user.first_name, user.last_name].filter(Boolean).join(" ") || user.username;

function initials(user) {
  const letters = [user.first_name, user.last_name].map((part) => [...(part || "")][0]).filter(Boolean);
  return (letters.length ? letters : [[...(user.username || "?")][0]]).join("").toUpperCase();
}

function Avatar({ user, size = "" }) {
  const [broken, setBroken] = d(null);
  // The service is the page's own origin.
  const address = user.avatar_url;
  if (address && broken !== address) {
    return html`<img class=${`avatar ${size}`} src=${address} alt="" onError=${() => setBroken(address)} />`;
  }
  // In a drawing: letters that the browser enlarges would not fit into the circle.
  return html`<span class=${`avatar ${size} tone-${(user.id ?? 0) % TONES}`} aria-hidden="true"><svg viewBox="0 0 48 48"><text x="24" y="24">${initials(user)}</text></svg></span>`;
}

// Before an entry of a list goes: what takes the focus after it, the next button or the heading. Returns a function to be called then.
function focusAfter(button) {
  const buttons = [...(button.closest("ul")?.querySelectorAll("button") ?? [])];
  const at = buttons.indexOf(button);
  const next = buttons[at + 1] ?? buttons[at - 1] ?? button.closest("section").querySelector("h2");
  // Not from where the reader went meanwhile.
  return () => [button, document.body].includes(document.activeElement) && next.focus();
}

// Once what is drawn next stands: `element` takes the focus of what has gone.
const focusIfLost = (element) =>
  requestAnimationFrame(() => document.activeElement === document.body && element?.focus({ preventScroll: true }));

// Calls `act` whenever the user comes back to this window: another one may have changed what it shows.
function onReturn(act) {
  const visible = () => document.visibilityState === "visible" && act();
  document.addEventListener("visibilitychange", visible);
  addEventListener("focus", visible);
  return () => {
    document.removeEventListener("visibilitychange", visible);
    removeEventListener("focus", visible);
  };
}

// What a call says about itself.

// Why the call ended, for this user. `mine`: this user called.
function endText({ reason, mine, seconds, error }) {
  const texts = {
    completed: () => t("Call ended · {time}", { time: duration(seconds || 0) }),
    missed: () => (mine ? t("No answer") : t("Missed call")),
    canceled: () => (mine ? t("Call canceled") : t("Missed call")),
    declined: () => (mine ? t("Call declined") : t("You declined the call")),
    busy: () => (mine ? t("Busy: on another call") : t("Missed call while you were on another call")),
    failed: () => t("The call could not be connected"),
    lost: () => t("The connection was lost"),
    answered_elsewhere: () => t("Answered on another device"),
  };
  return texts[reason]?.() || (error ? problemText(error) : t("Call ended"));
}

// What cannot be done in a call, or begun.
function problemText(error) {
  const camera = () => t("The camera cannot be used. The call continues without it.");
  const texts = {
    call_conflict: () => t("You are already in a call."),
    microphone_denied: () => t("Microphone access was denied. Allow it in the browser and call again."),
    calls_unsupported: () => t("This browser cannot hold calls on this page. Calls need WebRTC and an https address."),
    devices_missing: () => t("There is no microphone"),
    microphone_lost: () =>
      t("There is no microphone any more: the other person cannot hear you. Connect one to go on."),
    devices_failed: () => t("The microphone could not be used"),
    screen_missing: () => t("There is no screen that can be shared."),
    screen_failed: () => t("The screen could not be shared."),
    camera_denied: camera,
    camera_missing: camera,
    camera_failed: camera,
  };
  return texts[error.code]?.() || errorText(error);
}

function mediaText(media) {
  return media === "video" ? t("Video call") : t("Voice call");
}

// The state of a call that has not ended.
function stateText(call) {
  if (call.reconnecting) return t("Reconnecting…");
  if (call.state === "starting") return t("Calling…");
  if (call.state === "ringing") return call.peerRinging ? t("Ringing…") : t("Calling…");
  if (call.state === "connecting" || !call.mediaConnected) return t("Connecting the call…");
  return "";
}

function qualityText(quality) {
  return { good: t("Connection: good"), fair: t("Connection: fair"), poor: t("Connection: poor") }[quality] || "";
}

// Every button that calls.

async function invite(call) {
  if (parley.status === "offline") {
    notice(t("You're offline. Call again when you're back online."), { kind: "danger" });
    return;
  }
  try {
    await parley.calls.invite(call);
  } catch (error) {
    notice(problemText(error), { kind: "danger" });
  }
}

// Keys that belong to an input method while it makes a word: the Enter that ends the word sends nothing, Escape closes
// nothing, arrows choose among its proposals.

// Safari ends the composition before the key that ended it: only the number of the key still tells.
const IN_PROCESS = 229;

function isComposing(event) {
  const isOfInputMethod = event.isComposing || event.keyCode === IN_PROCESS;
  // At Escape the browser itself empties a search box and closes a dialog.
  if (isOfInputMethod && event.key === "Escape") event.preventDefault();
  return isOfInputMethod;
}

// A keyboard on the screen: it has no Shift to break a line with.
const isTouch = () => matchMedia("(pointer: coarse)").matches;

// Dialogs of the browser's own kind: focus stays inside, Escape closes, focus returns.

const headingOf = (place) => (place?.isConnected ? place : document).querySelector(":is(h1, h2)[tabindex]");

// Its notices are its own: those of the page lie behind it. `tools` stand before the button that closes it.
function Dialog({
  title,
  onClose,
  alert = false,
  className = "",
  tools = null,
  onKeyDown = undefined,
  children,
}) {
  const self = T(null);
  const heading = P();
  // Before anything else can take the focus: it returns to what has opened the dialog.
  F(() => {
    const before = /** @type {HTMLElement} */ (document.activeElement);
    const around = before?.closest("section, main");
    const element = self.current;
    element.showModal();
    // Not the button that closes it.
    if (!element.querySelector("[autofocus]"))
      element.querySelector("form :is(input:not([hidden]), select, textarea)")?.focus();
    return () => {
      // What is outside takes no focus as long as the dialog is open.
      element.close();
      before?.focus({ preventScroll: true });
      // It may have gone with the change.
      const { activeElement: now } = document;
      if (before !== document.body && (now === document.body || element.contains(now)))
        headingOf(around)?.focus({ preventScroll: true });
    };
  }, []);
  // The browser does not say of which key an order to close comes.
  const ofInputMethod = T(false);
  const onKeyDownCapture = (event) => {
    ofInputMethod.current = isComposing(event);
    // The order follows its key at once.
    setTimeout(() => {
      ofInputMethod.current = false;
    });
  };
  const onCancel = (event) => {
    event.preventDefault();
    if (!ofInputMethod.current) onClose();
  };
  // A press beside it closes it; one that began inside, as a selection of text does, does not.
  const pressed = T(null);
  const onPointerDown = (event) => {
    pressed.current = event.target;
  };
  const onClick = (event) => event.target === self.current && pressed.current === self.current && onClose();
  return html`<dialog ref=${self} class=${`dialog ${className}`} role=${alert ? "alertdialog" : "dialog"} aria-labelledby=${heading}
      onKeyDownCapture=${onKeyDownCapture} onKeyDown=${onKeyDown} onCancel=${onCancel} onPointerDown=${onPointerDown} onClick=${onClick}>
    <div class="dialog-body"><header class="dialog-head"><h2 id=${heading}>${title}</h2>${tools}
      <button type="button" class="icon-button" aria-label=${t("Close")} onClick=${onClose}><${Icon} name="close" /></button></header>
      ${children}</div>
    <${Notices} /></dialog>`;
}

// Asks before something that cannot be taken back. Resolves to true or false; leaving the page counts as no.
function confirm({ title, text, action, danger = false }) {
  const place = document.createElement("div");
  document.body.append(place);
  return new Promise((resolve) => {
    const answer = (value) => {
      stop();
      Q(null, place);
      place.remove();
      resolve(value);
    };
    const stop = onNavigation(() => answer(false));
    Q(
      html`<${Dialog} title=${title} alert onClose=${() => answer(false)}>
        <p>${text}</p>
        <div class="row dialog-actions"><button class="button" autofocus onClick=${() => answer(false)}>${t("Cancel")}</button>
          <button class=${`button ${danger ? "danger" : "primary"}`} onClick=${() => answer(true)}>${action}</button></div><//>`,
      place,
    );
  });
}

// Draws a blurhash (https://blurha.sh) on a small canvas: the colours of an image before it is there.

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~";
const SIZE = 24;

const number = (text) => [...text].reduce((value, digit) => value * 83 + DIGITS.indexOf(digit), 0);
const toLinear = (value) => (value <= 10.31475 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
const signedSquare = (value) => Math.sign(value) * value * value;

function toByte(value) {
  const limited = Math.max(0, Math.min(1, value));
  return Math.round((limited <= 0.0031308 ? limited * 12.92 : 1.055 * limited ** (1 / 2.4) - 0.055) * 255);
}

function colours(hash) {
  const size = number(hash[0]);
  const across = (size % 9) + 1;
  const down = Math.floor(size / 9) + 1;
  if (hash.length !== 4 + 2 * across * down) return null;
  const largest = (number(hash[1]) + 1) / 166;
  const found = [];
  for (let index = 0; index < across * down; index += 1) {
    if (index === 0) {
      const value = number(hash.slice(2, 6));
      found.push([value >> 16, (value >> 8) & 255, value & 255].map(toLinear));
    } else {
      const value = number(hash.slice(4 + index * 2, 6 + index * 2));
      const parts = [Math.floor(value / 361), Math.floor(value / 19) % 19, value % 19];
      found.push(parts.map((part) => signedSquare((part - 9) / 9) * largest));
    }
  }
  return { across, down, found };
}

function pixels(hash, width = SIZE, height = SIZE) {
  const parts = colours(hash);
  if (!parts) return null;
  const { across, down, found } = parts;
  const data = new Uint8ClampedArray(width * height * 4);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const sum = [0, 0, 0];
      for (let j = 0; j < down; j += 1) {
        for (let i = 0; i < across; i += 1) {
          const weight = Math.cos((Math.PI * x * i) / width) * Math.cos((Math.PI * y * j) / height);
          const colour = found[i + j * across];
          for (let channel = 0; channel < 3; channel += 1) sum[channel] += colour[channel] * weight;
        }
      }
      data.set([...sum.map(toByte), 255], (y * width + x) * 4);
    }
  }
  return data;
}

function Blurhash({ hash }) {
  const canvas = T(null);
  A(() => {
    const data = hash && pixels(hash);
    if (data) canvas.current.getContext("2d").putImageData(new ImageData(data, SIZE, SIZE), 0, 0);
  }, [hash]);
  return html`<canvas ref=${canvas} class="blurhash" width=${SIZE} height=${SIZE} aria-hidden="true"></canvas>`;
}

// The image of a message: its place is kept from the first moment, so that nothing jumps when it arrives.

const WIDEST = 340;
const TALLEST = 360;

function fit({ width, height }) {
  const scale = Math.min(1, WIDEST / width, TALLEST / height);
  return { width: Math.max(80, Math.round(width * scale)), height: Math.max(60, Math.round(height * scale)) };
}

const altOf = (message, name) =>
  message.body ? t("Image from {name}: {text}", { name, text: message.body }) : t("Image from {name}", { name });

function Image$1({ message, name, onOpen }) {
  const [here, setHere] = d(false);
  const { width, height } = fit(message.media);
  const animated = message.media.mime === "image/gif";
  return html`<button type="button" class="image" style=${{ width: `${width}px`, aspectRatio: `${width} / ${height}` }} aria-label=${t("Open the image")}
      onClick=${() => onOpen(message)}>
      ${!here && html`<${Blurhash} hash=${message.media.blurhash} />`}
      <img src=${parley.mediaUrl(animated ? message.media_url : message.media.thumb_url)} alt=${altOf(message, name)} width=${width} height=${height} loading="lazy"
        decoding="async" onLoad=${() => setHere(true)} /></button>`;
}

// An address for a file of this window, taken back when it is no longer shown.
function useObjectUrl(file) {
  const address = w(() => (file ? URL.createObjectURL(file) : null), [file]);
  A(() => () => address && URL.revokeObjectURL(address), [address]);
  return address;
}

// Of the files that are sent from this window: a row has its height before its picture is decoded.
const sizes = new WeakMap();
const keepSize = (file, size) => sizes.set(file, size);
// For one of which nothing is known yet; it does not change, so that the log does not jump.
const UNKNOWN = { width: 280, height: 210 };

function Upload({ item }) {
  const address = useObjectUrl(item.file);
  const [isBroken, setBroken] = d(false);
  const known = T(item.file && sizes.get(item.file));
  const { width, height } = fit(known.current ?? UNKNOWN);
  const percent = Math.round(item.progress * 100);
  const isFailed = item.state === "failed";
  const alt = isFailed ? t("Image that was not sent") : t("Image being sent");
  return html`<div class="image uploading" style=${{ width: `${width}px`, aspectRatio: `${width} / ${height}` }}>
    ${
      isBroken
        ? html`<div class="broken" role="img" aria-label=${alt}><${Icon} name="image" size=${40} /></div>`
        : html`<img src=${address} alt=${alt} onError=${() => address && setBroken(true)} />`
    }
    ${!isFailed && html`<progress max="100" value=${percent} aria-label=${t("Upload")}>${tn("{n} percent", "{n} percent", percent)}</progress>`}</div>`;
}

// How many calls were missed since the page of the calls was last looked at; kept in this browser for the signed-in user.

const key$4 = () => `parley.calls_seen.${parley.session.userId}`;

const read$3 = () => readStored(stored, key$4(), null);

// The newest call that was seen; null until there is one.
const seen = createStore({ id: read$3() });

function see(calls) {
  const newest = Math.max(0, ...calls.map(({ id }) => id));
  if (read$3() !== null && read$3() >= newest) return;
  stored.setItem(key$4(), JSON.stringify(newest));
  seen.set({ id: newest });
}

parley.on("signedin", () => seen.set({ id: read$3() }));
addEventListener("storage", (event) => (event.key === null || event.key === key$4()) && seen.set({ id: read$3() }));

function useMissedCalls() {
  const userId = useStore(app, ({ user }) => user?.id);
  const calls = useStore(store.calls, (part) => part.calls);
  const last = useStore(seen, ({ id }) => id);
  A(() => void store.calls.load().catch(() => {}), []);
  // What was missed before this browser knew the user is no news.
  A(() => {
    if (calls && last === null) see(calls);
  }, [calls, last]);
  return last === null ? 0 : (calls ?? []).filter((call) => call.id > last && isMissed(call, userId)).length;
}

/** The page that shows them is in a window that is looked at. */
const seeCalls = (calls) => void (calls && document.visibilityState === "visible" && see(calls));

// Drafts by conversation; stored in this browser for the signed-in user.

const key$3 = () => `parley.drafts.${parley.session.userId}`;

const read$2 = () => readStored(stored, key$3(), {});

const draftOf = (id) => read$2()[id] ?? "";

function keepDraft(id, text) {
  const drafts = read$2();
  if (text.trim()) drafts[id] = text;
  else delete drafts[id];
  stored.setItem(key$3(), JSON.stringify(drafts));
}

// Calls `act` with what another tab has made of the draft. Returns the function that ends this.
function onDraft(id, act) {
  const onStorage = (event) => (event.key === null || event.key === key$3()) && act(draftOf(id));
  addEventListener("storage", onStorage);
  return () => removeEventListener("storage", onStorage);
}

// Like the messages that wait to be sent, the drafts go when the sign-in is ended, here or from another device.
function listen$2() {
  let own = key$3();
  parley.on("signedin", () => {
    own = key$3();
  });
  parley.on("signedout", ({ forget }) => {
    if (forget) stored.removeItem(own);
  });
}

// The messages of a conversation as its log shows them, and what is loaded of them for its reader.

const PAGE$2 = 50;
const ABOVE_UNREAD = 20;
const MOST_ABOVE_UNREAD = 80;
// A reload of everything may come in between.
const TRIES = 3;

const rowOf = (id) => store.conversations.getSnapshot().byId[id];

// Those that the server has, and those that wait for it.
function threadOf({ messages, hasOlder, hasNewer }) {
  const all = messages ?? [];
  const last = all.findLastIndex(({ id }) => id !== null);
  return {
    messages: last === all.length - 1 ? all : all.slice(0, last + 1),
    pending: all.slice(last + 1),
    hasOlder,
    hasNewer,
  };
}

const isLoaded = (id) => store.messages(id).getSnapshot().messages !== null && hasFirstUnread(id);

function hasFirstUnread(id) {
  const row = rowOf(id);
  if (!row?.unread_count) return true;
  const { messages, hasOlder, hasNewer } = threadOf(store.messages(id).getSnapshot());
  const lastRead = row.last_read_id ?? 0;
  const reachesBack = !hasOlder || messages[0]?.id <= lastRead;
  return reachesBack && (!hasNewer || messages.at(-1)?.id > lastRead);
}

// The newest page, or the stretch around the first unread message. What is here and has that message is kept.
async function open(id) {
  const list = store.messages(id);
  for (let tries = 0; tries < TRIES && !isLoaded(id); tries += 1) {
    const { unread_count: unread, last_read_id: lastRead } = rowOf(id);
    if (unread > MOST_ABOVE_UNREAD) await list.loadAround((lastRead ?? 0) + 1);
    else if (list.getSnapshot().messages === null) await list.load({ least: Math.max(PAGE$2, unread + ABOVE_UNREAD) });
    else if (list.getSnapshot().hasNewer) await list.loadNewest();
    else await list.loadOlder();
  }
  // Without the mark of the first unread one.
  if (list.getSnapshot().messages === null) await list.load();
}

function firstUnread(id) {
  const row = rowOf(id);
  if (!row?.unread_count) return null;
  const me = parley.session.userId;
  const { messages } = threadOf(store.messages(id).getSnapshot());
  return messages.find((message) => message.id > (row.last_read_id ?? 0) && message.sender_id !== me)?.id ?? null;
}

// A conversation without messages is in no list: it comes back with the next one.
async function deleteChat(id) {
  for (const { client_id: waiting } of parley.outbox.items(id)) parley.outbox.remove(waiting);
  await store.messages(id).clear();
  keepDraft(id, "");
  await store.conversations.refreshOne(id);
}

function react(message, emoji) {
  const isMine = message.reactions.find((row) => row.emoji === emoji)?.user_ids.includes(parley.session.userId);
  const list = store.messages(message.conversation_id);
  return isMine ? list.unreact(message.id, emoji) : list.react(message.id, emoji);
}

// Rejects, too, where there is no clipboard: browsers have one on https and on the own machine only.
const copyText = async (text) => navigator.clipboard.writeText(text);

// The users whom this one has blocked.

const PAGE$1 = 100;

// All of them, newest first.
async function loadBlocks() {
  const found = [];
  let cursor = null;
  do {
    const reply = await parley.profile.blocksList({ limit: PAGE$1, cursor });
    found.push(...reply.blocks);
    cursor = reply.next_cursor;
  } while (cursor);
  return found;
}

// The notices of the page stand above this element, however tall it is.

function useNoticesAbove(element) {
  A(() => {
    const { style } = document.documentElement;
    const watcher = new ResizeObserver(([{ target }]) => {
      const { offsetHeight } = /** @type {HTMLElement} */ (target);
      style.setProperty("--notices-from", `${offsetHeight + 8}px`);
    });
    watcher.observe(element.current);
    return () => {
      watcher.disconnect();
      style.removeProperty("--notices-from");
    };
  }, []);
}

// In place of the text box while one of the two has blocked the other.

// The conversation with that user, read anew.
function refresh(user) {
  const { byId } = store.conversations.getSnapshot();
  return store.conversations.refreshOne(Object.values(byId).find((row) => row.other_user.id === user.id).id);
}

async function block(user) {
  await parley.profile.blocksAdd({ user_id: user.id });
  await refresh(user);
  notice(t("{name} is blocked.", { name: nameOf(user) }), { label: t("Undo"), act: () => unblock(user).catch(failed) });
}

async function unblock(user) {
  await parley.profile.blocksRemove({ user_id: user.id });
  await refresh(user);
}

// Whether this user has blocked the other; null until known. The server tells no one that they have been blocked.
function useBlockedByMe({ other_user: user, is_blocked: isBlocked }) {
  const [mine, setMine] = d(null);
  A(() => {
    setMine(null);
    if (!isBlocked) return undefined;
    const load = () =>
      loadBlocks().then(
        (blocks) => setMine(blocks.some((entry) => entry.user_id === user.id)),
        () => setMine(false),
      );
    load();
    return parley.on("block.changed", load);
  }, [user.id, isBlocked]);
  return mine;
}

function Blocked({ user, mine }) {
  const self = T(null);
  useNoticesAbove(self);
  // There is no event when the other one unblocks.
  A(() => onReturn(() => refresh(user).catch(() => {})), [user.id]);
  return html`<div ref=${self} class="blocked-bar"><span>${mine ? t("You have blocked {name}.", { name: nameOf(user) }) : t("You can't message this person.")}</span>
    ${mine && html`<button type="button" class="button" onClick=${() => unblock(user).catch(failed)}>${t("Unblock")}</button>`}</div>`;
}

/** A File that the API accepts: the same one, or a smaller copy of a picture that is too large. In browsers only. */
async function prepareImage(file, { maxBytes = LIMITS.imageBytes, maxSide = LIMITS.imageSide } = {}) {
  const { prepare } = await Promise.resolve().then(function () { return prepare_image; });
  return prepare(file, { maxBytes, maxSide, maxPixels: LIMITS.imagePixels, types: LIMITS.imageTypes });
}

// A layer beside a button, in the top layer of the browser: nothing cuts it off.

const MARGIN = 8;

// Beside the anchor, below it where there is room, and always inside the window.
function place(element, anchor) {
  const around = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = element;
  const rtl = getComputedStyle(anchor).direction === "rtl";
  const wanted = rtl ? around.left : around.right - width;
  const left = Math.max(MARGIN, Math.min(wanted, innerWidth - width - MARGIN));
  const below = around.bottom + 4;
  const top = below + height + MARGIN <= innerHeight ? below : Math.max(MARGIN, around.top - height - 4);
  element.style.left = `${left}px`;
  element.style.top = `${top}px`;
}

function Popup({ anchor, onClose, children, className = "", ...rest }) {
  const self = T(null);
  F(() => {
    const element = self.current;
    if (element.showPopover) element.showPopover();
    place(element, anchor);
  }, []);
  A(() => {
    const outside = (event) => {
      if (!self.current?.contains(event.target) && !anchor.contains(event.target)) onClose(false);
    };
    const away = () => onClose(false);
    document.addEventListener("pointerdown", outside, true);
    addEventListener("resize", away);
    return () => {
      document.removeEventListener("pointerdown", outside, true);
      removeEventListener("resize", away);
    };
  }, [onClose]);
  const onKeyDown = (event) => {
    if (isComposing(event)) return undefined;
    if (event.key !== "Escape") return rest.onKeyDown?.(event);
    event.preventDefault();
    event.stopPropagation();
    return onClose(true);
  };
  return html`<div ...${rest} ref=${self} class=${`popup ${className}`} popover="manual" onKeyDown=${onKeyDown}>${children}</div>`;
}

// Emoji to choose from: as a reaction, or for the text. Arrow keys move, Enter chooses.

const QUICK = "👍 ❤️ 😂 😮 😢 🙏 👏 🔥";
// What a menu offers at once.
const FIRST$1 = QUICK.split(" ").slice(0, 6);
const MORE = [
  "😀 😃 😄 😁 😆 😅 🤣 🙂 🙃 😉 😊 😇 🥰 😍 🤩 😘 😋 😛 😜 🤪 🤗 🤭 🤫 🤔 🤐 😐 😏 😒 🙄 😬 😌 😔 😪 😴 😷 🤒 🤕 🤢 🥵 🥶 😵 🤯 🥳 😎 🤓 😕 😟 😯 😲 😳 🥺 😨 😰 😥 😭 😱 😖 😞 😓 😩 😫 🥱 😤 😡 🤬 😈 💀 💩 👻 👽 🤖",
  "👋 🤚 ✋ 👌 🤏 ✌️ 🤞 🤟 🤘 👈 👉 👆 👇 👎 ✊ 👊 🙌 👐 🤲 🤝 💪 👀 🧠 👶 👩 👨 👵 👴 🙋 🤦 🤷 💃 🕺 🏃 👪 🫶",
  "🧡 💛 💚 💙 💜 🖤 🤍 🤎 💔 💕 💯 💥 💫 💦 💤 ✨ ⭐ 🌟 ⚡ 🎉 🎊 🎁 🎈 🏆 ✅ ❌ ❓ ❗ ⚠️ 🚀 🔔 🔒 💡 📌 📎 📅 📷 🎵",
  "🐶 🐱 🐭 🐰 🦊 🐻 🐼 🐨 🦁 🐮 🐷 🐸 🐵 🐔 🐧 🦉 🐝 🦋 🐢 🐙 🐬 🐳 🌵 🌲 🌷 🌹 🌻 🍀 🍁 🌍 🌙 ☀️ ⛅ 🌧️ ❄️ 🌈 🌊",
  "🍎 🍌 🍇 🍓 🍒 🍑 🥑 🍅 🌽 🥕 🍞 🧀 🍕 🍔 🍟 🌮 🍣 🍜 🍰 🎂 🍪 🍫 🍿 ☕ 🍵 🍺 🍷 🥂 ⚽ 🏀 🎾 🎮 🎸 🎨 🚗 🚲 ✈️ 🏠 🏖️ 📱 💻 ⏰",
];

const ALL = [...new Set([QUICK, ...MORE].join(" ").split(" "))];

// The words of a text as they are compared, each behind a space.
const words = (text) =>
  text
    .toLowerCase()
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/ı/g, "i")
    .split(/[^\p{L}\p{N}]+/u)
    .map((word) => word && ` ${word}`)
    .join("");

// Each begins a word; Chinese has no space between words.
const isFound = (wanted, text) =>
  wanted
    .split(" ")
    .filter(Boolean)
    .every((word) => text.includes(` ${word}`) || (/\p{Script=Han}/u.test(word) && text.includes(word)));

const fetched = async (code) => {
  const reply = await fetch(config.emoji[code]).catch(() => null);
  if (!reply?.ok) throw new ParleyError("network_error");
  return reply.json();
};

// {names, load}: what each emoji is searched by, once `load` was called: in the reader's language and in English.
function useNames() {
  const [names, setNames] = d(null);
  const isAsked = T(false);
  const load = () => {
    if (isAsked.current) return;
    isAsked.current = true;
    const languages = [...new Set([language(), "en"])];
    Promise.all(languages.map(fetched)).then(
      (tables) => setNames(ALL.map((emoji) => [emoji, words(tables.map((table) => table[emoji] ?? "").join(" "))])),
      (error) => {
        isAsked.current = false;
        failed(error);
      },
    );
  };
  return { names, load };
}

function EmojiPicker({ anchor, onPick, onClose }) {
  const self = T(null);
  const box = T(null);
  const [query, setQuery] = d("");
  const { names, load } = useNames();
  const buttons = () => [...self.current.querySelectorAll("button")];
  A(() => buttons()[0].focus({ preventScroll: true }), []);
  const wanted = words(query);
  const found = wanted && names?.filter(([, text]) => isFound(wanted, text)).map(([emoji]) => emoji);
  const onSearchKey = (event) => {
    if (event.key === "Enter" && found?.length) {
      event.preventDefault();
      onPick(found[0]);
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      buttons()[0]?.focus();
    }
  };
  const onKeyDown = (event) => {
    if (event.target === box.current) {
      onSearchKey(event);
      return;
    }
    // What is typed is searched for.
    if ([...event.key].length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey) {
      box.current.focus();
      return;
    }
    const all = buttons();
    const at = all.indexOf(document.activeElement);
    const here = all[at].getBoundingClientRect();
    const rtl = document.documentElement.dir === "rtl" ? -1 : 1;
    const beside = { ArrowRight: at + rtl, ArrowLeft: at - rtl, Home: 0, End: all.length - 1 }[event.key];
    let next = beside === undefined ? null : all[(beside + all.length) % all.length];
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const down = event.key === "ArrowDown";
      const line = all.filter((button) =>
        down ? button.offsetTop > all[at].offsetTop : button.offsetTop < all[at].offsetTop,
      );
      const near = (button) =>
        Math.abs(button.offsetTop - all[at].offsetTop) * 100 +
        Math.abs(button.getBoundingClientRect().left - here.left);
      next = line.sort((one, other) => near(one) - near(other))[0] ?? (down ? null : box.current);
    }
    if (!next && !event.key.startsWith("Arrow")) return;
    event.preventDefault();
    next?.focus();
  };
  const cell = (emoji) =>
    html`<button type="button" key=${emoji} class="emoji" onClick=${() => onPick(emoji)}>${emoji}</button>`;
  return html`<${Popup} anchor=${anchor} onClose=${onClose} className="emoji-picker" role="dialog" aria-label=${t("Emoji")} onKeyDown=${onKeyDown}>
    <div ref=${self}>
      <input ref=${box} type="search" class="input" aria-label=${t("Search emoji")} placeholder=${t("Search emoji")} autocomplete="off" value=${query}
        onFocus=${load} onInput=${(event) => setQuery(event.target.value)} />
      <p class=${found?.length === 0 ? "side-note muted" : "visually-hidden"} role="status">${found && (found.length ? tn("{n} emoji found", "{n} emoji found", found.length) : t("No emoji found"))}</p>
      ${
        found
          ? html`<div class="emoji-row">${found.map(cell)}</div>`
          : html`<div class="emoji-row quick">${QUICK.split(" ").map(cell)}</div>
      ${MORE.map((line) => html`<div class="emoji-row">${line.split(" ").map(cell)}</div>`)}`
      }
    </div><//>`;
}

// What a paste into a text box means: spreadsheets and word processors give text, markup and a picture of both.

const isOnlyPicture = (markup) =>
  /<img\b/i.test(markup) && markup.replace(/<style\b[^]*?<\/style>|<!--[^]*?-->|<[^>]*>|&nbsp;|\s/gi, "") === "";

// File managers give the names of the files as the text.
function namesFiles(text, files) {
  const names = new Set(files.map(({ name }) => name));
  return text.split(/\r?\n/).every((line) => names.has(decoded(line.trim().split(/[\\/]/).pop())));
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** {files, text} of a paste that the page has to deal with itself; null where the browser pastes. */
function pasted(data) {
  const files = [...data.files];
  if (files.length === 0) return null;
  const text = data.getData("text/plain");
  const isText = text.trim() && !namesFiles(text.trim(), files) && !isOnlyPicture(data.getData("text/html"));
  return isText ? { files: [], text: text.replace(/\r\n?/g, "\n").replace(/\n$/, "") } : { files, text: "" };
}

/** Puts text where the caret is, as typing does: it can be undone. */
function insertText(box, text) {
  box.focus();
  if (document.execCommand?.("insertText", false, text)) return;
  box.setRangeText(text, box.selectionStart, box.selectionEnd, "end");
  box.dispatchEvent(new InputEvent("input", { bubbles: true }));
}

/** Prepares a picture for sending: a picture that the API accepts stays unchanged, a larger one is scaled. */

// Every browser in use supports a canvas with this many pixels.
const CANVAS_PIXELS = 16_000_000;
const QUALITIES = [0.9, 0.8, 0.7];
const MOST_TRIES = 16;
const EXTENSIONS = { "image/jpeg": "jpg", "image/png": "png", "image/webp": "webp" };
// The possible contents of a file that begins with `ftyp`: pictures and animations.
const BOXED = {
  avif: "image/avif",
  avis: "image/avif",
  heic: "image/heic",
  heix: "image/heic",
  mif1: "image/heic",
  heim: "image/heic",
  heis: "image/heic",
  hevc: "image/heic",
  hevx: "image/heic",
  msf1: "image/heic",
};
const MOVING = ["avis", "hevc", "hevx", "msf1"];

/**
 * Resolves to a File (a Blob where there are no files). Fails with a ParleyError: `unsupported_media_type` for what this
 * browser cannot decode, `file_too_large` for an animation over the limits, which would lose its frames, `canvas_blocked`
 * where the browser lets no page read what it draws.
 */
async function prepare$1(file, { maxBytes, maxSide, maxPixels, types }) {
  const head = await bytesOf(file, 64);
  const type = typeOf(head);
  if (!type) throw new ParleyError("unsupported_media_type", { status: 415 });
  const picture = await decode(type === file.type ? file : new Blob([file], { type }));
  try {
    const { width, height } = picture;
    const isAccepted = types.includes(type);
    if (isAccepted && file.size <= maxBytes && Math.max(width, height) <= maxSide && width * height <= maxPixels) {
      return file.type === type ? file : named(file, type, file.name);
    }
    if (isAnimated(type, await bytesOf(file))) {
      throw isAccepted
        ? new ParleyError("file_too_large", { status: 413 })
        : new ParleyError("unsupported_media_type", { status: 415 });
    }
    return await scaled(file, picture, type, { maxBytes, maxSide, maxPixels });
  } finally {
    picture.close();
  }
}

async function bytesOf(file, length = file.size) {
  try {
    return new Uint8Array(await file.slice(0, length).arrayBuffer());
  } catch (cause) {
    // The file was moved or changed after it was chosen.
    throw new ParleyError("file_unreadable", { status: 400, cause });
  }
}

const text = (bytes, from, to) => String.fromCharCode(...bytes.subarray(from, to));

/** Detected from the content, because the name and type of a file may be wrong. */
function typeOf(bytes) {
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return "image/jpeg";
  if (text(bytes, 0, 8) === "\x89PNG\r\n\x1a\n") return "image/png";
  if (/^GIF8[79]a/.test(text(bytes, 0, 6))) return "image/gif";
  if (text(bytes, 0, 4) === "RIFF" && text(bytes, 8, 12) === "WEBP") return "image/webp";
  if (text(bytes, 0, 2) === "BM") return "image/bmp";
  if (/^(II\*\0|MM\0\*)/.test(text(bytes, 0, 4))) return "image/tiff";
  return text(bytes, 4, 8) === "ftyp"
    ? (brandsOf(bytes)
        .map((brand) => BOXED[brand])
        .find(Boolean) ?? null)
    : null;
}

/** The first brand says what the file is, the others how it can also be read. */
function brandsOf(bytes) {
  const end = Math.min(bytes.length, new DataView(bytes.buffer).getUint32(0));
  const brands = [text(bytes, 8, 12)];
  for (let at = 16; at + 4 <= end; at += 4) brands.push(text(bytes, at, at + 4));
  return brands;
}

function isAnimated(type, bytes) {
  if (type === "image/gif") return framesOfGif(bytes) > 1;
  if (type === "image/webp") return text(bytes, 12, 16) === "VP8X" && (bytes[20] & 2) !== 0;
  if (type === "image/png") return hasAnimationChunk(bytes);
  return ["image/avif", "image/heic"].includes(type) && MOVING.includes(brandsOf(bytes)[0]);
}

function framesOfGif(bytes) {
  const table = (flags) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);
  const behindBlocks = (from) => {
    let at = from;
    while (bytes[at] > 0) at += bytes[at] + 1;
    return at + 1;
  };
  let at = 13 + table(bytes[10]);
  let frames = 0;
  while (at < bytes.length && frames < 2) {
    if (bytes[at] === 0x21) at = behindBlocks(at + 2);
    else if (bytes[at] === 0x2c) {
      frames += 1;
      at = behindBlocks(at + 11 + table(bytes[at + 9]));
    } else break;
  }
  return frames;
}

function hasAnimationChunk(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  for (let at = 8; at + 12 <= bytes.length; at += 12 + view.getUint32(at)) {
    const chunk = text(bytes, at + 4, at + 8);
    if (chunk === "acTL") return true;
    if (chunk === "IDAT") return false;
  }
  return false;
}

// --- Decoding -----------------------------------------------------------------------------------

/** {source, width, height, close} of the upright picture. */
async function decode(file) {
  for (const way of [asElement, asBitmap]) {
    try {
      return await way(file);
    } catch {
      // The other decoder may succeed.
    }
  }
  throw new ParleyError("unsupported_media_type", { status: 415 });
}

/** Takes less memory than a bitmap, because the browser decodes only what is drawn of a large photo. */
async function asElement(file) {
  const address = URL.createObjectURL(file);
  try {
    const source = new Image();
    await new Promise((resolve, reject) => {
      Object.assign(source, { onload: resolve, onerror: reject, src: address });
    });
    if (!source.naturalWidth) throw new Error("no size");
    return {
      source,
      width: source.naturalWidth,
      height: source.naturalHeight,
      close: () => URL.revokeObjectURL(address),
    };
  } catch (error) {
    URL.revokeObjectURL(address);
    throw error;
  }
}

async function asBitmap(file) {
  const source = await createImageBitmap(file, { imageOrientation: "from-image" });
  return { source, width: source.width, height: source.height, close: () => source.close() };
}

// --- Scaling ------------------------------------------------------------------------------------

async function scaled(file, picture, type, { maxBytes, maxSide, maxPixels }) {
  assertCanRead();
  const { width, height } = picture;
  const pixels = Math.min(CANVAS_PIXELS, maxPixels);
  let scale = Math.min(1, maxSide / Math.max(width, height), Math.sqrt(pixels / (width * height)));
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const canvas = draw(picture, scale);
    const hasHoles = type !== "image/jpeg" && isTransparent(canvas);
    let smallest = Infinity;
    for (const [wanted, quality] of encodings(type, hasHoles)) {
      const blob = await encoded(canvas, wanted, quality);
      if (blob?.size <= maxBytes) return named(blob, wanted, file.name);
      smallest = Math.min(smallest, blob?.size ?? Infinity);
    }
    scale *= Math.max(0.4, Math.min(0.85, Math.sqrt(maxBytes / smallest) * 0.95));
  }
  throw new ParleyError("file_too_large", { status: 413 });
}

/** The attempts in order: [type, quality]. Drawings stay PNG as long as they fit. */
function encodings(type, hasHoles) {
  const steps = (wanted) => QUALITIES.map((quality) => [wanted, quality]);
  if (type === "image/webp") return [...steps("image/webp"), ...(hasHoles ? [["image/png"]] : steps("image/jpeg"))];
  if (hasHoles) return [["image/png"]];
  return ["image/png", "image/gif"].includes(type) ? [["image/png"], ...steps("image/jpeg")] : steps("image/jpeg");
}

/** @returns {any} Where there is no document, an OffscreenCanvas: what is used of the two is the same. */
function canvasOf(width, height) {
  const canvas =
    typeof document === "undefined" ? new OffscreenCanvas(width, height) : document.createElement("canvas");
  return Object.assign(canvas, { width, height });
}

function draw({ source, width, height }, scale) {
  const canvas = canvasOf(Math.max(1, Math.floor(width * scale)), Math.max(1, Math.floor(height * scale)));
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.imageSmoothingQuality = "high";
  context.drawImage(source, 0, 0, canvas.width, canvas.height);
  return canvas;
}

function isTransparent(canvas) {
  const context = canvas.getContext("2d");
  const lines = Math.max(1, Math.floor(1_000_000 / canvas.width));
  for (let y = 0; y < canvas.height; y += lines) {
    const { data } = context.getImageData(0, y, canvas.width, Math.min(lines, canvas.height - y));
    for (let at = 3; at < data.length; at += 4) if (data[at] < 255) return true;
  }
  return false;
}

/** Null if the browser cannot write this type, or this size. */
async function encoded(canvas, type, quality) {
  const blob = canvas.convertToBlob
    ? await canvas.convertToBlob({ type, quality })
    : await new Promise((resolve) => canvas.toBlob(resolve, type, quality));
  return blob?.type === type ? blob : null;
}

/** Browsers that protect against fingerprinting return noise. */
function assertCanRead() {
  const context = canvasOf(2, 2).getContext("2d");
  context.fillStyle = "#336699";
  context.fillRect(0, 0, 2, 2);
  const { data } = context.getImageData(0, 0, 2, 2);
  const isTrue = data.every((value, place) => value === [0x33, 0x66, 0x99, 0xff][place % 4]);
  if (!isTrue) throw new ParleyError("canvas_blocked", { status: 400 });
}

function named(blob, type, name) {
  if (typeof File === "undefined") return new Blob([blob], { type });
  const stem = (name ?? "").replace(/\.[^.]*$/, "") || "image";
  return new File([blob], `${stem}.${EXTENSIONS[type] ?? type.split("/")[1]}`, { type });
}

var prepare_image = /*#__PURE__*/Object.freeze({
  __proto__: null,
  prepare: prepare$1
});

// Pictures that were chosen, pasted or dropped: made ready, shown with a caption, and sent only on order.

function problem(error, name) {
  const limit = bytes(LIMITS.imageBytes);
  switch (error.code) {
    case "unsupported_media_type":
      return t("{name} is not an image that this browser can read. Choose a JPEG, PNG, WebP or GIF image.", { name });
    case "file_too_large":
      return t("{name} is too large: an animated image can be at most {limit} and 24 megapixels.", { name, limit });
    case "file_unreadable":
      return t("{name} could not be read. Choose it again.", { name });
    case "canvas_blocked":
      return t(
        "{name} is too large, and this browser does not let pages make images smaller. Choose one of at most {limit}.",
        { name, limit },
      );
    default:
      return `${name}: ${errorText(error)}`;
  }
}

function Shown({ picture, onRemove }) {
  const address = useObjectUrl(picture.ready);
  const onLoad = ({ target }) => keepSize(picture.ready, { width: target.naturalWidth, height: target.naturalHeight });
  return html`<li class="picture" aria-busy=${picture.ready ? "false" : "true"}>
    ${
      picture.ready
        ? html`<img src=${address} alt=${picture.file.name} onLoad=${onLoad} />`
        : html`<${Loading} label=${t("Preparing the image")} />`
    }
    <button type="button" class="icon-button" aria-label=${t("Remove the image")} onClick=${onRemove}><${Icon} name="close" /></button></li>`;
}

let count = 0;
/** What the dialog shows of files; more may be added while it is open. */
const picturesOf = (files) => [...files].map((file) => ({ id: (count += 1), file, ready: null }));

// `change` is given a function from the pictures to what they become; without a picture the dialog goes.
function SendPictures({ pictures, change, text, onText, onPaste, onSend, onClose }) {
  const [isOrdered, setOrdered] = d(false);
  const started = T(new Set());
  const isReady = pictures.every(({ ready }) => ready);

  A(() => {
    for (const { id, file } of pictures.filter((picture) => !started.current.has(picture.id))) {
      started.current.add(id);
      prepareImage(file).then(
        (ready) => change((all) => all.map((picture) => (picture.id === id ? { ...picture, ready } : picture))),
        (error) => {
          notice(problem(error, file.name), { kind: "danger" });
          // What is left is to be looked at first.
          setOrdered(false);
          change((all) => all.filter((picture) => picture.id !== id));
        },
      );
    }
  }, [pictures]);
  const box = T(null);
  // A text that was begun goes on.
  F(() => box.current.setSelectionRange(text.length, text.length), []);
  A(() => {
    if (isOrdered && isReady && !onSend(pictures.map(({ ready }) => ready))) setOrdered(false);
  }, [isOrdered, isReady]);

  const order = (event) => {
    event.preventDefault();
    setOrdered(true);
  };
  const onKeyDown = (event) => {
    if (
      isComposing(event) ||
      event.key !== "Enter" ||
      event.shiftKey ||
      (isTouch() && !event.ctrlKey && !event.metaKey)
    )
      return;
    order(event);
  };
  return html`<${Dialog} title=${t("Send picture")} className="send-pictures" onClose=${onClose}>
    <ul class=${`pictures ${pictures.length > 1 ? "several" : ""}`}>${pictures.map(
      (picture) => html`<${Shown} key=${picture.id} picture=${picture}
      onRemove=${() => change((all) => all.filter((other) => other !== picture))} />`,
    )}</ul>
    <form class="stack" onSubmit=${order}>
      <div class="field"><label for="caption">${t("Caption")}</label>
        <textarea ref=${box} id="caption" class="input" rows="2" dir="auto" value=${text} onInput=${(event) => onText(event.target.value)} onKeyDown=${onKeyDown} onPaste=${onPaste}></textarea></div>
      <div class="row dialog-actions"><button type="button" class="button" onClick=${onClose}>${t("Cancel")}</button>
        <button class="button primary" disabled=${isOrdered}>${t("Send")}</button></div>
    </form><//>`;
}

// Where the links of a text begin and end, and what is drawn of them: what is drawn never hides where a link leads.

// What ends an address, and what is drawn of it: docs/decisions/web-client.md#0097
const START = /https?:\/\/|www\.(?=[\p{L}\p{N}])/giu;
// Before it, the address is a part of something else: of a word, of an e-mail address, of another address.
const INSIDE = { h: /[A-Za-z0-9]/, w: /[A-Za-z0-9_@＠/.:=-]/ };
// Characters that are not drawn, or that change the direction of what is.
const INVISIBLE = /^[\p{Cf}\p{Default_Ignorable_Code_Point}]$/u;
// They join the letters of a word in some languages: an address keeps them behind its host, undrawn.
const JOINER = /^[\u200C\u200D]$/;
const BREAK = /^[\s\p{Cc}\p{Z}<>"\x60\\]$/u;
// Marks of other scripts, full-width forms, arrows.
const FOREIGN_MARK =
  /^[\p{P}\u2190-\u21FF\u275B-\u2760\u3000-\u3004\u3008-\u3020\u303D-\u303F\uFF04\uFF0B\uFF1C-\uFF1E\uFF3E\uFF40\uFF5C\uFF5E]$/u;
// Of these, the ones that stand inside words: an apostrophe, middle dots, hyphens, the dash between two names.
const WITHIN_WORDS = /^[\u00B7\u05BE\u05F3\u05F4\u0F0B\u2010\u2011\u2013\u2019\u2027\u30FB]$/;
const WORD$1 = /^[\p{L}\p{N}\p{M}]$/u;
// One address after another.
const LISTED = /^[,;|]$/;
const NEXT = /^https?:\/\//i;
const OPENED_BY = { ")": "(", "]": "[", "}": "{" };
const TRAILING = /^[.,;:!?'([{|]$/;
const PICTURE = /^[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}]$/u;
// Marks around a word that make it bold, slanted or struck out.
const EMPHASIS = "*_~";

/** The text in parts: {text} as it stands, {text, href} for a link. */
function parts(text) {
  const found = [];
  let at = 0;
  START.lastIndex = 0;
  for (let match = START.exec(text); match; match = START.exec(text)) {
    const from = match.index;
    if (from > 0 && INSIDE[match[0][0].toLowerCase()].test(text[from - 1])) continue;
    const chars = address(text, from);
    const made = link(text, from, chars);
    // No part of what leads nowhere is a link.
    START.lastIndex = Math.max(chars.at(-1)?.end ?? 0, START.lastIndex);
    if (!made) continue;
    if (from > at) found.push({ text: text.slice(at, from) });
    found.push({ text: made.text, href: made.href });
    at = made.end;
    START.lastIndex = at;
  }
  if (at < text.length) found.push({ text: text.slice(at) });
  return found;
}

// The characters of the address that begins at `from`, as [{char, end}]; those that are not drawn are left out.
function address(text, from) {
  const chars = [];
  const open = [];
  const quote = text[from - 1] === "'" ? "'" : null;
  for (let at = from; at < text.length; ) {
    const char = charAt(text, at);
    at += char.length;
    if (INVISIBLE.test(char)) continue;
    if (BREAK.test(char) || char === quote || (LISTED.test(char) && NEXT.test(text.slice(at, at + 8)))) break;
    if (char > "\x7F" && FOREIGN_MARK.test(char)) {
      const isWithinWord =
        WITHIN_WORDS.test(char) && WORD$1.test(chars.at(-1)?.char ?? "") && WORD$1.test(charAt(text, at));
      if (!isWithinWord) break;
    }
    if ("([{".includes(char)) open.push(char);
    else if (char in OPENED_BY && open.pop() !== OPENED_BY[char]) break;
    chars.push({ char, end: at });
  }
  return chars;
}

const charAt = (text, at) => (at < text.length ? String.fromCodePoint(text.codePointAt(at)) : "");

function withoutTrailing(chars, before) {
  let length = chars.length;
  const isTrailing = (char, previous) =>
    TRAILING.test(char) ||
    (EMPHASIS.includes(char) && char === before) ||
    (PICTURE.test(char) && !/^[/=#?&_-]$/.test(previous));
  while (length > 1 && isTrailing(chars[length - 1].char, chars[length - 2].char)) length -= 1;
  return chars.slice(0, length);
}

// {text, href, end}; null when it leads nowhere, or not where it seems to.
function link(text, from, all) {
  let chars = withoutTrailing(all, text[from - 1]);
  const [, scheme = "", authority] = /^(https?:\/\/)?([^/?#]*)/iu.exec(joined(chars));
  if (!authority || authority.includes("@")) return null;
  const host = withoutSentence(authority);
  // Only a whole host is followed by a path.
  if (host !== authority) chars = chars.slice(0, [...scheme, ...host].length);
  if (!scheme && host.split(".").filter(Boolean).length < 3) return null;
  const { end } = chars.at(-1);
  const path = chars.slice([...scheme, ...host].length);
  try {
    const url = new URL(`${scheme || "https://"}${host}${withJoiners(text, chars.at(-path.length - 1).end, end)}`);
    // The host as the browser takes it: a name with letters that look like others is drawn in its ASCII form.
    return { text: `${scheme && `${url.protocol}//`}${url.host}${joined(path)}`, href: url.href, end };
  } catch {
    return null;
  }
}

const joined = (chars) => chars.map(({ char }) => char).join("");

const withJoiners = (text, from, end) =>
  [...text.slice(from, end)].filter((char) => JOINER.test(char) || !INVISIBLE.test(char)).join("");

// A name that ends in Latin letters ends with them: what follows in another script is the sentence. So is a mark of ASCII.
function withoutSentence(authority) {
  const [name] = /^[^!$&'()*+,;=~{}|^]*/.exec(authority);
  return /^(?:[^.]*\.)*(?!xn--)[a-z][a-z0-9-]*(?::\d+)?(?=[^\x00-\x7F][^.]*$)/iu.exec(name)?.[0] ?? name;
}

// What people type around words to format them: code in backticks, blocks of it in three, *bold* or **bold**, _italic_ or __italic__,
// ~struck out~ or ~~struck out~~. What is formatted is drawn without its marks; nothing of a text is read as HTML.

// Bold, italics and struck out inside each other; a text is not nested any deeper.
const DEEPEST = 3;
const STYLES = { "*": "strong", _: "em", "~": "s" };
const BLOCK = /\x60{3}(?:[\w+#-]*\n)?([^]+?)\n?\x60{3}\n?/g;
const CODE = /\x60([^\x60\n]+)\x60/g;
const WORD = /[\p{L}\p{N}]/u;
// Stands for a part that is drawn as it is, a link or code; no mark is looked for inside it.
const ATOM = "\uFFFC";

/**
 * The text as a list of strings and {tag, children} or {tag: "a", href, children}. Tags: a, code, pre, strong, em, s.
 * A mark counts only around words of one line: `2*3*4`, `snake_case_name` and `* item` stay as they are.
 */
function formatted(text) {
  return split(text, BLOCK, (code) => ({ tag: "pre", children: [code] }), inLine);
}

/** The text without its marks, for a line that shows no format. */
const plainText = (text) => textOf(formatted(text));

const textOf = (pieces) => pieces.map((piece) => (typeof piece === "string" ? piece : textOf(piece.children))).join("");

const inLine = (text) => {
  const atoms = [];
  const keep = (atom) => {
    atoms.push(atom);
    return ATOM;
  };
  const withoutCode = split(
    text,
    CODE,
    (code) => keep({ tag: "code", children: [code] }),
    (rest) =>
      parts(rest).map((part) =>
        part.href
          ? keep({ tag: "a", href: part.href, children: [part.text] })
          : // One that was typed stands for itself.
            part.text.replaceAll(ATOM, () => keep(ATOM)),
      ),
  );
  return styled(withoutCode.join(""), atoms);
};

// What the pattern finds goes through `found`, the rest through `other`, which makes a list.
function split(text, pattern, found, other) {
  const all = [];
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > at) all.push(...other(text.slice(at, match.index)));
    all.push(found(match[1]));
    at = match.index + match[0].length;
  }
  if (at < text.length) all.push(...other(text.slice(at)));
  return all;
}

// `atoms` are those of the text, in their order; each is taken from its head.
function styled(text, atoms, depth = 0) {
  const all = [];
  // For each mark the place up to which it has no end: a line is searched once.
  const endless = {};
  let plain = "";
  const flush = () => {
    if (plain) all.push(plain);
    plain = "";
  };
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === ATOM) {
      flush();
      all.push(atoms.shift());
      continue;
    }
    const mark = char in STYLES && depth < DEEPEST && opens(text, at);
    const end = mark && !(endless[mark] > at) ? closes(text, at + mark.length, mark) : -1;
    if (end < 0) {
      if (mark) endless[mark] = endOfLine(text, at);
      // All of the mark, so that a part of it opens nothing.
      plain += mark || char;
      at += (mark || char).length - 1;
      continue;
    }
    flush();
    all.push({ tag: STYLES[char], children: styled(text.slice(at + mark.length, end), atoms, depth + 1) });
    at = end + mark.length - 1;
  }
  flush();
  return all;
}

const isWord = (char) => char !== undefined && WORD.test(char);
const isSpace = (char) => char === undefined || /\s/.test(char);

// The mark that begins here, of one or two characters; null inside a word and before a space.
function opens(text, at) {
  const char = text[at];
  if (isWord(text[at - 1]) || text[at - 1] === char) return null;
  const mark = text[at + 1] === char ? char + char : char;
  const next = text[at + mark.length];
  return isSpace(next) || next === char ? null : mark;
}

const endOfLine = (text, at) => (text.indexOf("\n", at) + 1 || text.length + 1) - 1;

// Where the same mark ends in this line; -1 if it does not.
function closes(text, from, mark) {
  for (let at = from; at < text.length && text[at] !== "\n"; at += 1) {
    if (!text.startsWith(mark, at)) continue;
    const after = at + mark.length;
    if (at > from && !isSpace(text[at - 1]) && !isWord(text[after]) && text[after] !== mark[0]) return at;
    // Of a longer run, no part ends it.
    while (text[at + 1] === mark[0]) at += 1;
  }
  return -1;
}

// A message in one line: in the list, in a quote, in a notification.

function previewText({ kind, body, call, media_url: image }, own = false) {
  if (kind === "call") return callText(call, body, own);
  if (body) return plainText(body);
  return kind === "image" || image ? t("Image") : "";
}

const callIcon = (call) => (call?.media === "video" ? "camera" : "phone");

// `own`: this user called, and has missed nothing.
function callText(call, body = "", own = false) {
  const isVideo = call?.media === "video";
  if (!call) return body;
  if (own && call.outcome === "missed") return t("No answer");
  if (own && call.outcome === "canceled") return t("Call canceled");
  if (["missed", "canceled"].includes(call.outcome)) return isVideo ? t("Missed video call") : t("Missed voice call");
  if (call.outcome === "declined") return own ? t("Call declined") : t("You declined the call");
  return isVideo ? t("Video call") : t("Voice call");
}

// Where a message is written: text, pictures, the reply or edit that is under way.

const MOST_LINES = 7;
const NEAR_LIMIT = 200;

function Context({ reply, editing, names, onEnd }) {
  const message = editing ?? reply;
  if (!message) return null;
  return html`<div class="context"><${Icon} name=${editing ? "edit" : "reply"} />
    <div class="quote-lines"><b>${editing ? t("Edit message") : t("Reply to {name}", { name: names(reply.sender_id) })}</b>
      <span dir="auto">${previewText(message)}</span></div>
    <button type="button" class="icon-button" aria-label=${editing ? t("Cancel editing") : t("Cancel reply")} onClick=${onEnd}><${Icon} name="close" /></button></div>`;
}

// How much may still be written, near the limit.
function Rest({ text }) {
  const left = LIMITS.messageLength - [...text.trim()].length;
  if (left > NEAR_LIMIT) return null;
  const many = Math.abs(left);
  return html`<p class=${`rest small ${left < 0 ? "danger-text" : "muted"}`} role="status">${
    left < 0
      ? tn("{n} character too many", "{n} characters too many", many)
      : tn("{n} character left", "{n} characters left", many)
  }</p>`;
}

// control.current = {focus, addFiles} for the conversation around it.
function Composer({ id, reply, editing, names, onEnd, onEditLast, onSent, onSave, control }) {
  const [text, setText] = d(() => draftOf(id));
  const [pictures, setPictures] = d([]);
  // Beside an edit, whose text is not the caption.
  const [caption, setCaption] = d("");
  const [picking, setPicking] = d(false);
  const self = T(null);
  const box = T(null);
  const fileInput = T(null);
  const emojiButton = T(null);
  // The draft while a message is edited in its place; null while none is.
  const draft = T(null);

  useNoticesAbove(self);
  F(() => {
    const { style } = box.current;
    // While it is measured nothing around it moves: the log above would lose its end.
    self.current.style.minHeight = `${self.current.offsetHeight}px`;
    style.height = "auto";
    const { lineHeight, fontSize } = getComputedStyle(box.current);
    const height = Math.min(MOST_LINES * (Number.parseFloat(lineHeight) || Infinity), box.current.scrollHeight);
    // Letters that are enlarged later enlarge it.
    style.height = `${height / Number.parseFloat(fontSize)}em`;
    self.current.style.minHeight = "";
  }, [text]);
  const write = (next) => {
    setText(next);
    if (!editing) keepDraft(id, next);
  };
  // What was sent or written in another tab is not there to be sent once more from here.
  A(
    () =>
      onDraft(id, (next) => {
        if (draft.current === null) setText(next);
        else draft.current = next;
      }),
    [id],
  );
  // Before the next key: what is typed at once belongs to the edit.
  F(() => {
    if (editing) {
      // From one edit to the next, the draft stays.
      draft.current ??= text;
      setText(editing.body ?? "");
      requestAnimationFrame(() => box.current?.setSelectionRange(box.current.value.length, box.current.value.length));
    } else if (draft.current !== null) {
      setText(draft.current);
      draft.current = null;
    }
  }, [editing?.id]);
  A(() => {
    if (editing || reply) box.current.focus();
  }, [editing?.id, reply?.id]);

  const isTooLong = (body) => {
    const tooLong = [...body].length > LIMITS.messageLength;
    if (tooLong)
      notice(t("Messages can be up to {n} characters.", { n: number$1(LIMITS.messageLength) }), { kind: "danger" });
    return tooLong;
  };
  const answered = reply ? { reply_to_id: reply.id } : {};
  // Several pictures are as many messages, in their order; the first one has the caption and is the reply.
  const sendPictures = (files) => {
    const body = (editing ? caption : text).trim();
    if (isTooLong(body)) return false;
    files.forEach((file, index) =>
      parley.outbox.sendImage({ conversation_id: id, file, ...(index === 0 ? { body, ...answered } : {}) }),
    );
    setPictures([]);
    setCaption("");
    if (!editing) write("");
    onSent({ isEditing: Boolean(editing) });
    return true;
  };
  const addFiles = (added) => {
    const more = picturesOf(added);
    setPictures((all) => [...all, ...more]);
  };
  control.current = { focus: () => box.current?.focus(), addFiles };

  const send = async () => {
    const body = text.trim();
    if (isTooLong(body)) return;
    if (editing) {
      if (!body && editing.kind === "text") return;
      try {
        if (body !== (editing.body ?? "")) await onSave(editing, body);
        // Only this edit: the next one may have begun.
        onEnd(editing);
      } catch (error) {
        failed(error);
      }
      return;
    }
    if (!body) return;
    parley.typing(id, false);
    parley.outbox.send({ conversation_id: id, body, ...answered });
    write("");
    onSent();
  };

  const onKeyDown = (event) => {
    if (isComposing(event)) return;
    const isOrder = event.ctrlKey || event.metaKey;
    if (event.key === "Enter" && !event.shiftKey && (isOrder || !isTouch())) {
      event.preventDefault();
      send();
    } else if (event.key === "Escape" && (editing || reply)) {
      event.preventDefault();
      onEnd();
    } else if (event.key === "ArrowUp" && !text && !editing) {
      event.preventDefault();
      onEditLast();
    }
  };
  const onInput = (event) => {
    write(event.target.value);
    if (!editing) parley.typing(id, event.target.value.trim() !== "");
  };
  const onPaste = (event) => {
    const found = pasted(event.clipboardData);
    if (!found) return;
    event.preventDefault();
    if (found.text) insertText(event.target, found.text);
    else addFiles(found.files);
  };
  const insert = (emoji) => {
    const { selectionStart: from, selectionEnd: to } = box.current;
    write(text.slice(0, from) + emoji + text.slice(to));
    setPicking(false);
    box.current.focus();
    requestAnimationFrame(() => box.current?.setSelectionRange(from + emoji.length, from + emoji.length));
  };
  const closePicker = (withFocus) => {
    setPicking(false);
    if (withFocus) emojiButton.current?.focus();
  };

  return html`<form ref=${self} class="composer" onSubmit=${(event) => event.preventDefault()}>
    <${Context} reply=${reply} editing=${editing} names=${names} onEnd=${() => onEnd()} />
    <${Rest} text=${text} />
    <div class="composer-line">
      <input ref=${fileInput} type="file" hidden accept="image/*" multiple aria-label=${t("Image file")} tabindex="-1"
        onChange=${(event) => {
          addFiles(event.target.files);
          event.target.value = "";
        }} />
      <button type="button" class="icon-button" aria-label=${t("Attach image")} disabled=${Boolean(editing)} onClick=${() => fileInput.current.click()}><${Icon} name="image" /></button>
      <div class="input message-frame"><textarea ref=${box} class="message-box" rows="1" dir=${text ? "auto" : undefined} aria-label=${t("Message")} placeholder=${t("Message")} value=${text}
        enterkeyhint=${isTouch() ? "enter" : "send"} onInput=${onInput} onKeyDown=${onKeyDown} onPaste=${onPaste} onBlur=${() => !editing && parley.typing(id, false)}></textarea></div>
      <button ref=${emojiButton} type="button" class="icon-button" aria-label=${t("Emoji")} aria-haspopup="dialog" aria-expanded=${picking ? "true" : "false"} onClick=${() => setPicking(!picking)}><${Icon} name="smile" /></button>
      ${picking && html`<${EmojiPicker} anchor=${emojiButton.current} onPick=${insert} onClose=${closePicker} />`}
      <button type="button" class="icon-button send" aria-label=${t("Send")} title=${editing ? t("Save") : t("Send")} onClick=${send}><${Icon} name=${editing ? "check" : "send"} /></button>
    </div>
  </form>
  ${
    pictures.length > 0 &&
    html`<${SendPictures} pictures=${pictures} change=${setPictures} text=${editing ? caption : text} onText=${editing ? setCaption : write}
    onPaste=${onPaste} onSend=${sendPictures} onClose=${() => setPictures([])} />`
  }`;
}

// Conversations that make no browser notifications; kept in this browser for the signed-in user.

const key$2 = () => `parley.muted.${parley.session.userId}`;

const read$1 = () => readStored(stored, key$2(), []);

const muted = createStore({ ids: read$1() });

function setMuted(id, value) {
  const ids = read$1().filter((other) => other !== id);
  if (value) ids.push(id);
  stored.setItem(key$2(), JSON.stringify(ids));
  muted.set({ ids });
}

parley.on("signedin", () => muted.set({ ids: read$1() }));
addEventListener("storage", (event) => event.key === key$2() && muted.set({ ids: read$1() }));

// A button that opens a menu: arrows move, Enter chooses, Escape leads back to the button.

function Items({ items, label, onChoose }) {
  const list = T(null);
  const buttons = () => [...list.current.querySelectorAll('[role="menuitem"]')];
  A(() => buttons()[0]?.focus({ preventScroll: true }), []);
  const onKeyDown = (event) => {
    const all = buttons();
    const at = all.indexOf(document.activeElement);
    const forward = document.documentElement.dir === "rtl" ? -1 : 1;
    const steps = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      ArrowRight: at + forward,
      ArrowLeft: at - forward,
      Home: 0,
      End: all.length - 1,
    };
    if (event.key in steps) {
      event.preventDefault();
      all[(steps[event.key] + all.length) % all.length].focus();
    } else if (event.key === "Tab") {
      event.preventDefault();
      onChoose(null);
    } else if (event.key.length === 1) {
      const start = event.key.toLowerCase();
      // The next one with this letter, so that a second press goes on.
      [...all.slice(at + 1), ...all]
        .find((button) => button.textContent.trim().toLowerCase().startsWith(start))
        ?.focus();
    }
  };
  const short = items.filter((item) => item.isShort);
  return html`<div role="menu" aria-label=${label} ref=${list} onKeyDown=${onKeyDown}>
    ${items
      .filter((item) => !item.isShort)
      .map(
        (
          item,
        ) => html`<button key=${item.label} role="menuitem" tabindex="-1" class=${`menu-item ${item.danger ? "danger-text" : ""}`}
      onClick=${() => onChoose(item)}>${item.icon && html`<${Icon} name=${item.icon} size=${20} />`}<span>${item.label}</span></button>`,
      )}
    ${
      short.length > 0 &&
      html`<div role="group" aria-label=${t("React")} class="menu-line">${short.map(
        (item) =>
          html`<button key=${item.label} role="menuitem" tabindex="-1" class="emoji" onClick=${() => onChoose(item)}>${item.label}</button>`,
      )}</div>`
    }
  </div>`;
}

// items: [{label, icon, danger, isShort, act}]; the short ones stand in one line below the others. `act(button)` runs once the focus is back on the button, and may move it on.
function Menu({ label, icon = "more", items, className = "", tabindex, disabled }) {
  const [open, setOpen] = d(false);
  const button = T(null);
  const close = b((withFocus) => {
    setOpen(false);
    if (withFocus) button.current?.focus({ preventScroll: true });
  }, []);
  const choose = (item) => {
    close(true);
    item?.act(button.current);
  };
  return html`<button ref=${button} type="button" class=${`icon-button ${className}`} aria-label=${label} aria-haspopup="menu" tabindex=${tabindex}
      aria-expanded=${open ? "true" : "false"} disabled=${disabled} onClick=${() => setOpen(!open)}><${Icon} name=${icon} /></button>
    ${
      open &&
      html`<${Popup} anchor=${button.current} onClose=${close} className="menu">
      <${Items} items=${items.filter(Boolean)} label=${label} onChoose=${choose} /><//>`
    }`;
}

// The top of a conversation: who it is with, and what can be done.

function Presence({ id, user, isBlocked }) {
  const typing = useStore(store.typing(id), (ids) => ids.length > 0);
  // Across a block neither user is told whether the other is online; what was known is not shown.
  const presence = useStore(isBlocked ? NOTHING : store.presence(user.id));
  const [, tick] = d(0);
  A(() => {
    const timer = setInterval(() => tick((count) => count + 1), 60_000);
    return () => clearInterval(timer);
  }, []);
  if (typing) return html`<p class="presence typing">${t("typing…")}</p>`;
  if (presence?.online) return html`<p class="presence online">${t("online")}</p>`;
  if (presence?.last_seen_at) {
    const at = new Date(presence.last_seen_at).getTime();
    const isNow = parley.now() - at < 60_000;
    const text = isNow ? t("last seen just now") : t("last seen {when}", { when: ago(at, parley.now()) });
    return html`<p class="presence">${text}</p>`;
  }
  return html`<p class="presence"><bdi dir="ltr">@${user.username}</bdi></p>`;
}

// `newest` is the newest message of the other person that is loaded.
function Header({ id, row, name, blockedByMe, newest, searching, searchButton, onSearch, onReport }) {
  const isMuted = useStore(muted, (state) => state.ids.includes(id));
  const user = row.other_user;
  const call = (media) => invite({ conversation_id: id, media });
  const clearAfterQuestion = async () => {
    const text = t("This removes all messages for you. {name} will still have them. This cannot be undone.", { name });
    if (await confirm({ title: t("Clear this chat?"), text, action: t("Clear chat"), danger: true })) {
      await store
        .messages(id)
        .clear()
        .then(() => notice(t("Chat cleared")), failed);
    }
  };
  const deleteAfterQuestion = async () => {
    const text = t(
      "It leaves your list with all its messages. {name} will still have them, and your next message to each other brings it back. This cannot be undone.",
      { name },
    );
    if (!(await confirm({ title: t("Delete this chat?"), text, action: t("Delete chat"), danger: true }))) return;
    try {
      await deleteChat(id);
      navigate("/app/chats");
      notice(t("Chat deleted"));
    } catch (error) {
      failed(error);
    }
  };
  const blockAfterQuestion = async () => {
    const text = t("You can't message or call each other until you unblock {name}.", { name });
    if (await confirm({ title: t("Block {name}?", { name }), text, action: t("Block"), danger: true }))
      await block(user).catch(failed);
  };
  const mute = {
    label: isMuted ? t("Unmute") : t("Mute"),
    icon: isMuted ? "bell" : "mute",
    act: () => setMuted(id, !isMuted),
  };
  const blocking = blockedByMe
    ? { label: t("Unblock"), icon: "block", act: () => unblock(user).catch(failed) }
    : { label: t("Block"), icon: "block", danger: true, act: blockAfterQuestion };
  // A report is about a message; here it is the newest one of theirs.
  const report = newest && { label: t("Report"), icon: "flag", act: () => onReport(newest) };
  const [Profile, setProfile] = d(null);
  const showProfile = () => load("chat/profile.js").then((module) => setProfile(() => module.default), failed);
  return html`<header class="conversation-head">
    <a class="icon-button back" href="/app/chats" aria-label=${t("Back to the chats")}><${Icon} name="back" /></a>
    <${Avatar} user=${user} size="small" />
    <div class="conversation-who"><h1 tabindex="-1" dir="auto"><button type="button" aria-haspopup="dialog" onClick=${showProfile}>${name}</button></h1><${Presence} id=${id} user=${user} isBlocked=${row.is_blocked} /></div>
    <button ref=${searchButton} type="button" class="icon-button" aria-label=${t("Search in conversation")} aria-expanded=${searching ? "true" : "false"} onClick=${onSearch}><${Icon} name="search" /></button>
    <button type="button" class="icon-button" aria-label=${t("Voice call")} disabled=${row.is_blocked} onClick=${() => call("audio")}><${Icon} name="phone" /></button>
    <button type="button" class="icon-button" aria-label=${t("Video call")} disabled=${row.is_blocked} onClick=${() => call("video")}><${Icon} name="camera" /></button>
    <${Menu} label=${t("Conversation actions")} items=${[mute, { label: t("Clear chat"), icon: "clear", act: clearAfterQuestion }, { label: t("Delete chat"), icon: "trash", danger: true, act: deleteAfterQuestion }, blocking]} />
  </header>
  ${Profile && html`<${Profile} id=${id} user=${user} isShown=${!row.is_blocked} actions=${[mute, blocking, report].filter(Boolean)} onClose=${() => setProfile(null)} />`}`;
}

// Where the signed-in user stands in each conversation, kept for this tab: a reload leads back to it.

const key$1 = () => `parley.places.${parley.session.userId}`;

const read = () => readStored(storedHere, key$1(), {});

const placeOf = (id) => read()[id] ?? null;

let timer = null;
const waiting$1 = new Map();

function keepPlace(id, messageId) {
  waiting$1.set(id, messageId);
  if (!timer) timer = setTimeout(write, 200);
}

function write() {
  timer = null;
  const places = read();
  for (const [id, messageId] of waiting$1) {
    if (messageId) places[id] = messageId;
    else delete places[id];
  }
  waiting$1.clear();
  if (parley.session.isSignedIn) storedHere.setItem(key$1(), JSON.stringify(places));
}

addEventListener("pagehide", write);

// What stands in the log of a conversation: days, the mark of the first unread message, messages, what still waits.
const TOGETHER_MS = 5 * 60_000;
const ALBUM_MS = 60_000;
const MOST_IN_ALBUM = 10;

// Rows are made anew whenever one message comes: the dates of the others are known by then.
const moments = new WeakMap();
function momentOf(message) {
  if (!moments.has(message)) {
    const date = new Date(message.created_at);
    moments.set(message, { ms: date.getTime(), day: date.toDateString() });
  }
  return moments.get(message);
}
const keyOf = (message) => (message.client_id ? `c${message.client_id}` : `m${message.id}`);

function rowsOf({ messages, pending, firstUnread, hasNewer }, me) {
  const rows = [];
  let before = null;
  const add = (row, source, senderId) => {
    const { ms, day } = momentOf(source);
    const isNewDay = before?.day !== day;
    if (isNewDay) rows.push({ type: "day", key: `d${row.key}`, created_at: source.created_at });
    const isUnreadMark = row.message?.id === firstUnread;
    if (isUnreadMark) rows.push({ type: "unread", key: "unread" });
    const isClose = before && ms - before.ms < TOGETHER_MS;
    const continues = !isNewDay && !isUnreadMark && isClose && before.senderId === senderId;
    rows.push({ ...row, continues });
    before = { ms, day, senderId };
  };
  for (const message of messages) {
    add({ type: "message", key: keyOf(message), message, own: message.sender_id === me }, message, message.sender_id);
  }
  if (!hasNewer) {
    for (const item of pending) add({ type: "pending", key: `c${item.client_id}`, item, own: true }, item, me);
  }
  return withAlbums(rows);
}

const sourceOf = ({ message, item }) => message ?? item;
const isPicture = ({ message, item }) => (message ? message.kind === "image" && message.media : item?.file);

// Pictures that one person sends one after the other are one row, an album. Only its first one has a caption or a quote.
function withAlbums(rows) {
  const grouped = [];
  for (const row of rows) {
    const before = grouped.at(-1);
    if (before && isNextInAlbum(row, before)) grouped[grouped.length - 1] = albumOf([...partsOf(before), row]);
    else grouped.push(row);
  }
  return grouped;
}

function isNextInAlbum(row, before) {
  const parts = partsOf(before);
  const last = parts[parts.length - 1];
  if (!row.continues || !isPicture(row) || !isPicture(last) || parts.length >= MOST_IN_ALBUM) return false;
  const { body, reply_to_id: quoted } = sourceOf(row);
  return !body && !quoted && momentOf(sourceOf(row)).ms - momentOf(sourceOf(last)).ms < ALBUM_MS;
}

/** The messages of a row: those of an album, or the one that it is. */
const partsOf = (row) => row.parts ?? [row];

// Its `message` is the last one: who has seen the album has seen that.
function albumOf(parts) {
  const [{ key, own, continues }] = parts;
  const { message } = parts.findLast((part) => part.message) ?? {};
  return { type: "album", key, own, continues, parts, message, item: parts[parts.length - 1].item };
}

/**
 * @param {any} message
 * @param {{ other_last_read_id?: number | null, other_delivered_id?: number | null }} [row] of the conversation
 */
function statusOf(message, { other_last_read_id: read, other_delivered_id: delivered } = {}) {
  if (read && message.id <= read) return "read";
  if (delivered && message.id <= delivered) return "delivered";
  return "sent";
}

// A virtual list: only the rows around the visible part are in the DOM.
//
// Where the reader is, is read from the page itself right before each change and restored right after it. A
// scroll event is never asked for that: it comes later than the scroll, and a redraw in between would lose it.

const OVERSCAN = 900;
const ESTIMATE = 62;
const NEAR_END = 60;
const NEAR_START = 1200;
const FIRST = 60;

const hasMessage = ({ type }) => type === "message" || type === "album";
const isOfOther = (row) => hasMessage(row) && !row.own;

class VirtualList extends x {
  constructor(props) {
    super(props);
    this.heights = new Map();
    this.state = { rows: props.rows, start: Math.max(0, props.rows.length - FIRST), end: props.rows.length };
    this.watcher = new ResizeObserver((entries) =>
      entries.some(({ target }) => target === this.box) ? this.boxChanged() : this.rowsChanged(),
    );
    this.setBox = (box) => {
      this.box = box;
    };
    this.onScroll = () => this.updateRange();
    this.onVisible = () => this.watchFrame();
  }

  // Rows that come in front move the others: the window stays on the rows that it shows.
  static getDerivedStateFromProps({ rows }, { rows: before, start, end }) {
    if (rows === before) return null;
    const wasLast = end >= before.length;
    const places = new Map(rows.map((row, index) => [row.key, index]));
    let moved = 0;
    for (let index = start; index < Math.min(end, before.length); index += 1) {
      if (!places.has(before[index].key)) continue;
      moved = places.get(before[index].key) - index;
      break;
    }
    return { rows, start: Math.max(0, start + moved), end: wasLast ? rows.length : end + moved };
  }

  componentDidMount() {
    this.seenWidth = this.box.clientWidth;
    this.seenHeight = this.box.clientHeight;
    this.watcher.observe(this.box);
    this.watcher.observe(this.box.querySelector(".log-rows"));
    document.addEventListener("visibilitychange", this.onVisible);
    this.measure();
    this.toEnd();
    this.updateRange();
    this.props.control?.(this);
  }

  componentWillUnmount() {
    this.watcher.disconnect();
    document.removeEventListener("visibilitychange", this.onVisible);
    cancelAnimationFrame(this.frame);
  }

  height(row) {
    return this.heights.get(row.key) ?? ESTIMATE;
  }

  rowElements() {
    return this.box.querySelectorAll(":scope > .log-rows > [data-key]");
  }

  measure() {
    for (const element of this.rowElements())
      this.heights.set(element.dataset.key, element.getBoundingClientRect().height);
  }

  // Of rows that have gone.
  forgetHeights() {
    const keys = new Set(this.props.rows.map((row) => row.key));
    for (const key of this.heights.keys()) if (!keys.has(key)) this.heights.delete(key);
  }

  distanceToEnd(height = this.box.clientHeight) {
    return this.box.scrollHeight - this.box.scrollTop - height;
  }

  // The first rows in the window and where they stand in it: the reader's place.
  getSnapshotBeforeUpdate() {
    const top = this.box.getBoundingClientRect().top;
    const bottom = top + this.box.clientHeight;
    const places = [];
    for (const element of this.rowElements()) {
      const place = element.getBoundingClientRect();
      if (place.bottom > top && place.top < bottom) places.push({ key: element.dataset.key, top: place.top - top });
    }
    return { places, toEnd: this.distanceToEnd() };
  }

  componentDidUpdate(previous, _state, { places, toEnd }) {
    this.measure();
    if (this.heights.size > 2 * this.props.rows.length + FIRST) this.forgetHeights();
    if (this.wantsRow) return;
    const grew = previous.rows !== this.props.rows;
    // Rows that were loaded at the end are no news: they come below, and the reader stays.
    const follows = previous.follow !== false && this.state.end >= this.props.rows.length;
    if (follows && grew) this.firstNew ??= this.newSince(previous.rows);
    if (follows && toEnd < (grew ? NEAR_END : 2)) this.followEnd();
    else this.restore(places);
    this.updateRange({ isRedraw: true });
  }

  restore(places) {
    const elements = new Map([...this.rowElements()].map((element) => [element.dataset.key, element]));
    for (const { key, top } of places) {
      const element = elements.get(key);
      if (!element) continue;
      const moved = element.getBoundingClientRect().top - this.box.getBoundingClientRect().top - top;
      if (Math.abs(moved) > 0.5) this.box.scrollTop += moved;
      return;
    }
  }

  toEnd() {
    this.box.scrollTop = this.box.scrollHeight;
  }

  // The key of the first row of another person behind those that were there.
  newSince(before) {
    const { rows } = this.props;
    const lastKey = before.at(-1)?.key;
    let index = rows.length;
    while (index > 0 && rows[index - 1].key !== lastKey) index -= 1;
    if (index === 0 && lastKey !== undefined) return null;
    return rows.slice(index).find(isOfOther)?.key ?? null;
  }

  // To the end, as far as what is new stays in the window until it has been drawn there.
  followEnd() {
    this.toEnd();
    const { rows } = this.props;
    let index = rows.findIndex(({ key }) => key === this.firstNew);
    // With the dividers above it.
    while (index > 0 && !hasMessage(rows[index - 1]) && rows[index - 1].type !== "pending") index -= 1;
    const element = [...this.rowElements()].find(({ dataset }) => dataset.key === rows[index]?.key);
    const above = element ? this.box.getBoundingClientRect().top - element.getBoundingClientRect().top : 0;
    if (above > 0) this.box.scrollTop -= Math.ceil(above);
  }

  // Reports what a frame of a visible window shows: it is asked right before the browser draws it.
  watchFrame() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (!this.box || this.wantsRow || this.props.isHeld?.() || document.visibilityState !== "visible") return;
      const key = this.lastInWindow();
      const { rows } = this.props;
      const index = rows.findIndex((row) => row.key === key);
      const firstNew = rows.findIndex((row) => row.key === this.firstNew);
      if (index >= firstNew) this.firstNew = rows.slice(index + 1).find(isOfOther)?.key ?? null;
      this.props.onDrawn?.(key);
    });
  }

  // To the end from anywhere: the last rows are drawn first.
  goToEnd() {
    const { length } = this.props.rows;
    // Nothing on the way has to be seen.
    this.firstNew = null;
    if (this.state.end >= length) {
      this.toEnd();
      this.updateRange();
      return;
    }
    this.wantsRow = true;
    this.setState({ start: Math.max(0, length - FIRST), end: length }, () => {
      this.measure();
      this.toEnd();
      this.wantsRow = false;
      this.updateRange();
    });
  }

  // A keyboard on the screen or a growing text box takes room from the list: the end stays in sight.
  boxChanged() {
    const wasAtEnd = this.wasAtEnd || this.distanceToEnd(this.seenHeight) < NEAR_END;
    if (this.seenWidth !== this.box.clientWidth) this.heights.clear();
    this.seenWidth = this.box.clientWidth;
    this.measure();
    this.seenHeight = this.box.clientHeight;
    if (wasAtEnd) this.followEnd();
    this.updateRange();
  }

  // A row has grown by itself, as one does whose picture arrives.
  rowsChanged() {
    if (!this.wasAtEnd || this.wantsRow || this.distanceToEnd() < 2) return;
    this.measure();
    this.followEnd();
    this.updateRange();
  }

  // Which rows belong into the page, by where the window is now.
  range() {
    const { rows } = this.props;
    const from = this.box.scrollTop - OVERSCAN;
    const to = this.box.scrollTop + this.box.clientHeight + OVERSCAN;
    let start = rows.length;
    let end = rows.length;
    let y = 0;
    for (let index = 0; index < rows.length; index += 1) {
      const next = y + this.height(rows[index]);
      if (start === rows.length && next >= from) start = index;
      if (y > to) {
        end = index;
        break;
      }
      y = next;
    }
    return { start: Math.min(start, Math.max(0, rows.length - 1)), end };
  }

  // Draws the rows that belong into the page now, and tells the owner where the reader is.
  // After a redraw rows are only added: two ranges that each ask for the other would follow one another for ever.
  updateRange({ isRedraw = false } = {}) {
    if (!this.box) return;
    let { start, end } = this.range();
    if (isRedraw)
      [start, end] = [
        Math.min(start, this.state.start),
        Math.max(end, Math.min(this.state.end, this.props.rows.length)),
      ];
    if (start !== this.state.start || end !== this.state.end) this.setState({ start, end });
    const { onStart, onEnd, onPlace } = this.props;
    if (this.box.scrollTop < NEAR_START) onStart?.();
    const toEnd = this.distanceToEnd();
    this.wasAtEnd = toEnd < NEAR_END;
    if (toEnd < NEAR_START) onEnd?.();
    onPlace?.({ atEnd: this.wasAtEnd, far: toEnd > 600, first: this.firstInWindow() });
    this.watchFrame();
  }

  // Brings a row into the window. Its neighbours are drawn first, so that their heights are known. Resolves once it stands there.
  show(key, where = "center") {
    const { rows } = this.props;
    const index = rows.findIndex((row) => row.key === key);
    if (index < 0) return Promise.resolve();
    this.wantsRow = true;
    return new Promise((resolve) => {
      this.setState({ start: Math.max(0, index - 25), end: Math.min(rows.length, index + 25) }, () => {
        this.measure();
        const element = [...this.rowElements()].find((candidate) => candidate.dataset.key === key);
        element?.scrollIntoView({ block: where, behavior: "instant" });
        this.wantsRow = false;
        this.updateRange();
        resolve();
      });
    });
  }

  // The key of the first row whose end is in the window.
  firstInWindow() {
    const top = this.box.getBoundingClientRect().top + 1;
    return [...this.rowElements()].find((element) => element.getBoundingClientRect().bottom > top)?.dataset.key ?? null;
  }

  // The key of the last row whose end is in the window.
  lastInWindow() {
    const bottom = this.box.getBoundingClientRect().bottom + 1;
    let last = null;
    for (const element of this.rowElements())
      if (element.getBoundingClientRect().bottom <= bottom) last = element.dataset.key;
    return last;
  }

  render({ rows, draw, label, head, foot, onKeyDown, className }, { start, end }) {
    const last = Math.min(end, rows.length);
    const first = Math.min(start, last);
    let above = 0;
    let below = 0;
    for (let index = 0; index < first; index += 1) above += this.height(rows[index]);
    for (let index = last; index < rows.length; index += 1) below += this.height(rows[index]);
    return html`<div ref=${this.setBox} class=${`virtual ${className}`} role="log" aria-label=${label} tabindex="0" onScroll=${this.onScroll} onKeyDown=${onKeyDown}>
      ${head}
      <div class="space" style=${{ height: `${above}px` }}></div>
      <div class="log-rows">${rows.slice(first, last).map((row) => draw(row))}</div>
      <div class="space" style=${{ height: `${below}px` }}></div>
      ${foot}
    </div>`;
  }
}

// Fingers on a message: a long press opens its menu, a swipe towards the end of the line replies.

const PRESS_MS = 500;
// A finger never lies quite still.
const SLOP = 10;
const REPLY_AT = 56;
const FARTHEST = 72;
// A browser sends the click of a finger up to so much later than its end.
const CLICK_MS = 400;
// From there the system goes back a page.
const EDGE = 24;

const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const isSelecting = () => String(getSelection()) !== "";

function move(article, by) {
  const line = /** @type {HTMLElement} */ (article.querySelector(".bubble-line"));
  line.style.transition = by ? "none" : "";
  line.style.transform = by && !isStill() ? `translateX(${by}px)` : "";
}

/** Handlers for the element around the log; `onReply(messageId)` is null where nothing can be answered. */
function useGestures(onReply) {
  // The finger: where it came down, on what, and what has become of it.
  const finger = T(null);
  // Until then a click is that of a finger that has acted already.
  const clickUntil = T(0);
  const forget = () => {
    if (!finger.current) return;
    clearTimeout(finger.current.timer);
    const { article } = finger.current;
    finger.current = null;
    move(article, 0);
    article.classList.remove("to-reply");
  };
  A(() => forget, []);

  const press = () => {
    const { article } = finger.current;
    if (isSelecting()) return forget();
    finger.current.isPressed = true;
    article.querySelector(".message-actions").click();
    return undefined;
  };
  const onPointerDown = (event) => {
    const article = event.target.closest("article[data-message-id]");
    const isOne = event.isPrimary && event.pointerType === "touch";
    forget();
    clickUntil.current = 0;
    if (!article || !isOne || event.target.closest("a, .popup, .icon-button, .reaction") || isSelecting()) return;
    finger.current = { article, x: event.clientX, y: event.clientY, by: 0, timer: setTimeout(press, PRESS_MS) };
  };
  const onPointerMove = (event) => {
    const now = finger.current;
    if (!now || now.isPressed || !event.isPrimary) return;
    const across = event.clientX - now.x;
    const down = event.clientY - now.y;
    if (Math.hypot(across, down) > SLOP) clearTimeout(now.timer);
    if (!now.isSwiping && Math.abs(down) > SLOP) {
      forget();
      return;
    }
    const forward = getComputedStyle(now.article).direction === "rtl" ? -1 : 1;
    const canSwipe = onReply && now.x > EDGE && now.x < innerWidth - EDGE && !event.target.closest("pre");
    if (!canSwipe || (!now.isSwiping && across * forward <= SLOP)) return;
    now.isSwiping = true;
    now.by = Math.max(0, Math.min(FARTHEST, across * forward));
    move(now.article, now.by * forward);
    now.article.classList.toggle("to-reply", now.by >= REPLY_AT);
  };
  const onPointerUp = () => {
    const now = finger.current;
    if (now?.isPressed || now?.isSwiping) clickUntil.current = performance.now() + CLICK_MS;
    forget();
    if (now?.isSwiping && now.by >= REPLY_AT && !isSelecting()) onReply(Number(now.article.dataset.messageId));
  };
  const onClickCapture = (event) => {
    // A click of the keyboard has no place.
    if (performance.now() > clickUntil.current || !event.isTrusted || event.detail === 0) return;
    clickUntil.current = 0;
    event.preventDefault();
    event.stopPropagation();
  };
  // Some browsers ask for a menu at a long press by themselves.
  const onContextMenuCapture = (event) => {
    if (!finger.current?.isPressed) return clearTimeout(finger.current?.timer);
    event.preventDefault();
    return event.stopPropagation();
  };
  return { onPointerDown, onPointerMove, onPointerUp, onPointerCancel: forget, onClickCapture, onContextMenuCapture };
}

// A component that is drawn anew only when one of the props in `static keys` changes, or the language of its texts.

// What it draws is up to its subclasses.
// @ts-expect-error
class Pure extends x {
  /** @type {string[]} */
  static keys = [];

  constructor(props) {
    super(props);
    this.language = language();
  }

  shouldComponentUpdate(next) {
    const before = this.language;
    this.language = language();
    const { keys } = /** @type {typeof Pure} */ (this.constructor);
    return this.language !== before || keys.some((key) => next[key] !== this.props[key]);
  }
}

// A text in whose parts what was searched for is marked, without regard to case.

function marked(text, wanted) {
  const [where, what] = [text.toLowerCase(), wanted?.toLowerCase()];
  // Few letters become two when they are small: the places would be others.
  if (!what || where.length !== text.length) return text;
  const parts = [];
  let from = 0;
  for (let at = where.indexOf(what); at >= 0; at = where.indexOf(what, from)) {
    parts.push(text.slice(from, at), html`<mark>${text.slice(at, at + what.length)}</mark>`);
    from = at + what.length;
  }
  return parts.length ? [...parts, text.slice(from)] : text;
}

// The text of a message with its links and what formats it. Only http and https lead anywhere.

const ONLY_EMOJI =
  /^(?:\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\uFE0F|\u200D\p{Extended_Pictographic})*|\p{Regional_Indicator}{2}){1,3}$/u;

const isOnlyEmoji = (text) => ONLY_EMOJI.test(text.trim());

function drawn(part, wanted) {
  if (typeof part === "string") return marked(part, wanted);
  const children = part.children.map((child) => drawn(child, wanted));
  if (part.tag === "a")
    return html`<a href=${part.href} target="_blank" rel="noopener noreferrer nofollow">${children}</a>`;
  if (part.tag === "pre") return html`<pre dir="auto" tabindex="0"><code>${children}</code></pre>`;
  return html`<${part.tag}>${children}<//>`;
}

// `wanted` is what was searched for, if that has led here.
function Text({ body, wanted = "" }) {
  return html`<div class=${`text ${isOnlyEmoji(body) ? "large-emoji" : ""}`} dir="auto">${formatted(body).map((part) => drawn(part, wanted))}</div>`;
}

// One message of the log. Redrawn only when something about it changes.

const statusText = (status) =>
  ({ sending: t("Sending"), failed: t("Not sent"), sent: t("Sent"), delivered: t("Delivered"), read: t("Read") })[
    status
  ];
const TICKS = {
  sending: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4.2l2.8 1.8",
  failed: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v5M12 16v.1",
  sent: "M5 12.5l4.5 4.5L19 7.5",
  delivered: "M2 12.5l4.5 4.5L16 7.5M11.5 16l1 1L22 7.5",
  read: "M2 12.5l4.5 4.5L16 7.5M11.5 16l1 1L22 7.5",
};

function Status({ status }) {
  const text = statusText(status);
  return html`<span class=${`status ${status}`} role="status" aria-live="off" aria-label=${text} title=${text}>
    <svg class="icon" viewBox="0 0 24 24" width="16" height="16" aria-hidden="true"><path d=${TICKS[status]} /></svg>
    <span class="visually-hidden">${text}</span></span>`;
}

function Quote({ message, names, onJump }) {
  const { reply_to: reply } = message;
  if (!message.reply_to_id) return null;
  if (!reply) return html`<p class="quote gone">${t("Deleted message")}</p>`;
  return html`<button type="button" class="quote" onClick=${() => onJump(reply.id)} aria-label=${t("Go to the original message")}>
    ${reply.thumb_url && html`<img src=${parley.mediaUrl(reply.thumb_url)} alt="" width="36" height="36" loading="lazy" />`}
    <span class="quote-lines"><b>${names(reply.sender_id)}</b><span dir="auto">${previewText(reply)}</span></span></button>`;
}

function CallEntry({ message, own, tabindex, actions }) {
  const { call } = message;
  const icon = callIcon(call);
  return html`<p class="call-entry"><${Icon} name=${icon} />
    <span>${callText(call, message.body, own)}${call?.duration_s ? html` <span class="muted">${duration(call.duration_s)}</span>` : ""}</span>
    <button type="button" class="icon-button" tabindex=${tabindex} disabled=${actions.blocked} aria-label=${t("Repeat this call")} title=${t("Repeat this call")}
      onClick=${() => actions.call(call?.media ?? "audio")}><${Icon} name="redial" /></button></p>`;
}

function Reactions({ message, me, names, onReact, disabled }) {
  if (message.reactions.length === 0) return null;
  const toggle = async (emoji, article) => {
    await onReact(message, emoji);
    focusIfLost(article);
  };
  return html`<div class="reactions">${message.reactions.map(
    ({ emoji, count, user_ids: users }) => html`<button key=${emoji} type="button" class="reaction"
    disabled=${disabled} aria-pressed=${users.includes(me) ? "true" : "false"} title=${users.map(names).join(", ")} 
    onClick=${({ currentTarget }) => toggle(emoji, currentTarget.closest("article"))}>${emoji}<span>${count}</span></button>`,
  )}</div>`;
}

function Actions({ message, own, tabindex, actions }) {
  const [picking, setPicking] = d(null);
  const button = T(null);
  const react = (anchor) => {
    button.current = anchor;
    setPicking(anchor);
  };
  const close = (withFocus) => {
    setPicking(null);
    if (withFocus) button.current?.focus({ preventScroll: true });
  };
  const pick = (emoji) => {
    close(true);
    actions.react(message, emoji);
  };
  const can = !actions.blocked;
  const items = [
    ...(can ? FIRST$1 : []).map((emoji) => ({ label: emoji, isShort: true, act: () => actions.react(message, emoji) })),
    can && { label: t("Reply"), icon: "reply", act: () => actions.reply(message) },
    can && { label: t("React"), icon: "smile", act: react },
    can && own && message.kind !== "call" && { label: t("Edit"), icon: "edit", act: () => actions.edit(message) },
    message.body && { label: t("Copy text"), icon: "copy", act: () => actions.copy(message) },
    !own && { label: t("Report"), icon: "flag", act: () => actions.report(message) },
    own && { label: t("Delete"), icon: "trash", danger: true, act: () => actions.remove(message) },
  ];
  return html`<${Menu} label=${t("Message actions")} className="message-actions" items=${items} tabindex=${tabindex} />
    ${picking && html`<${EmojiPicker} anchor=${picking} onPick=${pick} onClose=${close} />`}`;
}

class Message extends Pure {
  static keys = ["message", "status", "continues", "current", "marked", "wanted", "names", "actions"];

  render({ rowKey, message, own, status, continues, current, marked, wanted, names, actions }) {
    const tabindex = current ? 0 : -1;
    const name = own ? t("You") : names(message.sender_id);
    const classes = ["message", own ? "own" : "", continues ? "continues" : "", marked ? "marked" : ""].join(" ");
    const label = t("{name}, {time}", { name, time: time(message.created_at) });
    // The browser's own menu stays for links and for text that is selected.
    const onContextMenu = (event) => {
      if (event.target.closest("a, .popup") || String(getSelection())) return;
      event.preventDefault();
      event.currentTarget.querySelector(".message-actions").click();
    };
    // On text, a double click selects a word.
    const onDblClick = (event) =>
      !actions.blocked && !event.target.closest("button, a, .text, .popup") && actions.reply(message);
    return html`<article class=${classes} data-key=${rowKey} data-message-id=${message.id} tabindex=${tabindex} aria-label=${label}
        onContextMenu=${onContextMenu} onDblClick=${onDblClick}>
      <div class="bubble-line">
        <div class="bubble">
          <${Quote} message=${message} names=${names} onJump=${actions.jump} />
          ${message.kind === "image" && message.media && html`<${Image$1} message=${message} name=${name} onOpen=${actions.view} />`}
          ${message.kind === "call" ? html`<${CallEntry} message=${message} own=${own} tabindex=${tabindex} actions=${actions} />` : message.body && html`<${Text} body=${message.body} wanted=${wanted} />`}
          <p class="meta">${message.is_edited && html`<span>${t("edited")}</span>`}
            <time datetime=${message.created_at} title=${dateTime(message.created_at)}>${time(message.created_at)}</time>${own && html`<${Status} status=${status} />`}</p>
        </div>
        <${Actions} message=${message} own=${own} tabindex=${tabindex} actions=${actions} />
      </div>
      <${Reactions} message=${message} me=${actions.me} names=${names} onReact=${actions.react} disabled=${actions.blocked} />
    </article>`;
  }
}

const REFUSED = [400, 413, 415, 422];

// A message that has not arrived yet.
function Pending({ rowKey, item, continues }) {
  const isFailed = item.state === "failed";
  // The same content would be refused again.
  const isFinal = isFailed && REFUSED.includes(item.error?.status);
  // The button that was pressed goes: the log takes its focus.
  const run =
    (act) =>
    ({ currentTarget }) => {
      const log = currentTarget.closest("[role=log]");
      act(item.client_id);
      focusIfLost(log);
    };
  return html`<article class=${`message own ${continues ? "continues" : ""} ${isFailed ? "failed" : ""}`} data-key=${rowKey} data-client-id=${item.client_id}
      aria-label=${t("{name}, {time}", { name: t("You"), time: time(item.created_at) })}>
    <div class="bubble-line"><div class="bubble">
      ${item.file && html`<${Upload} item=${item} />`}
      ${item.body && html`<${Text} body=${item.body} />`}
      <p class="meta"><time datetime=${item.created_at}>${time(item.created_at)}</time><${Status} status=${isFailed ? "failed" : "sending"} /></p>
    </div></div>
    ${
      (isFailed || item.file) &&
      html`<p class="pending-actions">
      ${isFailed && html`<span class="danger-text small">${item.error?.message || t("Not sent")}</span>`}
      ${isFailed && !isFinal && html`<button type="button" class="text-button" onClick=${run((id) => parley.outbox.retry(id))}>${t("Send again")}</button>`}
      <button type="button" class="text-button" onClick=${run((id) => parley.outbox.remove(id))}>${isFinal ? t("Remove") : isFailed ? t("Discard") : t("Cancel")}</button></p>`
    }
  </article>`;
}

// The log of a conversation: rows, the reader's place in them, the keyboard.

const MARK_MS = 2000;
// By then everything that was missed while there was no connection has arrived.
const CATCH_UP_MS = 3000;
// A reader at the end needs no long history: the memory stays the same however long the window is open. What goes is
// loaded again when the reader scrolls up.
const MOST_AT_END = 600;
const LEFT_AT_END = 300;
// After a failed page the next one is not asked for at once.
const PAUSE_MS = 3000;

const upperFirst = (text) => text.charAt(0).toLocaleUpperCase() + text.slice(1);
const dayOf = ({ created_at: at }) => upperFirst(dayName(at));
const Divider = ({ rowKey, kind, text }) =>
  html`<div class=${`divider ${kind}`} data-key=${rowKey}><span>${text}</span></div>`;

// control.current = {jump(messageId), toEnd()} for the conversation around it.
// `unread` is the first message that was unread when it was opened, `hit` the one that a link leads to.
// `found` is {id, text} of the one that a search has led to.
function Log({ id, state, hit, unread, row, me, names, actions, found, control }) {
  const messages = store.messages(id);
  const [firstUnread, setFirstUnread] = d(unread);
  const rows = w(() => rowsOf({ ...state, firstUnread }, me), [state, firstUnread, me]);
  const list = T(null);
  const drawn = T(rows);
  drawn.current = rows;
  const [{ atEnd, far }, setEnd] = d({ atEnd: true, far: false });
  // The day of the first row in the window, unless that row says it itself.
  const [day, setDay] = d("");
  const [flash, setFlash] = d(null);
  const [current, setCurrent] = d(null);
  const lastSeen = T(0);
  // The reader's place has been found; before that, nothing that is drawn has been seen.
  const isPlaced = T(false);
  const isFollowing = T(false);
  // What was missed without a connection arrives faster than it is drawn: it has been seen only once it stands still.
  const isCatchingUp = T(false);
  const isSeenAtOnce = () =>
    isPlaced.current && isFollowing.current && !isCatchingUp.current && document.visibilityState === "visible";
  F(() => messages.follow(isSeenAtOnce), [id]);
  A(() => {
    let timer;
    const end = () => {
      clearTimeout(timer);
      isCatchingUp.current = false;
      list.current?.watchFrame();
    };
    const stops = [
      parley.on("synced", end),
      parley.on("status", ({ status }) => {
        clearTimeout(timer);
        if (status !== "online") isCatchingUp.current = true;
        else timer = setTimeout(end, CATCH_UP_MS);
      }),
    ];
    return () => {
      clearTimeout(timer);
      for (const stop of stops) stop();
    };
  }, []);

  const isPaused = T(false);
  const [, setTries] = d(0);
  const loadMore = (load) => {
    if (isPaused.current) return;
    load().catch(() => {
      isPaused.current = true;
      // What is drawn then asks again if it still needs the page.
      setTimeout(() => {
        isPaused.current = false;
        setTries((count) => count + 1);
      }, PAUSE_MS);
    });
  };

  const messageOf = (key) => drawn.current.find((entry) => entry.key === key)?.message;
  const keyOf = (messageId) =>
    drawn.current.find((entry) => partsOf(entry).some(({ message }) => message?.id === messageId))?.key;
  const focusMessage = (messageId) =>
    requestAnimationFrame(() => {
      const element = list.current?.box.querySelector(`[data-message-id="${messageId}"]`);
      element?.focus({ preventScroll: true });
      element?.scrollIntoView({ block: "nearest" });
    });
  // Of several ways that the reader asks for, the last one counts.
  const ways = T(0);
  const newWay = () => {
    const way = (ways.current += 1);
    return () => way === ways.current;
  };
  const jump = b(
    async (messageId, { flashing = true, where = "center" } = {}) => {
      const isWanted = newWay();
      const isHere = await messages.loadAround(messageId, { isWanted });
      if (!isWanted()) return true;
      if (!isHere) return false;
      // The rows of what was just loaded are drawn first.
      await new Promise(requestAnimationFrame);
      await list.current?.show(keyOf(messageId), where);
      setCurrent(messageId);
      if (flashing) {
        // The quote that led here may be drawn no longer: the focus goes along.
        if (document.activeElement === document.body || list.current.box.contains(document.activeElement))
          focusMessage(messageId);
        setFlash(messageId);
        setTimeout(() => setFlash((value) => (value === messageId ? null : value)), MARK_MS);
      }
      return true;
    },
    [id],
  );
  const toEnd = b(async () => {
    const isWanted = newWay();
    try {
      await messages.loadNewest({ isWanted });
    } catch (error) {
      failed(error);
      return;
    }
    if (!isWanted()) return;
    await new Promise(requestAnimationFrame);
    list.current?.goToEnd();
  }, [id]);
  // The button that leads there goes, and so may the message that had the focus.
  const toEndWithFocus = () => toEnd().then(() => list.current?.box.focus({ preventScroll: true }));
  control.current = { jump, toEnd };

  const started = T(false);
  const connect = b(
    (instance) => {
      list.current = instance;
      if (started.current) return;
      started.current = true;
      const placed = () => {
        isPlaced.current = true;
        instance.updateRange();
      };
      const kept = placeOf(id);
      // What was asked for comes before what is unread, and that before the place where the reader was.
      if (hit) actions.jump(hit).then(placed);
      else if (firstUnread) instance.show("unread", "start").then(placed);
      else if (kept)
        jump(kept, { flashing: false, where: "end" })
          .catch(() => {})
          .then(placed);
      else placed();
    },
    [id],
  );

  A(() => {
    if (hit && isPlaced.current) actions.jump(hit);
  }, [hit]);

  const onPlace = b(
    (next) => {
      setEnd((old) => (old.atEnd === next.atEnd && old.far === next.far ? old : next));
      isFollowing.current = next.atEnd && next.isLast;
      const { message, item } = drawn.current.find((entry) => entry.key === next.first) ?? {};
      setDay(message || item ? dayOf(message ?? item) : "");
      if (!isPlaced.current) return;
      keepPlace(id, isFollowing.current ? null : messageOf(list.current?.lastInWindow())?.id);
      if (isFollowing.current) messages.trim(MOST_AT_END, LEFT_AT_END);
    },
    [id],
  );
  const onDrawn = b(
    (key) => {
      const shown = messageOf(key);
      if (!isPlaced.current || !shown) return;
      lastSeen.current = Math.max(lastSeen.current, shown.id);
      messages.see(shown.id);
    },
    [id],
  );

  // What arrives while the window is hidden is marked, so that the reader finds where it begins.
  const lastId = state.messages.at(-1)?.id ?? 0;
  const lastKnown = T(lastId);
  A(() => {
    const fresh = state.messages.find((message) => message.id > lastKnown.current && message.sender_id !== me);
    const isMarked = firstUnread > lastSeen.current;
    lastKnown.current = Math.max(lastKnown.current, lastId);
    if (fresh && !isMarked && !state.hasNewer && document.visibilityState !== "visible") setFirstUnread(fresh.id);
  }, [lastId]);

  const focusable = current ?? state.messages.at(-1)?.id;
  const draw = (entry) => {
    const { key, type } = entry;
    if (type === "day") return html`<${Divider} key=${key} rowKey=${key} kind="day" text=${dayOf(entry)} />`;
    if (type === "unread") return html`<${Divider} key=${key} rowKey=${key} kind="new" text=${t("Unread messages")} />`;
    if (type === "album")
      return html`<div key=${key} data-key=${key} class=${`album ${entry.own ? "own" : ""} ${entry.continues ? "continues" : ""}`}>
        ${entry.parts.map((part) => drawMessage({ ...part, continues: true }))}</div>`;
    return drawMessage(entry, key);
  };
  // The row of a message has a key; one of an album is not a row.
  const drawMessage = ({ key, message, item, own, continues }, rowKey = undefined) =>
    item
      ? html`<${Pending} key=${key} rowKey=${rowKey} item=${item} continues=${continues} />`
      : html`<${Message} key=${key} rowKey=${rowKey} message=${message} own=${own} continues=${continues} names=${names} actions=${actions}
      status=${own ? statusOf(message, row) : null} current=${message.id === focusable} marked=${message.id === (found?.id ?? flash)} wanted=${message.id === found?.id ? found.text : ""} />`;

  const onKeyDown = (event) => {
    const article = event.target.closest("article");
    const inMenu = event.target.closest(".popup, dialog, a");
    if (inMenu) return;
    const steps = { ArrowUp: -1, ArrowDown: 1 };
    if (event.key in steps) {
      const at = article
        ? state.messages.findIndex((message) => message.id === Number(article.dataset.messageId))
        : state.messages.length;
      const next = state.messages[at + steps[event.key]];
      if (!next) return;
      event.preventDefault();
      setCurrent(next.id);
      focusMessage(next.id);
    } else if (event.key === "End") {
      event.preventDefault();
      toEndWithFocus();
    } else if (event.key === "Enter" && event.target === article) {
      event.preventDefault();
      article.querySelector(".message-actions")?.click();
    }
  };

  const reply = (messageId) => {
    const message = state.messages.find((entry) => entry.id === messageId);
    if (message) actions.reply(message);
  };
  const gestures = useGestures(actions.blocked ? null : reply);

  const head = html`<div class="log-head">${
    state.hasOlder
      ? html`<${Loading} label=${t("Loading older messages")} />`
      : html`<p class="muted small">${t("This is the beginning of the conversation.")}</p>`
  }</div>`;
  const below = row.unread_count;
  const label = below
    ? tn("Jump to latest, {n} new message", "Jump to latest, {n} new messages", below)
    : t("Jump to latest");
  return html`<div class="log-frame" ...${gestures}>
    <${VirtualList} className="log" label=${t("Messages")} rows=${rows} draw=${draw} follow=${!state.hasNewer} head=${head} control=${connect} onKeyDown=${onKeyDown}
      onStart=${() => loadMore(() => messages.loadOlder())} onEnd=${() => loadMore(() => messages.loadNewer())} onPlace=${(next) => onPlace({ ...next, isLast: !state.hasNewer })} onDrawn=${onDrawn} isHeld=${() => isCatchingUp.current} />
    ${day && html`<div class="divider day stays" aria-hidden="true"><span>${day}</span></div>`}
    ${
      (far || state.hasNewer || (below > 0 && !atEnd)) &&
      html`<button type="button" class="to-end" aria-label=${label} title=${label} onClick=${toEndWithFocus}>
      <${Icon} name="down" />${below > 0 && html`<span class="count" aria-hidden="true">${below}</span>`}</button>`
    }
  </div>`;
}

const reasons = () => [
  ["spam", t("Spam")],
  ["abuse", t("Insults or threats")],
  ["illegal", t("Something illegal")],
  ["other", t("Something else")],
];

// The first reason stays. Apps may have others than these.
function repeated(reason) {
  const words = reasons().find(([value]) => value === reason)?.[1] ?? reason;
  return t("You have already reported this message: {reason}. Our team has your report.", { reason: words });
}

function Report({ message, onClose }) {
  const [reason, setReason] = d("spam");
  const [comment, setComment] = d("");
  const [busy, setBusy] = d(false);
  const send = async (event) => {
    event.preventDefault();
    setBusy(true);
    try {
      const reply = await parley.messages.report({
        message_id: message.id,
        reason,
        ...(comment.trim() ? { comment: comment.trim() } : {}),
      });
      onClose();
      notice(reply.is_repeated ? repeated(reply.reason) : t("Thanks. Our team will review this message."));
    } catch (error) {
      setBusy(false);
      failed(error);
    }
  };
  return html`<${Dialog} title=${t("Report message")} onClose=${onClose}>
    <form class="stack" onSubmit=${send}>
      <fieldset class="plain"><legend>${t("Why are you reporting this message?")}</legend>
        ${reasons().map(([value, label]) => html`<label class="check" key=${value}><input type="radio" name="reason" value=${value} checked=${reason === value} onChange=${() => setReason(value)} />${label}</label>`)}</fieldset>
      <div class="field"><label for="report-comment">${t("Comment")}</label>
        <textarea id="report-comment" class="input" rows="3" maxlength=${LIMITS.reportCommentLength} value=${comment} onInput=${(event) => setComment(event.target.value)}></textarea></div>
      <div class="row dialog-actions"><button type="button" class="button" onClick=${onClose}>${t("Cancel")}</button>
        <button class="button primary" disabled=${busy}>${t("Send report")}</button></div>
    </form><//>`;
}

// Search in a conversation: newest hit first, then older ones with "previous" and back with "next".

const WAIT_MS$1 = 250;
const PAGE = 50;

function SearchBar({ id, onShow, onClose }) {
  const [query, setQuery] = d("");
  const [found, setFound] = d(null);
  const [at, setAt] = d(0);
  const box = T(null);
  const wanted = T("");
  const [tries, setTries] = d(0);
  F(() => {
    box.current.focus();
    // What is found after the search has been closed leads nowhere.
    return () => {
      wanted.current = null;
    };
  }, []);

  // The server reads a part of a long conversation at a time: a page without a hit need not be the last one.
  const load = async (q, before) => {
    const reply = await parley.messages.searchInside({
      conversation_id: id,
      q,
      limit: PAGE,
      ...(before ? { before } : {}),
    });
    const goesOn = reply.messages.length === 0 && reply.has_more && wanted.current === q;
    return goesOn ? load(q, reply.next_before) : reply;
  };
  A(() => {
    const q = query.trim();
    wanted.current = q;
    if (!q) {
      setFound(null);
      onShow(null);
      return undefined;
    }
    const timer = setTimeout(async () => {
      try {
        const reply = await load(q);
        if (wanted.current !== q) return;
        setFound({ q, messages: reply.messages, hasMore: reply.has_more, next: reply.next_before });
        setAt(0);
        onShow(reply.messages[0]?.id ?? null, q);
      } catch (error) {
        if (wanted.current !== q) return;
        failed(error);
        setFound(null);
      }
    }, WAIT_MS$1);
    return () => clearTimeout(timer);
  }, [query, id, tries]);

  const go = async (step) => {
    if (!found || found.messages.length === 0) return;
    let { messages } = found;
    const next = at + step;
    if (next < 0) return;
    if (next >= messages.length) {
      if (!found.hasMore) return;
      const reply = await load(found.q, found.next ?? messages.at(-1).id).catch(failed);
      // Another text may be searched for by now.
      if (!reply || wanted.current !== found.q) return;
      messages = [...messages, ...reply.messages];
      setFound({ ...found, messages, hasMore: reply.has_more, next: reply.next_before });
      if (next >= messages.length) return;
    }
    setAt(next);
    onShow(messages[next].id, found.q);
  };
  const onKeyDown = (event) => {
    if (isComposing(event)) return;
    if (event.key === "Escape") {
      event.preventDefault();
      onClose();
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (found) go(event.shiftKey ? -1 : 1);
      // After a failure it searches again.
      else setTries(tries + 1);
    }
  };
  const total = found?.messages.length ?? 0;
  const count = !found
    ? ""
    : total === 0
      ? t("Nothing found")
      : t("{n} of {total}", { n: at + 1, total: found.hasMore ? `${total}+` : total });
  return html`<search class="search-bar" onKeyDown=${onKeyDown}>
    <input ref=${box} type="search" class="input" aria-label=${t("Search messages")} maxlength=${LIMITS.searchLength} placeholder=${t("Search messages")} value=${query} onInput=${(event) => setQuery(event.target.value)} />
    <span class="small muted" aria-live="polite">${count}</span>
    <button type="button" class="icon-button" aria-label=${t("Previous")} title=${t("Older")} aria-disabled=${total === 0 || (at + 1 >= total && !found.hasMore)} onClick=${() => go(1)}><${Icon} name="up" /></button>
    <button type="button" class="icon-button" aria-label=${t("Next")} title=${t("Newer")} aria-disabled=${at === 0} onClick=${() => go(-1)}><${Icon} name="down" /></button>
    <button type="button" class="icon-button" aria-label=${t("Close search")} onClick=${onClose}><${Icon} name="close" /></button>
  </search>`;
}

// One conversation: heading, log, text box.

function Missing() {
  return html`<section class="conversation empty"><h1 tabindex="-1">${t("This conversation doesn't exist")}</h1><p><a href="/app/chats">${t("Back to the chats")}</a></p></section>`;
}

// `hit` is the message that a link leads to, if any, and `hitText` what was searched for.
function Conversation({ id, hit, hitText }) {
  const row = useStore(store.conversations, ({ byId }) => byId[id]);
  const snapshot = useStore(store.messages(id));
  const isThere = snapshot.messages !== null;
  const state = w(() => threadOf(snapshot), [snapshot.messages, snapshot.hasOlder, snapshot.hasNewer]);
  // Once it is there what is drawn begins at the first unread message; at once if it is there already.
  const [isOpen, setOpen] = d(() => Boolean(row) && isLoaded(id));
  const [problem, setProblem] = d(null);
  const me = parley.session.userId;
  useTitle(row ? nameOf(row.other_user) : t("Chats"));

  const load = b(async () => {
    setProblem(null);
    try {
      await store.conversations.loadOne(id);
      await open(id);
      setOpen(true);
    } catch (error) {
      if (error.code !== "aborted") setProblem(error);
    }
  }, [id]);
  // Also when the conversation is here no longer, and when the store has tried again by itself.
  A(() => {
    if (!row || !isOpen) load();
  }, [load, !row, isThere]);
  // The server does not tell a blocked user when the block ends.
  A(() => {
    if (row?.is_blocked) store.conversations.refreshOne(id).catch(() => {});
  }, [id]);
  A(
    () => (problem ? parley.on("status", ({ status }) => status === "online" && load()) : undefined),
    [load, problem],
  );

  if (problem?.status === 404) return html`<${Missing} />`;
  if (!row || !isOpen || !isThere) {
    return html`<section class="conversation empty">${
      problem
        ? html`<p>${errorText(problem)}</p><p><button type="button" class="button" onClick=${load}>${t("Try again")}</button></p>`
        : html`<${Loading} />`
    }</section>`;
  }
  return html`<${Open} key=${id} id=${id} row=${row} state=${state} me=${me} hit=${hit} hitText=${hitText} />`;
}

function Open({ id, row, state, me, hit, hitText }) {
  const first = w(() => firstUnread(id), [id]);
  const [task, setTask] = d(/** @type {{ reply?: any, editing?: any }} */ ({}));
  const [searching, setSearching] = d(false);
  const [found, setFound] = d(null);
  const [reporting, setReporting] = d(null);
  // The viewer, as it is loaded, and the picture that it begins with.
  const [viewing, setViewing] = d(null);
  const [dropping, setDropping] = d(false);
  // What the two let the page do; nothing before they are drawn.
  const log = T(/** @type {Record<string, Function>} */ ({}));
  const composer = T(/** @type {Record<string, Function>} */ ({}));
  const page = T(null);
  const searchButton = T(null);
  const otherName = nameOf(row.other_user);
  const names = b((userId) => (userId === me ? t("You") : otherName), [me, otherName]);

  const blocked = row.is_blocked;
  const blockedByMe = useBlockedByMe(row);
  const actions = w(
    () => ({
      me,
      blocked,
      jump: (messageId) =>
        log.current
          .jump(messageId)
          .then((there) => there || notice(t("This message has been deleted")))
          .catch(failed),
      call: (media) => invite({ conversation_id: id, media }),
      reply: (message) => setTask({ reply: message }),
      edit: (message) => setTask({ editing: message }),
      react: (message, emoji) => react(message, emoji).catch(failed),
      report: (message) => setReporting(message),
      view: (message) =>
        load("chat/viewer.js").then((module) => setViewing({ Viewer: module.default, first: message.id }), failed),
      copy: (message) =>
        copyText(message.body).then(
          () => notice(t("Copied")),
          () => notice(t("The text could not be copied")),
        ),
      remove: async (message) => {
        const text = t("It will be removed for both of you. This cannot be undone.");
        if (!(await confirm({ title: t("Delete this message?"), text, action: t("Delete"), danger: true }))) return;
        try {
          await store.messages(id).delete(message.id);
          notice(t("Message deleted"));
          composer.current.focus?.();
        } catch (error) {
          failed(error);
        }
      },
    }),
    [me, blocked],
  );

  const end = b((edited) => setTask((now) => (edited && now.editing !== edited ? now : {})), []);
  const editLast = async () => {
    if (state.hasNewer) await log.current.toEnd();
    const { messages, hasNewer } = threadOf(store.messages(id).getSnapshot());
    const last = !hasNewer && messages.findLast((message) => message.sender_id === me && message.kind !== "call");
    if (last) setTask({ editing: last });
  };
  A(() => {
    if (matchMedia("(min-width: 720px)").matches) composer.current.focus?.();
    // On a phone the link that led here has gone with its list.
    else if (document.activeElement === document.body) page.current.querySelector("h1").focus();
  }, []);
  // The text box goes with a block, and the button that unblocks with its end: the focus does not go with them.
  const wasBlocked = T(blocked);
  A(() => {
    if (wasBlocked.current !== blocked) focusIfLost(blocked ? page.current.querySelector("h1") : composer.current);
    wasBlocked.current = blocked;
  }, [blocked]);
  // What is answered or edited may be deleted meanwhile.
  A(() => {
    const target = task.reply ?? task.editing;
    const isFurtherUp = state.hasOlder && target?.id < state.messages[0]?.id;
    if (target && !isFurtherUp && !state.hasNewer && !state.messages.some((message) => message.id === target.id)) end();
  }, [state.messages]);

  const newestOfTheirs = state.messages.findLast((message) => message.sender_id !== me && message.kind !== "call");
  const show = (messageId, text) => {
    setFound(messageId && { id: messageId, text });
    if (messageId) log.current.jump(messageId, { flashing: false }).catch(failed);
  };
  // Once it is led there, the address is that of the conversation again: the same link leads there a second time.
  A(() => {
    if (!hit) return;
    navigate(`/app/chats/${id}`, { replace: true });
    setSearching(false);
    setFound({ id: hit, text: hitText });
  }, [hit]);
  const closeSearch = () => {
    setSearching(false);
    setFound(null);
    searchButton.current?.focus();
  };
  const drop = {
    onDragOver: (event) => {
      if (blocked || !event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      setDropping(true);
    },
    onDragLeave: (event) => !event.currentTarget.contains(event.relatedTarget) && setDropping(false),
    onDrop: (event) => {
      if (blocked || event.dataTransfer.files.length === 0) return;
      event.preventDefault();
      setDropping(false);
      composer.current.addFiles(event.dataTransfer.files);
    },
  };
  return html`<section ref=${page} class="conversation" aria-label=${otherName} ...${drop}>
    <${Header} id=${id} row=${row} name=${otherName} blockedByMe=${blockedByMe} newest=${newestOfTheirs} onReport=${setReporting} searching=${searching} searchButton=${searchButton} onSearch=${() => (searching ? closeSearch() : setSearching(true))} />
    ${searching && html`<${SearchBar} id=${id} onShow=${show} onClose=${closeSearch} />`}
    <${Log} id=${id} state=${state} hit=${hit} unread=${first} row=${row} me=${me} names=${names} actions=${actions} found=${found} control=${log} />
    ${
      blocked
        ? html`<${Blocked} user=${row.other_user} mine=${blockedByMe} />`
        : html`<${Composer} id=${id} reply=${task.reply} editing=${task.editing} names=${names} onEnd=${end} onEditLast=${editLast} onSave=${(message, body) => store.messages(id).edit(message.id, body)}
          onSent=${({ isEditing = false } = {}) => {
            if (!isEditing) end();
            log.current.toEnd();
          }} control=${composer} />`
    }
    ${dropping && html`<div class="drop-here" aria-hidden="true"><p>${t("Drop images to send them")}</p></div>`}
    ${
      viewing &&
      html`<${viewing.Viewer} pictures=${state.messages.filter((message) => message.kind === "image" && message.media)} first=${viewing.first} names=${names} onClose=${() => setViewing(null)} />`
    }
    ${reporting && html`<${Report} message=${reporting} onClose=${() => setReporting(null)} />`}
  </section>`;
}

// Notifications of the browser while no tab of the client is in sight.


const ASKED = "parley.notifications.asked";
const OFF = "parley.notifications.off";
// Chrome for Android has a Notification that no page can construct; it says so only then.
const UNUSABLE = "parley.notifications.unusable";
const LOCK = "parley.visible";
let release = null;

// Every visible tab holds a shared lock, so that hidden tabs know that one is visible.
function holdWhileVisible() {
  if (!navigator.locks || !isKeeping) return;
  if (document.visibilityState === "visible" && !release) {
    navigator.locks
      .request(
        LOCK,
        { mode: "shared" },
        () =>
          new Promise((resolve) => {
            release = resolve;
          }),
      )
      .catch(() => {});
  } else if (document.visibilityState !== "visible" && release) {
    release();
    release = null;
  }
}

async function isWatched() {
  if (document.visibilityState === "visible") return true;
  try {
    const { held } = await navigator.locks.query();
    return held.some(({ name }) => name === LOCK);
  } catch {
    return false;
  }
}

// "on", "off", "denied" by the browser, or "unsupported".
function notificationState() {
  if (typeof globalThis.Notification !== "function" || stored.getItem(UNUSABLE)) return "unsupported";
  if (Notification.permission === "denied") return "denied";
  return Notification.permission === "granted" && !stored.getItem(OFF) ? "on" : "off";
}

// Asks the browser where it is not allowed yet, and shows one. Resolves to the state.
async function turnNotificationsOn() {
  stored.removeItem(OFF);
  stored.setItem(ASKED, "1");
  if (Notification.permission !== "granted") await Notification.requestPermission();
  if (notificationState() === "on")
    construct(t("Notifications are on"), { tag: "parley-on" }, "/app/settings/notifications");
  return notificationState();
}

function turnNotificationsOff() {
  stored.setItem(OFF, "1");
}

// Null where the browser cannot show it.
function construct(title, options, path) {
  let shown;
  try {
    shown = new Notification(title, options);
  } catch {
    stored.setItem(UNUSABLE, "1");
    return null;
  }
  shown.onclick = () => {
    window.focus();
    if (path) navigate(path);
    shown.close();
  };
  return shown;
}

// A ring in a window that is not in sight: until it is answered or has ended.
async function showRing(call) {
  const isRinging = () => call.isLive && ["ringing", "starting"].includes(call.state);
  if (call.direction !== "incoming" || notificationState() !== "on" || (await isWatched())) return;
  const peer = await peerOf(call.conversation_id).catch(() => null);
  if (!isRinging()) return;
  const body = call.media === "video" ? t("Incoming video call") : t("Incoming voice call");
  // The page rings itself.
  const shown = construct(peer ? nameOf(peer) : t("Incoming call"), {
    body,
    tag: `parley-call-${call.id}`,
    renotify: true,
    requireInteraction: true,
    silent: true,
  });
  const check = () => isRinging() || shown?.close();
  call.on("change", check);
  call.on("ended", check);
}

async function show$1({ conversation_id: id, message }) {
  if (message.sender_id === parley.session.userId || muted.getSnapshot().ids.includes(id)) return;
  if (notificationState() !== "on" || (await isWatched())) return;
  const row = await store.conversations.loadOne(id);
  // Of several tabs the same tag makes one notification.
  construct(
    nameOf(row.other_user),
    { body: previewText(message), tag: `parley-${id}`, renotify: true },
    `/app/chats/${id}`,
  );
}

function listen$1() {
  holdWhileVisible();
  document.addEventListener("visibilitychange", holdWhileVisible);
  parley.on("message.new", (data) => show$1(data).catch(() => {}));
  parley.on("call", ({ call }) => showRing(call).catch(() => {}));
}

// Asks once, in words, before the browser asks.
function Hint() {
  const [open, setOpen] = d(false);
  A(() => {
    const can =
      globalThis.Notification?.permission === "default" && notificationState() === "off" && !stored.getItem(ASKED);
    if (!can || !app.getSnapshot().user) return undefined;
    const timer = setTimeout(() => setOpen(true), 20_000);
    return () => clearTimeout(timer);
  }, []);
  if (!open) return null;
  const answer = (yes) => {
    stored.setItem(ASKED, "1");
    setOpen(false);
    if (yes) turnNotificationsOn().catch(() => {});
  };
  return html`<aside class="notify-hint" aria-label=${t("Browser notifications")}><${Icon} name="bell" />
    <p>${t("Show notifications for new messages while this window is in the background?")}</p>
    <button type="button" class="text-button" onClick=${() => answer(true)}>${t("Turn on")}</button>
    <button type="button" class="text-button" onClick=${() => answer(false)}>${t("Not now")}</button></aside>`;
}

// Keys that work wherever the focus is on the page of the chats.

const FIELDS = "input, textarea, select, [contenteditable], .popup, dialog";

function focusSearch$1(page) {
  const box = page.querySelector(".side input[type=search]");
  if (!box?.checkVisibility?.()) return false;
  box.focus();
  return true;
}

// The conversation above or below the open one; the first or last one when none is open.
function openNext(page, step) {
  const entries = [...page.querySelectorAll(".entries .entry:not(.person, .hit)")];
  const at = entries.findIndex((entry) => entry.ariaCurrent);
  const next = at < 0 ? entries.at(step > 0 ? 0 : -1) : entries[at + step];
  next?.click();
  return Boolean(next);
}

// What is typed anywhere belongs to the message.
function type(page, target) {
  if (!target.closest(FIELDS)) page.querySelector(".message-box")?.focus();
}

/** Ctrl+K finds people, Alt with an arrow goes to the next conversation, a letter goes into the message. */
function useShortcuts(page) {
  A(() => {
    const onKeyDown = (event) => {
      if (event.defaultPrevented || isComposing(event) || document.querySelector("dialog:modal")) return;
      const { key, ctrlKey, metaKey, altKey, shiftKey, target } = event;
      const isOrder = ctrlKey || metaKey;
      const step = { ArrowDown: 1, ArrowUp: -1 }[key];
      if (isOrder && !altKey && !shiftKey && key.toLowerCase() === "k") {
        if (focusSearch$1(page.current)) event.preventDefault();
      } else if (altKey && !isOrder && !shiftKey && step) {
        if (openNext(page.current, step)) event.preventDefault();
      } else if ([...key].length === 1 && key !== " " && !isOrder && !altKey) {
        type(page.current, target);
      }
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}

// What the search of the left pane finds: people, and messages of all conversations.

const WAIT_MS = 200;
// Messages are asked for less often than the text changes.
const LONG_WAIT_MS = 400;
const HITS = 20;
// Pages without a hit that are asked for one after the other.
const MOST_EMPTY = 4;
const BEFORE_HIT = 24;

// {found: {query, …}, error} of a search that begins a moment after the text has changed. What failed without a
// connection is tried again with the next one.
function useAsked(query, wait, ask) {
  const [found, setFound] = d(null);
  const [error, setError] = d(null);
  const [tries, setTries] = d(0);
  A(
    () => error && parley.on("status", ({ status }) => status === "online" && setTries((count) => count + 1)),
    [error],
  );
  A(() => {
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const reply = await ask(query, abort.signal);
        setFound({ query, ...reply });
        setError(null);
      } catch (problem) {
        if (problem.code !== "aborted") setError(problem);
      }
    }, wait);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [query, tries]);
  return { found, error, setFound };
}

const askPeople = (q, signal) => parley.messages.searchUsers({ q, limit: 30 }, { signal });

function People({ query, asked: { found, error } }) {
  if (error) return html`<p class="side-note danger-text">${errorText(error)}</p>`;
  if (!found) return html`<p class="side-note muted">${t("Searching…")}</p>`;
  const { users } = found;
  return html`<p class="side-note muted" aria-live="polite">${users.length ? tn("{n} person found", "{n} people found", users.length) : t("No people found")}</p>
    <ul class="entries" aria-label=${t("People")} aria-busy=${found.query !== query}>${users.map(
      (user) => html`<li key=${user.id}><a class="entry person" href=${`/app/people/${user.id}`}>
      <span class="entry-avatar"><${Avatar} user=${user} /></span><span class="entry-line"><span class="entry-name" dir="auto">${nameOf(user)}</span></span>
      <span class="entry-line"><span class="entry-text"><bdi dir="ltr">@${user.username}</bdi></span></span></a></li>`,
    )}</ul>`;
}

// The server reads a part of long conversations at a time: a page without a hit need not be the last one.
async function askMessages(q, signal, cursor = null) {
  let reply = null;
  for (let pages = 0; pages < MOST_EMPTY; pages += 1) {
    reply = await parley.messages.searchEverywhere({ q, limit: HITS, ...(cursor ? { cursor } : {}) }, { signal });
    cursor = reply.next_cursor;
    if (reply.messages.length > 0 || !cursor) break;
  }
  return { messages: reply.messages, cursor };
}

// A line of the text around what was searched for; its beginning where the server has found it in another spelling.
function Excerpt({ body, query }) {
  const placeIn = (line) => line.toLowerCase().indexOf(query.toLowerCase());
  const plain = plainText(body).replace(/\s+/g, " ");
  // The query may be one of the marks.
  const text = placeIn(plain) < 0 ? body.replace(/\s+/g, " ") : plain;
  const at = placeIn(text);
  if (at < 0) return text;
  const from = at > BEFORE_HIT ? text.indexOf(" ", at - BEFORE_HIT) + 1 || at : 0;
  const start = Math.min(from, at);
  return html`${start > 0 && "…"}${marked(text.slice(start), query)}`;
}

// `isTold`: the reason of an error stands above already.
function Messages({ query, heading: Heading, asked: { found, error, setFound }, isTold }) {
  const [isLoading, setLoading] = d(false);
  const people = useStore(store.conversations, ({ byId }) => byId);
  A(() => {
    for (const id of new Set(found?.messages.map((message) => message.conversation_id)))
      if (!people[id]) store.conversations.loadOne(id).catch(() => {});
  }, [found]);
  const goOn = async () => {
    setLoading(true);
    try {
      const more = await askMessages(found.query, undefined, found.cursor);
      // Another text may be searched for by now.
      setFound((now) => (now === found ? { ...found, ...more, messages: [...found.messages, ...more.messages] } : now));
    } catch (problem) {
      failed(problem);
    }
    setLoading(false);
  };
  const hits = found?.messages.filter((message) => people[message.conversation_id]) ?? [];
  return html`<section aria-labelledby="found-messages"><${Heading} id="found-messages" class="side-heading">${t("Messages")}<//>
    ${error && !isTold && html`<p class="side-note danger-text">${errorText(error)}</p>`}
    ${!found && !error && html`<p class="side-note muted">${t("Searching…")}</p>`}
    ${found && found.messages.length === 0 && html`<p class="side-note muted" aria-live="polite">${t("No messages found")}</p>`}
    <ul class="entries" aria-labelledby="found-messages" aria-busy=${found?.query !== query}>${hits.map((message) => {
      const { other_user: user } = people[message.conversation_id];
      const isOwn = message.sender_id === parley.session.userId;
      return html`<li key=${message.id}><a class="entry hit" href=${`/app/chats/${message.conversation_id}?message=${message.id}&text=${encodeURIComponent(found.query)}`}>
        <span class="entry-avatar"><${Avatar} user=${user} /></span>
        <span class="entry-line"><span class="entry-name" dir="auto">${nameOf(user)}</span><span class="entry-time"><time datetime=${message.created_at}>${shortTime(message.created_at)}</time></span></span>
        <span class="entry-line"><span class="entry-text">${isOwn && html`<span class="muted">${t("You:")}</span>`}<span class="cut" dir="auto"><${Excerpt} body=${message.body} query=${found.query} /></span></span></span></a></li>`;
    })}</ul>
    ${found?.cursor && html`<p class="side-note"><button type="button" class="button" disabled=${isLoading} onClick=${goOn}>${t("Search older messages")}</button></p>`}
  </section>`;
}

function Found({ query, heading }) {
  const people = useAsked(query, WAIT_MS, askPeople);
  const messages = useAsked(query, LONG_WAIT_MS, askMessages);
  const isTold = people.error && messages.error && errorText(people.error) === errorText(messages.error);
  return html`<${People} query=${query} asked=${people} />
    <${Messages} query=${query} heading=${heading} asked=${messages} isTold=${isTold} />`;
}

// The left pane: the search, conversations.

class Entry extends Pure {
  static keys = ["row", "typing", "here", "online", "draft", "waiting", "isMuted"];

  render({ row, typing, here, online, draft, waiting, isMuted }) {
    const { other_user: user, last_message: last, unread_count: unread, id } = row;
    const own = last && last.sender_id === parley.session.userId;
    const link = `chat-${id}`;
    const line = typing
      ? html`<span class="typing">${t("typing…")}</span>`
      : draft && (!here || !last)
        ? html`<span class="danger-text">${t("Draft:")}</span><span class="cut" dir="auto">${draft}</span>`
        : last && !waiting
          ? html`${own && last.kind !== "call" && html`<span class="muted">${t("You:")}</span>`}${last.kind === "call" && html`<${Icon} name=${callIcon(last.call)} size=${16} />`}<span class="cut" dir="auto">${previewText(last, own)}</span>`
          : html`<span class="muted">${t("You:")}</span><span class="cut" dir="auto">${waiting?.body ? plainText(waiting.body) : t("Image")}</span>`;
    return html`<li aria-labelledby=${link}><a id=${link} class="entry" href=${`/app/chats/${id}`} aria-current=${here ? "page" : undefined}>
      <span class="entry-avatar"><${Avatar} user=${user} />${online && html`<span class="dot" title=${t("online")}></span>`}</span>
      <span class="entry-line"><span class="entry-name" dir="auto">${nameOf(user)}</span>
        <span class="entry-time">${last && html`${own && !typing && html`<span class=${`entry-status ${statusOf(last, row)}`} aria-hidden="true">${statusOf(last, row) === "sent" ? "✓" : "✓✓"}</span> `}<time datetime=${last.created_at}>${shortTime(last.created_at)}</time>`}</span></span>
      <span class="entry-line"><span class="entry-text">${line}</span>
        <span class="entry-marks">${isMuted && html`<${Icon} name="mute" size=${16} />`}${unread > 0 && html`<span class="count"><span aria-hidden="true">${unread}</span><span class="visually-hidden">${tn("{n} unread", "{n} unread", unread)}</span></span>`}</span></span>
    </a></li>`;
  }
}

function Row({ row, here, draft, waiting, isMuted }) {
  const { other_user: user, is_blocked: isBlocked } = row;
  const typing = useStore(store.typing(row.id), (ids) => ids.length > 0);
  const online = useStore(isBlocked ? NOTHING : store.presence(user.id), (presence) => Boolean(presence?.online));
  return html`<${Entry} row=${row} typing=${typing} here=${here} online=${online} draft=${draft} waiting=${waiting} isMuted=${isMuted} />`;
}

// `isHit`: a message that was found has led to the open conversation; what was found stays.
function Sidebar({ id, isHit }) {
  const { conversations, byId, hasMore, error } = useStore(store.conversations);
  const unsent = useStore(store.outbox);
  const mutedIds = useStore(muted, ({ ids }) => ids);
  const [query, setQuery] = d("");
  const pane = T(null);
  A(() => {
    if (id && !isHit) setQuery("");
  }, [id]);

  const onKeyDown = (event) => {
    if (isComposing(event)) return;
    if (event.key === "Escape" && query) {
      setQuery("");
      pane.current.querySelector("input").focus();
      return;
    }
    // The first one that was found, not one of the words before.
    if (event.key === "Enter" && event.target.type === "search")
      pane.current.querySelector('[aria-busy="false"] .person')?.click();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const places = [pane.current.querySelector("input"), ...pane.current.querySelectorAll(".entry")];
    const next = places[places.indexOf(document.activeElement) + step];
    if (next) {
      event.preventDefault();
      next.focus();
    }
  };
  const list = T(null);
  const loadNear = () => {
    const { scrollTop, clientHeight, scrollHeight } = list.current;
    // Hidden on a phone.
    if (clientHeight > 0 && scrollHeight - scrollTop - clientHeight < 600)
      store.conversations.loadOlder().catch(() => {});
  };
  // A list that does not fill a tall window is never scrolled. One that was read anew has its first page again.
  A(loadNear, [conversations, hasMore]);
  // The one that is open may be further down than the list is loaded.
  const listed = conversations ?? [];
  const open = byId[id];
  // The last one of each conversation that waits for the server.
  const waiting = new Map(unsent.map((item) => [item.conversation_id, item]));
  // A conversation without a message, or whose messages were cleared, comes with the next one.
  const rows = (open && !listed.some((row) => row.id === id) ? [...listed, open] : listed).filter(
    (row) => row.last_message || waiting.has(row.id) || draftOf(row.id),
  );
  const load = () => void store.conversations.load().catch(() => {});
  const Heading = id ? "h2" : "h1";
  return html`<div class="side" ref=${pane} onKeyDown=${onKeyDown}>
    <header class="side-head"><${Heading} tabindex="-1">${t("Chats")}<//>
      <div class="search-box"><${Icon} name="search" size=${20} />
        <input type="search" class="input" aria-label=${t("Search people")} maxlength=${LIMITS.searchLength} placeholder=${t("Search")} autocomplete="off" value=${query} onInput=${(event) => setQuery(event.target.value)} /></div></header>
    <div ref=${list} class="side-scroll" role="group" aria-label=${t("Chats")} tabindex="-1" onScroll=${loadNear}>
      ${
        query.trim()
          ? html`<${Found} query=${query.trim()} heading=${id ? "h3" : "h2"} />`
          : html`
        ${!conversations && error && html`<${Retry} error=${error} onRetry=${load} className="side-note" />`}
        ${!conversations && !error && html`<${Loading} />`}
        ${conversations && rows.length === 0 && html`<p class="side-note muted">${t("No conversations yet. Search for a person to write to.")}</p>`}
        <ul class="entries" aria-label=${t("Conversations")}>${rows.map(
          (row) =>
            html`<${Row} key=${row.id} row=${row} here=${row.id === id} draft=${draftOf(row.id)} waiting=${waiting.get(row.id)} isMuted=${mutedIds.includes(row.id)} />`,
        )}</ul>`
      }
    </div>
  </div>`;
}

// In place of a conversation as long as a user has none: what to do first.

const key = () => `parley.welcomed.${parley.session.userId}`;

const welcome = createStore({ isOver: false });

// Nobody has written yet, and it was not closed before.
function useFirstRun() {
  const isEmpty = useStore(store.conversations, ({ conversations }) =>
    conversations?.every((row) => !row.last_message),
  );
  const isOver = useStore(welcome, (state) => state.isOver);
  return isEmpty && !isOver && !stored.getItem(key());
}

const focusSearch = () => /** @type {HTMLElement} */ (document.querySelector(".side input"))?.focus();

function FirstRun() {
  useTitle(t("Chats"));
  const user = useStore(app, (state) => state.user);
  const [notifications, setNotifications] = d(notificationState());
  const [copied, setCopied] = d(false);
  const close = () => {
    stored.setItem(key(), "1");
    welcome.set({ isOver: true });
    focusSearch();
  };
  const copy = () => copyText(user.username).then(() => setCopied(true), failed);
  const outcome = T(null);
  const turnOn = () =>
    turnNotificationsOn().then((state) => {
      setNotifications(state);
      focusIfLost(outcome.current);
    }, failed);
  return html`<section class="conversation first-run" aria-labelledby="first-run"><div class="first-run-page">
    <h2 id="first-run">${t("Welcome, {name}", { name: user.first_name })}</h2>
    <ol class="steps">
      <li><${Icon} name="search" /><div><h3>${t("Find someone")}</h3>
        <p class="muted">${t("Search for a name or a username, and write the first message.")}</p>
        <button type="button" class="button" onClick=${focusSearch}>${t("Find people")}</button></div></li>
      <li><${Icon} name="user" /><div><h3>${t("Let others find you")}</h3>
        <p class="muted">${t("Tell them your username:")} <bdi class="own-name" dir="ltr">@${user.username}</bdi></p>
        <p class="button-row"><button type="button" class="button" onClick=${copy}>${t("Copy username")}</button>
          <a class="quiet-link" href="/app/settings/profile">${t("Change it, or add a picture")}</a>
          <span role="status" class="small muted">${copied && t("Copied")}</span></p></div></li>
      ${
        notifications !== "unsupported" &&
        html`<li><${Icon} name="bell" /><div><h3>${t("Notice new messages")}</h3>
        <p ref=${outcome} class="muted" role="status" tabindex="-1">${STATES[notifications]()}</p>
        ${notifications === "off" && html`<button type="button" class="button" onClick=${turnOn}>${t("Turn on notifications")}</button>`}</div></li>`
      }
    </ol>
    <p><button type="button" class="text-button" onClick=${close}>${t("Hide these steps")}</button></p>
  </div></section>`;
}

const STATES = {
  on: () => t("Notifications are on"),
  off: () => t("Get a notification while this window is in the background."),
  denied: () => t("This browser blocks notifications. Allow them in its settings for this page."),
};

// The page of the conversations: the list, and the one that is open. On a phone one of the two.


function Empty() {
  useTitle(t("Chats"));
  return html`<section class="conversation empty"><${Icon} name="chats" size=${48} /><p class="muted">${t("Choose a conversation, or search for a person.")}</p></section>`;
}

function Starting({ person }) {
  A(() => {
    // The reader may go elsewhere before the answer is here.
    let wanted = true;
    // Nobody has the largest number.
    store.conversations.start(Math.min(Number(person) || Infinity, Number.MAX_SAFE_INTEGER)).then(
      (row) => wanted && navigate(`/app/chats/${row.id}`, { replace: true }),
      (error) => {
        if (!wanted) return;
        failed(error);
        navigate("/app/chats", { replace: true });
      },
    );
    return () => {
      wanted = false;
    };
  }, [person]);
  return html`<section class="conversation empty"><${Loading} /></section>`;
}

function Chats({ params }) {
  // No conversation has the number -1.
  const id = params.id ? Number(params.id) || -1 : null;
  // A failure stands in the state.
  A(() => void store.conversations.load().catch(() => {}), []);
  // On a phone the list takes the place of the conversation: the focus goes to where it was opened.
  const before = T(id);
  A(() => {
    const left = before.current;
    before.current = id;
    if (!left || id || document.activeElement !== document.body) return;
    (document.getElementById(`chat-${left}`) ?? document.querySelector(".side h1")).focus();
  }, [id]);
  // A link to a message that was found.
  const asked = new URLSearchParams(usePlace().search);
  const hit = Number(asked.get("message")) || null;
  const page = T(null);
  useShortcuts(page);
  const isFirst = useFirstRun();
  return html`<main ref=${page} class=${`chats ${id || params.person ? "with-conversation" : ""}`}>
    <${Sidebar} id=${id} isHit=${hit !== null} />
    ${params.person ? html`<${Starting} person=${params.person} />` : id ? html`<${Conversation} key=${id} id=${id} hit=${hit} hitText=${asked.get("text") ?? ""} />` : isFirst ? html`<${FirstRun} />` : html`<${Empty} />`}
    ${!isFirst && html`<${Hint} />`}
  </main>`;
}

// Notifications that the reader has removed: hidden at once, removed on the server when it can no longer be undone.

// Hidden here, maybe still on the server.
const removals = createStore({ ids: new Set() });
// What sends the removals that can still be undone, by notification.
const waiting = new Map();

const hide = (id) => removals.set(({ ids }) => ({ ids: new Set([...ids, id]) }));
const show = (id) =>
  removals.set(({ ids }) => ids.has(id) && { ids: new Set([...ids].filter((other) => other !== id)) });

// The request is sent with `send`, when it can no longer be undone, or when the page goes or the user signs out before
// that. `sent` is called then.
function remove(id, sent) {
  const send = async () => {
    if (waiting.get(id) !== send) return;
    waiting.delete(id);
    sent();
    try {
      await parley.notifications.delete({ notification_id: id }, { keepalive: true });
    } catch (error) {
      // It is back already, or the user has signed out.
      if (!removals.getSnapshot().ids.has(id)) return;
      show(id);
      failed(error);
    }
  };
  waiting.set(id, send);
  hide(id);
  const undo = () => waiting.get(id) === send && waiting.delete(id) && show(id);
  return { send, undo };
}

const sendRemovals = () => Promise.all([...waiting.values()].map((send) => send()));

function listen() {
  addEventListener("pagehide", sendRemovals);
  // Firefox may end a closed tab while it tells of `pagehide`.
  document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && sendRemovals());
  parley.on("notification.new", ({ notification }) => {
    // Something new has happened to it: it is not to be removed unseen.
    if (!notification || !removals.getSnapshot().ids.has(notification.id)) return;
    waiting.delete(notification.id);
    show(notification.id);
  });
  parley.on("signedout", () => {
    waiting.clear();
    removals.set({ ids: new Set() });
  });
}

// What the page of notifications shows: notifications but those of messages, which the chats show; missed calls;
// sign-ins of other devices; security changes. And how much of it is unread.

const isShown = ({ type }) => type !== "message";
// What fails stands in the state.
const quietly = (promise) => void promise.catch(() => {});

function useNotifications() {
  const { notifications: all, hasMore, error } = useStore(store.notifications);
  const removed = useStore(removals, ({ ids }) => ids);
  const rows = w(() => all?.filter((row) => isShown(row) && !removed.has(row.id)) ?? null, [all, removed]);
  return { all, rows, hasMore, error };
}

// The server counts the notifications of messages, too: those that are unread are looked at.
function useUnread() {
  const { unread_count: count } = useStore(store.unread);
  const { all, rows, hasMore } = useNotifications();
  A(() => {
    if (count > 0 && !all) quietly(store.notifications.load());
    else if (hasMore && all.filter((row) => !row.is_read).length < count) quietly(store.notifications.loadOlder());
  }, [count, all]);
  return count > 0 ? (rows ?? []).filter((row) => !row.is_read).length : 0;
}

// Sign-ins of the same device on one day are one row, at the time of the last one, with their count.
function byDevice(sessions) {
  const rows = new Map();
  for (const session of sessions) {
    const key = `${session.device_name} ${new Date(session.created_at).toDateString()}`;
    const { count = 0, ...last } = rows.get(key) ?? session;
    rows.set(key, { ...(last.created_at > session.created_at ? last : session), count: count + 1 });
  }
  return [...rows.values()];
}

const nothing = { signIns: null, changes: null, error: null };
const security = createStore(nothing);

async function loadSecurity() {
  try {
    const [{ sessions }, { changes }] = await forThisUser(
      Promise.all([parley.auth.sessionsList(), parley.auth.securityChanges()]),
    );
    const signIns = byDevice(sessions.filter((session) => !session.is_current));
    // A type may have several changes, each at another time.
    const named = changes.map((change) => ({ ...change, id: `${change.type}-${change.created_at}` }));
    security.set({ signIns, changes: named, error: null });
  } catch (error) {
    if (error.code !== "aborted") security.set({ error });
  }
}

parley.on("signedout", () => security.set(nothing));

const entries = (kind, rows) =>
  (rows ?? []).map((row) => ({ kind, key: `${kind}-${row.id}`, at: row.created_at, row }));

/** The entries, newest first, down to where all of it is loaded; `loadOlder` goes on from there. */
function useFeed() {
  const userId = useStore(app, ({ user }) => user?.id);
  const notifications = useNotifications();
  const calls = useStore(store.calls);
  const { signIns, changes, error } = useStore(security);
  const load = () => {
    quietly(store.notifications.load());
    quietly(store.calls.load());
    loadSecurity();
  };
  A(load, []);

  const pages = [
    { part: store.notifications, last: notifications.all?.at(-1), hasMore: notifications.hasMore },
    { part: store.calls, last: calls.calls?.at(-1), hasMore: calls.hasMore },
  ].filter(({ hasMore, last }) => hasMore && last);
  const from = pages.map(({ last }) => last.created_at).reduce((one, other) => (one > other ? one : other), "");
  const missed = calls.calls?.filter((call) => isMissed(call, userId));
  return {
    load,
    entries: [
      ...entries("notification", notifications.rows),
      ...entries("call", missed),
      ...entries("sign-in", signIns),
      ...entries("security", changes),
    ]
      .filter(({ at }) => at >= from)
      .sort((one, other) => (one.at === other.at ? 0 : one.at < other.at ? 1 : -1)),
    isLoaded: Boolean(notifications.all && calls.calls && signIns),
    error: (!notifications.all && notifications.error) || (!calls.calls && calls.error) || (!signIns && error),
    hasMore: pages.length > 0,
    // Changes with each page that was loaded, though nothing of it may be shown.
    position: from,
    loadOlder: () =>
      pages.filter(({ last }) => last.created_at === from).forEach(({ part }) => quietly(part.loadOlder())),
  };
}

// The navigation of signed-in users, with the counts of what is unread.

function Navigation() {
  const messages = useStore(store.unread, ({ message_unread_count: count }) => count);
  const unread = useUnread();
  const user = useStore(app, (state) => state.user);
  const missed = useMissedCalls();
  useUnreadTitle(messages);
  return html`<nav class="rail" aria-label=${t("Main")}>
    <${NavLink} href="/app/chats"><${Icon} name="chats" /><span>${t("Chats")}</span><${Count} value=${messages} /><//>
    <${NavLink} href="/app/calls"><${Icon} name="phone" /><span>${t("Calls")}</span><${Count} value=${missed} text=${tn("{n} missed call", "{n} missed calls", missed)} /><//>
    <${NavLink} href="/app/notifications"><${Icon} name="bell" /><span>${t("Notifications")}</span><${Count} value=${unread} /><//>
    <${NavLink} href="/app/settings"><${Icon} name="settings" /><span>${t("Settings")}</span><//>
    ${user && html`<a href="/app/settings/profile" class="rail-own"><${Avatar} user=${user} size="small" /><span class="cut" dir="auto">${nameOf(user)}</span><span class="visually-hidden">${t("your account")}</span></a>`}
  </nav>`;
}

function Count({ value, text = tn("{n} unread", "{n} unread", value) }) {
  return (
    value > 0 &&
    html`<span class="count" aria-hidden="true">${value > 99 ? "99+" : value}</span>
    <span class="visually-hidden">${text}</span>`
  );
}

// Loaded for signed-in users only: their state, the navigation, and the style sheets of those pages.

function addSheet(address) {
  return new Promise((resolve) => {
    const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: address });
    link.onload = link.onerror = resolve;
    document.head.append(link);
  });
}

function prepare() {
  for (const listen$3 of [listen, listen$1, listen$2]) listen$3();
  // Every page needs them: for the names of those who call.
  parley.on("reload", () => void store.conversations.load().catch(() => {}));
  return Promise.all(config.sheets.map(addSheet));
}

const FINISH_MS = 2000;

// Before the user signs out: sends what could not be sent after that, unless it takes too long.
const finish = () => Promise.race([sendRemovals(), new Promise((resolve) => setTimeout(resolve, FINISH_MS))]);

export { Avatar, Dialog, Navigation, Navigation as Navigation$1, altOf, copyText, Chats as default, dismiss, endText, finish, finish as finish$1, focusAfter, focusIfLost, invite, isMissed, isTouch, loadBlocks, loadSecurity, mediaText, nameOf, notificationState, onReturn, peerOf, prepare, prepare as prepare$1, problemText, qualityText, remove, seeCalls, stateText, store, turnNotificationsOff, turnNotificationsOn, useCall, useFeed, usePeer, useUnread };
