// Drafts by conversation; stored in this browser for the signed-in user.
import { parley } from "../client.js";
import { readStored, stored } from "../lib/stored.js";

const key = () => `parley.drafts.${parley.session.userId}`;

const read = () => readStored(stored, key(), {});

export const draftOf = (id) => read()[id] ?? "";

export function keepDraft(id, text) {
  const drafts = read();
  if (text.trim()) drafts[id] = text;
  else delete drafts[id];
  stored.setItem(key(), JSON.stringify(drafts));
}

// Calls `act` with what another tab has made of the draft. Returns the function that ends this.
export function onDraft(id, act) {
  const onStorage = (event) => (event.key === null || event.key === key()) && act(draftOf(id));
  addEventListener("storage", onStorage);
  return () => removeEventListener("storage", onStorage);
}

// Like the messages that wait to be sent, the drafts go when the sign-in is ended, here or from another device.
export function listen() {
  let own = key();
  parley.on("signedin", () => {
    own = key();
  });
  parley.on("signedout", ({ forget }) => {
    if (forget) stored.removeItem(own);
  });
}
