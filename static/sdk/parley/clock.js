// `Date` has whole seconds, and some servers update it once a second, so the true time is up to this much later.
const GRAIN_MS = 2_000;

/** The server's clock, estimated from the `Date` header of replies, because the device's own may be wrong by hours. */
export class Clock {
  // The range of possible offsets, by all replies so far.
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
    // One of the two clocks was set meanwhile: start again.
    this.#least = isPossible ? Math.max(least, this.#least) : least;
    this.#most = isPossible ? Math.min(most, this.#most) : most;
  }
}
