/**
 * The Parley SDK: accounts, messages, notifications and calls behind one object.
 * An ES module without dependencies, for browsers and Node 20 or later. Types: parley.d.ts.
 */
import { Calls } from "./parley/calls.js";
import { Clock } from "./parley/clock.js";
import { Emitter } from "./parley/emitter.js";
import { defaultStorage, isBrowser, randomId, Tabs } from "./parley/environment.js";
import { ParleyError } from "./parley/errors.js";
import { Outbox } from "./parley/outbox.js";
import { Presence, Typing } from "./parley/presence.js";
import { Rest } from "./parley/rest.js";
import { Session } from "./parley/session.js";
import { Socket } from "./parley/socket.js";

export { ParleyError, randomId as newClientId };

/** What the server accepts; worth checking before an upload. */
export const LIMITS = Object.freeze({
  imageBytes: 5_242_880,
  imageTypes: Object.freeze(["image/jpeg", "image/png", "image/webp", "image/gif"]),
  messageLength: 4096,
  reactions: 6,
  searchLength: 128,
});

export class Parley extends Emitter {
  #socket;
  #typing;
  #tabs;

  constructor({
    baseUrl = isBrowser() ? location.origin : "http://127.0.0.1:8000",
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
    this.rest = new Rest(this, fetch);
    this.session = new Session(this, storage, this.#tabs);
    this.auth = this.rest.namespace("auth");
    this.messages = this.rest.namespace("messages");
    this.notifications = this.rest.namespace("notifications");
    this.profile = this.rest.namespace("profile");
    this.realtime = this.rest.namespace("realtime");
    this.#socket = new Socket(this, WebSocket);
    this.presence = new Presence(this);
    this.#typing = new Typing(this);
    this.outbox = new Outbox(this, storage, this.#tabs);
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

  /** To be called on every key press; false when the text was sent or emptied. */
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
