// The documentation pages: navigation on phones, search as you type, copy buttons, tabs. Without this script,
// navigation and all tabs are shown, and search is a page of its own.

import { browserStorage, SafeStorage } from "../sdk/parley/storage.js";

const kept = new SafeStorage(browserStorage("localStorage"));

const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

document.documentElement.classList.add("scripted");

// --- Navigation on phones ---
const toggle = document.querySelector(".side-toggle");
if (toggle) {
  const side = document.getElementById("side");
  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    const open = side.classList.toggle("open");
    toggle.setAttribute("aria-expanded", String(open));
  });
}

// Only the navigation scrolls: the page stays where it is.
const side = document.querySelector(".side");
const here = side?.querySelector('[aria-current="true"]') ?? side?.querySelector('[aria-current="page"]');
if (here) side.scrollTop = here.offsetTop - side.offsetTop - side.clientHeight / 3;

// --- Search ---
const isCtrlK = (event) => event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey;
// The text with each of these words marked.
const marked = (text, words) => {
  if (!words.length) return [text];
  const found = new RegExp(`(${words.map((word) => word).join("|")})`, "gi");
  return text.split(found).map((piece, at) => (at % 2 ? make("mark", { textContent: piece }) : piece));
};
const find = document.querySelector(".find");
if (find) {
  const input = find.querySelector("input");
  const hits = find.querySelector(".find-hits");
  let asked = "";
  const show = async () => {
    const query = input.value.trim();
    asked = query;
    if (query.length < 2) {
      hits.hidden = true;
      return;
    }
    const response = await fetch(`${find.dataset.find}?q=${encodeURIComponent(query)}`).catch(() => null);
    const rows = response?.ok ? (await response.json()).hits : [];
    if (asked !== query) return;
    const words = query.match(/[\p{L}\p{N}_]+/gu) ?? [];
    const links = rows
      .slice(0, 8)
      .map((row) =>
        make(
          "a",
          { href: row.address },
          ...marked(row.title, words),
          row.where ? make("span", { className: "quiet", textContent: ` ${row.where}` }) : "",
        ),
      );
    hits.replaceChildren(
      ...(links.length
        ? links
        : [make("a", { href: `${find.action}?q=${encodeURIComponent(query)}`, textContent: "No results" })]),
    );
    hits.hidden = false;
  };
  input.addEventListener("input", show);
  document.addEventListener("keydown", (event) => {
    const writes = event.target.closest("input, textarea, select, [contenteditable]");
    const asks = event.key === "/" ? !writes && !event.ctrlKey && !event.metaKey : isCtrlK(event);
    if (!asks) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  find.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    // Escape of an input method ends its word: the box keeps the text, and the hits stay.
    if (event.isComposing || event.keyCode === 229) event.preventDefault();
    else if (!hits.hidden) {
      input.focus();
      hits.hidden = true;
    }
  });
  find.addEventListener("focusout", (event) => {
    if (!find.contains(event.relatedTarget)) hits.hidden = true;
  });
}

// --- Colours of code ---
const WORDS = {
  // A block without a language is for a shell, too, or for a file of settings.
  "": "apt-get|cd|cp|git|install|kubectl|npm|parley|pip|podman|python3|sysctl|systemctl|while|do|done|case|esac|export|exec|ALTER|ROLE|SET|GET|POST|PUT|DELETE",
  bash: "if|then|fi|for|do|done|return|export|echo|sleep|curl|in|python3|parley",
  js: "const|let|var|await|async|new|if|else|for|while|do|of|return|import|from|throw|true|false|null",
  ts: "const|let|await|async|new|if|else|return|import|from|type",
  python: "import|from|def|return|with|as|for|while|if|in|not|or|and|assert|raise|print|True|False|None",
  json: "true|false|null",
  html: "(?<=</?)[a-z][\\w-]*|import|from|const|await|new",
  http: "GET|POST|PUT|PATCH|DELETE|true|false|null",
  ini: "(?<=^)[A-Z_]+(?==)",
};
const HASH_COMMENTS = ["", "bash", "python", "ini"];
const ALIASES = { text: "", javascript: "js", jsx: "js", typescript: "ts", tsx: "ts", sh: "bash" };
const colour = (code, language) => {
  const comment = HASH_COMMENTS.includes(language) ? "(?<=^|\\s)#.*" : "(?<=^|\\s)//.*";
  const kinds = new RegExp(
    `(?<c>${comment})|(?<s>\`(?:[^\`\\\\]|\\\\.)*\`|"(?:[^"\\\\]|\\\\.)*"|'[^']*')|(?<k>\\b(?:${WORDS[language]})\\b)|(?<n>\\b\\d+\\b)`,
    "gm",
  );
  const text = code.textContent;
  const pieces = [];
  let at = 0;
  for (const match of text.matchAll(kinds)) {
    const [kind] = Object.entries(match.groups).find(([, value]) => value !== undefined);
    pieces.push(text.slice(at, match.index), make("span", { className: `code-${kind}`, textContent: match[0] }));
    at = match.index + match[0].length;
  }
  code.replaceChildren(...pieces, text.slice(at));
};
for (const code of document.querySelectorAll("#content pre:not(.mail pre) > code")) {
  const name = code.className.replace("language-", "");
  const language = ALIASES[name] ?? name;
  if (WORDS[language]) colour(code, language);
}

// --- Copy buttons ---
for (const block of document.querySelectorAll("#content pre:not([hidden]):not(.mail pre)")) {
  const place = make("div", { className: "block-place" });
  block.replaceWith(place);
  const button = make("button", { type: "button", className: "copy", textContent: "Copy" });
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(block.textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  place.append(block, button);
}

// --- Tabs; the chosen language is kept for all pages ---
const KEY = "parley-docs-language";
const groups = [...document.querySelectorAll(".tabs")];
const choose = (label) => {
  for (const group of groups) {
    const buttons = [...group.querySelectorAll('[role="tab"]')];
    const chosen = buttons.find((button) => button.textContent === label) ?? buttons[0];
    for (const button of buttons) {
      const selected = button === chosen;
      button.setAttribute("aria-selected", String(selected));
      button.tabIndex = selected ? 0 : -1;
      document.getElementById(button.getAttribute("aria-controls")).hidden = !selected;
    }
  }
};
groups.forEach((group, number) => {
  const list = make("div", { className: "tab-list", role: "tablist" });
  list.setAttribute("aria-label", "Language");
  group.querySelectorAll(".tab").forEach((panel, at) => {
    panel.id = `tab-${number}-${at}`;
    const button = make("button", {
      type: "button",
      role: "tab",
      id: `${panel.id}-button`,
      textContent: panel.dataset.label,
    });
    button.setAttribute("aria-controls", panel.id);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", button.id);
    list.append(button);
  });
  list.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    kept.setItem(KEY, button.textContent);
    choose(button.textContent);
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const buttons = [...list.children];
    const next = buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length];
    next.focus();
    next.click();
  });
  group.prepend(list);
});
if (groups.length) choose(kept.getItem(KEY) ?? "curl");

if (document.querySelector(".try")) import("./try.js");
