// A user's picture, or their initials on a colour derived from the user.
import { html, useState } from "../lib/html.js";

const TONES = 6;

export const nameOf = (user) => [user.first_name, user.last_name].filter(Boolean).join(" ") || user.username;

function initials(user) {
  const letters = [user.first_name, user.last_name].map((part) => [...(part || "")][0]).filter(Boolean);
  return (letters.length ? letters : [[...(user.username || "?")][0]]).join("").toUpperCase();
}

export function Avatar({ user, size = "" }) {
  const [broken, setBroken] = useState(null);
  // The service is the page's own origin.
  const address = user.avatar_url;
  if (address && broken !== address) {
    return html`<img class=${`avatar ${size}`} src=${address} alt="" onError=${() => setBroken(address)} />`;
  }
  // In a drawing: letters that the browser enlarges would not fit into the circle.
  return html`<span class=${`avatar ${size} tone-${(user.id ?? 0) % TONES}`} aria-hidden="true"><svg viewBox="0 0 48 48"><text x="24" y="24">${initials(user)}</text></svg></span>`;
}
