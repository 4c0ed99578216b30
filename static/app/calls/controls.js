// The buttons of a call.
import { parley } from "../client.js";
import { html, useEffect, useRef, useState } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { failed, notice } from "../lib/notices.js";
import { Icon } from "../ui/icon.js";
import { isTouch } from "../ui/keys.js";
import { problemText } from "./texts.js";

export function Controls({ call, onOutput }) {
  const [choosing, setChoosing] = useState(false);
  // The user has taken the next microphone.
  const chosen = useRef(false);
  const run = (change) => async () => {
    try {
      await change();
    } catch (error) {
      // The user has closed the browser's choice of screens: no notice.
      if (error.code !== "screen_denied") notice(problemText(error), { kind: "danger" });
    }
  };
  useEffect(() => {
    if (call.cameraError) notice(problemText({ code: `camera_${call.cameraError}` }), { kind: "danger" });
  }, [call.cameraError]);
  useEffect(() => {
    if (call.microphoneError) notice(problemText({ code: "microphone_lost" }), { kind: "danger", seconds: 20 });
  }, [call.microphoneError]);
  const used = trackOf(call, "audio");
  const before = useRef(used);
  // Another one has taken the place of the one that was pulled out.
  useEffect(() => {
    if (used?.label && before.current && used !== before.current && !chosen.current)
      notice(t("Microphone: {name}", { name: used.label }));
    chosen.current = false;
    before.current = used ?? before.current;
  }, [used]);
  const offered = call.offeredMicrophones.map(({ deviceId }) => deviceId).join();
  useEffect(() => {
    const device = call.offeredMicrophones.at(-1);
    if (!device || call.microphoneError) return;
    const act = run(() => {
      chosen.current = true;
      return call.setDevice({ audio: device.deviceId });
    });
    notice(t("New microphone: {name}", { name: device.label || t("Microphone") }), {
      label: t("Use it"),
      act,
      seconds: 20,
    });
  }, [offered]);
  const cameras = useCameras(call.cameraOn);
  const talking = call.state === "connecting" || call.state === "active";
  const canShare = Boolean(navigator.mediaDevices?.getDisplayMedia);
  return html`<footer class="call-controls">
    ${
      choosing &&
      html`<${Devices} call=${call} onChoose=${() => {
        chosen.current = true;
      }} onOutput=${onOutput} />`
    }
    <div class="call-buttons">
      <${Button} icon=${call.muted ? "microphoneOff" : "microphone"} off=${call.muted} label=${call.muted ? t("Unmute") : t("Mute")} onClick=${run(() => call.setMuted(!call.muted))} />
      <${Button} icon=${call.cameraOn ? "camera" : "cameraOff"} off=${!call.cameraOn} label=${call.cameraOn ? t("Camera off") : t("Camera on")}
        onClick=${run(() => call.setCamera(!call.cameraOn))} />
      ${cameras > 1 && isTouch() && html`<${Button} icon="switchCamera" label=${t("Switch camera")} onClick=${run(() => call.switchCamera())} />`}
      ${
        canShare &&
        html`<${Button} icon="screen" on=${call.sharing} disabled=${!talking} label=${call.sharing ? t("Stop sharing") : t("Share screen")}
        onClick=${run(() => call.setSharing(!call.sharing))} />`
      }
      <${Button} kind="devices-button" icon="settings" on=${choosing} label=${t("Devices")} expanded=${choosing} onClick=${() => setChoosing(!choosing)} />
      <button class="call-button danger hang-up" onClick=${run(() => call.end())}><${Icon} name="hangup" /><span>${t("Hang up")}</span></button>
    </div>
  </footer>`;
}

const trackOf = (call, kind) => call.localStream?.getTracks().find((track) => track.kind === kind) ?? null;

// How many there are, once one is used.
function useCameras(isUsed) {
  const [count, setCount] = useState(0);
  useEffect(() => {
    if (!isUsed) return;
    parley.calls.devices().then(
      ({ video }) => setCount(video.length),
      () => {},
    );
  }, [isUsed]);
  return isUsed ? count : 0;
}

function Button({ kind = "", icon, label, on = false, off = false, expanded, disabled, onClick }) {
  return html`<button class=${`call-button ${kind} ${on ? "on" : ""} ${off ? "off" : ""}`} aria-expanded=${expanded} disabled=${disabled} onClick=${onClick}>
    <${Icon} name=${icon} /><span>${label}</span></button>`;
}

function Devices({ call, onChoose, onOutput }) {
  const [devices, setDevices] = useState(null);
  useEffect(() => {
    const load = () => parley.calls.devices().then(setDevices, failed);
    load();
    navigator.mediaDevices?.addEventListener?.("devicechange", load);
    return () => navigator.mediaDevices?.removeEventListener?.("devicechange", load);
  }, []);
  if (!devices) return null;
  const choose = (kind) => (event) => {
    if (kind === "audio") onChoose();
    return Promise.resolve(call.setDevice({ [kind]: event.currentTarget.value })).catch(failed);
  };
  const used = (kind) => trackOf(call, kind)?.getSettings().deviceId;
  return html`<div class="call-devices">
    <${Choice} label=${t("Microphone")} list=${devices.audio} value=${used("audio")} onChange=${choose("audio")} />
    <${Choice} label=${t("Camera")} list=${devices.video} value=${used("video")} onChange=${choose("video")} />
    ${
      "setSinkId" in HTMLMediaElement.prototype &&
      html`<${Choice} label=${t("Speaker")} list=${devices.output}
      onChange=${(event) => onOutput(event.currentTarget.value)} />`
    }
  </div>`;
}

function Choice({ label, list, value, onChange }) {
  if (!list?.length) return null;
  return html`<label class="field"><span class="label">${label}</span>
    <select class="input" onChange=${onChange}>${list.map(
      (device, index) => html`<option key=${device.deviceId} value=${device.deviceId}
      selected=${device.deviceId === value}>${device.label || `${label} ${index + 1}`}</option>`,
    )}</select></label>`;
}
