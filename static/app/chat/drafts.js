// Drafts by conversation; stored in this browser for the signed-in user.
import { parley } from "../client.js";

const key = () => `parley.drafts.${parley.session.userId}`;

function read() {
  try {
    return JSON.parse(localStorage.getItem(key())) ?? {};
  } catch {
    return {};
  }
}

export const draftOf = (id) => read()[id] ?? "";

export function keepDraft(id, text) {
  const drafts = read();
  if (text.trim()) drafts[id] = text;
  else delete drafts[id];
  localStorage.setItem(key(), JSON.stringify(drafts));
}

export function forgetDrafts() {
  for (const name of Object.keys(localStorage)) if (name.startsWith("parley.drafts.")) localStorage.removeItem(name);
}
