import { ParleyError } from "./errors.js";

const AUDIO = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };
const VIDEO = { width: { ideal: 1280 }, height: { ideal: 720 } };

/** The microphone, camera and screen of one call, as tracks that may come and go. */
export class LocalMedia {
  #devices;
  #onChange;
  #chosen = { audio: null, video: null };
  // The side of a phone whose camera is wanted, "user" or "environment"; null before it was switched.
  #side = null;
  #camera = null;
  #screen = null;
  // The devices as last seen, by id; null before that.
  #known = null;
  #isTaking = false;
  #onDevices = () => this.#devicesChanged();
  // The call has ended: tracks that a permission prompt returns afterwards are stopped at once.
  #isClosed = false;

  constructor(mediaDevices, onChange) {
    this.#devices = mediaDevices;
    this.#onChange = onChange;
    this.stream = new MediaStream();
    this.isMuted = false;
    /** Why there is no camera: "denied", "missing" or "failed". */
    this.cameraError = null;
    /** Why there is no microphone any more, with the same values. */
    this.microphoneError = null;
    /** Microphones that have come since the call began and are not used. */
    this.offered = [];
  }

  get audio() {
    return this.stream.getAudioTracks()[0] ?? null;
  }

  /** The track for the other participant: the screen while it is shared, otherwise the camera. */
  get video() {
    return this.#screen ?? this.#camera;
  }

  get isCameraOn() {
    return this.#camera !== null;
  }

  get isSharing() {
    return this.#screen !== null;
  }

  /** Asks for the microphone, and for the camera when wanted; continues without a camera, not without a microphone. */
  async open({ camera }) {
    let stream = null;
    if (camera) {
      try {
        // One prompt for both.
        stream = await this.#devices.getUserMedia({ audio: this.#audio(), video: this.#video() });
      } catch (error) {
        this.cameraError = reasonOf(error);
      }
    }
    try {
      stream ??= await this.#devices.getUserMedia({ audio: this.#audio() });
    } catch (error) {
      const reason = reasonOf(error);
      throw new ParleyError(reason === "denied" ? "microphone_denied" : `devices_${reason}`, { cause: error });
    }
    this.#take(stream);
    this.#devices.addEventListener?.("devicechange", this.#onDevices);
    this.#known ??= await this.#list();
  }

  setMuted(isMuted) {
    this.isMuted = isMuted;
    if (this.audio) this.audio.enabled = !isMuted;
  }

  async setCamera(isOn) {
    if (isOn === this.isCameraOn) return;
    this.cameraError = null;
    if (!isOn) {
      this.#camera.stop();
      this.#camera = null;
      this.#show();
      return;
    }
    try {
      this.#take(await this.#devices.getUserMedia({ video: this.#video() }));
    } catch (error) {
      this.cameraError = reasonOf(error);
      throw new ParleyError(`camera_${this.cameraError}`, { cause: error });
    }
  }

  async setSharing(isOn) {
    if (isOn === this.isSharing) return;
    if (!isOn) {
      this.#screen.stop();
      this.#screen = null;
      this.#show();
      return;
    }
    let stream;
    try {
      stream = await this.#devices.getDisplayMedia({ video: true });
    } catch (error) {
      throw new ParleyError(`screen_${reasonOf(error)}`, { cause: error });
    }
    if (this.#isClosed) return stopAll(stream);
    [this.#screen] = stream.getVideoTracks();
    this.#screen.contentHint = "detail";
    // The browser's own button has ended the sharing.
    this.#screen.onended = () => this.setSharing(false).then(this.#onChange);
    this.#show();
  }

  async setDevice({ audio, video }) {
    if (audio !== undefined) {
      this.#chosen.audio = audio;
      await this.#takeMicrophone();
    }
    if (video !== undefined) {
      this.#chosen.video = video;
      await this.#reopenCamera();
    }
  }

  /** The camera on the other side of a phone; of a device that tells no sides, the next one. */
  async switchCamera() {
    if (!this.isCameraOn) return;
    const { facingMode, deviceId } = this.#camera.getSettings();
    if (facingMode) {
      this.#chosen.video = null;
      this.#side = facingMode === "environment" ? "user" : "environment";
    } else {
      const ids = (await this.#list()).filter(({ kind }) => kind === "videoinput").map((camera) => camera.deviceId);
      this.#chosen.video = ids[(ids.indexOf(deviceId) + 1) % ids.length] ?? null;
    }
    await this.#reopenCamera();
  }

  close() {
    this.#isClosed = true;
    this.#devices.removeEventListener?.("devicechange", this.#onDevices);
    stopAll(this.stream);
    this.#camera?.stop();
    this.#screen?.stop();
    this.#camera = this.#screen = null;
  }

  async #reopenCamera() {
    if (!this.isCameraOn) return;
    // Some cameras can be opened only once.
    await this.setCamera(false);
    await this.setCamera(true);
  }

  async #list() {
    try {
      return (await this.#devices.enumerateDevices()).filter(({ deviceId }) => deviceId);
    } catch {
      return [];
    }
  }

  async #takeMicrophone() {
    this.#take(await this.#devices.getUserMedia({ audio: this.#audio() }));
    this.setMuted(this.isMuted);
    const used = this.audio?.getSettings?.().deviceId;
    this.offered = this.offered.filter(({ deviceId }) => deviceId !== used);
  }

  /** The microphone in use was unplugged: another one replaces it, or both participants learn that there is none. */
  async #replaceMicrophone() {
    if (this.#isTaking || this.#isClosed) return;
    this.#isTaking = true;
    // The choice was for the missing microphone.
    this.#chosen.audio = null;
    try {
      await this.#takeMicrophone();
    } catch (error) {
      if (this.audio) {
        this.audio.stop();
        this.stream.removeTrack(this.audio);
      }
      this.microphoneError = reasonOf(error);
    } finally {
      this.#isTaking = false;
    }
    this.#onChange();
  }

  async #cameraGone() {
    await this.setCamera(false);
    this.cameraError = "missing";
    this.#onChange();
  }

