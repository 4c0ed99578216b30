// `Date` has whole seconds, and some servers write it once a second: the true time is up to this much later.
const GRAIN_MS = 2_000;

/** The server's clock, estimated from the `Date` header of replies: the device's own may be wrong by hours. */
export class Clock {
  // Where the offset must lie, by all replies so far.
  #least = -Infinity;
  #most = Infinity;

  now() {
    return Date.now() + this.offset;
  }

  /** Milliseconds that the device's clock is behind the server's; 0 as long as that may be true. */
  get offset() {
    if (this.#least <= 0 && this.#most >= 0) return 0;
    return (this.#least + this.#most) / 2;
  }

  /** `sent` is when the request left, by the device's clock. */
  observe(date, sent) {
    const serverTime = Date.parse(date ?? "");
    if (Number.isNaN(serverTime)) return;
    const least = serverTime - Date.now();
    const most = serverTime + GRAIN_MS - sent;
    const isPossible = Math.max(least, this.#least) <= Math.min(most, this.#most);
    // The device's clock was set meanwhile, or the server's was: start anew.
    this.#least = isPossible ? Math.max(least, this.#least) : least;
    this.#most = isPossible ? Math.min(most, this.#most) : most;
  }
}
