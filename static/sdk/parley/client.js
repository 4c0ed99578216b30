import { Calls } from "./calls.js";
import { Clock } from "./clock.js";
import { Emitter } from "./emitter.js";
import { defaultStorage, Tabs } from "./environment.js";
import { Outbox } from "./outbox.js";
import { Presence, Typing } from "./presence.js";
import { Receipts } from "./receipts.js";
import { Rest } from "./rest.js";
import { Session } from "./session.js";
import { Socket } from "./socket.js";
import { SafeStorage } from "./storage.js";

/** What an app has of the service, without the store. */
export class Client extends Emitter {
  #socket;
  #typing;
  #tabs;

  constructor({
    baseUrl = globalThis.location?.origin,
    storage = defaultStorage(),
    language = null,
    fetch = globalThis.fetch,
    WebSocket = globalThis.WebSocket,
    RTCPeerConnection = globalThis.RTCPeerConnection,
    mediaDevices = globalThis.navigator?.mediaDevices,
    deviceName = null,
    timeout = 30_000,
    name = "parley",
  } = {}) {
    super();
    this.baseUrl = baseUrl.replace(/\/+$/, "");
    this.language = language;
    this.deviceName = deviceName;
    this.timeout = timeout;
    this.name = name;
    this.clock = new Clock();
    this.#tabs = new Tabs(name, storage);
    const safe = new SafeStorage(storage);
    this.rest = new Rest(this, fetch);
    this.session = new Session(this, safe, this.#tabs);
    this.auth = this.rest.namespace("auth");
    this.messages = this.rest.namespace("messages");
    this.notifications = this.rest.namespace("notifications");
    this.profile = this.rest.namespace("profile");
    this.realtime = this.rest.namespace("realtime");
    this.#socket = new Socket(this, WebSocket);
    this.presence = new Presence(this);
    new Receipts(this);
    this.#typing = new Typing(this);
    this.outbox = new Outbox(this, safe, this.#tabs);
    this.calls = Object.assign(new Calls(this, { RTCPeerConnection, mediaDevices }), this.rest.namespace("calls"));
  }

  /** "connecting", "online" or "offline". */
  get status() {
    return this.#socket.status;
  }

  /** The position in the event log, for an app that keeps its own copy of the state. */
  get place() {
    return this.#socket.place;
  }

  /** Milliseconds by the server's clock. */
  now() {
    return this.clock.now();
  }

  connect(place = null) {
    this.#socket.connect(place);
  }

  disconnect() {
    this.#socket.disconnect();
  }

  command(type, data) {
    return this.#socket.command(type, data);
  }

  /** Call it on every key press, with false when the text was sent or emptied. */
  typing(conversationId, isTyping = true) {
    this.#typing.note(conversationId, isTyping);
  }

  /** The absolute address of `media_url`, `thumb_url` or `avatar_url`; null stays null. */
  mediaUrl(path) {
    return path ? new URL(path, `${this.baseUrl}/`).href : null;
  }

  /** Releases all resources: socket, timers, tabs. */
  close() {
    this.calls.close();
    this.disconnect();
    this.#typing.close();
    this.outbox.close();
    this.session.close();
    this.#tabs.close();
  }
}
