// Conversations that make no browser notifications; kept in this browser for the signed-in user.
import { parley } from "../client.js";
import { createStore } from "../lib/store.js";
import { readStored, stored } from "../lib/stored.js";

const key = () => `parley.muted.${parley.session.userId}`;

const read = () => readStored(stored, key(), []);

export const muted = createStore({ ids: read() });

export function setMuted(id, value) {
  const ids = read().filter((other) => other !== id);
  if (value) ids.push(id);
  stored.setItem(key(), JSON.stringify(ids));
  muted.set({ ids });
}

parley.on("signedin", () => muted.set({ ids: read() }));
addEventListener("storage", (event) => event.key === key() && muted.set({ ids: read() }));
