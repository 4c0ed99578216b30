// Where the reader stands in each conversation, kept for this tab: a reload leads back to it.
import { readStored } from "../stored.js";

const KEY = "parley.places";

const read = () => readStored(sessionStorage, KEY, {});

export const placeOf = (id) => read()[id] ?? null;

let timer = null;
const waiting = new Map();

export function keepPlace(id, messageId) {
  waiting.set(id, messageId);
  timer ??= setTimeout(write, 200);
}

function write() {
  timer = null;
  const places = read();
  for (const [id, messageId] of waiting) {
    if (messageId) places[id] = messageId;
    else delete places[id];
  }
  waiting.clear();
  sessionStorage.setItem(KEY, JSON.stringify(places));
}

addEventListener("pagehide", write);
