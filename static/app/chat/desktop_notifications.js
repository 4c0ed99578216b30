// Notifications of the browser while no tab of the client is in sight.
import { parley } from "../client.js";
import { html, useEffect, useState } from "../html.js";
import { t } from "../i18n.js";
import { navigate } from "../router.js";
import { chats, fetchChat } from "../state/chats.js";
import { app } from "../store.js";
import { Icon } from "../ui/icon.js";
import { nameOf } from "../ui/avatar.js";
import { previewText } from "./preview.js";
import { muted } from "./muted.js";

const ASKED = "parley.notifications.asked";
const LOCK = "parley.visible";
let release = null;

// Every visible tab holds a shared lock, so that hidden tabs know that one is visible.
function holdWhileVisible() {
  if (!navigator.locks) return;
  if (document.visibilityState === "visible" && !release) {
    navigator.locks.request(LOCK, { mode: "shared" }, () => new Promise((resolve) => {
      release = resolve;
    }));
  } else if (document.visibilityState !== "visible" && release) {
    release();
    release = null;
  }
}

async function isWatched() {
  if (document.visibilityState === "visible") return true;
  const { held } = (await navigator.locks?.query()) ?? { held: [] };
  return held.some(({ name }) => name === LOCK);
}

async function show({ conversation_id: id, message }) {
  if (message.sender_id === parley.session.userId || muted.get().ids.includes(id)) return;
  if (globalThis.Notification?.permission !== "granted" || (await isWatched())) return;
  const row = chats.get().byId[id] ?? (await fetchChat(id));
  // Of several tabs the same tag makes one notification.
  const shown = new Notification(nameOf(row.other_user), { body: previewText(message), tag: `parley-${id}`, renotify: true });
  shown.onclick = () => {
    window.focus();
    navigate(`/app/chats/${id}`);
    shown.close();
  };
}

export function listen() {
  holdWhileVisible();
  document.addEventListener("visibilitychange", holdWhileVisible);
  parley.on("message.new", (data) => show(data).catch(() => {}));
}

// Asks once, in words, before the browser asks.
export function Hint() {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const can = globalThis.Notification?.permission === "default" && !localStorage.getItem(ASKED);
    if (!can || !app.get().user) return undefined;
    const timer = setTimeout(() => setOpen(true), 20_000);
    return () => clearTimeout(timer);
  }, []);
  if (!open) return null;
  const answer = (yes) => {
    localStorage.setItem(ASKED, "1");
    setOpen(false);
    if (yes) Notification.requestPermission();
  };
  return html`<aside class="notify-hint" aria-label=${t("Browser notifications")}><${Icon} name="bell" />
    <p>${t("Show notifications for new messages while this window is in the background?")}</p>
    <button type="button" class="text-button" onClick=${() => answer(true)}>${t("Turn on")}</button>
    <button type="button" class="text-button" onClick=${() => answer(false)}>${t("Not now")}</button></aside>`;
}
