// Runs what the tests send, one JSON object a line: {id, code} on standard input, {id, value | error} back.
// The code is the body of an async function; `sdk`, `state` (kept between calls) and `make` are in scope.
import { createInterface } from "node:readline";
import * as sdk from "../../static/sdk/parley.js";

const AsyncFunction = (async () => {}).constructor;
const state = {};

/**
 * A client with `events` and `frames`: all that it told its handlers, sent and received. `change` may turn
 * each arriving frame into several, or none.
 */
function make({ change = (frame) => [frame], ...options } = {}) {
  const notes = { events: [], frames: [], sent: [] };
  let socket = null;
  class Noted extends WebSocket {
    constructor(...values) {
      super(...values);
      socket = this;
    }

    set onmessage(handler) {
      this.addEventListener("message", ({ data }) => {
        for (const frame of change(JSON.parse(data))) {
          notes.frames.push(frame);
          handler({ data: JSON.stringify(frame) });
        }
      });
    }

    send(text) {
      notes.sent.push(JSON.parse(text));
      super.send(text);
    }
  }
  const parley = new sdk.Parley({ WebSocket: Noted, ...options });
  parley.on("*", (name, data, frame) => notes.events.push({ name, data, seq: frame?.seq }));
  // The connection breaks; the client notices and opens another one.
  return Object.assign(parley, notes, { cut: () => socket?.close() });
}

/** Waits until `look` gives something true. */
async function until(look, seconds = 40) {
  const deadline = performance.now() + seconds * 1000;
  while (performance.now() < deadline) {
    const value = await look();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`waited ${seconds} s in vain for ${look}`);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, code } = JSON.parse(line);
  run(code).then(
    (value) => console.log(JSON.stringify({ id, value: value ?? null })),
    (error) => console.log(JSON.stringify({ id, error: { code: error.code, text: String(error.stack), ...error } })),
  );
}
process.exit(0);

function run(code) {
  return new AsyncFunction("sdk", "state", "make", "until", code)(sdk, state, make, until);
}
