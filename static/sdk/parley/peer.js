import { randomId } from "./environment.js";

const STATS_MS = 2_000;

/**
 * One RTCPeerConnection with its negotiation. Both m-lines exist from the first offer on, so that
 * camera and screen come and go without another one. `polite` gives way when two offers meet.
 */
export class Peer {
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
export function qualityOf(stats) {
  if (!stats) return null;
  const { loss, rtt_ms } = stats;
  if (loss < 0.03 && (rtt_ms ?? 0) < 300) return "good";
  return loss < 0.1 && (rtt_ms ?? 0) < 700 ? "fair" : "poor";
}

function configurationOf({ ice_servers, ice_transport_policy }) {
  return { iceServers: ice_servers, iceTransportPolicy: ice_transport_policy };
}
