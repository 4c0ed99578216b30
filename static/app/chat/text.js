// The text of a message with its links and what formats it. Only http and https lead anywhere.
import { html } from "../lib/html.js";
import { marked } from "../ui/marked.js";
import { formatted } from "./format.js";

const ONLY_EMOJI =
  /^(?:\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\uFE0F|\u200D\p{Extended_Pictographic})*|\p{Regional_Indicator}{2}){1,3}$/u;

const isOnlyEmoji = (text) => ONLY_EMOJI.test(text.trim());

function drawn(part, wanted) {
  if (typeof part === "string") return marked(part, wanted);
  const children = part.children.map((child) => drawn(child, wanted));
  if (part.tag === "a")
    return html`<a href=${part.href} target="_blank" rel="noopener noreferrer nofollow">${children}</a>`;
  if (part.tag === "pre") return html`<pre dir="auto" tabindex="0"><code>${children}</code></pre>`;
  return html`<${part.tag}>${children}<//>`;
}

// `wanted` is what was searched for, if that has led here.
export function Text({ body, wanted = "" }) {
  return html`<div class=${`text ${isOnlyEmoji(body) ? "large-emoji" : ""}`} dir="auto">${formatted(body).map((part) => drawn(part, wanted))}</div>`;
}
