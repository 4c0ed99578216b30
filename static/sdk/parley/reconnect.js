/** Decides when a lost socket is opened again. */

// A server that answers HTTP does so at once.
const PROBE_MS = 8_000;
const FLOODING_MS = 5_000;
const LONGEST_BACKOFF_MS = 20_000;
export const CLOSE = { UNAUTHORISED: 4401, FORBIDDEN: 4403, SLOW: 4408, TOO_MANY: 4409, FLOODING: 4429, RESTART: 4503 };

/** Milliseconds until the next try, after so many in a row have failed, the last one with `code`. */
export function waitAfter(failures, code) {
  const longest = Math.min(LONGEST_BACKOFF_MS, 500 * 2 ** Math.min(failures - 1, 10));
  const isOurFault = [CLOSE.FLOODING, CLOSE.SLOW, CLOSE.FORBIDDEN].includes(code);
  // With jitter: after a restart of the server, clients do not all reconnect at once.
  return (isOurFault ? FLOODING_MS : 0) + longest * (0.5 + Math.random() / 2);
}

/**
 * Asks by HTTP whether the server answers. Browsers delay a socket to a server where others have failed (Firefox for up
 * to a minute, one after the other). So after a failure, no socket is opened that would fail.
 */
export class Probe {
  #running = null;

  get isRunning() {
    return this.#running !== null;
  }

  /** Resolves to whether there is an answer; to null when it was stopped. */
  async ask(baseUrl) {
    const controller = new AbortController();
    this.#running = controller;
    const timer = setTimeout(() => controller.abort(), PROBE_MS);
    // The status of another origin cannot be read (it is 0), but any answer counts.
    /** @type {RequestInit} */
    const options = { mode: "no-cors", cache: "no-store", credentials: "omit", signal: controller.signal };
    const isAnswered = await fetch(`${baseUrl}/healthz`, options).then(
      ({ status }) => status < 500,
      () => false,
    );
    clearTimeout(timer);
    if (this.#running !== controller) return null;
    this.#running = null;
    return isAnswered;
  }

  stop() {
    const controller = this.#running;
    this.#running = null;
    controller?.abort();
  }
}
