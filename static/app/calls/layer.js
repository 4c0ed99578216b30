// Calls on every page: the ring, the call itself, and why it ended.
import { html, useEffect, useLayoutEffect, useRef } from "../html.js";
import { t } from "../i18n.js";
import { Avatar, nameOf } from "../ui/avatar.js";
import { Icon } from "../ui/icon.js";
import { Notices, failed, notice } from "../ui/notices.js";
import { invite } from "./invite.js";
import { CallWindow } from "./window.js";
import { ring } from "./sound.js";
import { dismiss, useCalls, usePeer } from "./state.js";
import { endText, mediaText, problemText } from "./texts.js";

// How long the reason of the end stays.
const END_MS = 12_000;

export default function Layer() {
  const call = useCalls();
  const peer = usePeer(call?.conversation_id);
  const rings = call?.direction === "incoming" && (call.state === "ringing" || call.state === "starting");
  const ended = call?.state === "ended";
  return html`
    ${rings && html`<${Ring} key=${`ring-${call.id}`} call=${call} peer=${peer} />`}
    ${call && !rings && !ended && html`<${CallWindow} call=${call} peer=${peer} />`}
    <div class="call-end-place">${ended && html`<${End} key=${call.id} call=${call} peer=${peer} />`}</div>`;
}

function Ring({ call, peer }) {
  const dialog = useRef();
  const heading = useRef();
  const open = () => {
    dialog.current.showModal();
    heading.current.focus();
  };
  // Closes before the window of the call opens, which remembers where the focus is.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const element = dialog.current;
    open();
    const stop = ring();
    return () => {
      stop();
      element.close();
      before?.focus?.({ preventScroll: true });
    };
  }, []);
  const answer = (camera) => Promise.resolve(call.accept({ camera })).catch((error) => notice(problemText(error), { kind: "danger" }));
  const decline = () => Promise.resolve(call.decline()).catch(failed);
  const name = peer ? nameOf(peer) : t("Incoming call");
  const video = call.media === "video";
  return html`<dialog ref=${dialog} class="ring" role="alertdialog" aria-labelledby="ring-name" aria-describedby="ring-kind"
      onKeyDown=${(event) => event.key === "Escape" && event.preventDefault()}
      onCancel=${(event) => event.preventDefault()} onClose=${() => dialog.current && open()}>
    <div class="ring-avatar">${peer && html`<${Avatar} user=${peer} size="large" />`}</div>
    <h2 id="ring-name" ref=${heading} tabindex="-1" dir="auto">${name}</h2>
    <p id="ring-kind" class="muted">${video ? t("is calling you with video") : t("is calling you")}</p>
    <div class="ring-actions">
      <button class="call-button danger" onClick=${decline}><${Icon} name="hangup" /><span>${t("Decline")}</span></button>
      <button class="call-button accept" onClick=${() => answer(video)}><${Icon} name=${video ? "camera" : "phone"} /><span>${t("Accept")}</span></button>
    </div>
    ${video && html`<button class="text-button" onClick=${() => answer(false)}>${t("Answer without camera")}</button>`}
    <${Notices} />
  </dialog>`;
}

function End({ call, peer }) {
  const mine = call.direction === "outgoing";
  useEffect(() => {
    const timer = setTimeout(dismiss, END_MS);
    return () => clearTimeout(timer);
  }, []);
  const again = () => invite({ conversation_id: call.conversation_id, media: call.media });
  const reason = endText({ reason: call.endReason || call.outcome, mine, seconds: call.duration, error: call.error });
  const retry = mine ? call.outcome !== "completed" : ["missed", "canceled"].includes(call.outcome);
  return html`<div class="call-end">
    <div><p class="muted small">${peer ? nameOf(peer) : mediaText(call.media)}</p><p role="status">${reason}</p></div>
    ${retry && html`<button class="button" onClick=${again}>${mine ? t("Call again") : t("Call back")}</button>`}
    <button class="icon-button" aria-label=${t("Dismiss")} onClick=${dismiss}><${Icon} name="close" /></button>
  </div>`;
}
