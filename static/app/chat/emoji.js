// Emoji to choose from: as a reaction, or for the text. Arrow keys move, Enter chooses.
import { html, useEffect, useRef } from "../lib/html.js";
import { t } from "../lib/i18n.js";
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

export function EmojiPicker({ anchor, onPick, onClose }) {
  const grid = useRef(null);
  const buttons = () => [...grid.current.querySelectorAll("button")];
  useEffect(() => buttons()[0].focus({ preventScroll: true }), []);
  const onKeyDown = (event) => {
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
      next = line.sort((one, other) => near(one) - near(other))[0];
    }
    if (!next && !event.key.startsWith("Arrow")) return;
    event.preventDefault();
    next?.focus();
  };
  const cell = (emoji) =>
    html`<button type="button" key=${emoji} class="emoji" onClick=${() => onPick(emoji)}>${emoji}</button>`;
  return html`<${Popup} anchor=${anchor} onClose=${onClose} className="emoji-picker" role="dialog" aria-label=${t("Emoji")} onKeyDown=${onKeyDown}>
    <div ref=${grid}>
      <div class="emoji-row quick">${QUICK.split(" ").map(cell)}</div>
      ${MORE.map((line) => html`<div class="emoji-row">${line.split(" ").map(cell)}</div>`)}
    </div><//>`;
}
