"""The account pages of the web client as a person uses them: by labels, with real mails."""

import re
import secrets
from fnmatch import fnmatchcase

import httpx

from tests.browser.chromium import barriers, watch
from tests.waiting import wait_for

PASSWORD = "violet lantern 42"
SECOND_PASSWORD = "amber kettle 7 north"
WAIT = 30_000
# The console tells of each refused request without its address; `watch` collects the address, too.
UNNAMED = re.compile(r"Failed to load resource: the server responded with a status of 4\d\d")


class Person:
    """A user with an account, and the API as their other device."""

    def __init__(self, server, name, *, language="en", confirmed=True):
        self.server, self.name = server, name
        self.email = f"{name.lower()}-{secrets.token_hex(4)}@example.com"
        self.password = PASSWORD
        self.api = httpx.Client(base_url=f"{server.base}/api/v1", timeout=30)
        fields = {"first_name": name, "last_name": "Example", "email": self.email, "language": language}
        assert self.api.post("/auth/signup", json={**fields, "password": PASSWORD}).status_code == 201
        if confirmed:
            reply = self.api.post("/auth/verify", json={"email": self.email, "code": self.code()}).json()
            self.id = reply["user"]["id"]
            self.api.headers["Authorization"] = f"Bearer {reply['token']}"

    def mails(self):
        return codes_of(self.server, self.email)

    def code(self, *, after=0):
        """The code of the newest mail, once there are more of them than `after`."""
        return wait_for(lambda: self.mails()[0] if len(self.mails()) > after else None, what="a code by mail")

    def turn_on_two_step(self, *, hint="the kettle"):
        """Through the API; returns the recovery codes."""
        before = len(self.mails())
        challenge = self.api.post("/auth/action-challenge", json={"action": "two_step_enable"}).json()
        answer = {"challenge_token": challenge["challenge_token"], "code": self.code(after=before)}
        token = self.api.post("/auth/action-verify", json=answer).json()["action_token"]
        choice = {"password": SECOND_PASSWORD, "hint": hint}
        reply = self.api.post("/auth/two-step/enable", json=choice, headers={"X-Action-Token": token})
        assert reply.status_code == 200, reply.text
        return reply.json()["recovery_codes"]


def codes_of(server, email):
    """The codes mailed to an address, newest first."""
    mails = httpx.get(f"{server.base}/dev/mail.json", params={"to": email}, timeout=10).json()["mails"]
    return [mail["code"] for mail in mails if mail["code"]]


class Window:
    """A browser of its own with one page; `close` fails when the page complained."""

    def __init__(self, chromium, server, **context):
        self.server = server
        self.context = chromium.new_context(viewport={"width": 1280, "height": 800}, **context)
        self.page = self.context.new_page()
        self.page.set_default_timeout(WAIT)
        self.complaints = watch(self.page, server.base)
        self.refusals = []

    def expect(self, *refusals):
        """Refused requests that belong to the test, as "401 /auth/login"; "401 *" stands for all with that status."""
        self.refusals += refusals

    def close(self):
        entries = (entry.split() for entry in self.refusals)
        known = [f"{status} {self.server.base}/api/v1{path.replace('*', '/*')}" for status, path in entries]
        others = [text for text in self.complaints if not any(fnmatchcase(text, pattern) for pattern in known)]
        if self.refusals:
            others = [text for text in others if not UNNAMED.match(text)]
        self.context.close()
        assert others == [], others

    def open(self, path):
        self.page.goto(self.server.base + path)

    def fill(self, **values):
        """By label: `fill(First_name="Ann")`."""
        for label, value in values.items():
            self.page.get_by_label(label.replace("_", " "), exact=True).fill(value)

    def click(self, name, role="button"):
        self.page.get_by_role(role, name=name, exact=True).click()

    def heading(self, name):
        self.page.get_by_role("heading", name=name, exact=True).wait_for()

    def see(self, text):
        self.page.get_by_text(text).first.wait_for()

    def signed_in(self):
        self.page.get_by_role("navigation", name="Main").wait_for()
        return self

    def sign_in(self, person, *, password=None):
        self.open("/app/sign-in")
        self.fill(Password=password or person.password)
        self.page.get_by_label("E-mail").fill(person.email)
        self.click("Sign in")

    def accessible(self):
        assert barriers(self.page) == []
        width = self.page.viewport_size["width"]
        assert self.page.evaluate("() => document.documentElement.scrollWidth") <= width
