// How many calls were missed since the page of the calls was last looked at; kept in this browser for the signed-in user.
import { parley } from "../client.js";
import { useEffect } from "../lib/html.js";
import { createStore, useStore } from "../lib/store.js";
import { readStored, stored } from "../lib/stored.js";
import { app } from "./app.js";
import { isMissed } from "./calls.js";
import { store } from "./store.js";

const key = () => `parley.calls_seen.${parley.session.userId}`;

const read = () => readStored(stored, key(), null);

// The newest call that was seen; null until there is one.
const seen = createStore({ id: read() });

function see(calls) {
  const newest = Math.max(0, ...calls.map(({ id }) => id));
  if (read() !== null && read() >= newest) return;
  stored.setItem(key(), JSON.stringify(newest));
  seen.set({ id: newest });
}

parley.on("signedin", () => seen.set({ id: read() }));
addEventListener("storage", (event) => (event.key === null || event.key === key()) && seen.set({ id: read() }));

export function useMissedCalls() {
  const userId = useStore(app, ({ user }) => user?.id);
  const calls = useStore(store.calls, (part) => part.calls);
  const last = useStore(seen, ({ id }) => id);
  useEffect(() => void store.calls.load().catch(() => {}), []);
  // What was missed before this browser knew the user is no news.
  useEffect(() => {
    if (calls && last === null) see(calls);
  }, [calls, last]);
  return last === null ? 0 : (calls ?? []).filter((call) => call.id > last && isMissed(call, userId)).length;
}

/** The page that shows them is in a window that is looked at. */
export const seeCalls = (calls) => void (calls && document.visibilityState === "visible" && see(calls));
