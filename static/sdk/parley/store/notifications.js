import { Loads, NextPages } from "./loads.js";
import { Part, shareRows } from "./part.js";

const PAGE = 30;
const LARGEST_PAGE = 100;
const EMPTY = Object.freeze({ notifications: null, hasMore: false, isLoading: false, error: null });

/** The notifications, newest first. */
export class Notifications extends Part {
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
      await this.#visibly({ limit: PAGE, cursor: this.#cursor }, (reply) => {
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
      const limit = Math.min(LARGEST_PAGE, Math.max(PAGE, notifications?.length ?? 0));
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
