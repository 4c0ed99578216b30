// The other person's picture, name and text about themselves, and what can be done.
import { parley } from "../client.js";
import { html, useEffect, useState } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { Avatar, nameOf } from "../ui/avatar.js";
import { Dialog } from "../ui/dialog.js";
import { Icon } from "../ui/icon.js";
import { Loading } from "../ui/loading.js";

// The text is theirs, so it has its own direction.
function About({ user }) {
  const [bio, setBio] = useState(undefined);
  useEffect(() => {
    parley.messages.getUser({ user_id: user.id }).then(
      (reply) => setBio(reply.user.bio),
      () => setBio(null),
    );
  }, [user.id]);
  if (bio === undefined) return html`<${Loading} />`;
  return bio && html`<h3>${t("About")}</h3><p class="bio" dir="auto">${bio}</p>`;
}

// `isShown` is false while a block hides what they say. `actions`: [{label, icon, danger, act}], as in a menu; the dialog closes before one begins.
export default function Profile({ user, isShown, actions, onClose }) {
  const choose = (action) => {
    onClose();
    action.act();
  };
  return html`<${Dialog} title=${t("Profile")} className="profile" onClose=${onClose}>
    <div class="profile-who"><${Avatar} user=${user} size="large" />
      <p class="profile-name" dir="auto">${nameOf(user)}</p>
      <p class="muted"><bdi dir="ltr">@${user.username}</bdi></p></div>
    ${isShown && html`<${About} user=${user} />`}
    <div class="profile-actions">${actions.map(
      (
        action,
      ) => html`<button key=${action.label} type="button" class=${`button ${action.danger ? "danger-text" : ""}`} onClick=${() => choose(action)}>
        <${Icon} name=${action.icon} size=${20} />${action.label}</button>`,
    )}</div><//>`;
}
