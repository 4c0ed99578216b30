import { parley } from "../../client.js";
import { html, useEffect, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { failed, notice } from "../../lib/notices.js";
import { loadBlocks } from "../../state/blocks.js";
import { Avatar, nameOf } from "../../ui/avatar.js";
import { focusAfter } from "../../ui/focus.js";

export function Blocked() {
  const [blocks, setBlocks] = useState(null);
  const load = () => loadBlocks().then(setBlocks, failed);
  useEffect(() => {
    load();
    return parley.on("block.changed", load);
  }, []);
  async function unblock({ user_id, user }, button) {
    const moveFocus = focusAfter(button);
    try {
      await parley.profile.blocksRemove({ user_id });
      moveFocus();
      setBlocks((old) => old.filter((other) => other.user_id !== user_id));
      notice(t("{name} is no longer blocked.", { name: nameOf(user) }));
    } catch (error) {
      failed(error);
    }
  }
  if (!blocks) return null;
  if (!blocks.length) return html`<p class="hint">${t("You have not blocked anyone.")}</p>`;
  return html`<ul class="rows">${blocks.map(
    (block) => html`<li key=${block.user_id}>
    <${Avatar} user=${block.user} size="small" />
    <span class="row-text"><strong dir="auto">${nameOf(block.user)}</strong><span class="hint" dir="ltr">@${block.user.username}</span></span>
    <button class="button" aria-label=${t("Unblock {name}", { name: nameOf(block.user) })}
      onClick=${({ currentTarget }) => unblock(block, currentTarget)}>${t("Unblock")}</button>
  </li>`,
  )}</ul>`;
}
