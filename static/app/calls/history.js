// Past calls, newest first, each with a way to call again.
import { forThisUser, parley } from "../client.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { dateTime, duration, t } from "../i18n.js";
import { app, useStore } from "../store.js";
import { useTitle } from "../title.js";
import { Avatar, nameOf } from "../ui/avatar.js";
import { Icon } from "../ui/icon.js";
import { errorText } from "../ui/notices.js";
import { invite } from "./invite.js";
import { peerOf, remember } from "./state.js";
import { mediaText } from "./texts.js";

const PAGE = 30;

export default function History() {
  useTitle(t("Calls"));
  const userId = useStore(app, (state) => state.user?.id);
  const [calls, setCalls] = useState(null);
  const shown = useRef(null);
  const [hasMore, setHasMore] = useState(false);
  const [people, setPeople] = useState({});
  const [problem, setProblem] = useState(null);

  async function load(before) {
    try {
      const [reply, talks] = await Promise.all([
        parley.calls.list({ limit: PAGE, ...(before && { before }) }),
        before ? { conversations: [] } : forThisUser(parley.messages.listConversations({ limit: 100 })),
      ]);
      remember(talks.conversations);
      const ids = [...new Set(reply.calls.map((call) => call.conversation_id))];
      const found = await Promise.all(ids.map(async (id) => [id, await peerOf(id).catch(() => null)]));
      setPeople((old) => ({ ...old, ...Object.fromEntries(found) }));
      // Asked for twice, or loaded anew meanwhile: what does not join on is left out.
      if (before && shown.current.at(-1).id !== before) return;
      // A new first page takes nothing away from the earlier ones that it joins on to.
      const known = shown.current ?? [];
      const at = before ? -1 : known.findIndex(({ id }) => id === reply.calls.at(-1)?.id);
      const earlier = at < 0 ? [] : known.slice(at + 1);
      shown.current = before ? [...known, ...reply.calls] : [...reply.calls, ...earlier];
      setCalls(shown.current);
      if (earlier.length === 0) setHasMore(reply.has_more);
      setProblem(null);
    } catch (error) {
      setProblem(error);
    }
  }
  useEffect(() => {
    load();
    return parley.on("call.updated", ({ call }) => call?.state === "ended" && load());
  }, []);

  return html`<main class="page calls"><h1 tabindex="-1">${t("Calls")}</h1>
    ${problem && html`<p class="danger-text">${errorText(problem)} <button type="button" class="text-button" onClick=${() => load()}>${t("Try again")}</button></p>`}
    ${!calls && !problem && html`<div class="spinner" role="progressbar" aria-label=${t("Loading")}></div>`}
    ${calls?.length === 0 && html`<p class="muted">${t("No calls yet. Open a conversation to call someone.")}</p>`}
    ${calls?.length > 0 && html`<ul class="rows card" aria-label=${t("Calls")}>${calls.filter((call) => people[call.conversation_id])
      .map((call) => html`<${Row} key=${call.id} call=${call} peer=${people[call.conversation_id]} mine=${call.caller_id === userId} />`)}</ul>`}
    ${hasMore && html`<button class="button" onClick=${() => load(calls.at(-1).id)}>${t("Earlier calls")}</button>`}
  </main>`;
}

function Row({ call, peer, mine }) {
  const missed = !mine && ["missed", "canceled", "busy"].includes(call.outcome);
  const name = nameOf(peer);
  const ring = (media) => () => invite({ conversation_id: call.conversation_id, media });
  return html`<li class=${missed ? "missed" : ""}>
    <${Avatar} user=${peer} size="small" />
    <span class="row-text"><a href=${`/app/chats/${call.conversation_id}`} dir="auto"><strong>${name}</strong></a>
      <span class="hint">${outcomeText(call, mine)} · <time datetime=${call.created_at}>${dateTime(call.created_at)}</time></span></span>
    <button class="icon-button" aria-label=${t("Voice call with {name}", { name })} onClick=${ring("audio")}><${Icon} name="phone" /></button>
    <button class="icon-button" aria-label=${t("Video call with {name}", { name })} onClick=${ring("video")}><${Icon} name="camera" /></button>
  </li>`;
}

function outcomeText(call, mine) {
  const kind = mediaText(call.media);
  if (call.state !== "ended") return t("{kind}, in progress", { kind });
  if (call.outcome === "completed") {
    const values = { kind, time: duration(call.duration_s || 0) };
    return mine ? t("{kind}, outgoing, {time}", values) : t("{kind}, incoming, {time}", values);
  }
  const reasons = {
    missed: () => (mine ? t("{kind}, no answer", { kind }) : t("{kind}, missed", { kind })),
    canceled: () => (mine ? t("{kind}, canceled", { kind }) : t("{kind}, missed", { kind })),
    declined: () => t("{kind}, declined", { kind }),
    busy: () => (mine ? t("{kind}, busy", { kind }) : t("{kind}, missed", { kind })),
    failed: () => t("{kind}, could not be connected", { kind }),
    lost: () => t("{kind}, connection lost", { kind }),
  };
  return reasons[call.outcome]?.() || kind;
}
