// The window of a running call: both videos, the controls, the connection quality.
import { parley } from "../client.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../lib/html.js";
import { duration, t } from "../lib/i18n.js";
import { Avatar, nameOf } from "../ui/avatar.js";
import { Icon } from "../ui/icon.js";
import { Notices } from "../ui/notices.js";
import { Controls } from "./controls.js";
import { waitTone } from "./sound.js";
import { qualityText, stateText } from "./texts.js";

export function CallWindow({ call, peer }) {
  const dialog = useRef(null);
  const before = useRef(null);
  const [small, setSmall] = useState(false);
  const [output, setOutput] = useState("");
  // Large: over the page, the focus stays inside. Small: beside the page, which can be used.
  useLayoutEffect(() => {
    const element = dialog.current;
    before.current ??= document.activeElement;
    if (element.open) element.close();
    if (small) element.show();
    else element.showModal();
    element.querySelector(".hang-up")?.focus();
  }, [small]);
  useEffect(() => {
    const element = dialog.current;
    return () => {
      // While the call is minimized, the user may have moved the focus elsewhere; then it stays there.
      const stays = document.activeElement !== document.body && !element.contains(document.activeElement);
      // What is outside takes no focus as long as the dialog is open.
      element.close();
      if (!stays) before.current?.focus?.({ preventScroll: true });
    };
  }, []);
  // All of the screen for the call; the browser's own key leaves it as well. No browser does that with a dialog itself.
  const body = useRef(null);
  const [isFull, setFull] = useState(false);
  useEffect(() => {
    const onChange = () => setFull(document.fullscreenElement === body.current);
    document.addEventListener("fullscreenchange", onChange);
    return () => document.removeEventListener("fullscreenchange", onChange);
  }, []);
  const fill = () => (isFull ? document.exitFullscreen() : body.current.requestFullscreen()).catch(() => {});
  const waits = call.direction === "outgoing" && (call.state === "starting" || call.state === "ringing");
  useEffect(() => (waits ? waitTone() : undefined), [waits]);

  const name = peer ? nameOf(peer) : "";
  const shown = Boolean(call.mediaConnected && (call.remote?.video || call.remote?.screen));
  const cancel = (event) => {
    event.preventDefault();
    setSmall(true);
  };
  return html`<dialog ref=${dialog} class=${`call ${small ? "small" : "large"} ${shown ? "with-video" : ""}`}
      aria-label=${name ? t("Call with {name}", { name }) : t("Call")} onCancel=${cancel}><div ref=${body} class="call-body">
    <header class="call-head">
      <div class="call-who"><strong><bdi>${name}</bdi></strong><${Progress} call=${call} /></div>
      ${
        call.quality &&
        html`<span class=${`quality ${call.quality}`} role="img" aria-label=${qualityText(call.quality)}
        title=${qualityText(call.quality)}><i></i><i></i><i></i></span>`
      }
      ${
        !small &&
        document.fullscreenEnabled &&
        html`<button class="icon-button" aria-label=${t("Full screen")} aria-pressed=${isFull ? "true" : "false"} onClick=${fill}><${Icon} name="fullScreen" /></button>`
      }
      <button class="icon-button" aria-label=${small ? t("Enlarge the call") : t("Minimize the call")}
        onClick=${() => setSmall(!small)}><${Icon} name=${small ? "up" : "down"} /></button>
    </header>
    <div class="call-stage">
      ${!shown && peer && html`<div class="call-avatar"><${Avatar} user=${peer} size="large" /></div>`}
      <${Video} label=${t("Remote video")} stream=${call.remoteStream} hidden=${!shown && call.media !== "video" && !call.cameraOn}
        kind=${`remote ${shown ? "" : "blank"} ${call.remote?.screen ? "screen" : ""}`} output=${output} />
      ${
        (call.cameraOn || call.sharing) &&
        html`<${Video} label=${t("Own video")} stream=${call.localStream} muted
        kind=${`own ${isMirror(call) ? "mirrored" : ""}`} />`
      }
      ${call.remote && call.remote.audio === false && call.mediaConnected && html`<p class="call-note">${t("{name} is muted", { name })}</p>`}
    </div>
    <${Controls} call=${call} onOutput=${setOutput} />
    ${!small && html`<${Notices} />`}
  </div></dialog>`;
}

// The picture of the front camera is that of a mirror.
const isMirror = (call) =>
  !call.sharing && call.localStream?.getVideoTracks()[0]?.getSettings().facingMode !== "environment";

// After a reload in a call, the browser may play nothing before the page has the microphone again (`canplay`), or before
// the next click or key.
function afterAct(play) {
  for (const type of ["click", "keydown"]) document.addEventListener(type, play, { once: true });
}

function Video({ label, stream, kind, muted = false, output = "", hidden = false }) {
  const element = useRef(null);
  const play = () => {
    if (element.current?.paused)
      element.current.play().catch(({ name }) => name === "NotAllowedError" && afterAct(play));
  };
  useEffect(() => {
    if (element.current.srcObject !== stream) element.current.srcObject = stream;
    if (stream) play();
  }, [stream]);
  useEffect(() => {
    const playAt = (sink) => element.current.setSinkId?.(sink).catch(() => {});
    if (!output) return undefined;
    playAt(output);
    // A headset that is pulled out: the system's own choice is heard again.
    const check = async () => {
      const devices = (await navigator.mediaDevices?.enumerateDevices().catch(() => null)) ?? [];
      if (devices.length && !devices.some(({ deviceId }) => deviceId === output)) playAt("");
    };
    navigator.mediaDevices?.addEventListener?.("devicechange", check);
    return () => navigator.mediaDevices?.removeEventListener?.("devicechange", check);
  }, [output]);
  return html`<video ref=${element} class=${`call-video ${kind}`} aria-label=${label} autoplay playsinline muted=${muted} hidden=${hidden} onCanPlay=${play}></video>`;
}

// What is going on; once both are connected, for how long.
function Progress({ call }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  const text = stateText(call);
  if (call.state !== "active" || !call.answeredAt)
    return html`<span class="call-state" aria-live="polite">${text}</span>`;
  const seconds = (parley.now() - call.answeredAt) / 1000;
  return html`<span class="call-state"><span role="timer" aria-label=${t("Time of the call")}>${duration(seconds)}</span>
    <span aria-live="polite">${text && ` · ${text}`}</span></span>`;
}
