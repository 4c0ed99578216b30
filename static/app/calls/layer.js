// Calls on every page: the ring, the call itself, and why it ended.
import { html, useEffect, useLayoutEffect, useRef } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { failed, notice } from "../lib/notices.js";
import { useRingTitle } from "../lib/title.js";
import { dismiss, useCall, usePeer } from "../state/calls.js";
import { Avatar, nameOf } from "../ui/avatar.js";
import { focusIfLost } from "../ui/focus.js";
import { Icon } from "../ui/icon.js";
import { Notices } from "../ui/notices.js";
import { invite } from "./invite.js";
import { ring } from "./sound.js";
import { endText, mediaText, problemText } from "./texts.js";
import { CallWindow } from "./window.js";

// How long the reason of the end stays, with a button to call again and without.
const END_MS = 12_000;
const SHORT_END_MS = 5_000;

// `path`: the page that is shown. The reason of the end goes with it.
export default function Layer({ path }) {
  const call = useCall();
  const peer = usePeer(call?.conversation_id);
  const rings = call?.direction === "incoming" && (call.state === "ringing" || call.state === "starting");
  const ended = call?.state === "ended";
  return html`
    ${rings && html`<${Ring} key=${`ring-${call.id}`} call=${call} peer=${peer} />`}
    ${call && !rings && !ended && html`<${CallWindow} call=${call} peer=${peer} />`}
    <div class="call-end-place">${ended && html`<${End} key=${call.id} call=${call} peer=${peer} path=${path} />`}</div>`;
}

function Ring({ call, peer }) {
  const dialog = useRef(null);
  const heading = useRef(null);
  const open = () => {
    dialog.current.showModal();
    heading.current.focus();
  };
  // Closes before the window of the call opens, which remembers where the focus is.
  useLayoutEffect(() => {
    const before = /** @type {HTMLElement} */ (document.activeElement);
    const element = dialog.current;
    open();
    const stop = ring();
    return () => {
      stop();
      element.close();
      before?.focus?.({ preventScroll: true });
    };
  }, []);
  const answer = (camera) =>
    Promise.resolve(call.accept({ camera })).catch((error) => notice(problemText(error), { kind: "danger" }));
  const decline = () => Promise.resolve(call.decline()).catch(failed);
  const name = peer ? nameOf(peer) : t("Incoming call");
  const video = call.media === "video";
  useRingTitle(peer ? t("{name} is calling", { name }) : name);
  return html`<dialog ref=${dialog} class="ring" role="alertdialog" aria-labelledby="ring-name" aria-describedby="ring-kind"
      onKeyDown=${(event) => event.key === "Escape" && event.preventDefault()}
      onCancel=${(event) => event.preventDefault()} onClose=${() => dialog.current && open()}>
    <div class="ring-avatar">${peer && html`<${Avatar} user=${peer} size="large" />`}</div>
    <h2 id="ring-name" ref=${heading} tabindex="-1" dir="auto">${name}</h2>
    <p id="ring-kind" class="muted">${video ? t("Incoming video call") : t("Incoming voice call")}</p>
    <div class="ring-actions">
      <button class="call-button danger" onClick=${decline}><${Icon} name="hangup" /><span>${t("Decline")}</span></button>
      <button class="call-button accept" onClick=${() => answer(video)}><${Icon} name=${video ? "camera" : "phone"} /><span>${t("Accept")}</span></button>
    </div>
    ${video && html`<button class="text-button" onClick=${() => answer(false)}>${t("Answer without camera")}</button>`}
    <${Notices} />
  </dialog>`;
}

function End({ call, peer, path }) {
  const mine = call.direction === "outgoing";
  const retry = mine ? call.outcome !== "completed" : ["missed", "canceled"].includes(call.outcome);
  useEffect(() => {
    const timer = setTimeout(dismiss, retry ? END_MS : SHORT_END_MS);
    return () => clearTimeout(timer);
  }, []);
  const begun = useRef(path);
  useEffect(() => {
    if (path !== begun.current) dismiss();
  }, [path]);
  // What had the focus before it came here; else the heading of the page.
  const before = useRef(null);
  const note = ({ relatedTarget, currentTarget }) => {
    if (relatedTarget && !currentTarget.contains(relatedTarget)) before.current = relatedTarget;
  };
  const leave = () => {
    const next = before.current?.isConnected ? before.current : document.querySelector("#content h1");
    dismiss();
    focusIfLost(next);
  };
  const again = () => invite({ conversation_id: call.conversation_id, media: call.media });
  const reason = endText({ reason: call.endReason || call.outcome, mine, seconds: call.duration, error: call.error });
  return html`<aside class="call-end" aria-label=${t("Call ended")} onFocusIn=${note}>
    <div><p class="muted small">${peer ? nameOf(peer) : mediaText(call.media)}</p><p role="status">${reason}</p></div>
    ${retry && html`<button class="button" onClick=${again}>${mine ? t("Call again") : t("Call back")}</button>`}
    <button class="icon-button" aria-label=${t("Dismiss")} onClick=${leave}><${Icon} name="close" /></button>
  </aside>`;
}
