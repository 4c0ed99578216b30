import { t, html, Icon, d, A, parley, Loading } from '../first.js';
import { Dialog, Avatar, nameOf } from '../pages/chats.js';

// The other person's picture, name and text about themselves, and what can be done.

// The text is theirs, so it has its own direction.
function About({ user }) {
  const [bio, setBio] = d(undefined);
  A(() => {
    parley.messages.getUser({ user_id: user.id }).then(
      (reply) => setBio(reply.user.bio),
      () => setBio(null),
    );
  }, [user.id]);
  if (bio === undefined) return html`<${Loading} />`;
  return bio && html`<h3>${t("About")}</h3><p class="bio" dir="auto">${bio}</p>`;
}

// `isShown` is false while a block hides what they say. `actions`: [{label, icon, danger, act}], as in a menu; the dialog closes before one begins.
function Profile({ user, isShown, actions, onClose }) {
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

export { Profile as default };
