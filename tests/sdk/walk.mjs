// A random walk: devices of two people do what people do, over bad connections. After each step the stores of the
// devices must show what the API says.
import { differences } from "./compare.mjs";

const EXPECTED = new Set(["user_blocked", "message_not_found", "network_error", "validation_error", "call_conflict", "not_found", "aborted"]);
const EMOJI = ["👍", "❤️", "😀"];

export class Walk {
  #random;
  #count = 0;

  /** `devices` have a store; `readers` are other clients of the same users, whose answers come at once. */
  constructor({ seed, devices, readers, carol, talk, until }) {
    this.#random = mulberry32(seed);
    Object.assign(this, { devices, readers, carol, talk, until });
    this.lags = devices.map(() => ({ ms: 0 }));
  }

  pick(list) {
    return list[Math.floor(this.#random() * list.length)];
  }

  chance(share) {
    return this.#random() < share;
  }

  text() {
    return `text ${(this.#count += 1)}`;
  }

  async step() {
    const isAway = this.devices.some((device) => device.isAway);
    const name = isAway && this.chance(0.3) ? "comeBack" : this.pick(Object.keys(ACTIONS));
    try {
      await ACTIONS[name](this);
    } catch (error) {
      if (!EXPECTED.has(error.code)) throw error;
    }
    return name;
  }

  /** Waits until every device that is connected shows what is true. */
  async check(seconds = 30) {
    for (const [index, device] of this.devices.entries()) {
      if (device.isAway) continue;
      let found = [];
      const agrees = async () => {
        if (device.status !== "online" || device.outbox.items().some(({ state }) => state !== "failed")) return false;
        found = await differences(device.store, this.readers[index]);
        return found.length === 0;
      };
      await this.until(agrees, seconds).catch(() => {
        throw new Error(`${device.name} (${device.status}) differs:\n${found.join("\n")}`);
      });
    }
  }

  /** One of the newest messages of the conversation, of this sender if one is given. */
  async message(client, isWanted = () => true) {
    const { messages } = await client.messages.list({ conversation_id: this.talk, limit: 30 });
    return this.pick(messages.filter(isWanted));
  }
}

const ACTIONS = {
  async queue(walk) {
    const device = walk.pick(walk.devices);
    for (let left = walk.pick([1, 1, 3]); left > 0; left -= 1)
      device.outbox.send({ conversation_id: walk.talk, body: walk.text() });
  },
  async reply(walk) {
    const [device, index] = deviceOf(walk);
    const message = await walk.message(walk.readers[index]);
    if (message) device.outbox.send({ conversation_id: walk.talk, body: walk.text(), reply_to_id: message.id });
  },
  async sendMany(walk) {
    const [, index] = deviceOf(walk);
    const send = () => walk.readers[index].messages.send({ conversation_id: walk.talk, body: walk.text() });
    await Promise.all(Array.from({ length: 6 }, send));
  },
  async edit(walk) {
    const [, index] = deviceOf(walk);
    const reader = walk.readers[index];
    const message = await walk.message(reader, ({ sender_id, kind }) => sender_id === reader.session.userId && kind === "text");
    if (message) await reader.messages.edit({ message_id: message.id, body: walk.text() });
  },
  async remove(walk) {
    const [, index] = deviceOf(walk);
    const reader = walk.readers[index];
    const message = await walk.message(reader, ({ sender_id }) => sender_id === reader.session.userId);
    if (message) await reader.messages.delete({ message_id: message.id });
  },
  async react(walk) {
    const [, index] = deviceOf(walk);
    const message = await walk.message(walk.readers[index]);
    if (!message) return;
    const params = { message_id: message.id, emoji: walk.pick(EMOJI) };
    await (walk.chance(0.7) ? walk.readers[index].messages.react(params) : walk.readers[index].messages.unreact(params));
  },
  async read(walk) {
    const [, index] = deviceOf(walk);
    const message = walk.chance(0.5) ? null : await walk.message(walk.readers[index]);
    await walk.readers[index].messages.markRead({ conversation_id: walk.talk, ...(message ? { message_id: message.id } : {}) });
  },
  async see(walk) {
    const list = walk.pick(walk.devices).store.messages(walk.talk);
    const message = walk.pick((list.getSnapshot().messages ?? []).filter(({ id }) => id));
    if (message) list.see(message.id);
  },
  async seeTheEnd(walk) {
    const list = walk.pick(walk.devices).store.messages(walk.talk);
    const last = (list.getSnapshot().messages ?? []).findLast(({ id }) => id);
    // What comes meanwhile is seen at once.
    const end = list.follow(() => true);
    if (last) list.see(last.id);
    await new Promise((resolve) => setTimeout(resolve, 300));
    end();
  },
  async actHere(walk) {
    const { session, store } = walk.pick(walk.devices);
    const list = store.messages(walk.talk);
    const message = walk.pick((list.getSnapshot().messages ?? []).filter(({ id }) => id));
    const notification = walk.pick(store.notifications.getSnapshot().notifications ?? []);
    if (!message) return;
    const isOwn = message.sender_id === session.userId && message.kind === "text";
    await walk.pick([
      () => list.react(message.id, walk.pick(EMOJI)),
      () => list.unreact(message.id, walk.pick(EMOJI)),
      () => isOwn && list.edit(message.id, walk.text()),
      () => isOwn && list.delete(message.id),
      () => notification && store.notifications.read(notification.id),
      () => walk.chance(0.2) && store.notifications.readAll(),
    ])();
  },
  async clear(walk) {
    if (walk.chance(0.6)) return;
    const [, index] = deviceOf(walk);
    const message = await walk.message(walk.readers[index]);
    if (message) await walk.readers[index].messages.clearConversation({ conversation_id: walk.talk, message_id: message.id });
  },
  async writeToOthers(walk) {
    const [, index] = deviceOf(walk);
    const { conversations } = await walk.readers[index].messages.listConversations({ limit: 100 });
    const row = walk.pick(conversations);
    await walk.readers[index].messages.send({ conversation_id: row.id, body: walk.text() });
  },
  async hearFromOthers(walk) {
    const { conversations } = await walk.carol.messages.listConversations({ limit: 100 });
    for (const { id } of conversations) await walk.carol.messages.send({ conversation_id: id, body: walk.text() });
  },
  async block(walk) {
    const [, index] = deviceOf(walk);
    const reader = walk.readers[index];
    const { conversation } = await reader.messages.getConversation({ conversation_id: walk.talk });
    await reader.profile.blocksAdd({ user_id: conversation.other_user.id });
    // The blocked user learns of it with the next notice, or the next connection.
    for (const device of walk.devices) for (const isTyping of [true, false]) device.typing(walk.talk, isTyping);
  },
  async unblock(walk) {
    for (const reader of walk.readers) {
      for (const { user_id } of (await reader.profile.blocksList()).blocks) {
        await reader.profile.blocksRemove({ user_id });
        await reader.messages.send({ conversation_id: walk.talk, body: walk.text() });
      }
    }
  },
  async cut(walk) {
    walk.pick(walk.devices).cut();
  },
  async goAway(walk) {
    const device = walk.pick(walk.devices);
    device.isAway = true;
    device.disconnect();
  },
  async comeBack(walk) {
    for (const device of walk.devices.filter(({ isAway }) => isAway)) {
      device.isAway = false;
      device.connect();
    }
  },
  async slowDown(walk) {
    walk.pick(walk.lags).ms = walk.pick([0, 300, 1200]);
  },
  async loadOlder(walk) {
    const { store } = walk.pick(walk.devices);
    await Promise.all([store.messages(walk.talk), store.conversations, store.notifications].map((part) => part.loadOlder()));
  },
  async jump(walk) {
    const [device, index] = deviceOf(walk);
    const first = device.store.messages(walk.talk).getSnapshot().messages?.[0];
    if (!first?.id || walk.chance(0.3)) return device.store.messages(walk.talk).loadNewest();
    const query = { conversation_id: walk.talk, before: first.id, limit: 80 };
    const { messages } = await walk.readers[index].messages.list(query);
    const target = walk.pick(messages);
    return target && device.store.messages(walk.talk).loadAround(target.id);
  },
  async loadNewer(walk) {
    await walk.pick(walk.devices).store.messages(walk.talk).loadNewer();
  },
  async notice(walk) {
    const [, index] = deviceOf(walk);
    const { notifications } = await walk.readers[index].notifications.list({ limit: 20 });
    const row = walk.pick(notifications);
    if (!row) return;
    const method = walk.pick(["read", "delete"]);
    await walk.readers[index].notifications[method]({ notification_id: row.id });
  },
  async readAll(walk) {
    const [, index] = deviceOf(walk);
    if (walk.chance(0.5)) await walk.readers[index].notifications.readAll();
  },
  async call(walk) {
    const [device] = deviceOf(walk);
    if (device.status !== "online") return;
    const client_id = `call${walk.text().replace(" ", "")}`;
    const { call } = await device.command("call.invite", { conversation_id: walk.talk, media: "audio", client_id });
    if (call.state === "ringing") await device.command("call.cancel", { call_id: call.id });
  },
};

function deviceOf(walk) {
  const device = walk.pick(walk.devices);
  return [device, walk.devices.indexOf(device)];
}

function mulberry32(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
}
