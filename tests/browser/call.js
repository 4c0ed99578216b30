() => {
// One device: a socket, at most one call, one peer connection. Driven from outside through `side`.
window.side = {
  call: null, events: [], route: null, problem: null, candidateTypes: [],

  open(token) {
    return new Promise((resolve, reject) => {
      this.waiting = new Map();
      this.lastRef = 0;
      this.socket = new WebSocket(`ws://${location.host}/api/v1/realtime`);
      this.socket.onopen = () => this.socket.send(JSON.stringify({type: "auth", ref: "auth", data: {token}}));
      this.socket.onerror = () => reject(new Error("the socket failed"));
      this.socket.onmessage = ({data}) => {
        const frame = JSON.parse(data);
        if (frame.type === "ready") resolve(frame.data);
        this.hear(frame).catch((error) => { this.problem = String(error); });
      };
    });
  },

  ask(type, data) {
    const ref = String(++this.lastRef);
    this.socket.send(JSON.stringify({type, ref, data}));
    return new Promise((resolve, reject) => this.waiting.set(ref, {resolve, reject, type}));
  },

  async hear(frame) {
    if (frame.seq) this.socket.send(JSON.stringify({type: "ack", data: {seq: frame.seq}}));
    if (frame.type === "reply") {
      const asked = this.waiting.get(frame.ref);
      if (!asked) return;
      this.waiting.delete(frame.ref);
      if (frame.ok) asked.resolve(frame.data);
      else asked.reject(new Error(`${asked.type}: ${frame.error}`));
    } else if (frame.type === "call.updated") {
      await this.update(frame.data.call);
    } else if (frame.type === "call.signal" && frame.data.call_id === this.call?.id) {
      await this.signalled(frame.data.kind, frame.data.payload);
    }
  },

  async update(call) {
    this.call = call;
    this.events.push(call.state);
    if (call.state === "connecting" && call.bound_to_you && this.isCaller && !this.offered) {
      this.offered = true;
      await this.peer.setLocalDescription(await this.peer.createOffer());
      await this.tell("offer", {type: "offer", sdp: this.peer.localDescription.sdp});
    }
    if (call.state === "ended") this.stop();
  },

  async invite(conversationId, media) {
    this.isCaller = true;
    this.media = media;
    const asked = {conversation_id: conversationId, media, client_id: `test-${Date.now()}`};
    // The peer connection must be there before the other side can answer.
    this.stream = await this.devices(media);
    const {call, ...route} = await this.ask("call.invite", asked);
    this.call ??= call;
    this.connect(route);
    return call.id;
  },

  async accept() {
    this.isCaller = false;
    this.media = this.call.media;
    this.stream = await this.devices(this.media);
    const accepted = this.ask("call.accept", {call_id: this.call.id});
    const {call, ...route} = await accepted;
    this.call = call;
    this.connect(route);
    for (const [kind, payload] of this.early ?? []) await this.signalled(kind, payload);
    this.early = null;
  },

  devices(media) {
    return navigator.mediaDevices.getUserMedia({
      audio: true,
      video: media === "video" && {width: 320, height: 240, frameRate: 15},
    });
  },

  connect(route) {
    this.route = route;
    this.peer = new RTCPeerConnection({
      iceServers: route.ice_servers, iceTransportPolicy: route.ice_transport_policy,
    });
    this.stream.getTracks().forEach((track) => this.peer.addTrack(track, this.stream));
    // What nobody plays is not decoded.
    const screen = document.body.appendChild(document.createElement("video"));
    screen.autoplay = true;
    this.peer.ontrack = ({streams}) => { screen.srcObject = streams[0]; };
    this.peer.onicecandidate = ({candidate}) => {
      if (!candidate) return;
      this.candidateTypes.push(candidate.type);
      this.tell("ice", candidate.toJSON()).catch((error) => { this.problem = String(error); });
    };
    this.peer.onconnectionstatechange = () => {
      if (this.peer.connectionState === "connected") {
        this.ask("call.connected", {call_id: this.call.id}).catch((error) => { this.problem = String(error); });
      }
    };
  },

  tell(kind, payload) {
    return this.ask("call.signal", {call_id: this.call.id, kind, payload});
  },

  async signalled(kind, payload) {
    if (!this.peer) {
      (this.early ??= []).push([kind, payload]);
      return;
    }
    if (kind === "offer") {
      await this.peer.setRemoteDescription(payload);
      await this.peer.setLocalDescription(await this.peer.createAnswer());
      await this.tell("answer", {type: "answer", sdp: this.peer.localDescription.sdp});
    } else if (kind === "answer") {
      await this.peer.setRemoteDescription(payload);
    } else if (kind === "ice") {
      if (this.peer.remoteDescription) await this.peer.addIceCandidate(payload);
      else (this.candidates ??= []).push(payload);
    }
    if (this.peer.remoteDescription && this.candidates) {
      const late = this.candidates;
      this.candidates = null;
      for (const candidate of late) await this.peer.addIceCandidate(candidate);
    }
  },

  hangup() {
    return this.ask("call.hangup", {call_id: this.call.id});
  },

  stop() {
    this.peer?.close();
    this.stream?.getTracks().forEach((track) => track.stop());
  },

  async flow() {
    const found = {frames: 0, energy: 0, pair: null};
    if (!this.peer) return found;
    const stats = await this.peer.getStats();
    for (const entry of stats.values()) {
      if (entry.type === "inbound-rtp" && entry.kind === "video") found.frames = entry.framesDecoded;
      if (entry.type === "inbound-rtp" && entry.kind === "audio") found.energy = entry.totalAudioEnergy;
      if (entry.type === "transport" && entry.selectedCandidatePairId) {
        const pair = stats.get(entry.selectedCandidatePairId);
        found.pair = [stats.get(pair.localCandidateId).candidateType, stats.get(pair.remoteCandidateId).candidateType];
      }
    }
    return found;
  },
};
}
