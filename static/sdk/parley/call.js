import { ask, askBound, isAboutDevices, leave, loadModules, routeOf, watchExpiry } from "./commands.js";
import { Emitter } from "./emitter.js";
import { randomId } from "./environment.js";

/** One call as this tab sees it: from the first ring to the reason of its end. */
export class Call extends Emitter {
  #parley;
  #calls;
  #tools;
  #row = null;
  #local = null;
  #link = null;
  #CallLink = null;
  #route = null;
  // This tab is accepting, or continuing after a reload, so the call was not taken by another device.
  #isJoining = false;
  #isFresh = false;
  #endedAt = null;
  #expiryTimer = null;
  #clientId = randomId();

  constructor(parley, calls, tools, { conversation_id, media, row = null }) {
    super();
    this.#parley = parley;
    this.#calls = calls;
    this.#tools = tools;
    this.conversation_id = conversation_id;
    this.media = media;
    this.state = "starting";
    this.outcome = null;
    this.endReason = null;
    this.error = null;
    this.peerRinging = false;
    this.isInvited = false;
    /** The media that the other participant sends, according to them. */
    this.remote = { audio: true, video: media === "video", screen: false };
    this.remoteStream = typeof MediaStream === "function" ? new MediaStream() : null;
    if (row) this.update(row);
  }

  // --- What an app shows -------------------------------------------------------------------------

  get id() {
    return this.#row?.id ?? null;
  }
  get caller_id() {
    return this.#row?.caller_id ?? this.#parley.session.userId;
  }

  get direction() {
    return this.caller_id === this.#parley.session.userId ? "outgoing" : "incoming";
  }

  get isLive() {
    return this.state !== "ended";
  }

  /** Milliseconds by the server's clock. */
  get answeredAt() {
    return this.#row?.answered_at ? Date.parse(this.#row.answered_at) : null;
  }

