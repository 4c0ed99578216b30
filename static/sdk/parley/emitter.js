import { sleep } from "./environment.js";

// The pauses before a handler that failed gets its event again.
const PAUSES_MS = [200, 1_000, 5_000];
// A handler that is not done by then does not hold up the next event.
const LONGEST_MS = 30_000;

/** Handlers by event name. A handler that throws is reported and does not stop the others. */
export class Emitter {
  #handlers = new Map();

  /** Returns the function that unsubscribes. The name "*" receives every event as (name, data, frame). */
  on(name, handler) {
    if (!this.#handlers.has(name)) this.#handlers.set(name, new Set());
    this.#handlers.get(name).add(handler);
    return () => this.off(name, handler);
  }

  once(name, handler) {
    const off = this.on(name, (...values) => {
      off();
      handler(...values);
    });
    return off;
  }

  off(name, handler) {
    this.#handlers.get(name)?.delete(handler);
  }

  emit(name, data, frame) {
    for (const [handler, values] of this.#calls(name, data, frame)) run(handler, values);
  }

  /**
   * The same for an event that must not be lost: a handler that fails gets it again. Resolves when all handlers are
   * done; undefined if they are done already.
   */
  deliver(name, data, frame) {
    const pending = this.#calls(name, data, frame).map(([handler, values]) => finish(handler, values));
    return pending.some(Boolean) ? inTime(Promise.all(pending)) : undefined;
  }

  #calls(name, data, frame) {
    const of = (key, values) => [...(this.#handlers.get(key) ?? [])].map((handler) => [handler, values]);
    return [...of(name, [data, frame]), ...of("*", [name, data, frame])];
  }
}

/** Calls a handler; one that throws is reported and stops nothing else. */
export function run(handler, values) {
  try {
    const result = handler(...values);
    if (result instanceof Promise) result.catch(report);
  } catch (error) {
    report(error);
  }
}

function finish(handler, values) {
  try {
    const result = handler(...values);
    return result instanceof Promise ? result.catch((error) => repeat(error, handler, values)) : undefined;
  } catch (error) {
    return repeat(error, handler, values);
  }
}

function inTime(work) {
  let timer = null;
  const limit = new Promise((resolve) => {
    timer = setTimeout(resolve, LONGEST_MS);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

async function repeat(first, handler, values) {
  let error = first;
  for (const pause of PAUSES_MS) {
    report(error);
    await sleep(pause);
    try {
      return await handler(...values);
    } catch (next) {
      error = next;
    }
  }
  report(error);
}

function report(error) {
  if (typeof reportError === "function") reportError(error);
  else console.error(error);
}
