// What the reader has seen is reported as read: only while the tab is visible, and not more often than needed.
import { forThisUser, parley } from "../client.js";
import { change, chats } from "../state/chats.js";

const PAUSE_MS = 700;

export function reader(id) {
  let timer = null;
  let wanted = 0;
  let latest = 0;
  let last = 0;
  let closed = false;

  const run = async () => {
    timer = null;
    const messageId = wanted;
    if (closed || messageId <= last || document.visibilityState !== "visible") return;
    last = messageId;
    try {
      const reply = await forThisUser(parley.messages.markRead({ conversation_id: id, message_id: messageId }));
      // After the event of it, others may have changed the count.
      const isNews = reply.last_read_id > (chats.get().byId[id]?.last_read_id ?? 0);
      if (isNews) change(id, { last_read_id: reply.last_read_id, unread_count: reply.unread_count });
    } catch (error) {
      last = 0;
      if (!error.isTemporary) {
        // It has been deleted meanwhile: the last one before it counts.
        wanted = latest < messageId ? latest : 0;
        if (!closed) plan();
      } else if (!closed) timer = setTimeout(run, 5 * PAUSE_MS);
    }
  };
  let ranAt = 0;
  const plan = () => {
    const row = chats.get().byId[id];
    if (timer || !row || wanted <= Math.max(last, row.last_read_id ?? 0) || document.visibilityState !== "visible") return;
    const wait = Math.max(60, ranAt + PAUSE_MS - Date.now());
    timer = setTimeout(() => {
      ranAt = Date.now();
      run();
    }, wait);
  };
  document.addEventListener("visibilitychange", plan);
  return {
    seen(messageId) {
      latest = messageId;
      wanted = Math.max(wanted, messageId);
      plan();
    },
    close() {
      closed = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", plan);
    },
  };
}
