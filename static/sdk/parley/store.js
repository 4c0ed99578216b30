import { run } from "./emitter.js";
import { CallsPart } from "./store/calls.js";
import { Conversations } from "./store/conversations.js";
import { Refreshes } from "./store/loads.js";
import { AllMessages, OutboxItems } from "./store/messages.js";
import { Notifications } from "./store/notifications.js";
import { select } from "./store/part.js";
import { AllPresence, AllTyping } from "./store/presence.js";
import { Reading, Unread } from "./store/unread.js";

/**
 * The state of the signed-in user, as far as it was loaded, kept true by the events. Each part has a snapshot that is
 * replaced when something changes, and listeners.
 */
export class Store {
  #offs = [];
  #listeners = new Set();
  #snapshot = null;
  #initial;
  #messages;
  #typing;
  #presence;

  /** `parley` is the client that the store belongs to. */
  constructor(parley) {
    const context = {
      parley,
      // The next event does not wait for what a handler asks for.
      on: (name, handler) => this.#offs.push(parley.on(name, (data) => void handler(data))),
      changed: () => this.#changed(),
      // What the parts have of one another.
      refreshes: null,
      reading: null,
      messages: null,
      conversations: null,
      unread: null,
    };
    const refreshes = new Refreshes(context);
    context.refreshes = refreshes;
    this.#offs.push(() => refreshes.stop());
    // Before the parts ask for something anew.
    context.on("signedout", () => refreshes.stop());
    const reading = new Reading(context);
    context.reading = reading;
    // Before the counts, which are made of them.
    this.#messages = new AllMessages(context);
    context.messages = this.#messages;
    this.conversations = new Conversations(context);
    context.conversations = this.conversations;
    this.unread = new Unread(context);
    context.unread = this.unread;
    this.#offs.push(
      () => reading.stop(),
      () => this.unread.stop(),
    );
    this.notifications = new Notifications(context);
    this.calls = new CallsPart(context);
    this.outbox = new OutboxItems(context);
    this.#typing = new AllTyping(context);
    this.#presence = new AllPresence(context);
    this.#initial = this.getSnapshot();
  }

  /** The messages of a conversation. */
  messages(conversationId) {
    return this.#messages.of(conversationId);
  }

  /** The ids of those who are typing in a conversation. */
  typing(conversationId) {
    return this.#typing.of(conversationId);
  }

  /** Whether a user is online. */
  presence(userId) {
    return this.#presence.of(userId);
  }

  /** All parts. */
  getSnapshot = () => {
    const before = this.#snapshot;
    if (before?.isCurrent) return before.value;
    const parts = ["conversations", "unread", "notifications", "calls", "outbox"];
    const value = {
      ...Object.fromEntries(parts.map((name) => [name, this[name].getSnapshot()])),
      messages: together(before?.value.messages, this.#messages.parts),
      typing: together(before?.value.typing, this.#typing.parts),
      presence: together(before?.value.presence, this.#presence.parts),
    };
    this.#snapshot = { value, isCurrent: true };
    return value;
  };

  getInitialSnapshot = () => this.#initial;

  /** Calls `listener` after each change of any part. Returns the function that ends this. */
  subscribe = (listener) => {
    const entry = () => run(listener, []);
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  };

  select(selector, isEqual = Object.is) {
    return select(this, selector, isEqual);
  }

  /** Ends the store: nothing changes any more. */
  close() {
    for (const off of this.#offs) off();
  }

  #changed() {
    if (this.#snapshot) this.#snapshot.isCurrent = false;
    for (const listener of [...this.#listeners]) listener();
  }
}

/** The snapshots of parts by their id; the same object while none has changed. */
function together(before, parts) {
  const entries = [...parts].map(([id, part]) => [id, part.getSnapshot()]);
  const isSame =
    before && entries.length === Object.keys(before).length && entries.every(([id, value]) => before[id] === value);
  return isSame ? before : Object.fromEntries(entries);
}
