// What people type around words to format them: code in backticks, blocks of it in three, *bold* or **bold**, _italic_ or __italic__,
// ~struck out~ or ~~struck out~~. What is formatted is drawn without its marks; nothing of a text is read as HTML.
import { parts } from "./links.js";

// Bold, italics and struck out inside each other; a text is not nested any deeper.
const DEEPEST = 3;
const STYLES = { "*": "strong", _: "em", "~": "s" };
const BLOCK = /\x60{3}(?:[\w+#-]*\n)?([^]+?)\n?\x60{3}\n?/g;
const CODE = /\x60([^\x60\n]+)\x60/g;
const WORD = /[\p{L}\p{N}]/u;
// Stands for a part that is drawn as it is, a link or code; no mark is looked for inside it.
const ATOM = "\uFFFC";

/**
 * The text as a list of strings and {tag, children} or {tag: "a", href, children}. Tags: a, code, pre, strong, em, s.
 * A mark counts only around words of one line: `2*3*4`, `snake_case_name` and `* item` stay as they are.
 */
export function formatted(text) {
  return split(text, BLOCK, (code) => ({ tag: "pre", children: [code] }), inLine);
}

/** The text without its marks, for a line that shows no format. */
export const plainText = (text) => textOf(formatted(text));

const textOf = (pieces) => pieces.map((piece) => (typeof piece === "string" ? piece : textOf(piece.children))).join("");

const inLine = (text) => {
  const atoms = [];
  const keep = (atom) => {
    atoms.push(atom);
    return ATOM;
  };
  const withoutCode = split(
    text,
    CODE,
    (code) => keep({ tag: "code", children: [code] }),
    (rest) =>
      parts(rest).map((part) =>
        part.href
          ? keep({ tag: "a", href: part.href, children: [part.text] })
          : // One that was typed stands for itself.
            part.text.replaceAll(ATOM, () => keep(ATOM)),
      ),
  );
  return styled(withoutCode.join(""), atoms);
};

// What the pattern finds goes through `found`, the rest through `other`, which makes a list.
function split(text, pattern, found, other) {
  const all = [];
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > at) all.push(...other(text.slice(at, match.index)));
    all.push(found(match[1]));
    at = match.index + match[0].length;
  }
  if (at < text.length) all.push(...other(text.slice(at)));
  return all;
}

// `atoms` are those of the text, in their order; each is taken from its head.
function styled(text, atoms, depth = 0) {
  const all = [];
  // For each mark the place up to which it has no end: a line is searched once.
  const endless = {};
  let plain = "";
  const flush = () => {
    if (plain) all.push(plain);
    plain = "";
  };
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === ATOM) {
      flush();
      all.push(atoms.shift());
      continue;
    }
    const mark = char in STYLES && depth < DEEPEST && opens(text, at);
    const end = mark && !(endless[mark] > at) ? closes(text, at + mark.length, mark) : -1;
    if (end < 0) {
      if (mark) endless[mark] = endOfLine(text, at);
      // All of the mark, so that a part of it opens nothing.
      plain += mark || char;
      at += (mark || char).length - 1;
      continue;
    }
    flush();
    all.push({ tag: STYLES[char], children: styled(text.slice(at + mark.length, end), atoms, depth + 1) });
    at = end + mark.length - 1;
  }
  flush();
  return all;
}

const isWord = (char) => char !== undefined && WORD.test(char);
const isSpace = (char) => char === undefined || /\s/.test(char);

// The mark that begins here, of one or two characters; null inside a word and before a space.
function opens(text, at) {
  const char = text[at];
  if (isWord(text[at - 1]) || text[at - 1] === char) return null;
  const mark = text[at + 1] === char ? char + char : char;
  const next = text[at + mark.length];
  return isSpace(next) || next === char ? null : mark;
}

const endOfLine = (text, at) => (text.indexOf("\n", at) + 1 || text.length + 1) - 1;

// Where the same mark ends in this line; -1 if it does not.
function closes(text, from, mark) {
  for (let at = from; at < text.length && text[at] !== "\n"; at += 1) {
    if (!text.startsWith(mark, at)) continue;
    const after = at + mark.length;
    if (at > from && !isSpace(text[at - 1]) && !isWord(text[after]) && text[after] !== mark[0]) return at;
    // Of a longer run, no part ends it.
    while (text[at + 1] === mark[0]) at += 1;
  }
  return -1;
}
