// What stands in the log of a conversation: days, the mark of the first unread message, messages, what still waits.
const TOGETHER_MS = 5 * 60_000;

const dayOf = (text) => new Date(text).toDateString();
const keyOf = (message) => (message.client_id ? `c${message.client_id}` : `m${message.id}`);

export function rowsOf({ messages, pending, firstUnread, hasNewer }, me) {
  const rows = [];
  let before = null;
  const add = (row, createdAt, senderId) => {
    const isNewDay = !before || dayOf(before.createdAt) !== dayOf(createdAt);
    if (isNewDay) rows.push({ type: "day", key: `d${row.key}`, at: createdAt });
    const isUnreadMark = row.message?.id === firstUnread;
    if (isUnreadMark) rows.push({ type: "unread", key: "unread" });
    const isClose = before && Date.parse(createdAt) - Date.parse(before.createdAt) < TOGETHER_MS;
    const continues = !isNewDay && !isUnreadMark && isClose && before.senderId === senderId;
    rows.push({ ...row, continues });
    before = { createdAt, senderId };
  };
  for (const message of messages) {
    add({ type: "message", key: keyOf(message), message, own: message.sender_id === me }, message.created_at, message.sender_id);
  }
  if (!hasNewer) {
    for (const item of pending) add({ type: "pending", key: `c${item.client_id}`, item, own: true }, item.created_at, me);
  }
  return rows;
}

export function statusOf(message, { other_last_read_id: read, other_delivered_id: delivered } = {}) {
  if (read && message.id <= read) return "read";
  if (delivered && message.id <= delivered) return "delivered";
  return "sent";
}
