// Emoji to choose from: as a reaction, or for the text. Arrow keys move, Enter chooses.
import { ParleyError } from "../../sdk/parley/errors.js";
import { config } from "../config.js";
import { html, useEffect, useRef, useState } from "../lib/html.js";
import { language, t, tn } from "../lib/i18n.js";
import { failed } from "../lib/notices.js";
import { Popup } from "../ui/popup.js";

const QUICK = "👍 ❤️ 😂 😮 😢 🙏 👏 🔥";
// What a menu offers at once.
export const FIRST = QUICK.split(" ").slice(0, 6);
const MORE = [
  "😀 😃 😄 😁 😆 😅 🤣 🙂 🙃 😉 😊 😇 🥰 😍 🤩 😘 😋 😛 😜 🤪 🤗 🤭 🤫 🤔 🤐 😐 😏 😒 🙄 😬 😌 😔 😪 😴 😷 🤒 🤕 🤢 🥵 🥶 😵 🤯 🥳 😎 🤓 😕 😟 😯 😲 😳 🥺 😨 😰 😥 😭 😱 😖 😞 😓 😩 😫 🥱 😤 😡 🤬 😈 💀 💩 👻 👽 🤖",
  "👋 🤚 ✋ 👌 🤏 ✌️ 🤞 🤟 🤘 👈 👉 👆 👇 👎 ✊ 👊 🙌 👐 🤲 🤝 💪 👀 🧠 👶 👩 👨 👵 👴 🙋 🤦 🤷 💃 🕺 🏃 👪 🫶",
  "🧡 💛 💚 💙 💜 🖤 🤍 🤎 💔 💕 💯 💥 💫 💦 💤 ✨ ⭐ 🌟 ⚡ 🎉 🎊 🎁 🎈 🏆 ✅ ❌ ❓ ❗ ⚠️ 🚀 🔔 🔒 💡 📌 📎 📅 📷 🎵",
  "🐶 🐱 🐭 🐰 🦊 🐻 🐼 🐨 🦁 🐮 🐷 🐸 🐵 🐔 🐧 🦉 🐝 🦋 🐢 🐙 🐬 🐳 🌵 🌲 🌷 🌹 🌻 🍀 🍁 🌍 🌙 ☀️ ⛅ 🌧️ ❄️ 🌈 🌊",
  "🍎 🍌 🍇 🍓 🍒 🍑 🥑 🍅 🌽 🥕 🍞 🧀 🍕 🍔 🍟 🌮 🍣 🍜 🍰 🎂 🍪 🍫 🍿 ☕ 🍵 🍺 🍷 🥂 ⚽ 🏀 🎾 🎮 🎸 🎨 🚗 🚲 ✈️ 🏠 🏖️ 📱 💻 ⏰",
];

const ALL = [...new Set([QUICK, ...MORE].join(" ").split(" "))];

// The words of a text as they are compared, each behind a space.
const words = (text) =>
  text
    .toLowerCase()
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/ı/g, "i")
    .split(/[^\p{L}\p{N}]+/u)
    .map((word) => word && ` ${word}`)
    .join("");

// Each begins a word; Chinese has no space between words.
const isFound = (wanted, text) =>
  wanted
    .split(" ")
    .filter(Boolean)
    .every((word) => text.includes(` ${word}`) || (/\p{Script=Han}/u.test(word) && text.includes(word)));

const fetched = async (code) => {
  const reply = await fetch(config.emoji[code]).catch(() => null);
  if (!reply?.ok) throw new ParleyError("network_error");
  return reply.json();
};

// {names, load}: what each emoji is searched by, once `load` was called: in the reader's language and in English.
function useNames() {
  const [names, setNames] = useState(null);
  const isAsked = useRef(false);
  const load = () => {
    if (isAsked.current) return;
    isAsked.current = true;
    const languages = [...new Set([language(), "en"])];
    Promise.all(languages.map(fetched)).then(
      (tables) => setNames(ALL.map((emoji) => [emoji, words(tables.map((table) => table[emoji] ?? "").join(" "))])),
      (error) => {
        isAsked.current = false;
        failed(error);
      },
    );
  };
  return { names, load };
}

export function EmojiPicker({ anchor, onPick, onClose }) {
  const self = useRef(null);
  const box = useRef(null);
  const [query, setQuery] = useState("");
  const { names, load } = useNames();
  const buttons = () => [...self.current.querySelectorAll("button")];
  useEffect(() => buttons()[0].focus({ preventScroll: true }), []);
  const wanted = words(query);
  const found = wanted && names?.filter(([, text]) => isFound(wanted, text)).map(([emoji]) => emoji);
  const onSearchKey = (event) => {
    if (event.key === "Enter" && found?.length) {
      event.preventDefault();
      onPick(found[0]);
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      buttons()[0]?.focus();
    }
  };
  const onKeyDown = (event) => {
    if (event.target === box.current) {
      onSearchKey(event);
      return;
    }
    // What is typed is searched for.
    if ([...event.key].length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey) {
      box.current.focus();
      return;
    }
    const all = buttons();
    const at = all.indexOf(document.activeElement);
    const here = all[at].getBoundingClientRect();
    const rtl = document.documentElement.dir === "rtl" ? -1 : 1;
    const beside = { ArrowRight: at + rtl, ArrowLeft: at - rtl, Home: 0, End: all.length - 1 }[event.key];
    let next = beside === undefined ? null : all[(beside + all.length) % all.length];
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const down = event.key === "ArrowDown";
      const line = all.filter((button) =>
        down ? button.offsetTop > all[at].offsetTop : button.offsetTop < all[at].offsetTop,
      );
      const near = (button) =>
        Math.abs(button.offsetTop - all[at].offsetTop) * 100 +
        Math.abs(button.getBoundingClientRect().left - here.left);
      next = line.sort((one, other) => near(one) - near(other))[0] ?? (down ? null : box.current);
    }
    if (!next && !event.key.startsWith("Arrow")) return;
    event.preventDefault();
    next?.focus();
  };
  const cell = (emoji) =>
    html`<button type="button" key=${emoji} class="emoji" onClick=${() => onPick(emoji)}>${emoji}</button>`;
  return html`<${Popup} anchor=${anchor} onClose=${onClose} className="emoji-picker" role="dialog" aria-label=${t("Emoji")} onKeyDown=${onKeyDown}>
    <div ref=${self}>
      <input ref=${box} type="search" class="input" aria-label=${t("Search emoji")} placeholder=${t("Search emoji")} autocomplete="off" value=${query}
        onFocus=${load} onInput=${(event) => setQuery(event.target.value)} />
      <p class=${found?.length === 0 ? "side-note muted" : "visually-hidden"} role="status">${found && (found.length ? tn("{n} emoji found", "{n} emoji found", found.length) : t("No emoji found"))}</p>
      ${
        found
          ? html`<div class="emoji-row">${found.map(cell)}</div>`
          : html`<div class="emoji-row quick">${QUICK.split(" ").map(cell)}</div>
      ${MORE.map((line) => html`<div class="emoji-row">${line.split(" ").map(cell)}</div>`)}`
      }
    </div><//>`;
}
