// The messages of a conversation as its log shows them, and what is loaded of them for its reader.
import { parley } from "../client.js";
import { keepDraft } from "./drafts.js";
import { store } from "./store.js";

const PAGE = 50;
const ABOVE_UNREAD = 20;
const MOST_ABOVE_UNREAD = 80;
// A reload of everything may come in between.
const TRIES = 3;

const rowOf = (id) => store.conversations.getSnapshot().byId[id];

// Those that the server has, and those that wait for it.
export function threadOf({ messages, hasOlder, hasNewer }) {
  const all = messages ?? [];
  const last = all.findLastIndex(({ id }) => id !== null);
  return {
    messages: last === all.length - 1 ? all : all.slice(0, last + 1),
    pending: all.slice(last + 1),
    hasOlder,
    hasNewer,
  };
}

export const isLoaded = (id) => store.messages(id).getSnapshot().messages !== null && hasFirstUnread(id);

function hasFirstUnread(id) {
  const row = rowOf(id);
  if (!row?.unread_count) return true;
  const { messages, hasOlder, hasNewer } = threadOf(store.messages(id).getSnapshot());
  const lastRead = row.last_read_id ?? 0;
  const reachesBack = !hasOlder || messages[0]?.id <= lastRead;
  return reachesBack && (!hasNewer || messages.at(-1)?.id > lastRead);
}

// The newest page, or the stretch around the first unread message. What is here and has that message is kept.
export async function open(id) {
  const list = store.messages(id);
  for (let tries = 0; tries < TRIES && !isLoaded(id); tries += 1) {
    const { unread_count: unread, last_read_id: lastRead } = rowOf(id);
    if (unread > MOST_ABOVE_UNREAD) await list.loadAround((lastRead ?? 0) + 1);
    else if (list.getSnapshot().messages === null) await list.load({ least: Math.max(PAGE, unread + ABOVE_UNREAD) });
    else if (list.getSnapshot().hasNewer) await list.loadNewest();
    else await list.loadOlder();
  }
  // Without the mark of the first unread one.
  if (list.getSnapshot().messages === null) await list.load();
}

export function firstUnread(id) {
  const row = rowOf(id);
  if (!row?.unread_count) return null;
  const me = parley.session.userId;
  const { messages } = threadOf(store.messages(id).getSnapshot());
  return messages.find((message) => message.id > (row.last_read_id ?? 0) && message.sender_id !== me)?.id ?? null;
}

// A conversation without messages is in no list: it comes back with the next one.
export async function deleteChat(id) {
  for (const { client_id: waiting } of parley.outbox.items(id)) parley.outbox.remove(waiting);
  await store.messages(id).clear();
  keepDraft(id, "");
  await store.conversations.refreshOne(id);
}

export function react(message, emoji) {
  const isMine = message.reactions.find((row) => row.emoji === emoji)?.user_ids.includes(parley.session.userId);
  const list = store.messages(message.conversation_id);
  return isMine ? list.unreact(message.id, emoji) : list.react(message.id, emoji);
}
