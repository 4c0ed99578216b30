// The page of the conversations: the list, and the one that is open. On a phone one of the two.
import { html, useEffect, useRef } from "../html.js";
import { t } from "../i18n.js";
import { navigate } from "../router.js";
import { chats, loadChats, startChat } from "../state/chats.js";
import { useTitle } from "../title.js";
import { failed } from "../ui/notices.js";
import { Icon } from "../ui/icon.js";
import { Conversation } from "./conversation.js";
import { Sidebar } from "./sidebar.js";
import { Hint } from "./desktop_notifications.js";

function Empty() {
  useTitle(t("Chats"));
  return html`<section class="conversation empty"><${Icon} name="chats" size=${48} /><p class="muted">${t("Choose a conversation, or search for a person.")}</p></section>`;
}

function Starting({ person }) {
  useEffect(() => {
    // The reader may go elsewhere before the answer is here.
    let wanted = true;
    // Nobody has the largest number.
    startChat(Math.min(Number(person) || Infinity, Number.MAX_SAFE_INTEGER)).then(
      (row) => wanted && navigate(`/app/chats/${row.id}`, { replace: true }),
      (error) => {
        if (!wanted) return;
        failed(error);
        navigate("/app/chats", { replace: true });
      },
    );
    return () => {
      wanted = false;
    };
  }, [person]);
  return html`<section class="conversation empty"><div class="spinner" role="progressbar" aria-label=${t("Loading")}></div></section>`;
}

export default function Chats({ params }) {
  // No conversation has the number -1.
  const id = params.id ? Number(params.id) || -1 : null;
  useEffect(() => {
    if (!chats.get().loaded) loadChats();
  }, []);
  // On a phone the list takes the place of the conversation: the focus goes to where it was opened.
  const before = useRef(id);
  useEffect(() => {
    const left = before.current;
    before.current = id;
    if (!left || id || document.activeElement !== document.body) return;
    (document.getElementById(`chat-${left}`) ?? document.querySelector(".side h1")).focus();
  }, [id]);
  return html`<main class=${`chats ${id || params.person ? "with-conversation" : ""}`}>
    <${Sidebar} id=${id} />
    ${params.person ? html`<${Starting} person=${params.person} />` : id ? html`<${Conversation} key=${id} id=${id} />` : html`<${Empty} />`}
    <${Hint} />
  </main>`;
}
