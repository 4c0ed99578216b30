import { ParleyError } from "./errors.js";

const AUDIO = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };
const VIDEO = { width: { ideal: 1280 }, height: { ideal: 720 } };

/** The microphone, camera and screen of one call, as tracks that may come and go. */
export class LocalMedia {
  #devices;
  #onChange;
  #chosen = { audio: null, video: null };
  #camera = null;
  #screen = null;
  // The call has ended: what a permission prompt gives afterwards is stopped at once.
  #isClosed = false;

  constructor(mediaDevices, onChange) {
    this.#devices = mediaDevices;
    this.#onChange = onChange;
    this.stream = new MediaStream();
    this.isMuted = false;
    /** Why there is no camera: "denied", "missing" or "failed". */
    this.cameraError = null;
  }

  get audio() {
    return this.stream.getAudioTracks()[0] ?? null;
  }

  /** What the other participant should see: the screen while it is shared, otherwise the camera. */
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
    if (!this.#devices?.getUserMedia) throw new ParleyError("devices_missing", { message: "There are no devices here." });
    let stream = null;
    if (camera) {
      try {
        // One question for both.
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
    // Ended by the browser's own button.
    this.#screen.onended = () => this.setSharing(false).then(this.#onChange);
    this.#show();
  }

  async setDevice({ audio, video }) {
    if (audio !== undefined) {
      this.#chosen.audio = audio;
      this.#take(await this.#devices.getUserMedia({ audio: this.#audio() }));
      this.setMuted(this.isMuted);
    }
    if (video !== undefined) {
      this.#chosen.video = video;
      if (!this.isCameraOn) return;
      // Some cameras open only once.
      await this.setCamera(false);
      await this.setCamera(true);
    }
  }

  close() {
    this.#isClosed = true;
    stopAll(this.stream);
    this.#camera?.stop();
    this.#screen?.stop();
    this.#camera = this.#screen = null;
  }

  #audio() {
    return this.#chosen.audio ? { ...AUDIO, deviceId: { exact: this.#chosen.audio } } : AUDIO;
  }

  #video() {
    return this.#chosen.video ? { ...VIDEO, deviceId: { exact: this.#chosen.video } } : VIDEO;
  }

  #take(stream) {
    if (this.#isClosed) return stopAll(stream);
    const [audio] = stream.getAudioTracks();
    const [video] = stream.getVideoTracks();
    if (audio) {
      this.audio?.stop();
      if (this.audio) this.stream.removeTrack(this.audio);
      this.stream.addTrack(audio);
    }
    if (video) {
      this.#camera?.stop();
      this.#camera = video;
      // Unplugged.
      video.onended = () => this.#camera === video && this.setCamera(false).then(this.#onChange);
    }
    this.#show();
  }

  /** The local preview shows what the other participant sees. */
  #show() {
    for (const track of this.stream.getVideoTracks()) this.stream.removeTrack(track);
    if (this.video) this.stream.addTrack(this.video);
  }
}

function stopAll(stream) {
  for (const track of stream.getTracks()) track.stop();
}

function reasonOf({ name }) {
  if (name === "NotAllowedError" || name === "SecurityError") return "denied";
  return name === "NotFoundError" || name === "OverconstrainedError" ? "missing" : "failed";
}
