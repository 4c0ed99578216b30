// The top of a conversation: who it is with, and what can be done.
import { invite } from "../calls/invite.js";
import { parley } from "../client.js";
import { html, useEffect, useState } from "../html.js";
import { ago, t } from "../i18n.js";
import { chats } from "../state/chats.js";
import { clear } from "../state/thread.js";
import { useStore } from "../store.js";
import { Avatar } from "../ui/avatar.js";
import { confirm } from "../ui/dialog.js";
import { Icon } from "../ui/icon.js";
import { Menu } from "../ui/menu.js";
import { failed, notice } from "../ui/notices.js";
import { block, unblock } from "./blocked.js";
import { muted, setMuted } from "./muted.js";

function Presence({ id, user, isBlocked }) {
  const typing = useStore(chats, (state) => state.typing[id]);
  const presence = useStore(chats, (state) => !isBlocked && state.presence[user.id]);
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 60_000);
    return () => clearInterval(timer);
  }, []);
  if (typing) return html`<p class="presence typing">${t("typing…")}</p>`;
  if (presence?.online) return html`<p class="presence online">${t("online")}</p>`;
  if (presence?.last_seen_at) return html`<p class="presence">${t("last seen {when}", { when: ago(presence.last_seen_at, parley.now()) })}</p>`;
  return html`<p class="presence"><bdi dir="ltr">@${user.username}</bdi></p>`;
}

export function Header({ id, row, name, blockedByMe, searching, searchButton, onSearch }) {
  const isMuted = useStore(muted, (state) => state.ids.includes(id));
  const user = row.other_user;
  const call = (media) => invite({ conversation_id: id, media });
  const clearAfterQuestion = async () => {
    const text = t("All messages are removed for you only; {name} keeps them. This cannot be undone.", { name });
    if (await confirm({ title: t("Clear this conversation?"), text, action: t("Clear"), danger: true })) {
      await clear(id).then(() => notice(t("Cleared for you")), failed);
    }
  };
  const blockAfterQuestion = async () => {
    const text = t("You cannot write to or call each other until you unblock {name}.", { name });
    if (await confirm({ title: t("Block {name}?", { name }), text, action: t("Block"), danger: true })) await block(user).catch(failed);
  };
  const items = [
    { label: isMuted ? t("Unmute") : t("Mute"), icon: isMuted ? "bell" : "mute", act: () => setMuted(id, !isMuted) },
    { label: t("Clear"), icon: "trash", act: clearAfterQuestion },
    blockedByMe
      ? { label: t("Unblock"), icon: "block", act: () => unblock(user).catch(failed) }
      : { label: t("Block"), icon: "block", danger: true, act: blockAfterQuestion },
  ];
  return html`<header class="conversation-head">
    <a class="icon-button back" href="/app/chats" aria-label=${t("Back to the chats")}><${Icon} name="back" /></a>
    <${Avatar} user=${user} size="small" />
    <div class="conversation-who"><h1 tabindex="-1" dir="auto">${name}</h1><${Presence} id=${id} user=${user} isBlocked=${row.is_blocked} /></div>
    <button ref=${searchButton} type="button" class="icon-button" aria-label=${t("Search in conversation")} aria-expanded=${searching ? "true" : "false"} onClick=${onSearch}><${Icon} name="search" /></button>
    <button type="button" class="icon-button" aria-label=${t("Voice call")} disabled=${row.is_blocked} onClick=${() => call("audio")}><${Icon} name="phone" /></button>
    <button type="button" class="icon-button" aria-label=${t("Video call")} disabled=${row.is_blocked} onClick=${() => call("video")}><${Icon} name="camera" /></button>
    <${Menu} label=${t("Conversation actions")} items=${items} />
  </header>`;
}
