import { isBrowser, onNetwork } from "./environment.js";
import { ParleyError } from "./errors.js";
import { CLOSE, Probe, waitAfter } from "./reconnect.js";

const READY_MS = 10_000;
const ANSWER_MS = 15_000;
// The connection counts as dead if no frame arrives after a ping.
const SILENCE_MS = 10_000;
const ACK_MS = 50;
// Events that a device acknowledges although it has just loaded the state.
const CAUGHT_UP = 100;
// Browsers complain about a socket that is closed before it has opened.
const [CONNECTING, OPEN] = [0, 1];

/** The real-time channel: it stays connected while wanted, and passes every durable event once and in order. */
export class Socket {
  #parley;
  #WebSocket;
  #socket = null;
  // The token that the server has accepted on this socket, or will accept with `ready`.
  #usedToken = null;
  #offeredToken = null;
  #isWanted = false;
  #isReady = false;
  #status = "offline";
  #failures = 0;
  #retryTimer = null;
  #readyTimer = null;
  #pingTimer = null;
  #silenceTimer = null;
  #ackTimer = null;
  #acked = 0;
  // The client's position in the user's event log: {epoch, seq}.
  #place = null;
  #probe = new Probe();
  // What has arrived and not yet been handled, in order.
  #queue = [];
  #isHandling = false;
  #isResuming = false;
  #isCatchingUp = false;
  #pending = new Map();
  #lastRef = 0;
  #goAwayMs = null;
  #stopListening = () => {};

