// What stands in the log of a conversation: days, the mark of the first unread message, messages, what still waits.
const TOGETHER_MS = 5 * 60_000;
const ALBUM_MS = 60_000;
const MOST_IN_ALBUM = 10;

// Rows are made anew whenever one message comes: the dates of the others are known by then.
const moments = new WeakMap();
function momentOf(message) {
  if (!moments.has(message)) {
    const date = new Date(message.created_at);
    moments.set(message, { ms: date.getTime(), day: date.toDateString() });
  }
  return moments.get(message);
}
const keyOf = (message) => (message.client_id ? `c${message.client_id}` : `m${message.id}`);

export function rowsOf({ messages, pending, firstUnread, hasNewer }, me) {
  const rows = [];
  let before = null;
  const add = (row, source, senderId) => {
    const { ms, day } = momentOf(source);
    const isNewDay = before?.day !== day;
    if (isNewDay) rows.push({ type: "day", key: `d${row.key}`, created_at: source.created_at });
    const isUnreadMark = row.message?.id === firstUnread;
    if (isUnreadMark) rows.push({ type: "unread", key: "unread" });
    const isClose = before && ms - before.ms < TOGETHER_MS;
    const continues = !isNewDay && !isUnreadMark && isClose && before.senderId === senderId;
    rows.push({ ...row, continues });
    before = { ms, day, senderId };
  };
  for (const message of messages) {
    add({ type: "message", key: keyOf(message), message, own: message.sender_id === me }, message, message.sender_id);
  }
  if (!hasNewer) {
    for (const item of pending) add({ type: "pending", key: `c${item.client_id}`, item, own: true }, item, me);
  }
  return withAlbums(rows);
}

const sourceOf = ({ message, item }) => message ?? item;
const isPicture = ({ message, item }) => (message ? message.kind === "image" && message.media : item?.file);

// Pictures that one person sends one after the other are one row, an album. Only its first one has a caption or a quote.
function withAlbums(rows) {
  const grouped = [];
  for (const row of rows) {
    const before = grouped.at(-1);
    if (before && isNextInAlbum(row, before)) grouped[grouped.length - 1] = albumOf([...partsOf(before), row]);
    else grouped.push(row);
  }
  return grouped;
}

function isNextInAlbum(row, before) {
  const parts = partsOf(before);
  const last = parts[parts.length - 1];
  if (!row.continues || !isPicture(row) || !isPicture(last) || parts.length >= MOST_IN_ALBUM) return false;
  const { body, reply_to_id: quoted } = sourceOf(row);
  return !body && !quoted && momentOf(sourceOf(row)).ms - momentOf(sourceOf(last)).ms < ALBUM_MS;
}

/** The messages of a row: those of an album, or the one that it is. */
export const partsOf = (row) => row.parts ?? [row];

// Its `message` is the last one: who has seen the album has seen that.
function albumOf(parts) {
  const [{ key, own, continues }] = parts;
  const { message } = parts.findLast((part) => part.message) ?? {};
  return { type: "album", key, own, continues, parts, message, item: parts[parts.length - 1].item };
}

/**
 * @param {any} message
 * @param {{ other_last_read_id?: number | null, other_delivered_id?: number | null }} [row] of the conversation
 */
export function statusOf(message, { other_last_read_id: read, other_delivered_id: delivered } = {}) {
  if (read && message.id <= read) return "read";
  if (delivered && message.id <= delivered) return "delivered";
  return "sent";
}
