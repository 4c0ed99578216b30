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
    for (const handler of [...(this.#handlers.get(name) ?? [])]) run(handler, [data, frame]);
    for (const handler of [...(this.#handlers.get("*") ?? [])]) run(handler, [name, data, frame]);
  }
}

function run(handler, values) {
  try {
    const result = handler(...values);
    if (result instanceof Promise) result.catch(report);
  } catch (error) {
    report(error);
  }
}

function report(error) {
  if (typeof reportError === "function") reportError(error);
  else console.error(error);
}
