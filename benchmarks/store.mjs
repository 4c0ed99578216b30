// What an event costs the store of the SDK with many messages loaded, by kind of event: milliseconds as they pass, and of the
// processor, which a busy machine changes less.
// node benchmarks/store.mjs [--messages 10000] [--json]
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { Emitter } from "../static/sdk/parley/emitter.js";
import { Store } from "../static/sdk/parley/store.js";

const { values } = parseArgs({
  options: { messages: { type: "string", default: "10000" }, json: { type: "boolean", default: false } },
});
const MESSAGES = Number(values.messages);
const EVENTS = 300;
const TALK = 1;
const ME = 7;

const message = (id) => ({
  id,
  conversation_id: TALK,
  sender_id: id % 2 ? ME : 8,
  kind: "text",
  body: `message ${id}`,
  media_url: null,
  media: null,
  reply_to_id: id % 10 === 0 && id > 10 ? id - 5 : null,
  reply_to: id % 10 === 0 && id > 10 ? { id: id - 5, sender_id: ME, kind: "text", body: "quoted", media_url: null, thumb_url: null } : null,
  is_edited: false,
  edited_at: null,
  reactions: [],
  call: null,
  client_id: null,
  created_at: new Date(1_700_000_000_000 + id * 1000).toISOString(),
});

/** The part of the client that the store reads, with pages from memory: what is measured is the store alone. */
function fakeClient() {
  const row = { id: TALK, other_user: { id: 8 }, last_message: null, unread_count: 0, last_read_id: 0, is_blocked: false };
  const page = ({ before = MESSAGES + 1, limit }) => {
    const first = Math.max(1, before - limit);
    const messages = Array.from({ length: before - first }, (_, index) => message(before - 1 - index));
    return { messages, has_more: first > 1 };
  };
  return Object.assign(new Emitter(), {
    session: { userId: ME },
    status: "online",
    outbox: { items: () => [] },
    presence: { get: () => undefined },
    calls: { current: null },
    notifications: {},
    messages: {
      list: async (query) => page(query),
      listConversations: async () => ({ conversations: [row], has_more: false, next_cursor: null }),
    },
  });
}

const client = fakeClient();
const store = new Store(client);
const list = store.messages(TALK);
await Promise.all([list.load(), store.conversations.load()]);
while (list.getSnapshot().hasOlder) await list.loadOlder();
let draws = 0;
store.subscribe(() => (draws += 1));
list.subscribe(() => list.getSnapshot());

let next = MESSAGES;
const any = () => 1 + Math.floor(Math.random() * MESSAGES);
const base = { conversation_id: TALK, unread_count: 0 };
const EVENTS_OF = {
  "message.new": () => ({ ...base, message: message((next += 1)) }),
  "message.edited": () => ({ ...base, message: { ...message(any()), body: "edited" } }),
  "message.reactions": () => ({ ...base, message_id: any(), reactions: [{ emoji: "👍", count: 1, user_ids: [8] }] }),
  "message.deleted": () => ({ ...base, message_id: any(), last_message: null }),
};

const share = (numbers, part) => numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length * part)];

const results = [];
for (const [type, make] of Object.entries(EVENTS_OF)) {
  const [times, used] = [[], []];
  for (let number = 0; number < EVENTS; number += 1) {
    const data = make();
    const before = process.cpuUsage();
    const begin = performance.now();
    client.emit(type, data);
    store.getSnapshot();
    times.push(performance.now() - begin);
    const { user, system } = process.cpuUsage(before);
    used.push((user + system) / 1000);
  }
  results.push({ event: type, p50_ms: share(times, 0.5), p95_ms: share(times, 0.95), cpu_p95_ms: share(used, 0.95) });
}

const load = loadavg()[0];
if (values.json) console.log(JSON.stringify({ messages: MESSAGES, load, draws, results }));
else {
  console.log(`${MESSAGES} messages loaded, load of the machine ${load.toFixed(1)}`);
  const shown = (value) => `${value.toFixed(3).padStart(7)} ms`;
  for (const { event, p50_ms, p95_ms, cpu_p95_ms } of results)
    console.log(`${event.padEnd(20)} p50 ${shown(p50_ms)}   p95 ${shown(p95_ms)}   processor, p95 ${shown(cpu_p95_ms)}`);
}
store.close();
process.exit(0);
