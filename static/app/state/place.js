// Where the signed-in user stands in each conversation, kept for this tab: a reload leads back to it.
import { parley } from "../client.js";
import { readStored, storedHere } from "../lib/stored.js";

const key = () => `parley.places.${parley.session.userId}`;

const read = () => readStored(storedHere, key(), {});

export const placeOf = (id) => read()[id] ?? null;

let timer = null;
const waiting = new Map();

export function keepPlace(id, messageId) {
  waiting.set(id, messageId);
  if (!timer) timer = setTimeout(write, 200);
}

function write() {
  timer = null;
  const places = read();
  for (const [id, messageId] of waiting) {
    if (messageId) places[id] = messageId;
    else delete places[id];
  }
  waiting.clear();
  if (parley.session.isSignedIn) storedHere.setItem(key(), JSON.stringify(places));
}

addEventListener("pagehide", write);
