// Conversations that make no browser notifications; kept in this browser.
import { createStore } from "../store.js";

const KEY = "parley.muted";

function read() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? [];
  } catch {
    return [];
  }
}

export const muted = createStore({ ids: read() });

export function setMuted(id, value) {
  const ids = read().filter((other) => other !== id);
  if (value) ids.push(id);
  localStorage.setItem(KEY, JSON.stringify(ids));
  muted.set({ ids });
}

addEventListener("storage", (event) => event.key === KEY && muted.set({ ids: read() }));
