// The text of a message with its links. Only http and https lead anywhere.
import { html } from "../html.js";

const LINK = /\b(?:https?:\/\/|www\.)[^\s<>"']+/gi;
const TRAILING = /[.,;:!?)\]}»”’]+$/;
const ONLY_EMOJI = /^(?:\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\uFE0F|\u200D\p{Extended_Pictographic})*|\p{Regional_Indicator}{2}){1,3}$/u;

function parts(text) {
  const found = [];
  let at = 0;
  for (const match of text.matchAll(LINK)) {
    let link = match[0].replace(TRAILING, "");
    // A bracket that was opened inside the address belongs to it.
    if (link.includes("(") && match[0][link.length] === ")") link += ")";
    const address = link.startsWith("http") || link.startsWith("HTTP") ? link : `https://${link}`;
    if (!URL.canParse(address)) continue;
    if (match.index > at) found.push({ text: text.slice(at, match.index) });
    found.push({ text: link, href: address });
    at = match.index + link.length;
  }
  if (at < text.length) found.push({ text: text.slice(at) });
  return found;
}

const isOnlyEmoji = (text) => ONLY_EMOJI.test(text.trim());

export function Text({ body }) {
  return html`<p class=${`text ${isOnlyEmoji(body) ? "large-emoji" : ""}`} dir="auto">${parts(body).map((part) =>
    part.href ? html`<a href=${part.href} target="_blank" rel="noopener noreferrer nofollow">${part.text}</a>` : part.text,
  )}</p>`;
}
