// What the store of a client shows, held against what the API says.

/** Where the two differ, as short texts; empty when they agree. `client` reads what `store` should show. */
export async function differences(store, client) {
  const { conversations, unread, notifications, calls, messages, outbox } = store.getSnapshot();
  const found = [];
  const compare = (what, shown, told) => {
    const [one, other] = [shown, told].map(comparable);
    if (JSON.stringify(one) === JSON.stringify(other)) return;
    const isList = Array.isArray(one) && Array.isArray(other) && one.length === other.length;
    const place = isList ? one.findIndex((row, index) => JSON.stringify(row) !== JSON.stringify(other[index])) : -1;
    const shorten = (value) => JSON.stringify(place === -1 ? (value.map?.(({ id }) => id) ?? value) : value[place]);
    found.push(`${what}${place === -1 ? "" : `, row ${place}`}:\n  store ${shorten(one)}\n  API   ${shorten(other)}`);
  };
  if (conversations.conversations) {
    const told = await all((cursor) => client.messages.listConversations({ limit: 100, cursor }), "conversations");
    const shown = conversations.conversations;
    compare("conversations", shown, told.slice(0, shown.length));
    compare("more conversations", conversations.hasMore, told.length > shown.length);
  }
  for (const [id, list] of Object.entries(messages)) {
    if (!list.messages) continue;
    const told = await history(client, Number(id));
    const shown = list.messages.filter(({ state }) => !state);
    const first = shown.length > 0 ? told.findIndex((message) => message.id === shown[0].id) : 0;
    const stretch = first === -1 ? [] : told.slice(first, list.hasNewer ? first + shown.length : undefined);
    compare(`messages of ${id}`, shown, stretch);
    compare(`older messages of ${id}`, list.hasOlder || first === 0, true);
    const waiting = list.messages.filter(({ state }) => state).map(({ client_id }) => client_id);
    const items = outbox.filter(({ conversation_id }) => conversation_id === Number(id));
    if (!list.hasNewer) compare(`waiting in ${id}`, waiting, items.map(({ client_id }) => client_id));
  }
  if (notifications.notifications) {
    const told = await all((cursor) => client.notifications.list({ limit: 100, cursor }), "notifications");
    compare("notifications", notifications.notifications, told.slice(0, notifications.notifications.length));
  }
  if (calls.calls) {
    const told = await client.calls.list({ limit: 100 });
    compare("calls", calls.calls.map(unbound), told.calls.slice(0, calls.calls.length).map(unbound));
  }
  const { ok, ...counts } = await client.notifications.unreadCount();
  compare("unread", unread, { unread_count: counts.unread_count, message_unread_count: counts.message_unread_count });
  return found;
}

// Which device an ended call belonged to is told differently to each device.
const unbound = ({ bound_to_you, ...call }) => call;

async function all(page, name) {
  const rows = [];
  for (let cursor; cursor !== null; ) {
    const reply = await page(cursor);
    rows.push(...reply[name]);
    cursor = reply.next_cursor;
  }
  return rows;
}

async function history(client, conversation_id) {
  let messages = [];
  for (let more = true; more; ) {
    const before = messages.length > 0 ? { before: messages[0].id } : {};
    const reply = await client.messages.list({ conversation_id, limit: 100, ...before });
    messages = [...reply.messages.reverse(), ...messages];
    more = reply.has_more;
  }
  return messages;
}

/** Keys in one order, addresses of pictures without their signature. */
function comparable(value) {
  if (typeof value === "string") return value.startsWith("/api/v1/media/") ? value.split("?")[0] : value;
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, comparable(value[key])]),
  );
}
