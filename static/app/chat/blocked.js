// In place of the text box while one of the two has blocked the other.
import { parley } from "../client.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { t } from "../i18n.js";
import { loadBlocks } from "../state/blocks.js";
import { fetchChat, chats } from "../state/chats.js";
import { useNoticesAbove } from "../ui/above.js";
import { onReturn } from "../ui/focus.js";
import { failed, notice } from "../ui/notices.js";
import { nameOf } from "../ui/avatar.js";

const conversationWith = (user) => Object.values(chats.get().byId).find((row) => row.other_user.id === user.id);

export async function block(user) {
  await parley.profile.blocksAdd({ user_id: user.id });
  await fetchChat(conversationWith(user).id);
  notice(t("{name} is blocked.", { name: nameOf(user) }), { label: t("Undo"), act: () => unblock(user).catch(failed) });
}

export async function unblock(user) {
  await parley.profile.blocksRemove({ user_id: user.id });
  await fetchChat(conversationWith(user).id);
}

// Whether this user has blocked the other; null until known. The server tells no one that they have been blocked.
export function useBlockedByMe({ other_user: user, is_blocked: isBlocked }) {
  const [mine, setMine] = useState(null);
  useEffect(() => {
    setMine(null);
    if (!isBlocked) return undefined;
    const load = () => loadBlocks().then(
      (blocks) => setMine(blocks.some((entry) => entry.user_id === user.id)),
      () => setMine(false),
    );
    load();
    return parley.on("block.changed", load);
  }, [user.id, isBlocked]);
  return mine;
}

export function Blocked({ user, mine }) {
  const self = useRef();
  useNoticesAbove(self);
  // There is no event when the other one unblocks.
  useEffect(() => onReturn(() => fetchChat(conversationWith(user).id).catch(() => {})), [user.id]);
  return html`<div ref=${self} class="blocked-bar"><span>${mine ? t("You have blocked {name}.", { name: nameOf(user) }) : t("You cannot write to each other.")}</span>
    ${mine && html`<button type="button" class="button" onClick=${() => unblock(user).catch(failed)}>${t("Unblock")}</button>`}</div>`;
}
