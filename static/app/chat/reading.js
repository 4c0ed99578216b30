// What the reader has seen is reported as read: only while the tab is visible, and not more often than needed.
import { parley } from "../client.js";
import { change, chats } from "../state/chats.js";

const PAUSE_MS = 700;

export function reader(id) {
  let timer = null;
  let wanted = 0;
  let last = 0;
  let closed = false;

  const run = async () => {
    timer = null;
    const messageId = wanted;
    if (closed || messageId <= last || document.visibilityState !== "visible") return;
    last = messageId;
    try {
      const reply = await parley.messages.markRead({ conversation_id: id, message_id: messageId });
      change(id, { last_read_id: reply.last_read_id, unread_count: reply.unread_count });
    } catch (error) {
      // Of a message that has been deleted meanwhile, nothing is left to report.
      if (!error.isTemporary) return;
      last = 0;
      if (!closed) timer = setTimeout(run, 5 * PAUSE_MS);
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
