// The top of a conversation: who it is with, and what can be done.
import { invite } from "../calls/invite.js";
import { parley } from "../client.js";
import { html, useEffect, useState } from "../lib/html.js";
import { ago, t } from "../lib/i18n.js";
import { failed, notice } from "../lib/notices.js";
import { NOTHING, useStore } from "../lib/store.js";
import { load } from "../load.js";
import { navigate } from "../router.js";
import { muted, setMuted } from "../state/muted.js";
import { store } from "../state/store.js";
import { deleteChat } from "../state/thread.js";
import { Avatar } from "../ui/avatar.js";
import { confirm } from "../ui/dialog.js";
import { Icon } from "../ui/icon.js";
import { Menu } from "../ui/menu.js";
import { block, unblock } from "./blocked.js";

function Presence({ id, user, isBlocked }) {
  const typing = useStore(store.typing(id), (ids) => ids.length > 0);
  // Across a block neither user is told whether the other is online; what was known is not shown.
  const presence = useStore(isBlocked ? NOTHING : store.presence(user.id));
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 60_000);
    return () => clearInterval(timer);
  }, []);
  if (typing) return html`<p class="presence typing">${t("typing…")}</p>`;
  if (presence?.online) return html`<p class="presence online">${t("online")}</p>`;
  if (presence?.last_seen_at) {
    const at = new Date(presence.last_seen_at).getTime();
    const isNow = parley.now() - at < 60_000;
    const text = isNow ? t("last seen just now") : t("last seen {when}", { when: ago(at, parley.now()) });
    return html`<p class="presence">${text}</p>`;
  }
  return html`<p class="presence"><bdi dir="ltr">@${user.username}</bdi></p>`;
}

// `newest` is the newest message of the other person that is loaded.
export function Header({ id, row, name, blockedByMe, newest, searching, searchButton, onSearch, onReport }) {
  const isMuted = useStore(muted, (state) => state.ids.includes(id));
  const user = row.other_user;
  const call = (media) => invite({ conversation_id: id, media });
  const clearAfterQuestion = async () => {
    const text = t("This removes all messages for you. {name} will still have them. This cannot be undone.", { name });
    if (await confirm({ title: t("Clear this chat?"), text, action: t("Clear chat"), danger: true })) {
      await store
        .messages(id)
        .clear()
        .then(() => notice(t("Chat cleared")), failed);
    }
  };
  const deleteAfterQuestion = async () => {
    const text = t(
      "It leaves your list with all its messages. {name} will still have them, and your next message to each other brings it back. This cannot be undone.",
      { name },
    );
    if (!(await confirm({ title: t("Delete this chat?"), text, action: t("Delete chat"), danger: true }))) return;
    try {
      await deleteChat(id);
      navigate("/app/chats");
      notice(t("Chat deleted"));
    } catch (error) {
      failed(error);
    }
  };
  const blockAfterQuestion = async () => {
    const text = t("You can't message or call each other until you unblock {name}.", { name });
    if (await confirm({ title: t("Block {name}?", { name }), text, action: t("Block"), danger: true }))
      await block(user).catch(failed);
  };
  const mute = {
    label: isMuted ? t("Unmute") : t("Mute"),
    icon: isMuted ? "bell" : "mute",
    act: () => setMuted(id, !isMuted),
  };
  const blocking = blockedByMe
    ? { label: t("Unblock"), icon: "block", act: () => unblock(user).catch(failed) }
    : { label: t("Block"), icon: "block", danger: true, act: blockAfterQuestion };
  // A report is about a message; here it is the newest one of theirs.
  const report = newest && { label: t("Report"), icon: "flag", act: () => onReport(newest) };
  const [Profile, setProfile] = useState(null);
  const showProfile = () => load("chat/profile.js").then((module) => setProfile(() => module.default), failed);
  return html`<header class="conversation-head">
    <a class="icon-button back" href="/app/chats" aria-label=${t("Back to the chats")}><${Icon} name="back" /></a>
    <${Avatar} user=${user} size="small" />
    <div class="conversation-who"><h1 tabindex="-1" dir="auto"><button type="button" aria-haspopup="dialog" onClick=${showProfile}>${name}</button></h1><${Presence} id=${id} user=${user} isBlocked=${row.is_blocked} /></div>
    <button ref=${searchButton} type="button" class="icon-button" aria-label=${t("Search in conversation")} aria-expanded=${searching ? "true" : "false"} onClick=${onSearch}><${Icon} name="search" /></button>
    <button type="button" class="icon-button" aria-label=${t("Voice call")} disabled=${row.is_blocked} onClick=${() => call("audio")}><${Icon} name="phone" /></button>
    <button type="button" class="icon-button" aria-label=${t("Video call")} disabled=${row.is_blocked} onClick=${() => call("video")}><${Icon} name="camera" /></button>
    <${Menu} label=${t("Conversation actions")} items=${[mute, { label: t("Clear chat"), icon: "clear", act: clearAfterQuestion }, { label: t("Delete chat"), icon: "trash", danger: true, act: deleteAfterQuestion }, blocking]} />
  </header>
  ${Profile && html`<${Profile} id=${id} user=${user} isShown=${!row.is_blocked} actions=${[mute, blocking, report].filter(Boolean)} onClose=${() => setProfile(null)} />`}`;
}
