"""A random walk in the windows of two people: after each step the windows show what the API says, and what was reported
as read had been on the screen."""

import json
import os
import random
import re
import secrets

import pytest
from playwright.sync_api import Error

from tests.browser.chromium import needs_chromium
from tests.browser.client_pages import LOOK, Api
from tests.sdk.conftest import manage
from tests.waiting import wait_for

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(600)]
STEPS = int(os.environ.get("CLIENT_WALK_STEPS", "40"))
PASSWORD = "a long word for walks"

# Before the page starts: notes each message that a frame of a visible window has drawn to its end.
NOTE_SEEN = """
  const seen = new Set(JSON.parse(sessionStorage.getItem("seen") ?? "[]"));
  const note = () => {
    const log = document.querySelector("[role=log]");
    if (log && document.visibilityState === "visible") {
      const box = log.getBoundingClientRect();
      for (const article of log.querySelectorAll("article[data-message-id]")) {
        const { bottom, height } = article.getBoundingClientRect();
        if (height > 0 && bottom > box.top && bottom <= box.bottom + 1) seen.add(Number(article.dataset.messageId));
      }
      sessionStorage.setItem("seen", JSON.stringify([...seen]));
    }
    requestAnimationFrame(note);
  };
  requestAnimationFrame(note);
"""
DRAWN = """() => {
  const text = (element) => element?.textContent.trim() ?? "";
  const log = document.querySelector("[role=log]");
  return {
    badge: text(document.querySelector('nav a[href="/app/chats"] .count')),
    title: document.title.match(/^\\((\\d+)\\)/)?.[1] ?? "",
    rows: [...document.querySelectorAll(".entries li")].map((row) => [
      Number(row.querySelector("a").getAttribute("href").split("/").at(-1)), text(row.querySelector(".count [aria-hidden]")),
    ]),
    messages: log && [...log.querySelectorAll("article[data-message-id]")].map((article) => [
      Number(article.dataset.messageId), text(article.querySelector(".text")), text(article.querySelector(".status")),
    ]),
    isAtEnd: !document.querySelector(".to-end"),
  };
}"""


class Walker:
    """One person with a window, and the same person over REST."""

    def __init__(self, window, api, talk, other):
        self.window, self.api, self.talk, self.other = window, api, talk, other
        self.page = window.page
        self.is_offline = False
        window.context.add_init_script(NOTE_SEEN)
        window.open_chat(talk)

    @property
    def here(self):
        """The id of the conversation that is open; None on another page."""
        found = re.search(r"/app/chats/(\d+)", self.page.url)
        return int(found[1]) if found else None

    def ask(self, function):
        """What the page answers. A page whose module was missing loads itself anew once it is online."""
        try:
            return self.page.evaluate(function)
        except Error:
            self.page.wait_for_load_state()
            return self.page.evaluate(function)

    def seen(self):
        noted = self.ask("() => JSON.parse(sessionStorage.getItem('seen') ?? '[]')")
        own = [message["id"] for row in self.rows() for message in self.newest(row["id"]) if self.is_own(message)]
        return {*noted, *own}

    def is_own(self, message):
        return message["sender_id"] == self.api.user["id"]

    def newest(self, chat):
        """Newest first."""
        return self.api.http.get(f"/messages/conversations/{chat}/messages", params={"limit": 100}).json()["messages"]

    def rows(self):
        return self.api.http.get("/messages/conversations").json()["conversations"]

    def differences(self):
        """What is drawn other than the API says, as short texts."""
        drawn, rows = self.ask(DRAWN), self.rows()
        unread = self.api.http.get("/notifications/unread-count").json()["message_unread_count"]
        count = str(unread or "")
        found = [f"{place}: {drawn[place]!r}, API {count!r}" for place in ("badge", "title") if drawn[place] != count]
        told = [[row["id"], str(row["unread_count"] or "")] for row in rows if row["last_message"]]
        if drawn["rows"] and drawn["rows"] != told:
            found.append(f"rows: {drawn['rows']}, API {told}")
        if drawn["messages"] is not None and self.here:
            found += self.differences_of_log(drawn, next(row for row in rows if row["id"] == self.here))
        return found

    def differences_of_log(self, drawn, row):
        told = []
        for message in reversed(self.newest(row["id"])):
            is_read = message["id"] <= (row["other_last_read_id"] or 0)
            status = "" if not self.is_own(message) else "Read" if is_read else "not read"
            told.append([message["id"], message["body"], status])
        shown = [
            [number, body, "not read" if status in {"Sent", "Delivered"} else status]
            for number, body, status in drawn["messages"]
        ]
        if not shown:
            return [] if not told else ["no messages are drawn"]
        first = next((index for index, (number, *_) in enumerate(told) if number == shown[0][0]), None)
        if first is None:
            return [f"message {shown[0][0]} is not in the conversation"]
        expected = told[first:] if drawn["isAtEnd"] else told[first : first + len(shown)]
        return [f"{one} is drawn, API {other}" for one, other in zip(shown, expected, strict=False) if one != other] + (
            [f"{len(shown)} messages are drawn, API {len(expected)}"] if len(shown) != len(expected) else []
        )


