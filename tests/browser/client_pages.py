"""Page objects of the web client: people in browsers of their own, on the real server."""

import contextlib
import json
import re
from pathlib import Path

import httpx
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import expect

from tests.browser.chromium import PATIENCE, barriers, watch

SIGN_IN = """async ([email, password]) => {
  const { Parley } = await import("/static/sdk/parley.js");
  await new Parley().auth.login({ email, password });
}"""
# "hidden" or "visible".
LOOK = """(state) => {
  Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
PASTE = """async (box, [name, type, bytes]) => {
  const data = new DataTransfer();
  data.items.add(new File([new Uint8Array(bytes)], name, { type }));
  box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""
DROP = """(target, [name, type, bytes]) => {
  const data = new DataTransfer();
  data.items.add(new File([new Uint8Array(bytes)], name, { type }));
  for (const kind of ["dragover", "drop"]) {
    target.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
  }
}"""


def demo_people(server):
    """The logins of the demo people of a running server, by first name."""
    entries = json.loads((Path(server.environment["VAR_DIR"]) / "demo.json").read_text())
    return {entry["title"]: {"email": entry["email"], "password": entry["password"]} for entry in entries}


class Api:
    """The same person over REST."""

    def __init__(self, server, login):
        reply = httpx.post(f"{server.base}/api/v1/auth/login", json=login, timeout=30).json()
        self.user = reply["user"]
        headers = {"Authorization": f"Bearer {reply['token']}"}
        self.http = httpx.Client(base_url=f"{server.base}/api/v1", headers=headers, timeout=30)

    def chat_with(self, other):
        reply = self.http.post("/messages/conversations", json={"user_id": other.user["id"]})
        return reply.json()["conversation"]["id"]

    def send(self, chat, body):
        reply = self.http.post(f"/messages/conversations/{chat}/messages", json={"body": body})
        assert reply.status_code == 201, reply.text
        return reply.json()["message"]

    def send_picture(self, chat, content, **fields):
        files = {"file": ("picture.png", content, "image/png")}
        reply = self.http.post(f"/messages/conversations/{chat}/media", files=files, data=fields)
        assert reply.status_code == 201, reply.text
        return reply.json()["message"]


class Window:
    """A browser of one person, signed in. `complaints` must stay empty."""

    def __init__(self, browser, server, login, **options):
        self.base = server.base
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        self.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.base)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.complaints = watch(self.page, server.base)
        self.page.goto(f"{server.base}/docs/")
        self.page.evaluate(SIGN_IN, [login["email"], login["password"]])

    def open(self, path="chats"):
        self.page.goto(f"{self.base}/app/{path}")
        # On a phone a conversation takes its place.
        expect(self.page.get_by_role("navigation", name="Main", include_hidden=True)).to_be_attached()
        return self

    def open_chat(self, chat):
        self.open(f"chats/{chat}")
        expect(self.log).to_be_visible()
        return self

    @property
    def log(self):
        return self.page.get_by_role("log", name="Messages")

    @property
    def box(self):
        return self.page.get_by_role("textbox", name="Message", exact=True)

    def article(self, text):
        return self.log.get_by_role("article").filter(has_text=text)

    def conversation(self, name):
        conversations = self.page.get_by_role("list", name="Conversations")
        return conversations.get_by_role("listitem", name=re.compile(name))

    def write(self, text):
        self.box.fill(text)
        self.box.press("Enter")

    def paste_image(self, content, name="picture.png", kind="image/png"):
        self.box.evaluate(PASTE, [name, kind, list(content)])

    def send_pictures(self, caption=None):
        """Orders to send what the dialog shows."""
        dialog = self.page.get_by_role("dialog", name="Send picture")
        if caption is not None:
            dialog.get_by_role("textbox", name="Caption").fill(caption)
        dialog.get_by_role("button", name="Send", exact=True).click()
        expect(dialog).to_have_count(0)

    def drop_image(self, content, name="picture.png", kind="image/png"):
        self.log.evaluate(DROP, [name, kind, list(content)])

    def sees(self, text):
        expect(self.article(text)).to_have_count(1)

    def sees_status(self, text, status):
        expect(self.article(text).get_by_role("status", name=status, exact=True)).to_have_count(1)

    def texts(self):
        return [text.strip() for text in self.log.locator("article .text").all_inner_texts()]

    def axe(self):
        return barriers(self.page)

    def close(self):
        self.context.close()


# Waits until the server knows it, or for two seconds where it does not answer.
END_CALL = """async () => {
  if (!location.pathname.startsWith("/app/")) return;
  const { parley } = await import("/static/app/client.js");
  await Promise.race([parley.calls.current?.end(), new Promise((resolve) => setTimeout(resolve, 2000))]);
}"""


@contextlib.contextmanager
def opened_windows(make, server):
    """A function that opens the window of a demo user by name with `make(login, **options)`.

    All windows are closed at the end, and their calls ended, which would ring in the next test; whatever one of them
    complained about fails the test.
    """
    opened, logins = [], demo_people(server)

    def window(name, **options):
        opened.append(make(logins[name], **options))
        return opened[-1]

    yield window
    complaints = [text for each in opened for text in each.complaints]
    for each in opened:
        # A page that is gone has no call.
        with contextlib.suppress(PlaywrightError):
            each.page.evaluate(END_CALL)
        each.close()
    assert complaints == [], complaints
