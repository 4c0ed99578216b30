const CONVERSATIONS = 100;

/** Requests delivery receipts after a gap, because they are not durable events. */
export class Receipts {
  #parley;
  // The latest by conversation, so that a late reply does not undo an event.
  #known = new Map();

  constructor(parley) {
    this.#parley = parley;
    parley.on("conversation.delivered", (data) => this.#learn(data));
    parley.on("synced", () => this.#ask());
    parley.on("signedout", () => this.#known.clear());
  }

  #learn({ conversation_id: id, user_id, delivered_id }) {
    if (user_id !== this.#parley.session.userId) this.#known.set(id, Math.max(this.#known.get(id) ?? 0, delivered_id));
  }

  async #ask() {
    const { userId } = this.#parley.session;
    try {
      const { conversations } = await this.#parley.messages.listConversations({ limit: CONVERSATIONS });
      if (this.#parley.session.userId !== userId) return;
      for (const { id: conversation_id, other_user, other_delivered_id: delivered_id } of conversations) {
        if (!delivered_id || delivered_id <= (this.#known.get(conversation_id) ?? 0)) continue;
        this.#parley.emit("conversation.delivered", { conversation_id, user_id: other_user.id, delivered_id });
      }
    } catch {
      // Requested again after the next gap.
    }
  }
}
