"""Many messages in a conversation that is open, and what the page then takes."""

# Older messages in front of those that are there, as if the reader had scrolled up to the first of them.
STRETCH = """async (count) => {
  const { thread } = await import("/static/app/state/thread.js");
  const store = thread(Number(location.pathname.split("/").at(-1)));
  const frames = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const words = "a path along the river that is open again since the water fell ".repeat(4);
  const add = async (from, to) => {
    const [first] = store.get().messages;
    const before = Array.from({ length: to - from }, (_, place) => ({
      ...first, id: first.id - (to - from - place) / count / 4, client_id: null, kind: "text", reply_to_id: null, reactions: [],
      body: `Older ${from + place}: ${words.slice(0, ((from + place) * 37) % 240)}`,
      created_at: new Date(Date.parse(first.created_at) - (to - from - place) * 60_000).toISOString(),
      sender_id: place % 3 ? first.sender_id : -1,
    }));
    store.set(({ messages }) => ({ messages: [...before, ...messages], hasOlder: false }));
    await frames();
    document.querySelector("[role=log]").scrollTop = 0;
    await frames();
  };
  // Whoever is at the end keeps few: away from it first.
  await add(count - 200, count);
  await add(0, count - 200);
}"""
# What the socket would report: typing, a message, and its delivery.
RECEIVE = """async ([count, from]) => {
  const { parley } = await import("/static/app/client.js");
  const { thread } = await import("/static/app/state/thread.js");
  const chat = Number(location.pathname.split("/").at(-1));
  const last = thread(chat).get().messages.at(-1);
  for (let index = 0; index < count; index += 1) {
    const message = { ...last, id: 1e9 + from + index, client_id: null, sender_id: index % 2 ? parley.session.userId : -1,
      body: `Message ${from + index} of an hour`, created_at: new Date().toISOString() };
    parley.emit("typing", { conversation_id: chat, user_id: -1, is_typing: true });
    parley.emit("message.new", { conversation_id: chat, message, unread_count: 0 });
    parley.emit("conversation.delivered", { conversation_id: chat, user_id: -1, delivered_id: message.id });
    if (index % 4 === 0) await new Promise(requestAnimationFrame);
  }
}"""

HELD = """async () => {
  const { thread } = await import("/static/app/state/thread.js");
  return thread(Number(location.pathname.split("/").at(-1))).get().messages.length;
}"""


def stretch(page, count):
    page.evaluate(STRETCH, count)


def receive(page, count, *, start=0):
    """The server knows none of these: what is read is answered here."""
    page.route("**/conversations/*/read", _read)
    page.evaluate(RECEIVE, [count, start])


def _read(route):
    last = route.request.post_data_json["message_id"]
    route.fulfill(json={"ok": True, "conversation_id": 0, "last_read_id": last, "unread_count": 0})


def held(page):
    """How many messages of the conversation the page knows."""
    return page.evaluate(HELD)


class Meter:
    """What Chromium reports about a page."""

    def __init__(self, page):
        self.page = page
        self.cdp = page.context.new_cdp_session(page)
        self.cdp.send("Performance.enable", {"timeDomain": "threadTicks"})

    def seconds(self):
        """Processor time of the main thread so far."""
        rows = self.cdp.send("Performance.getMetrics")["metrics"]
        return next(row["value"] for row in rows if row["name"] == "TaskDuration")

    def heap(self):
        """Bytes in use after a collection."""
        for _ in range(2):
            self.cdp.send("HeapProfiler.collectGarbage")
        return self.cdp.send("Runtime.getHeapUsage")["usedSize"]

    def elements(self):
        return self.page.evaluate("() => document.querySelectorAll('*').length")
