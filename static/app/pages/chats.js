// The page of the conversations: the list, and the one that is open. On a phone one of the two.

import { Conversation } from "../chat/conversation.js";
import { Hint } from "../chat/desktop_notifications.js";
import { useShortcuts } from "../chat/shortcuts.js";
import { Sidebar } from "../chat/sidebar.js";
import { html, useEffect, useRef } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { failed } from "../lib/notices.js";
import { useTitle } from "../lib/title.js";
import { navigate, usePlace } from "../router.js";
import { store } from "../state/store.js";
import { Icon } from "../ui/icon.js";
import { Loading } from "../ui/loading.js";
import { FirstRun, useFirstRun } from "./first_run.js";

function Empty() {
  useTitle(t("Chats"));
  return html`<section class="conversation empty"><${Icon} name="chats" size=${48} /><p class="muted">${t("Choose a conversation, or search for a person.")}</p></section>`;
}

function Starting({ person }) {
  useEffect(() => {
    // The reader may go elsewhere before the answer is here.
    let wanted = true;
    // Nobody has the largest number.
    store.conversations.start(Math.min(Number(person) || Infinity, Number.MAX_SAFE_INTEGER)).then(
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
  return html`<section class="conversation empty"><${Loading} /></section>`;
}

export default function Chats({ params }) {
  // No conversation has the number -1.
  const id = params.id ? Number(params.id) || -1 : null;
  // A failure stands in the state.
  useEffect(() => void store.conversations.load().catch(() => {}), []);
  // On a phone the list takes the place of the conversation: the focus goes to where it was opened.
  const before = useRef(id);
  useEffect(() => {
    const left = before.current;
    before.current = id;
    if (!left || id || document.activeElement !== document.body) return;
    (document.getElementById(`chat-${left}`) ?? document.querySelector(".side h1")).focus();
  }, [id]);
  // A link to a message that was found.
  const asked = new URLSearchParams(usePlace().search);
  const hit = Number(asked.get("message")) || null;
  const page = useRef(null);
  useShortcuts(page);
  const isFirst = useFirstRun();
  return html`<main ref=${page} class=${`chats ${id || params.person ? "with-conversation" : ""}`}>
    <${Sidebar} id=${id} isHit=${hit !== null} />
    ${params.person ? html`<${Starting} person=${params.person} />` : id ? html`<${Conversation} key=${id} id=${id} hit=${hit} hitText=${asked.get("text") ?? ""} />` : isFirst ? html`<${FirstRun} />` : html`<${Empty} />`}
    ${!isFirst && html`<${Hint} />`}
  </main>`;
}
