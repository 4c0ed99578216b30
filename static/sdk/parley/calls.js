import { Call } from "./call.js";
import { leave, newestCall } from "./commands.js";
import { ParleyError } from "./errors.js";
import { browserStorage } from "./storage.js";

const FOLLOWS_UP_MS = 500;
const REJOIN_TRIES = 40;

/** The calls of this tab: at most one at a time. */
export class Calls {
  #parley;
  #tools;
  // An incoming call that arrived during an invitation of our own.
  #held = null;
  // Settles when the server has answered the latest invitation and, if it was canceled before that, withdrawn it.
  #invited = Promise.resolve();
  // The newest ended call of this tab, whose late events must not affect the next call.
  #lastId = 0;

  constructor(parley, tools) {
    this.#parley = parley;
    this.#tools = tools;
    /** The ringing or running call of this tab, or null. */
    this.current = null;
    parley.on("call.updated", ({ call }) => call && this.#update(call));
    parley.on("call.signal", ({ call_id, kind, payload }) => this.#currentIf(call_id)?.onSignal(kind, payload));
    parley.on("call.ringing", ({ call_id }) => this.#peerRings(call_id));
    parley.on("ready", ({ calls }) => this.#ready(calls));
    parley.on("signedout", () => this.current?.finish("signed_out"));
  }

  /** Rings the other participant of a conversation. Returns the call at once, in the state "starting". */
  invite({ conversation_id, media = "audio" }) {
    if (this.current) throw new ParleyError("call_conflict", { message: "There is a call already.", status: 409 });
    this.requireSupport();
    const call = new Call(this.#parley, this, this.#tools, { conversation_id, media });
    this.#show(call);
    this.#invited = call.start(this.#invited).then(() => this.#withdraw(call));
    return call;
  }

  /** Whether this browser, on this page, can hold a call. */
  get isSupported() {
    const { RTCPeerConnection, mediaDevices } = this.#tools;
    return [RTCPeerConnection, globalThis.MediaStream, mediaDevices?.getUserMedia].every(
      (part) => typeof part === "function",
    );
  }

  /** Throws ParleyError `calls_unsupported`. */
  requireSupport() {
    if (this.isSupported) return;
    throw new ParleyError("calls_unsupported", {
      message: "Calls need WebRTC, a microphone and a page that was loaded by https.",
    });
  }

  /** The devices to choose from; they have names once the user has allowed one. */
  async devices() {
    const all = (await this.#tools.mediaDevices?.enumerateDevices()) ?? [];
    const of = (kind) => all.filter((row) => row.kind === kind).map(({ deviceId, label }) => ({ deviceId, label }));
    return { audio: of("audioinput"), video: of("videoinput"), output: of("audiooutput") };
  }

  /** Resolves when the socket is online; rejects after a time-out. */
  whenOnline(ms) {
    if (this.#parley.status === "online") return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        off();
        reject(new ParleyError("network_error", { message: "The server cannot be reached." }));
      }, ms);
      const off = this.#parley.on("ready", () => {
        clearTimeout(timer);
        off();
        resolve();
      });
    });
  }

  /** Called by the call itself. */
  ended(call) {
    this.over(call.id);
    if (this.current !== call) return;
    this.current = null;
    this.#mark(null);
    const held = this.#held;
    this.#held = null;
    if (held && held.id !== call.id) this.#update(held);
  }

  /** Called by the call itself, even if it learns its id only after its end. */
  over(callId) {
    this.#lastId = Math.max(this.#lastId, callId);
  }

  close() {
    this.current?.end();
  }

  #currentIf(callId) {
    return this.current?.id === callId ? this.current : null;
  }