  async #devicesChanged() {
    const before = new Set((this.#known ?? []).map(keyOf));
    const now = await this.#list();
    if (this.#isClosed) return;
    this.#known = now;
    const microphones = now.filter(({ kind }) => kind === "audioinput");
    const ids = new Set(microphones.map(({ deviceId }) => deviceId));
    const added = microphones.filter((device) => !before.has(keyOf(device)) && !ALIASES.has(device.deviceId));
    const offered = [...this.offered, ...added].filter(({ deviceId }) => ids.has(deviceId));
    const isNews = offered.length !== this.offered.length || added.length > 0;
    this.offered = offered.map(({ deviceId, label }) => ({ deviceId, label }));
    // Some systems report the change, but not that the track has ended.
    if (!this.audio || isGone(this.audio, microphones)) await this.#replaceMicrophone();
    else if (isNews) this.#onChange();
    const cameras = now.filter(({ kind }) => kind === "videoinput");
    if (this.#camera && isGone(this.#camera, cameras)) await this.#cameraGone();
  }

  #audio() {
    return this.#chosen.audio ? { ...AUDIO, deviceId: { exact: this.#chosen.audio } } : AUDIO;
  }

  #video() {
    if (this.#chosen.video) return { ...VIDEO, deviceId: { exact: this.#chosen.video } };
    return this.#side ? { ...VIDEO, facingMode: { ideal: this.#side } } : VIDEO;
  }

  #take(stream) {
    if (this.#isClosed) return stopAll(stream);
    const [audio] = stream.getAudioTracks();
    const [video] = stream.getVideoTracks();
    if (audio) {
      this.audio?.stop();
      if (this.audio) this.stream.removeTrack(this.audio);
      this.stream.addTrack(audio);
      this.microphoneError = null;
      audio.onended = () => this.audio === audio && this.#replaceMicrophone();
    }
    if (video) {
      this.#camera?.stop();
      this.#camera = video;
      // Unplugged.
      video.onended = () => this.#camera === video && this.#cameraGone();
    }
    this.#show();
  }

  /** The local preview shows what the other participant sees. */
  #show() {
    for (const track of this.stream.getVideoTracks()) this.stream.removeTrack(track);
    if (this.video) this.stream.addTrack(this.video);
  }
}

// Aliases of the device that the system prefers.
const ALIASES = new Set(["default", "communications"]);

const keyOf = ({ kind, deviceId }) => `${kind} ${deviceId}`;

/** Whether the device of a track is no longer among the present ones of its kind. */
function isGone(track, devices) {
  const { deviceId, groupId } = track.getSettings?.() ?? {};
  if (track.readyState === "ended") return true;
  if (!deviceId) return false;
  // An alias stays when its device is removed.
  if (ALIASES.has(deviceId) && groupId) return !devices.some((device) => device.groupId === groupId);
  return !devices.some((device) => device.deviceId === deviceId);
}

function stopAll(stream) {
  for (const track of stream.getTracks()) track.stop();
}

function reasonOf({ name }) {
  if (name === "NotAllowedError" || name === "SecurityError") return "denied";
  return name === "NotFoundError" || name === "OverconstrainedError" ? "missing" : "failed";
}
