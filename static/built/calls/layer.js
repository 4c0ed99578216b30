import { d, T, A, notice, t, Icon, html, parley, failed, F, Notices, duration, useRingTitle } from '../first.js';
import { problemText, isTouch, nameOf, qualityText, Avatar, stateText, useCall, usePeer, dismiss, endText, mediaText, focusIfLost, invite } from '../pages/chats.js';

// The sound of a ring, made of tones: no file to load. A browser allows sound only after the first click or key
// in the window; before that the ring is silent and nothing complains.
const RINGING = {
  notes: [
    [0, 660],
    [0.22, 880],
    [0.44, 660],
    [0.66, 880],
  ],
  every: 2600,
  volume: 0.16,
};
const WAITING = {
  notes: [
    [0, 425],
    [0.02, 425],
  ],
  every: 4000,
  volume: 0.05,
};

let context = null;

function play({ notes, volume }) {
  if (!navigator.userActivation?.hasBeenActive) return;
  context ??= new AudioContext();
  if (context.state === "suspended") context.resume();
  for (const [offset, frequency] of notes) {
    const start = context.currentTime + offset;
    const tone = context.createOscillator();
    const gain = context.createGain();
    tone.frequency.value = frequency;
    gain.gain.setValueAtTime(0, start);
    gain.gain.linearRampToValueAtTime(volume, start + 0.02);
    gain.gain.exponentialRampToValueAtTime(0.0001, start + 0.2);
    tone.connect(gain).connect(context.destination);
    tone.start(start);
    tone.stop(start + 0.22);
  }
}

// Begins a repeated sound; returns the function that ends it.
function repeat(sound) {
  play(sound);
  const timer = setInterval(() => play(sound), sound.every);
  return () => clearInterval(timer);
}

const ring = () => repeat(RINGING);
const waitTone = () => repeat(WAITING);

// The buttons of a call.

function Controls({ call, onOutput }) {
  const [choosing, setChoosing] = d(false);
  // The user has taken the next microphone.
  const chosen = T(false);
  const run = (change) => async () => {
    try {
      await change();
    } catch (error) {
      // The user has closed the browser's choice of screens: no notice.
      if (error.code !== "screen_denied") notice(problemText(error), { kind: "danger" });
    }
  };
  A(() => {
    if (call.cameraError) notice(problemText({ code: `camera_${call.cameraError}` }), { kind: "danger" });
  }, [call.cameraError]);
  A(() => {
    if (call.microphoneError) notice(problemText({ code: "microphone_lost" }), { kind: "danger", seconds: 20 });
  }, [call.microphoneError]);
  const used = trackOf(call, "audio");
  const before = T(used);
  // Another one has taken the place of the one that was pulled out.
  A(() => {
    if (used?.label && before.current && used !== before.current && !chosen.current)
      notice(t("Microphone: {name}", { name: used.label }));
    chosen.current = false;
    before.current = used ?? before.current;
  }, [used]);
  const offered = call.offeredMicrophones.map(({ deviceId }) => deviceId).join();
  A(() => {
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
  const [count, setCount] = d(0);
  A(() => {
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
  const [devices, setDevices] = d(null);
  A(() => {
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

// The window of a running call: both videos, the controls, the connection quality.

function CallWindow({ call, peer }) {
  const dialog = T(null);
  const before = T(null);
  const [small, setSmall] = d(false);
  const [output, setOutput] = d("");
  // Large: over the page, the focus stays inside. Small: beside the page, which can be used.
  F(() => {
    const element = dialog.current;
    before.current ??= document.activeElement;
    if (element.open) element.close();
    if (small) element.show();
    else element.showModal();
    element.querySelector(".hang-up")?.focus();
  }, [small]);
  A(() => {
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
  const body = T(null);
  const [isFull, setFull] = d(false);
  A(() => {
    const onChange = () => setFull(document.fullscreenElement === body.current);
    document.addEventListener("fullscreenchange", onChange);
    return () => document.removeEventListener("fullscreenchange", onChange);
  }, []);
  const fill = () => (isFull ? document.exitFullscreen() : body.current.requestFullscreen()).catch(() => {});
  const waits = call.direction === "outgoing" && (call.state === "starting" || call.state === "ringing");
  A(() => (waits ? waitTone() : undefined), [waits]);

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
  const element = T(null);
  const play = () => {
    if (element.current?.paused)
      element.current.play().catch(({ name }) => name === "NotAllowedError" && afterAct(play));
  };
  A(() => {
    if (element.current.srcObject !== stream) element.current.srcObject = stream;
    if (stream) play();
  }, [stream]);
  A(() => {
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
  const [, tick] = d(0);
  A(() => {
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

// Calls on every page: the ring, the call itself, and why it ended.

// How long the reason of the end stays, with a button to call again and without.
const END_MS = 12_000;
const SHORT_END_MS = 5_000;

// `path`: the page that is shown. The reason of the end goes with it.
function Layer({ path }) {
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
  const dialog = T(null);
  const heading = T(null);
  const open = () => {
    dialog.current.showModal();
    heading.current.focus();
  };
  // Closes before the window of the call opens, which remembers where the focus is.
  F(() => {
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
  A(() => {
    const timer = setTimeout(dismiss, retry ? END_MS : SHORT_END_MS);
    return () => clearTimeout(timer);
  }, []);
  const begun = T(path);
  A(() => {
    if (path !== begun.current) dismiss();
  }, [path]);
  // What had the focus before it came here; else the heading of the page.
  const before = T(null);
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

export { Layer as default };
