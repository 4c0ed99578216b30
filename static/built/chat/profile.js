import { t, html, Icon, d, A, failed, parley, Loading, load } from '../first.js';
import { Dialog, Avatar, nameOf, altOf } from '../pages/chats.js';

// The other person's picture, name and text about themselves, the pictures of the conversation, and what can be done.

const MOST_PICTURES = 9;
const PAGE = 100;
// A conversation with few pictures is not read to its beginning.
const MOST_PAGES = 3;

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

// The messages with a picture, the newest first.
async function newestPictures(id, signal) {
  const found = [];
  let before;
  for (let pages = 0; pages < MOST_PAGES && found.length < MOST_PICTURES; pages += 1) {
    const query = { conversation_id: id, limit: PAGE, ...(before ? { before } : {}) };
    const { messages, has_more: hasMore } = await parley.messages.list(query, { signal });
    found.push(...messages.filter((message) => message.kind === "image" && message.media));
    if (!hasMore) break;
    before = messages.at(-1).id;
  }
  return found.slice(0, MOST_PICTURES);
}

function Pictures({ id, names }) {
  const [pictures, setPictures] = d([]);
  const [viewing, setViewing] = d(null);
  A(() => {
    const abort = new AbortController();
    newestPictures(id, abort.signal).then(setPictures, (error) => error.code !== "aborted" && failed(error));
    return () => abort.abort();
  }, [id]);
  A(
    () =>
      parley.on("message.deleted", ({ message_id: gone }) =>
        setPictures((old) => old.filter((message) => message.id !== gone)),
      ),
    [],
  );
  const view = (message) =>
    load("chat/viewer.js").then((module) => setViewing({ Viewer: module.default, first: message.id }), failed);
  if (!pictures.length) return null;
  return html`<h3>${t("Pictures")}</h3>
    <ul class="profile-pictures" aria-label=${t("Pictures")}>${pictures.map(
      (
        message,
      ) => html`<li key=${message.id}><button type="button" aria-label=${t("Open the image")} onClick=${() => view(message)}>
      <img src=${parley.mediaUrl(message.media.thumb_url)} alt=${altOf(message, names(message.sender_id))} loading="lazy" /></button></li>`,
    )}</ul>
    ${viewing && html`<${viewing.Viewer} pictures=${[...pictures].reverse()} first=${viewing.first} names=${names} onClose=${() => setViewing(null)} />`}`;
}

// `isShown` is false while a block hides what they say. `actions`: [{label, icon, danger, act}], as in a menu; the dialog closes before one begins.
function Profile({ id, user, isShown, actions, onClose }) {
  const choose = (action) => {
    onClose();
    action.act();
  };
  const names = (userId) => (userId === user.id ? nameOf(user) : t("You"));
  return html`<${Dialog} title=${t("Profile")} className="profile" onClose=${onClose}>
    <div class="profile-who"><${Avatar} user=${user} size="large" />
      <p class="profile-name" dir="auto">${nameOf(user)}</p>
      <p class="muted"><bdi dir="ltr">@${user.username}</bdi></p></div>
    ${isShown && html`<${About} user=${user} />`}
    <${Pictures} id=${id} names=${names} />
    <div class="profile-actions">${actions.map(
      (
        action,
      ) => html`<button key=${action.label} type="button" class=${`button ${action.danger ? "danger-text" : ""}`} onClick=${() => choose(action)}>
        <${Icon} name=${action.icon} size=${20} />${action.label}</button>`,
    )}</div><//>`;
}

export { Profile as default };
