import { Loads, NextPages } from "./loads.js";
import { Part, shareRows } from "./part.js";

const PAGE = 30;
const LARGEST_PAGE = 100;
const EMPTY = Object.freeze({ current: null, calls: null, hasMore: false, isLoading: false, error: null });
const SHOWN = ["id", "conversation_id", "caller_id", "media", "direction", "state", "isLive", "outcome", "endReason"];
const SHOWN_MEDIA = ["peerRinging", "answeredAt", "mediaConnected", "reconnecting", "localStream", "remoteStream"];
const SHOWN_DEVICES = ["remote", "muted", "cameraOn", "sharing", "cameraError", "microphoneError", "quality"];
const ALL_SHOWN = [...SHOWN, ...SHOWN_MEDIA, ...SHOWN_DEVICES];

/** The call of this tab, and the calls of the user, newest first. */
export class CallsPart extends Part {
  #context;
  #parley;
  #loads = new Loads();
  #isWanted = false;
  #stop = () => {};
  #pages;

  constructor(context) {
    super(EMPTY, context.changed);
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
      this._set(EMPTY);
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
      await this.#visibly({ limit: PAGE, before }, (older) => [
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
      const limit = Math.min(LARGEST_PAGE, Math.max(PAGE, calls?.length ?? 0));
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
