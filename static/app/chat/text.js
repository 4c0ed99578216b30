// The text of a message with its links and what formats it. Only http and https lead anywhere.
import { html } from "../lib/html.js";
import { formatted } from "./format.js";

const ONLY_EMOJI =
  /^(?:\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\uFE0F|\u200D\p{Extended_Pictographic})*|\p{Regional_Indicator}{2}){1,3}$/u;

const isOnlyEmoji = (text) => ONLY_EMOJI.test(text.trim());

function drawn(part) {
  if (typeof part === "string") return part;
  const children = part.children.map(drawn);
  if (part.tag === "a")
    return html`<a href=${part.href} target="_blank" rel="noopener noreferrer nofollow">${children}</a>`;
  if (part.tag === "pre") return html`<pre dir="auto" tabindex="0"><code>${children}</code></pre>`;
  return html`<${part.tag}>${children}<//>`;
}

export function Text({ body }) {
  return html`<div class=${`text ${isOnlyEmoji(body) ? "large-emoji" : ""}`} dir="auto">${formatted(body).map(drawn)}</div>`;
}