class Walk:
    def __init__(self, dice, alice, bob, carol):
        self.dice, self.alice, self.bob, self.carol = dice, alice, bob, carol
        self.count = 0
        self.is_blocked = False

    def text(self):
        self.count += 1
        return f"words {self.count}{' and more of them' * self.dice.choice([0, 0, 1, 20])}"

    def person(self):
        return self.dice.choice([self.alice, self.bob])

    def step(self):
        name = self.dice.choice(sorted(name for name in vars(Walk) if name.startswith("do_")))
        getattr(self, name)()
        return name.removeprefix("do_")

    def check(self, taken):
        for person in (self.alice, self.bob):
            if person.is_offline:
                continue
            found = []

            def agrees(person=person, found=found):
                found[:] = person.differences()
                return not found

            try:
                wait_for(agrees, what="the window to agree", seconds=30)
            except AssertionError:
                name = person.api.user["first_name"]
                raise AssertionError(f"{name} after {taken}:\n" + "\n".join(found)) from None
        self.check_that_what_was_read_was_seen(taken)

    def check_that_what_was_read_was_seen(self, taken):
        for person in (self.alice, self.bob):
            seen = person.seen()
            for row in person.rows():
                read = row["last_read_id"] or 0
                assert read == 0 or read in seen, (person.api.user["first_name"], read, sorted(seen)[-10:], taken)

    # --- Steps ---------------------------------------------------------------------------------

    def do_write(self):
        person = self.person()
        if person.here and not person.is_offline and not (self.is_blocked and person.here == person.talk):
            text = self.text()
            person.window.write(text)
            wait_for(
                lambda: text in [message["body"] for message in person.newest(person.here)],
                what=f"the message {text!r}",
            )

    def do_hear(self):
        person, other = self.dice.sample([self.alice, self.bob], 2)
        if not self.is_blocked:
            for _ in range(self.dice.choice([1, 1, 6])):
                other.api.send(person.talk, self.text())

    def do_hear_from_carol(self):
        person = self.person()
        for _ in range(self.dice.choice([1, 3])):
            self.carol.send(person.other, self.text())

    def do_scroll(self):
        person = self.person()
        if person.here and person.window.log.count():
            person.window.log.evaluate(
                "(log, place) => { log.scrollTop = place * log.scrollHeight; }", self.dice.choice([0, 0.3, 0.7, 1])
            )

    def do_jump_to_the_end(self):
        button = self.person().page.locator(".to-end")
        if button.count():
            button.click()

    def do_change_the_chat(self):
        person = self.person()
        entry = person.page.locator(".entries a:not([aria-current])").first
        if entry.count() and not person.is_offline:
            entry.click()

    def do_go_to_settings(self):
        self.person().page.get_by_role("link", name="Settings", exact=True).first.click()

    def do_come_back(self):
        person = self.person()
        if not person.here:
            person.page.get_by_role("link", name="Chats").first.click()
            person.page.locator(".entries a").first.click()

    def do_look_away(self):
        self.person().page.evaluate(LOOK, "hidden")

    def do_look(self):
        for person in (self.alice, self.bob):
            person.page.evaluate(LOOK, "visible")

    def do_lose_the_connection(self):
        person = self.person()
        person.is_offline = True
        person.window.context.set_offline(True)

    def do_find_the_connection(self):
        for person in (self.alice, self.bob):
            person.is_offline = False
            person.window.context.set_offline(False)

    def do_reload(self):
        person = self.person()
        if not person.is_offline:
            person.page.reload()

    def do_edit(self):
        person = self.person()
        if not self.is_blocked and (own := list(filter(person.is_own, person.newest(person.talk)))):
            message = self.dice.choice(own)
            change = {"body": self.text()}
            person.api.http.patch(f"/messages/messages/{message['id']}", json=change).raise_for_status()

    def do_remove(self):
        person = self.person()
        if own := list(filter(person.is_own, person.newest(person.talk))):
            person.api.http.delete(f"/messages/messages/{self.dice.choice(own)['id']}").raise_for_status()

    def do_block(self):
        if not self.is_blocked:
            self.is_blocked = True
            self.bob.api.http.post("/profile/blocks", json={"user_id": self.alice.api.user["id"]}).raise_for_status()

    def do_unblock(self):
        if self.is_blocked:
            self.is_blocked = False
            self.bob.api.http.delete(f"/profile/blocks/{self.alice.api.user['id']}").raise_for_status()


@pytest.fixture
def carol(server, tmp_path):
    email = f"carol-{secrets.token_hex(3)}@example.com"
    line = {"email": email, "first_name": "Carol", "last_name": "Clark", "password": PASSWORD}
    (tmp_path / "people.jsonl").write_text(json.dumps(line) + "\n")
    manage(server, "import_users", str(tmp_path / "people.jsonl"))
    return Api(server, {"email": email, "password": PASSWORD})


@pytest.fixture
def walk(windows, people, chat, carol):
    seed = int(os.environ.get("CLIENT_WALK_SEED") or secrets.randbelow(2**31))
    print(f"CLIENT_WALK_SEED={seed}")
    walkers = []
    for name in ("Alice", "Bob"):
        other = carol.chat_with(people[name])
        carol.send(other, f"Hello {name}")
        walkers.append(Walker(windows(name), people[name], chat, other))
    yield Walk(random.Random(seed), *walkers, carol)
    for walker in walkers:
        walker.window.context.set_offline(False)
        # Without a connection requests fail, and the browser says so.
        walker.window.complaints[:] = [text for text in walker.window.complaints if "net::ERR_" not in text]


def test_the_windows_show_what_the_api_says(walk):
    taken = []
    walk.check(taken)
    for _ in range(STEPS):
        taken.append(walk.step())
        print(taken[-1])
        walk.check(taken)
