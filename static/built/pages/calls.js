import { store, seeCalls, onReturn, isMissed, nameOf, Avatar, mediaText, invite } from './chats.js';
import { useTitle, t, useStore, app, A, Retry, html, Loading, Icon, dateTime, duration } from '../first.js';

// Past calls, newest first, each with a way to call again.


function History() {
  useTitle(t("Calls"));
  const userId = useStore(app, (state) => state.user?.id);
  const { calls, hasMore, error } = useStore(store.calls);
  const people = useStore(store.conversations, ({ byId }) => byId);
  // A failure stands in the state.
  const load = () => (calls ? store.calls.loadOlder() : store.calls.load()).catch(() => {});
  A(() => void store.calls.load().catch(() => {}), []);
  A(() => {
    seeCalls(calls);
    return onReturn(() => seeCalls(calls));
  }, [calls]);
  A(() => {
    for (const id of new Set(calls?.map((call) => call.conversation_id)))
      if (!people[id]) store.conversations.loadOne(id).catch(() => {});
  }, [calls]);

  return html`<main class="page calls"><h1 tabindex="-1">${t("Calls")}</h1>
    ${error && html`<${Retry} error=${error} onRetry=${load} />`}
    ${!calls && !error && html`<${Loading} />`}
    ${calls?.length === 0 && !error && html`<p class="muted">${t("No calls yet. Open a conversation to call someone.")}</p>`}
    ${
      calls?.length > 0 &&
      html`<ul class="rows card" aria-label=${t("Calls")}>${calls
        .filter((call) => people[call.conversation_id])
        .map(
          (call) =>
            html`<${Row} key=${call.id} call=${call} peer=${people[call.conversation_id].other_user} mine=${call.caller_id === userId} missed=${isMissed(call, userId)} />`,
        )}</ul>`
    }
    ${hasMore && html`<button class="button" onClick=${load}>${t("Earlier calls")}</button>`}
  </main>`;
}

function Row({ call, peer, mine, missed }) {
  const name = nameOf(peer);
  const ring = (media) => () => invite({ conversation_id: call.conversation_id, media });
  return html`<li class=${missed ? "missed" : ""}>
    <${Avatar} user=${peer} size="small" />
    <span class="row-text"><a href=${`/app/chats/${call.conversation_id}`} dir="auto"><strong>${name}</strong></a>
      <span class="hint"><${Icon} name=${mine ? "outgoing" : "incoming"} size=${14} /> ${outcomeText(call, mine, name)} · <time datetime=${call.created_at}>${dateTime(call.created_at)}</time></span></span>
    <button class="icon-button" aria-label=${t("Voice call with {name}", { name })} onClick=${ring("audio")}><${Icon} name="phone" /></button>
    <button class="icon-button" aria-label=${t("Video call with {name}", { name })} onClick=${ring("video")}><${Icon} name="camera" /></button>
  </li>`;
}

function outcomeText(call, mine, name) {
  const kind = mediaText(call.media);
  if (call.state !== "ended") return t("{kind}, in progress", { kind });
  if (call.outcome === "completed") {
    const values = { kind, time: duration(call.duration_s || 0) };
    return mine ? t("{kind}, outgoing, {time}", values) : t("{kind}, incoming, {time}", values);
  }
  const reasons = {
    missed: () => (mine ? t("{kind}, no answer", { kind }) : t("{kind}, missed", { kind })),
    canceled: () => (mine ? t("{kind}, canceled", { kind }) : t("{kind}, missed", { kind })),
    declined: () => (mine ? t("{kind}, declined by {name}", { kind, name }) : t("{kind}, declined by you", { kind })),
    busy: () => (mine ? t("{kind}, busy", { kind }) : t("{kind}, missed", { kind })),
    failed: () => t("{kind}, could not be connected", { kind }),
    lost: () => t("{kind}, connection lost", { kind }),
  };
  return reasons[call.outcome]?.() || kind;
}

export { History as default };