  #show(call) {
    this.current = call;
    call.on("change", () => {
      if (call.id !== null && isOfOneDevice(call)) this.#mark(call.id);
    });
    this.#parley.emit("call", { call });
  }

  #update(row) {
    const isMine = this.#isMine(row);
    const { current } = this;
    if (current?.id === row.id) current.update(row);
    else if (current?.id === null && this.#answersOurs(current, row)) current.update(row);
    else if (row.state === "ringing" && !isMine) {
      if (current) this.#held = row;
      else this.#ring(row);
    } else if (this.#held?.id === row.id) this.#held = null;
  }

  /** Cancels the call of an invitation that ended here without an answer of the server, because it may be ringing. */
  async #withdraw(call) {
    if (call.id !== null || !call.isInvited || !call.error?.isTemporary) return;
    const row = await newestCall(this.#parley);
    if (!row || row.state === "ended" || !this.#answersOurs(call, row)) return;
    this.over(row.id);
    await leave(this.#parley, row.id, "call.cancel", {});
  }

  #isMine(row) {
    return row.caller_id === this.#parley.session.userId;
  }

  /** Whether this call is that of our unanswered invitation. */
  #answersOurs(current, row) {
    if (!current.isInvited || row.id <= this.#lastId) return false;
    if (row.conversation_id !== current.conversation_id || !row.bound_to_you) return false;
    return this.#isMine(row) || row.state === "connecting";
  }

  #ring(row) {
    const { conversation_id, media } = row;
    const call = new Call(this.#parley, this, this.#tools, { conversation_id, media, row });
    this.#show(call);
    this.#parley.emit("call.incoming", { call });
    this.#parley.command("call.ringing", { call_id: row.id }).catch(() => {});
  }

  #peerRings(callId) {
    const call = this.#currentIf(callId);
    if (!call) return;
    call.peerRinging = true;
    call.emit("change", call);
  }

  #ready(rows) {
    const { current } = this;
    // It may have ended while the socket was offline.
    if (!rows.some(({ id }) => id === this.#held?.id)) this.#held = null;
    for (const row of rows) {
      this.#update(row);
      if (!this.current && row.id === this.#marked) this.#rejoin(row);
    }
    if (!current?.isLive || current.id === null) return;
    if (rows.some(({ id }) => id === current.id)) current.resumed();
    else this.#lookUp(current);
  }

  /** Reads the call after a reconnect: it may have been answered elsewhere, or have ended. */
  async #lookUp(call) {
    try {
      const reply = await this.#parley.calls.get({ call_id: call.id });
      call.update(reply.call);
    } catch (error) {
      if (error.status === 404) call.finish("lost", "lost");
    }
  }

  /** The page was reloaded during a call. */
  #rejoin(row, attempt = 1) {
    const isOurs = row.bound_to_you || row.state === "ringing";
    if (!isOurs && attempt <= REJOIN_TRIES) {
      // The server may not have noticed yet that the former page's socket closed.
      const again = () => this.#parley.command("call.connected", { call_id: row.id });
      setTimeout(() => {
        again().then(
          ({ call }) => this.#rejoin(call, attempt + 1),
          ({ code }) => code === "call_conflict" && this.#rejoin(row, attempt + 1),
        );
      }, FOLLOWS_UP_MS);
      return;
    }
    if (!isOurs || row.state === "ended" || this.current) return;
    const { conversation_id, media } = row;
    const call = new Call(this.#parley, this, this.#tools, { conversation_id, media, row });
    this.#show(call);
    call.rejoin();
  }

  // A mark of this tab that outlives a reload, so that another tab does not take the call.
  get #markKey() {
    return `${this.#parley.name}.call`;
  }

  get #marked() {
    return Number(tabStorage().getItem(this.#markKey)) || null;
  }

  #mark(callId) {
    if (callId === null) tabStorage().removeItem(this.#markKey);
    else tabStorage().setItem(this.#markKey, callId);
  }
}

/** If the browser has no storage, a reload only ends the media of a call. */
const tabStorage = () => browserStorage("sessionStorage");

/** An incoming call that still rings belongs to all devices of its user. */
function isOfOneDevice({ state, direction }) {
  return state === "connecting" || state === "active" || (state === "ringing" && direction === "outgoing");
}