  /** Seconds since the answer. */
  get duration() {
    if (this.answeredAt === null) return 0;
    if (this.#row.duration_s !== null) return this.#row.duration_s;
    return Math.max(0, Math.floor(((this.#endedAt ?? this.#parley.now()) - this.answeredAt) / 1000));
  }

  get localStream() {
    return this.#local?.stream ?? null;
  }
  get muted() {
    return Boolean(this.#local?.isMuted);
  }
  get cameraOn() {
    return Boolean(this.#local?.isCameraOn);
  }
  get sharing() {
    return Boolean(this.#local?.isSharing);
  }

  /** Why there is no camera: "denied", "missing", "failed", or null. */
  get cameraError() {
    return this.#local?.cameraError ?? null;
  }

  /** Why there is no microphone any more, with the same values: it was unplugged, and there is no other one. */
  get microphoneError() {
    return this.#local?.microphoneError ?? null;
  }

  /** Microphones that have come since the call began: `[{deviceId, label}]`, each to be taken with `setDevice`. */
  get offeredMicrophones() {
    return this.#local?.offered ?? [];
  }

  get mediaConnected() {
    return this.#link?.isConnected ?? false;
  }

  /** Media has flowed before but does not flow now. */
  get reconnecting() {
    return this.isLive && (this.#link?.isReconnecting ?? false);
  }

  get stats() {
    return this.#link?.stats ?? null;
  }
  get quality() {
    return this.#link?.quality ?? null;
  }

  /** The current RTCPeerConnection. */
  get peer() {
    return this.#link?.connection ?? null;
  }

  // --- Actions of the user -----------------------------------------------------------------------

  async accept({ camera = this.media === "video" } = {}) {
    if (this.state !== "ringing" || this.direction !== "incoming" || this.#isJoining) return;
    this.#isJoining = true;
    this.error = null;
    try {
      await this.#open(camera);
      if (!this.isLive) return;
      const { call, ...route } = await this.#command("call.accept");
      this.#route = route;
      this.update(call);
      // The user declined meanwhile, too late for the server.
      if (!this.isLive) await leave(this.#parley, call.id, "call.hangup", {});
    } catch (error) {
      this.error = error;
      // Without a microphone the call continues to ring, so that the user can allow it or decline.
      if (error.code === "call_conflict") this.finish("answered_elsewhere");
      else if (!isAboutDevices(error)) this.finish(error.code, "failed");
      this.emit("change", this);
      throw error;
    } finally {
      this.#isJoining = false;
    }
  }

  decline(reason = "declined") {
    return this.#leave("call.decline", reason, { reason });
  }

  cancel() {
    return this.#leave("call.cancel", "canceled");
  }

  hangup() {
    return this.#leave("call.hangup", "completed");
  }

  /** Declines, cancels or hangs up, whichever fits. */
  end() {
    if (this.state === "connecting" || this.state === "active") return this.hangup();
    return this.direction === "incoming" ? this.decline() : this.cancel();
  }

  setMuted(isMuted) {
    this.#local?.setMuted(isMuted);
    return this.#mediaChanged();
  }

  setCamera(isOn) {
    return this.#withMedia(() => this.#local?.setCamera(isOn));
  }

  setSharing(isOn) {
    return this.#withMedia(() => this.#local?.setSharing(isOn));
  }

  setDevice(choice) {
    return this.#withMedia(() => this.#local?.setDevice(choice));
  }

  switchCamera() {
    return this.#withMedia(() => this.#local?.switchCamera());
  }

  // --- Called by the manager of calls --------------------------------------------------------------

  /** Rings the other participant once `former`, an earlier invitation, is settled. Never rejects: see `error` and `endReason`. */
  async start(former) {
    try {
      await this.#open(this.media === "video");
      await former;
      const data = { conversation_id: this.conversation_id, media: this.media, client_id: this.#clientId };
      if (!this.isLive) return;
      this.isInvited = true;
      const { call, ...route } = await this.#command("call.invite", data);
      this.#route = route;
      if (this.isLive) {
        this.update(call);
        return;
      }
      // The user canceled during the invitation.
      this.#calls.over(call.id);
      await leave(this.#parley, call.id, "call.cancel", {});
    } catch (error) {
      this.error = error;
      this.finish(error.code ?? "failed", "failed");
    }
  }

  /** After a reload of the page: continues the call with a new connection, even if the server restarts meanwhile. */
  async rejoin() {
    this.#isJoining = true;
    this.#isFresh = this.state !== "ringing";
    try {
      await this.#open(this.media === "video");
      this.#route = await routeOf(this.#parley, this);
      // A ringing call connects when it is accepted, which may have happened by now.
      if (this.#isFresh) this.update((await askBound(this.#parley, this, "call.connected")).call);
      else this.#connect();
    } catch (error) {
      this.error = error;
      this.finish(error.code ?? "failed", "failed");
      // The other participant need not wait for a connection that cannot come.
      if (isAboutDevices(error)) await leave(this.#parley, this.id, "call.hangup", {});
    } finally {
      this.#isJoining = false;
    }
  }

  update(row) {
    this.#row = row;
    this.media = row.media;
    clearTimeout(this.#expiryTimer);
    if (row.state === "ringing") this.#expiryTimer = watchExpiry(this.#parley, this, row);
    if (row.state === "ended") {
      this.outcome = row.outcome;
      this.finish(row.outcome, row.outcome);
      return;
    }
    if (!this.isLive) return;
    const isTaken = row.state !== "ringing" && !row.bound_to_you;
    if (isTaken && this.direction === "incoming" && !this.#isJoining && !this.#link) {
      this.finish("answered_elsewhere");
      return;
    }
    this.state = row.state;
    this.#connect();
    this.emit("change", this);
  }

  /** The socket has reconnected: recovers from lost events. */
  resumed() {
    this.#link?.resumed();
  }

  onSignal(kind, payload) {
    if (kind === "media") {
      this.remote = { ...this.remote, ...payload };
      this.emit("change", this);
    } else this.#link?.onSignal(kind, payload);
  }

  /** Ends the call in this tab; the first reason counts. */
  finish(reason, outcome = null) {
    this.outcome ??= outcome;
    if (!this.isLive) {
      this.emit("change", this);
      return;
    }
    this.state = "ended";
    this.endReason = reason;
    this.#endedAt = this.#parley.now();
    clearTimeout(this.#expiryTimer);
    this.#link?.close();
    this.#local?.close();
    this.emit("change", this);
    this.emit("ended", this);
    this.#calls.ended(this);
  }

  // --- Inside ----------------------------------------------------------------------------------------

  async #open(camera) {
    this.#calls.requireSupport();
    const [{ CallLink }, { LocalMedia }] = await loadModules();
    // If the call has ended meanwhile, the user is not asked for a microphone.
    if (!this.isLive) return;
    this.#CallLink = CallLink;
    this.#local ??= new LocalMedia(this.#tools.mediaDevices, () => this.#mediaChanged());
    await this.#local.open({ camera });
    this.emit("change", this);
  }

  #connect() {
    const isTalking = this.state === "connecting" || this.state === "active";
    if (!isTalking || !this.#row.bound_to_you || !this.#route || this.#link) return;
    this.#link = new this.#CallLink(this.#parley, {
      call: this,
      route: this.#route,
      local: this.#local,
      RTCPeerConnection: this.#tools.RTCPeerConnection,
      isCaller: this.direction === "outgoing",
      isFresh: this.#isFresh,
    });
    this.#link.start();
  }

  async #withMedia(change) {
    try {
      await change();
    } finally {
      await this.#mediaChanged();
    }
  }

  async #mediaChanged() {
    await this.#link?.mediaChanged();
    this.emit("change", this);
  }

  #command(type, data = {}) {
    return ask(this.#parley, this, type, data);
  }

  /** Ends the call locally at once and reports it to the server, with retries if necessary. */
  async #leave(type, outcome, data = {}) {
    if (!this.isLive) return;
    this.finish(outcome, outcome);
    if (this.id !== null) await leave(this.#parley, this.id, type, data);
  }
}
