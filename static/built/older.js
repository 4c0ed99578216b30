// What the oldest supported browsers lack (docs/guides/browsers.md). Loaded by main.js where something is missing.
// The oldest browsers: docs/decisions/web-client.md#0099
const define = (target, name, value) => {
  if (!(name in target)) Object.defineProperty(target, name, { value, writable: true, configurable: true });
};

define(Array.prototype, "at", function (index) {
  const whole = Math.trunc(index) || 0;
  return this[whole < 0 ? this.length + whole : whole];
});
define(String.prototype, "at", Array.prototype.at);
define(Array.prototype, "findLastIndex", function (test, self) {
  for (let index = this.length - 1; index >= 0; index -= 1) if (test.call(self, this[index], index, this)) return index;
  return -1;
});
define(Array.prototype, "findLast", function (test, self) {
  return this[this.findLastIndex(test, self)];
});
define(Array.prototype, "toSorted", function (compare) {
  return [...this].sort(compare);
});
define(Array.prototype, "toReversed", function () {
  return [...this].reverse();
});
define(Array.prototype, "toSpliced", function (...values) {
  const copy = [...this];
  copy.splice(.../** @type {[number, number]} */ (values));
  return copy;
});
define(Array.prototype, "with", function (index, value) {
  return this.map((old, at) => (at === index || at === this.length + index ? value : old));
});
define(Object, "hasOwn", (object, name) => Object.prototype.hasOwnProperty.call(object, name));
define(Object, "groupBy", (rows, keyOf) => {
  const groups = Object.create(null);
  let index = 0;
  for (const row of rows) (groups[keyOf(row, index++)] ??= []).push(row);
  return groups;
});
define(Map, "groupBy", (rows, keyOf) => {
  const groups = new Map();
  let index = 0;
  for (const row of rows) {
    const key = keyOf(row, index++);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return groups;
});
define(Promise, "withResolvers", () => {
  const parts = {};
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }));
  return parts;
});
define(URL, "canParse", (address, base) => {
  try {
    return Boolean(new URL(address, base));
  } catch {
    return false;
  }
});
define(URL, "parse", (address, base) => (URL.canParse(address, base) ? new URL(address, base) : null));
if (!("size" in URLSearchParams.prototype)) {
  Object.defineProperty(URLSearchParams.prototype, "size", {
    get() {
      return [...this].length;
    },
    configurable: true,
  });
}
// Plain values and lists of them; the client copies nothing else.
define(globalThis, "structuredClone", (value) => (value === undefined ? value : JSON.parse(JSON.stringify(value))));
define(globalThis, "requestIdleCallback", (act) =>
  setTimeout(() => act({ didTimeout: false, timeRemaining: () => 5 }), 1),
);
define(globalThis, "cancelIdleCallback", clearTimeout);
define(crypto, "randomUUID", () => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const text = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return text.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
});
define(AbortSignal, "timeout", (ms) => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new DOMException("", "TimeoutError")), ms);
  return controller.signal;
});
define(AbortSignal, "any", (signals) => {
  const controller = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) controller.abort(signal.reason);
    else signal.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
  }
  return controller.signal;
});
// Characters as a reader counts them, near enough: marks and joined emoji stay with what they follow.
define(
  Intl,
  "Segmenter",
  class {
    *segment(input) {
      let index = 0;
      for (const [segment] of input.matchAll(/\r\n|\p{RI}\p{RI}|\P{M}(?:[\p{M}\p{EMod}]|\u200d\P{M})*|\p{M}+/gsu)) {
        yield { segment, index, input };
        index += segment.length;
      }
    }
  },
);
define(
  Intl,
  "ListFormat",
  class {
    format(texts) {
      return [...texts].join(", ");
    }
  },
);
// Tells of a size at first and when the window changes; what grows by itself is measured with the next redraw.
define(
  globalThis,
  "ResizeObserver",
  class {
    #watched = new Set();
    #tell;

    constructor(act) {
      this.#tell = () => {
        const entries = [...this.#watched].map((target) => ({ target, contentRect: target.getBoundingClientRect() }));
        if (entries.length) act(entries, this);
      };
    }

    observe(target) {
      if (!this.#watched.size) addEventListener("resize", this.#tell);
      this.#watched.add(target);
      requestAnimationFrame(this.#tell);
    }

    unobserve(target) {
      this.#watched.delete(target);
    }

    disconnect() {
      removeEventListener("resize", this.#tell);
      this.#watched.clear();
    }
  },
);
