import { askBound } from "./commands.js";
import { Peer, qualityOf } from "./peer.js";

// The caller restarts first, the callee if the caller does not.
const RESTART_MS = { caller: { disconnected: 3_000, failed: 0 }, callee: { disconnected: 7_000, failed: 3_000 } };
const ANSWER_MS = 4_000;
const GIVE_UP_MS = 45_000;

/** The link between the two devices of an answered call: signals over the socket, restarts when media stops. */
export class CallLink {
  #parley;
  #call;
  #route;
  #local;
  #RTCPeerConnection;
  #isCaller;
  #isFresh;
  #peer = null;
  // Signals are sent, and handled, one after the other.
  #outgoing = Promise.resolve();
  #incoming = Promise.resolve();
  #candidates = 0;
  #wasConnected = false;
  #restartTimer = null;
  #answerTimer = null;
  #giveUpTimer = null;
  #isClosed = false;

  constructor(parley, { call, route, local, RTCPeerConnection, isCaller, isFresh }) {
    this.#parley = parley;
    this.#call = call;
    this.#route = route;
    this.#local = local;
    this.#RTCPeerConnection = RTCPeerConnection;
    this.#isCaller = isCaller;
    this.#isFresh = isFresh;
  }

  get connection() {
    return this.#peer?.connection ?? null;
  }

  get isConnected() {
    return this.#peer?.state === "connected";
  }

  get isReconnecting() {
    return this.#wasConnected && !this.isConnected;
  }

  get stats() {
    return this.#peer?.stats ?? null;
  }

  get quality() {
    return this.isReconnecting ? "poor" : qualityOf(this.stats);
  }

  /** The caller offers; so does a device that lost its connection with a reload. */
  start() {
    this.#build();
    if (this.#isFresh) this.#send("restart", { fresh: true });
    this.#run(async () => {
      if (this.#isCaller || this.#isFresh) await this.#peer.offer();
    });
    // An offer is lost if the other device is reconnecting, because the server still has its former socket.
    this.#answerTimer = setTimeout(() => this.#peer.isOffering && this.#restartIn(0), ANSWER_MS);
  }

  onSignal(kind, payload) {
    this.#run(async () => {
      if (kind === "restart") await this.#restarted(payload);
      else {
        if (kind === "offer") this.#resetCandidates();
        await this.#peer.onSignal(kind, payload);
      }
    });
  }

  async mediaChanged() {
    await this.#peer?.setTracks(this.#local);
    this.#sendMedia();
  }

  resumed() {
    if (!this.isConnected) this.#restartIn(0);
    else this.#sendConnected();
  }

  close() {
    this.#isClosed = true;
    clearTimeout(this.#restartTimer);
    clearTimeout(this.#answerTimer);
    clearTimeout(this.#giveUpTimer);
    this.#peer?.close();
  }

  #build() {
    this.#peer?.close();
    this.#peer = new Peer({
      RTCPeerConnection: this.#RTCPeerConnection,
      route: this.#route,
      polite: !this.#isCaller,
      remoteStream: this.#call.remoteStream,
      send: (kind, payload) => this.#send(kind, payload),
      onChange: () => this.#changed(),
    });
    this.#peer.setTracks(this.#local);
  }

  #changed() {
    if (this.#isClosed) return;
    const { state } = this.#peer;
    if (state === "connected") {
      clearTimeout(this.#restartTimer);
      clearTimeout(this.#giveUpTimer);
      this.#restartTimer = this.#giveUpTimer = null;
      if (!this.#wasConnected) {
        this.#wasConnected = true;
        this.#sendConnected();
      }
    } else if (state === "disconnected" || state === "failed") {
      this.#restartIn(RESTART_MS[this.#isCaller ? "caller" : "callee"][state], state === "failed");
      this.#giveUpTimer ??= setTimeout(() => this.#call.hangup(), GIVE_UP_MS);
    }
    this.#call.emit("change", this.#call);
  }

  #restartIn(ms, isWorse = false) {
    if (isWorse) clearTimeout(this.#restartTimer);
    else if (this.#restartTimer) return;
    this.#restartTimer = setTimeout(() => {
      this.#restartTimer = null;
      if (!this.isConnected) this.#run(() => this.#restart());
    }, ms);
  }

  /** Gets new candidates, and credentials of the relay for another hour. */
  async #restart() {
    if (this.#parley.status !== "online" || !(await this.#bind())) return;
    try {
      this.#route = await this.#parley.calls.iceServers({ call_id: this.#call.id });
    } catch {
      // The current ones may still work.
    }
    if (this.#isClosed || this.isConnected) return;
    // Before the first connection, the other device may still have the connection from before the reload.
    this.#send("restart", this.#isFresh && !this.#wasConnected ? { fresh: true } : {});
    await this.#peer.offer({ iceRestart: true, route: this.#route });
    // Repeated until media flows or the call is given up.
    this.#restartIn(10_000);
  }

  /** The other device starts again: with new candidates, or after a reload with a new connection. */
  async #restarted({ fresh }) {
    if (!fresh) return;
    const wasOffering = this.#peer.isOffering;
    this.#build();
    if (wasOffering && this.#isCaller) await this.#peer.offer();
  }

  /** The server counts candidates until the next `restart`, and an answer to a restart gathers new ones. */
  #resetCandidates() {
    if (this.#candidates > 50) this.#send("restart", {});
  }

  /** Media flows; after a reconnection this also binds the new socket to the call. */
  async #sendConnected() {
    try {
      await askBound(this.#parley, this.#call, "call.connected");
      this.#sendMedia();
    } catch {
      // Without a connection, `resumed` sends it again.
    }
  }

  /** Binds the current socket, because signals of any other are refused. Resolves to whether it is bound. */
  async #bind() {
    try {
      await askBound(this.#parley, this.#call, "call.signal", { kind: "media", payload: this.#media() });
      return !this.#isClosed;
    } catch {
      return false;
    }
  }

  #sendMedia() {
    this.#send("media", this.#media());
  }

  #media() {
    const { audio, isMuted, video, isSharing } = this.#local;
    return { audio: audio !== null && !isMuted, video: video !== null, screen: isSharing };
  }

  #send(kind, payload) {
    if (kind === "ice") this.#candidates += 1;
    if (kind === "restart") this.#candidates = 0;
    this.#outgoing = this.#outgoing.then(async () => {
      if (this.#isClosed) return;
      try {
        await this.#parley.command("call.signal", { call_id: this.#call.id, kind, payload });
      } catch {
        // The connection is restarted when the socket is back. The server may also refuse a signal over its limit.
      }
    });
  }

  #run(work) {
    this.#incoming = this.#incoming.then(async () => {
      if (this.#isClosed) return;
      try {
        await work();
      } catch (error) {
        if (!this.#isClosed) console.warn("Parley: a signal could not be used.", error);
      }
    });
  }
}
