"""Many messages in a conversation that is open, and what the page then takes."""

# Older messages in front of those that are there, as if the reader had scrolled up to the first of them.
STRETCH = """async (count) => {
  const { parley } = await import("/static/app/client.js");
  const { store } = await import("/static/app/state/store.js");
  const list = store.messages(Number(location.pathname.split("/").at(-1)));
  const frames = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const words = "a path along the river that is open again since the water fell ".repeat(4);
  const here = list.getSnapshot().messages.filter(({ id }) => id);
  const older = (from, to) => {
    const [first] = list.getSnapshot().messages;
    return Array.from({ length: to - from }, (_, place) => ({
      ...first, id: first.id - (to - from - place) / count / 4, client_id: null, kind: "text", reply_to_id: null, reactions: [],
      body: `Older ${from + place}: ${words.slice(0, ((from + place) * 37) % 240)}`,
      created_at: new Date(Date.parse(first.created_at) - (to - from - place) * 60_000).toISOString(),
      sender_id: place % 3 ? first.sender_id : -1,
    }));
  };
  // Whoever is at the end keeps few: away from it first.
  const pages = [[count - 200, count], [0, count - 200]];
  const { list: ask } = parley.messages;
  parley.messages.list = async ({ after }) => {
    const messages = after === undefined ? older(...pages.shift()) : [...here];
    return { messages: messages.reverse(), has_more: after === undefined && pages.length > 0 };
  };
  await list.loadAround(here[0].id - 1 / 2);
  do {
    await frames();
    document.querySelector("[role=log]").scrollTop = 0;
    await list.loadOlder();
  } while (list.getSnapshot().hasOlder);
  await frames();
  document.querySelector("[role=log]").scrollTop = 0;
  await frames();
  parley.messages.list = ask;
}"""
# What the socket would report: typing, a message, and its delivery.
RECEIVE = """async ([count, from]) => {
  const { parley } = await import("/static/app/client.js");
  const { store } = await import("/static/app/state/store.js");
  const chat = Number(location.pathname.split("/").at(-1));
  const last = store.messages(chat).getSnapshot().messages.at(-1);
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
  const { store } = await import("/static/app/state/store.js");
  return store.messages(Number(location.pathname.split("/").at(-1))).getSnapshot().messages.length;
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
