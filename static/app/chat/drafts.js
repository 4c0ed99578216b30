// Drafts by conversation; stored in this browser for the signed-in user.
import { parley } from "../client.js";
import { readStored } from "../stored.js";

const key = () => `parley.drafts.${parley.session.userId}`;

const read = () => readStored(localStorage, key(), {});

export const draftOf = (id) => read()[id] ?? "";

export function keepDraft(id, text) {
  const drafts = read();
  if (text.trim()) drafts[id] = text;
  else delete drafts[id];
  localStorage.setItem(key(), JSON.stringify(drafts));
}

// Calls `act` with what another tab has made of the draft. Returns the function that ends this.
export function onDraft(id, act) {
  const onStorage = (event) => (event.key === null || event.key === key()) && act(draftOf(id));
  addEventListener("storage", onStorage);
  return () => removeEventListener("storage", onStorage);
}

// Images beside a draft, kept until the page is left for good.
const images = new Map();

export const draftImages = (id) => images.get(id) ?? [];

export const keepDraftImages = (id, files) => images.set(id, files);

// Like the messages that wait to be sent, the drafts go when the user signs out.
export function listen() {
  let own = key();
  parley.on("signedin", () => {
    own = key();
  });
  parley.on("signedout", ({ reason }) => {
    images.clear();
    if (reason === "signed_out") localStorage.removeItem(own);
  });
}
