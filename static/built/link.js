import { randomId, askBound } from './first.js';

const STATS_MS = 2_000;

/**
 * One RTCPeerConnection with its negotiation. Both m-lines exist from the first offer on, so that
 * camera and screen come and go without another one. `polite` gives way when two offers meet.
 */
class Peer {
  #send;
  #onChange;
  #polite;
  #isOffering = false;
  #ignoresOffer = false;
  // The id of our offer that waits for an answer.
  #offer = null;
  #early = [];
  #tracks = { audio: null, video: null };
  #statsTimer = null;
  #before = null;

  constructor({ RTCPeerConnection, route, polite, remoteStream, send, onChange }) {
    this.#send = send;
    this.#onChange = onChange;
    this.#polite = polite;
    this.stats = null;
    this.connection = new RTCPeerConnection(configurationOf(route));
    this.connection.onicecandidate = ({ candidate }) => {
      if (candidate?.candidate) this.#send("ice", { candidate: candidate.toJSON() });
    };
    this.connection.ontrack = ({ track }) => {
      for (const other of remoteStream.getTracks()) if (other.kind === track.kind) remoteStream.removeTrack(other);
      remoteStream.addTrack(track);
      track.onmute = track.onunmute = onChange;
      onChange();
    };
    this.connection.onconnectionstatechange = () => {
      if (this.state === "connected") this.#watch();
      onChange();
    };
  }

  get state() {
    return this.connection.connectionState;
  }

  get isOffering() {
    return this.#isOffering || this.connection.signalingState === "have-local-offer";
  }

  /** The tracks to send; null for none. */
  async setTracks({ audio, video }) {
    this.#tracks = { audio, video };
    const senders = this.#transceivers().map(({ sender, receiver }) => [sender, this.#tracks[receiver.track.kind]]);
    await Promise.all(senders.map(([sender, track]) => sender.track === track || sender.replaceTrack(track)));
  }

  async offer({ iceRestart = false, route = null } = {}) {
    if (route) this.connection.setConfiguration(configurationOf(route));
    if (this.connection.getTransceivers().length === 0) {
      for (const kind of ["audio", "video"])
        this.connection.addTransceiver(this.#tracks[kind] ?? kind, { direction: "sendrecv" });
    }
    this.#isOffering = true;
    try {
      await this.connection.setLocalDescription(await this.connection.createOffer({ iceRestart }));
      this.#offer = randomId();
      this.#send("offer", { type: "offer", sdp: this.connection.localDescription.sdp, id: this.#offer });
    } finally {
      this.#isOffering = false;
    }
  }

  /** An offer, an answer or a candidate of the other device. */
  async onSignal(kind, payload) {
    if (kind === "offer") await this.#offered(payload);
    else if (kind === "answer") await this.#answered(payload);
    else if (kind === "ice") await this.#candidate(payload.candidate);
  }

  close() {
    clearInterval(this.#statsTimer);
    this.connection.onconnectionstatechange = this.connection.ontrack = this.connection.onicecandidate = null;
    this.connection.close();
  }

  async #offered({ sdp, id }) {
    const meetsOwn = this.isOffering;
    this.#ignoresOffer = meetsOwn && !this.#polite;
    if (this.#ignoresOffer) return;
    await this.connection.setRemoteDescription({ type: "offer", sdp });
    for (const transceiver of this.#transceivers()) transceiver.direction = "sendrecv";
    await this.setTracks(this.#tracks);
    await this.connection.setLocalDescription(await this.connection.createAnswer());
    this.#send("answer", { type: "answer", sdp: this.connection.localDescription.sdp, ...(id && { to: id }) });
    await this.#addEarly();
  }

  async #answered({ sdp, to = this.#offer }) {
    // The answer is to an offer that was withdrawn or replaced.
    if (this.connection.signalingState !== "have-local-offer" || to !== this.#offer) return;
    await this.connection.setRemoteDescription({ type: "answer", sdp });
    await this.#addEarly();
  }

  async #candidate(candidate) {
    if (!this.connection.remoteDescription) {
      this.#early.push(candidate);
      return;
    }
    try {
      await this.connection.addIceCandidate(candidate);
    } catch (error) {
      // Candidates of an ignored offer, or from before a restart, cannot be used.
      if (!this.#ignoresOffer && error.name !== "OperationError") throw error;
    }
  }

  async #addEarly() {
    for (const candidate of this.#early.splice(0)) await this.#candidate(candidate);
  }

  /** The transceivers of the session; a withdrawn offer leaves others behind. */
  #transceivers() {
    const all = this.connection.getTransceivers();
    const negotiated = all.filter(({ mid }) => mid !== null);
    return negotiated.length > 0 ? negotiated : all;
  }

  #watch() {
    this.#statsTimer ??= setInterval(() => this.#measure().catch(() => {}), STATS_MS);
  }

  async #measure() {
    const report = await this.connection.getStats();
    const now = { at: performance.now(), received: 0, lost: 0, bytes: 0, frames: 0, jitter: 0, rtt: null, types: null };
    for (const row of report.values()) {
      if (row.type === "inbound-rtp") {
        now.received += row.packetsReceived;
        now.lost += Math.max(0, row.packetsLost);
        now.bytes += row.bytesReceived;
        now.frames += row.framesDecoded ?? 0;
        now.jitter = Math.max(now.jitter, row.jitter ?? 0);
      } else if (row.type === "transport" && row.selectedCandidatePairId) {
        const pair = report.get(row.selectedCandidatePairId);
        now.rtt = pair?.currentRoundTripTime ?? null;
        now.types = [pair?.localCandidateId, pair?.remoteCandidateId].map(
          (id) => report.get(id)?.candidateType ?? null,
        );
      }
    }
    const before = this.#before ?? { ...now, at: now.at - STATS_MS };
    this.#before = now;
    const packets = now.received - before.received + now.lost - before.lost;
    this.stats = {
      rtt_ms: now.rtt === null ? null : Math.round(now.rtt * 1000),
      loss: packets > 0 ? (now.lost - before.lost) / packets : 0,
      jitter_ms: Math.round(now.jitter * 1000),
      bitrate_kbps: Math.round(((now.bytes - before.bytes) * 8) / Math.max(1, now.at - before.at)),
      frames_decoded: now.frames,
      candidate_types: now.types,
    };
    this.#onChange();
  }
}

/** "good", "fair" or "poor"; null before the first measurement. */
function qualityOf(stats) {
  if (!stats) return null;
  const { loss, rtt_ms } = stats;
  if (loss < 0.03 && (rtt_ms ?? 0) < 300) return "good";
  return loss < 0.1 && (rtt_ms ?? 0) < 700 ? "fair" : "poor";
}

function configurationOf({ ice_servers, ice_transport_policy }) {
  return { iceServers: ice_servers, iceTransportPolicy: ice_transport_policy };
}

// The caller restarts first, the callee if the caller does not.
const RESTART_MS = { caller: { disconnected: 3_000, failed: 0 }, callee: { disconnected: 7_000, failed: 3_000 } };
const ANSWER_MS = 4_000;
const GIVE_UP_MS = 45_000;

/** The link between the two devices of an answered call: signals over the socket, restarts when media stops. */
class CallLink {
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

export { CallLink };
