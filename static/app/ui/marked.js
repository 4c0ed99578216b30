// A text in whose parts what was searched for is marked, without regard to case.
import { html } from "../lib/html.js";

export function marked(text, wanted) {
  const [where, what] = [text.toLowerCase(), wanted?.toLowerCase()];
  // Few letters become two when they are small: the places would be others.
  if (!what || where.length !== text.length) return text;
  const parts = [];
  let from = 0;
  for (let at = where.indexOf(what); at >= 0; at = where.indexOf(what, from)) {
    parts.push(text.slice(from, at), html`<mark>${text.slice(at, at + what.length)}</mark>`);
    from = at + what.length;
  }
  return parts.length ? [...parts, text.slice(from)] : text;
}
