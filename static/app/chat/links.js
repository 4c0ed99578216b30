// Where the links of a text begin and end, and what is drawn of them: what is drawn never hides where a link leads.

// What ends an address, and what is drawn of it: docs/decisions/web-client.md#0097
const START = /https?:\/\/|www\.(?=[\p{L}\p{N}])/giu;
// Before it, the address is a part of something else: of a word, of an e-mail address, of another address.
const INSIDE = { h: /[A-Za-z0-9]/, w: /[A-Za-z0-9_@＠/.:=-]/ };
// Characters that are not drawn, or that change the direction of what is.
const INVISIBLE = /^[\p{Cf}\p{Default_Ignorable_Code_Point}]$/u;
// They join the letters of a word in some languages: an address keeps them behind its host, undrawn.
const JOINER = /^[\u200C\u200D]$/;
const BREAK = /^[\s\p{Cc}\p{Z}<>"\x60\\]$/u;
// Marks of other scripts, full-width forms, arrows.
const FOREIGN_MARK =
  /^[\p{P}\u2190-\u21FF\u275B-\u2760\u3000-\u3004\u3008-\u3020\u303D-\u303F\uFF04\uFF0B\uFF1C-\uFF1E\uFF3E\uFF40\uFF5C\uFF5E]$/u;
// Of these, the ones that stand inside words: an apostrophe, middle dots, hyphens, the dash between two names.
const WITHIN_WORDS = /^[\u00B7\u05BE\u05F3\u05F4\u0F0B\u2010\u2011\u2013\u2019\u2027\u30FB]$/;
const WORD = /^[\p{L}\p{N}\p{M}]$/u;
// One address after another.
const LISTED = /^[,;|]$/;
const NEXT = /^https?:\/\//i;
const OPENED_BY = { ")": "(", "]": "[", "}": "{" };
const TRAILING = /^[.,;:!?'([{|]$/;
const PICTURE = /^[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}]$/u;
// Marks around a word that make it bold, slanted or struck out.
const EMPHASIS = "*_~";

/** The text in parts: {text} as it stands, {text, href} for a link. */
export function parts(text) {
  const found = [];
  let at = 0;
  START.lastIndex = 0;
  for (let match = START.exec(text); match; match = START.exec(text)) {
    const from = match.index;
    if (from > 0 && INSIDE[match[0][0].toLowerCase()].test(text[from - 1])) continue;
    const chars = address(text, from);
    const made = link(text, from, chars);
    // No part of what leads nowhere is a link.
    START.lastIndex = Math.max(chars.at(-1)?.end ?? 0, START.lastIndex);
    if (!made) continue;
    if (from > at) found.push({ text: text.slice(at, from) });
    found.push({ text: made.text, href: made.href });
    at = made.end;
    START.lastIndex = at;
  }
  if (at < text.length) found.push({ text: text.slice(at) });
  return found;
}

// The characters of the address that begins at `from`, as [{char, end}]; those that are not drawn are left out.
function address(text, from) {
  const chars = [];
  const open = [];
  const quote = text[from - 1] === "'" ? "'" : null;
  for (let at = from; at < text.length; ) {
    const char = charAt(text, at);
    at += char.length;
    if (INVISIBLE.test(char)) continue;
    if (BREAK.test(char) || char === quote || (LISTED.test(char) && NEXT.test(text.slice(at, at + 8)))) break;
    if (char > "\x7F" && FOREIGN_MARK.test(char)) {
      const isWithinWord =
        WITHIN_WORDS.test(char) && WORD.test(chars.at(-1)?.char ?? "") && WORD.test(charAt(text, at));
      if (!isWithinWord) break;
    }
    if ("([{".includes(char)) open.push(char);
    else if (char in OPENED_BY && open.pop() !== OPENED_BY[char]) break;
    chars.push({ char, end: at });
  }
  return chars;
}

const charAt = (text, at) => (at < text.length ? String.fromCodePoint(text.codePointAt(at)) : "");

function withoutTrailing(chars, before) {
  let length = chars.length;
  const isTrailing = (char, previous) =>
    TRAILING.test(char) ||
    (EMPHASIS.includes(char) && char === before) ||
    (PICTURE.test(char) && !/^[/=#?&_-]$/.test(previous));
  while (length > 1 && isTrailing(chars[length - 1].char, chars[length - 2].char)) length -= 1;
  return chars.slice(0, length);
}

// {text, href, end}; null when it leads nowhere, or not where it seems to.
function link(text, from, all) {
  let chars = withoutTrailing(all, text[from - 1]);
  const [, scheme = "", authority] = /^(https?:\/\/)?([^/?#]*)/iu.exec(joined(chars));
  if (!authority || authority.includes("@")) return null;
  const host = withoutSentence(authority);
  // Only a whole host is followed by a path.
  if (host !== authority) chars = chars.slice(0, [...scheme, ...host].length);
  if (!scheme && host.split(".").filter(Boolean).length < 3) return null;
  const { end } = chars.at(-1);
  const path = chars.slice([...scheme, ...host].length);
  try {
    const url = new URL(`${scheme || "https://"}${host}${withJoiners(text, chars.at(-path.length - 1).end, end)}`);
    // The host as the browser takes it: a name with letters that look like others is drawn in its ASCII form.
    return { text: `${scheme && `${url.protocol}//`}${url.host}${joined(path)}`, href: url.href, end };
  } catch {
    return null;
  }
}

const joined = (chars) => chars.map(({ char }) => char).join("");

const withJoiners = (text, from, end) =>
  [...text.slice(from, end)].filter((char) => JOINER.test(char) || !INVISIBLE.test(char)).join("");

// A name that ends in Latin letters ends with them: what follows in another script is the sentence. So is a mark of ASCII.
function withoutSentence(authority) {
  const [name] = /^[^!$&'()*+,;=~{}|^]*/.exec(authority);
  return /^(?:[^.]*\.)*(?!xn--)[a-z][a-z0-9-]*(?::\d+)?(?=[^\x00-\x7F][^.]*$)/iu.exec(name)?.[0] ?? name;
}