  constructor(parley, WebSocket) {
    this.#parley = parley;
    this.#WebSocket = WebSocket;
    parley.on("signedout", () => {
      this.#place = null;
      this.disconnect();
    });
    parley.on("session.renewed", () => this.#renew());
  }

  get status() {
    return this.#status;
  }

  get place() {
    return this.#place ? { ...this.#place } : null;
  }

  /** `place` is a position that an app has kept. */
  connect(place = null) {
    if (place) this.#place = { ...place };
    if (!this.#isWanted) this.#listen();
    this.#isWanted = true;
    this.#retryNow();
  }

  disconnect() {
    this.#isWanted = false;
    this.#stopListening();
    clearTimeout(this.#retryTimer);
    this.#drop();
    this.#setStatus("offline", {});
  }

  /** Sends a command; the data of its reply, or ParleyError. */
  command(type, data = {}) {
    if (!this.#isReady)
      return Promise.reject(new ParleyError("network_error", { message: "The socket is not connected." }));
    const ref = `c${(this.#lastRef += 1)}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(ref);
        reject(new ParleyError("network_error", { message: `No answer to ${type}.` }));
      }, ANSWER_MS);
      this.#pending.set(ref, { resolve, reject, timer });
      this.#write({ type, ref, data });
    });
  }

  // --- Connecting ------------------------------------------------------------------------------

  #listen() {
    this.#stopListening = onNetwork({
      online: () => {
        this.#probe.stop();
        if (this.#socket) this.#ping();
        else this.#retryNow();
      },
      offline: () => this.#lose({ code: 0, reason: "offline" }),
    });
  }

  async #retryNow() {
    if (!this.#isWanted || this.#socket || this.#probe.isRunning) return;
    clearTimeout(this.#retryTimer);
    if (this.#failures === 0 || !isBrowser()) return void this.#open();
    this.#setStatus("connecting", {});
    const isAnswered = await this.#probe.ask(this.#parley.baseUrl);
    if (isAnswered) this.#open();
    else if (isAnswered === false) this.#lose({ code: 0, reason: "no_answer" });
  }

  #open() {
    const token = this.#parley.session.token;
    if (!token) return;
    this.#setStatus("connecting", {});
    this.#usedToken = this.#offeredToken = token;
    const socket = new this.#WebSocket(`${this.#parley.baseUrl.replace(/^http/, "ws")}/api/v1/realtime`);
    this.#socket = socket;
    this.#readyTimer = setTimeout(() => this.#lose({ code: 0, reason: "no_answer" }), READY_MS);
    // An abandoned socket may still deliver frames: only those of the current one are handled.
    const only = (handle) => (event) => socket === this.#socket && handle(event);
    socket.onopen = only(() => {
      const resume = this.#place ? { resume: this.#place } : {};
      this.#write({ type: "auth", ref: "auth", data: { token, ...resume } });
    });
    socket.onmessage = only(({ data }) => this.#onFrame(JSON.parse(data)));
    socket.onclose = only(({ code, reason }) => this.#lose({ code, reason }));
    socket.onerror = () => {};
  }

  /** Drops the current connection without calling the handlers. */
  #drop() {
    const socket = this.#socket;
    this.#socket = null;
    this.#probe.stop();
    this.#isReady = this.#isResuming = this.#isCatchingUp = false;
    // It is sent again.
    this.#queue = [];
    for (const timer of [this.#readyTimer, this.#pingTimer, this.#silenceTimer, this.#ackTimer]) clearTimeout(timer);
    this.#ackTimer = this.#silenceTimer = null;
    for (const { reject, timer } of this.#pending.values()) {
      clearTimeout(timer);
      reject(new ParleyError("network_error", { message: "The connection was lost." }));
    }
    this.#pending.clear();
    if (socket?.readyState === CONNECTING) socket.onopen = () => socket.close();
    else socket?.close();
  }

  #lose({ code, reason }) {
    this.#drop();
    if (!this.#isWanted) return;
    if (code === CLOSE.UNAUTHORISED) return void this.#refused(reason || "token_revoked");
    if (code === CLOSE.TOO_MANY) {
      // The newest sockets win, so an automatic reconnect would in turn close another tab's socket.
      return this.#setStatus("offline", { reason: "too_many_sockets" });
    }
    // The origin of this page is not allowed; a retry would not help.
    if (code === CLOSE.FORBIDDEN && reason !== "other_user") return this.#setStatus("offline", { reason: "forbidden" });
    this.#failures += 1;
    const wait = this.#goAwayMs !== null && this.#failures === 1 ? this.#goAwayMs : waitAfter(this.#failures, code);
    this.#goAwayMs = null;
    this.#retryTimer = setTimeout(() => this.#retryNow(), wait);
    this.#setStatus("offline", { retryAt: Date.now() + wait, ...(reason ? { reason } : {}) });
  }

  async #refused(reason) {
    this.#setStatus("connecting", {});
    // Signed out, or there is a newer token.
    if ((await this.#parley.session.endUnlessRenewed(reason, this.#usedToken)) === "renewed") this.#retryNow();
  }

  #setStatus(status, details) {
    if (status === this.#status && status !== "offline") return;
    const isNews = status !== this.#status || Object.keys(details).length > 0;
    this.#status = status;
    if (isNews) this.#parley.emit("status", { status, ...details });
  }

  // --- Frames ----------------------------------------------------------------------------------

  #write(frame) {
    // A closing socket does not take frames; its close event rejects the waiting commands.
    if (this.#socket.readyState === OPEN) this.#socket.send(JSON.stringify(frame));
  }

  #onFrame(frame) {
    clearTimeout(this.#silenceTimer);
    this.#silenceTimer = null;
    const { type, data } = frame;
    if (type === "reply") this.#answered(frame);
    else if (type === "ready") this.#ready(data);
    else if (type === "resync") this.#resync(data);
    else if (type === "synced") this.#synced(data);
    else if (frame.seq !== undefined) this.#durable(frame);
    else {
      if (type === "goaway") this.#goAwayMs = data.retry_ms;
      if (type === "auth.expiring") this.#parley.session.renewWhenDue();
      this.#parley.emit(type, data, frame);
    }
  }

  #answered({ ref, ok, data, ...error }) {
    // Only a refusal is answered. The next connection begins with another token.
    if (ref === "resume") return this.#lose({ code: 0, reason: error.error });
    const waiting = this.#pending.get(ref);
    this.#pending.delete(ref);
    clearTimeout(waiting?.timer);
    if (ok) return waiting?.resolve(data);
    waiting?.reject(ParleyError.fromFrame(error));
  }

  #ready(data) {
    clearTimeout(this.#readyTimer);
    const isFirst = this.#place === null;
    [this.#isReady, this.#failures] = [true, 0];
    this.#acked = this.#place?.seq ?? data.seq;
    if (isFirst) this.#place = { epoch: data.epoch, seq: data.seq };
    else this.#place.epoch = data.epoch;
    this.#pingTimer = setInterval(() => this.#ping(), data.ping_s * 1000);
    this.#pingTimer.unref?.();
    // Another tab may have renewed the token while this socket opened.
    this.#renew();
    this.#setStatus("online", {});
    this.#parley.emit("ready", data);
    if (!isFirst) return;
    this.#parley.emit("reload", { reason: "start", seq: data.seq });
    this.#catchUp(data);
  }

  /** A new device confirms the delivery of the latest messages to their senders: it lets the server send the
   * latest events again and acknowledges them. The handlers do not receive them. */
  #catchUp({ epoch, seq, min_seq: oldest }) {
    this.#isCatchingUp = seq > oldest;
    if (this.#isCatchingUp)
      this.#write({ type: "resume", ref: "resume", data: { epoch, seq: Math.max(oldest, seq - CAUGHT_UP) } });
  }

  #durable(frame) {
    const { type, seq, data } = frame;
    const last = Math.max(this.#place.seq, ...this.#queue.map((task) => task.seq ?? 0));
    if (seq > last + 1) {
      if (!this.#isResuming)
        this.#write({ type: "resume", ref: "resume", data: { epoch: this.#place.epoch, seq: last } });
      this.#isResuming = true;
    } else if (seq === last + 1) {
      this.#isResuming = false;
      this.#handle({ seq, run: () => this.#parley.deliver(type, data, frame) });
    } else this.#acknowledge();
  }

  /** One after the other; an event is done when the promises of its handlers are. */
  #handle(task) {
    this.#queue.push(task);
    this.#handleNext();
  }

  #handleNext() {
    while (this.#queue.length > 0 && !this.#isHandling) {
      const task = this.#queue[0];
      const place = this.#place;
      this.#isHandling = true;
      const pending = task.run();
      const done = () => {
        this.#isHandling = false;
        if (this.#queue[0] === task) this.#queue.shift();
        if (!task.seq) return;
        // A handler may have signed out, or the log may have another epoch by now.
        if (place && place === this.#place && place.seq === task.seq - 1) place.seq = task.seq;
        if (this.#isReady) this.#acknowledge();
      };
      if (!pending) done();
      else
        pending.then(() => {
          done();
          this.#handleNext();
        });
    }
  }

  /** Called only after the handlers are done, so that an event is never lost; at worst it comes twice. */
  #acknowledge() {
    this.#ackTimer ??= setTimeout(() => {
      this.#ackTimer = null;
      if (!this.#isReady || this.#isCatchingUp || this.#place.seq <= this.#acked) return;
      this.#acked = this.#place.seq;
      this.#write({ type: "ack", data: { seq: this.#acked } });
    }, ACK_MS);
  }

  #resync({ reason, seq }) {
    this.#isResuming = this.#isCatchingUp = false;
    this.#queue = [];
    this.#place = { ...this.#place, seq };
    this.#acked = seq;
    this.#parley.emit("reload", { reason, seq });
  }

  #synced(data) {
    this.#isResuming = false;
    if (this.#isCatchingUp) {
      this.#isCatchingUp = false;
      this.#acked = 0;
      return this.#acknowledge();
    }
    return this.#handle({ run: () => this.#parley.emit("synced", data) });
  }

  #ping() {
    if (!this.#isReady) return;
    this.#write({ type: "ping" });
    this.#silenceTimer ??= setTimeout(() => this.#lose({ code: 0, reason: "silence" }), SILENCE_MS);
  }

  /**
   * Offers the session's newest token to the socket. Until the server has accepted it, the earlier one counts. A change
   * of the password ends the earlier one, and the socket closes because of that, not because of the new token.
   */
  async #renew() {
    const { token } = this.#parley.session;
    if (!this.#isReady || !token || token === this.#offeredToken) return;
    const socket = this.#socket;
    this.#offeredToken = token;
    try {
      await this.command("auth", { token });
      if (socket === this.#socket) this.#usedToken = token;
    } catch {
      if (socket === this.#socket) this.#offeredToken = this.#usedToken;
    }
  }
}
