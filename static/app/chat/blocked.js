// In place of the text box while one of the two has blocked the other.
import { parley } from "../client.js";
import { html, useEffect, useRef, useState } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { failed, notice } from "../lib/notices.js";
import { loadBlocks } from "../state/blocks.js";
import { store } from "../state/store.js";
import { useNoticesAbove } from "../ui/above.js";
import { nameOf } from "../ui/avatar.js";
import { onReturn } from "../ui/focus.js";

// The conversation with that user, read anew.
function refresh(user) {
  const { byId } = store.conversations.getSnapshot();
  return store.conversations.refreshOne(Object.values(byId).find((row) => row.other_user.id === user.id).id);
}

export async function block(user) {
  await parley.profile.blocksAdd({ user_id: user.id });
  await refresh(user);
  notice(t("{name} is blocked.", { name: nameOf(user) }), { label: t("Undo"), act: () => unblock(user).catch(failed) });
}

export async function unblock(user) {
  await parley.profile.blocksRemove({ user_id: user.id });
  await refresh(user);
}

// Whether this user has blocked the other; null until known. The server tells no one that they have been blocked.
export function useBlockedByMe({ other_user: user, is_blocked: isBlocked }) {
  const [mine, setMine] = useState(null);
  useEffect(() => {
    setMine(null);
    if (!isBlocked) return undefined;
    const load = () =>
      loadBlocks().then(
        (blocks) => setMine(blocks.some((entry) => entry.user_id === user.id)),
        () => setMine(false),
      );
    load();
    return parley.on("block.changed", load);
  }, [user.id, isBlocked]);
  return mine;
}

export function Blocked({ user, mine }) {
  const self = useRef(null);
  useNoticesAbove(self);
  // There is no event when the other one unblocks.
  useEffect(() => onReturn(() => refresh(user).catch(() => {})), [user.id]);
  return html`<div ref=${self} class="blocked-bar"><span>${mine ? t("You have blocked {name}.", { name: nameOf(user) }) : t("You can't message this person.")}</span>
    ${mine && html`<button type="button" class="button" onClick=${() => unblock(user).catch(failed)}>${t("Unblock")}</button>`}</div>`;
}
