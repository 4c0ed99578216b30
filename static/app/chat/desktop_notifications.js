// Notifications of the browser while no tab of the client is in sight.

import { parley } from "../client.js";
import { html, useEffect, useState } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { isKeeping, stored } from "../lib/stored.js";
import { navigate } from "../router.js";
import { app } from "../state/app.js";
import { peerOf } from "../state/calls.js";
import { muted } from "../state/muted.js";
import { store } from "../state/store.js";
import { nameOf } from "../ui/avatar.js";
import { Icon } from "../ui/icon.js";
import { previewText } from "./preview.js";

const ASKED = "parley.notifications.asked";
const OFF = "parley.notifications.off";
// Chrome for Android has a Notification that no page can construct; it says so only then.
const UNUSABLE = "parley.notifications.unusable";
const LOCK = "parley.visible";
let release = null;

// Every visible tab holds a shared lock, so that hidden tabs know that one is visible.
function holdWhileVisible() {
  if (!navigator.locks || !isKeeping) return;
  if (document.visibilityState === "visible" && !release) {
    navigator.locks
      .request(
        LOCK,
        { mode: "shared" },
        () =>
          new Promise((resolve) => {
            release = resolve;
          }),
      )
      .catch(() => {});
  } else if (document.visibilityState !== "visible" && release) {
    release();
    release = null;
  }
}

async function isWatched() {
  if (document.visibilityState === "visible") return true;
  try {
    const { held } = await navigator.locks.query();
    return held.some(({ name }) => name === LOCK);
  } catch {
    return false;
  }
}

// "on", "off", "denied" by the browser, or "unsupported".
export function notificationState() {
  if (typeof globalThis.Notification !== "function" || stored.getItem(UNUSABLE)) return "unsupported";
  if (Notification.permission === "denied") return "denied";
  return Notification.permission === "granted" && !stored.getItem(OFF) ? "on" : "off";
}

// Asks the browser where it is not allowed yet, and shows one. Resolves to the state.
export async function turnNotificationsOn() {
  stored.removeItem(OFF);
  stored.setItem(ASKED, "1");
  if (Notification.permission !== "granted") await Notification.requestPermission();
  if (notificationState() === "on")
    construct(t("Notifications are on"), { tag: "parley-on" }, "/app/settings/notifications");
  return notificationState();
}

export function turnNotificationsOff() {
  stored.setItem(OFF, "1");
}

// Null where the browser cannot show it.
function construct(title, options, path) {
  let shown;
  try {
    shown = new Notification(title, options);
  } catch {
    stored.setItem(UNUSABLE, "1");
    return null;
  }
  shown.onclick = () => {
    window.focus();
    if (path) navigate(path);
    shown.close();
  };
  return shown;
}

// A ring in a window that is not in sight: until it is answered or has ended.
async function showRing(call) {
  const isRinging = () => call.isLive && ["ringing", "starting"].includes(call.state);
  if (call.direction !== "incoming" || notificationState() !== "on" || (await isWatched())) return;
  const peer = await peerOf(call.conversation_id).catch(() => null);
  if (!isRinging()) return;
  const body = call.media === "video" ? t("Incoming video call") : t("Incoming voice call");
  // The page rings itself.
  const shown = construct(peer ? nameOf(peer) : t("Incoming call"), {
    body,
    tag: `parley-call-${call.id}`,
    renotify: true,
    requireInteraction: true,
    silent: true,
  });
  const check = () => isRinging() || shown?.close();
  call.on("change", check);
  call.on("ended", check);
}

async function show({ conversation_id: id, message }) {
  if (message.sender_id === parley.session.userId || muted.getSnapshot().ids.includes(id)) return;
  if (notificationState() !== "on" || (await isWatched())) return;
  const row = await store.conversations.loadOne(id);
  // Of several tabs the same tag makes one notification.
  construct(
    nameOf(row.other_user),
    { body: previewText(message), tag: `parley-${id}`, renotify: true },
    `/app/chats/${id}`,
  );
}

export function listen() {
  holdWhileVisible();
  document.addEventListener("visibilitychange", holdWhileVisible);
  parley.on("message.new", (data) => show(data).catch(() => {}));
  parley.on("call", ({ call }) => showRing(call).catch(() => {}));
}

// Asks once, in words, before the browser asks.
export function Hint() {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const can =
      globalThis.Notification?.permission === "default" && notificationState() === "off" && !stored.getItem(ASKED);
    if (!can || !app.getSnapshot().user) return undefined;
    const timer = setTimeout(() => setOpen(true), 20_000);
    return () => clearTimeout(timer);
  }, []);
  if (!open) return null;
  const answer = (yes) => {
    stored.setItem(ASKED, "1");
    setOpen(false);
    if (yes) turnNotificationsOn().catch(() => {});
  };
  return html`<aside class="notify-hint" aria-label=${t("Browser notifications")}><${Icon} name="bell" />
    <p>${t("Show notifications for new messages while this window is in the background?")}</p>
    <button type="button" class="text-button" onClick=${() => answer(true)}>${t("Turn on")}</button>
    <button type="button" class="text-button" onClick=${() => answer(false)}>${t("Not now")}</button></aside>`;
}
