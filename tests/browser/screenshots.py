"""Pictures of every page: light and dark, on a phone and a desktop, in English and Arabic.

`python -m tests.browser.screenshots [--only NAME] [--shown]` starts a server with demo users, writes to
var/screenshots and prints the folder. `--shown` writes the pictures that the README and the landing page show; it needs
fonts of every language (apt-get install fonts-noto-cjk). Run as `python3 dev.py screenshots`.
"""

import argparse
import contextlib
import itertools
import json
import sys
import tempfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page
from tqdm import tqdm

from tests.browser.account_pages import Person
from tests.browser.call_pages import CallWindow
from tests.browser.chromium import browser
from tests.browser.client_pages import Api, Window, demo_people
from tests.browser.staff import StaffServer, sign_in
from tests.server import ROOT, RunningServer

FOLDER = ROOT / "var" / "screenshots"
README_FOLDER = ROOT / "docs" / "images"
LANDING_FOLDER = ROOT / "static" / "app" / "pictures"
SIZES = {"phone": {"width": 390, "height": 844}, "desktop": {"width": 1280, "height": 800}}
SCHEMES = ("light", "dark")
LANGUAGES = ("en", "ar")
SECTIONS = ("profile", "language", "appearance", "notifications", "security", "devices", "privacy", "blocked", "data")
# Name of the picture: path. `{chat}` is the conversation of Alice and Bob.
OPEN_PAGES = {
    "landing": "/",
    "sign-up": "/app/sign-up",
    "sign-in": "/app/sign-in",
    "verify": "/app/verify?email=alice@example.com",
    "forgot": "/app/forgot",
    "reset": "/app/reset?email=alice@example.com",
    "signed-out": "/app/signed-out",
    "help": "/app/help",
    "docs": "/docs",
    "docs-quickstart": "/docs/quickstart",
    "docs-guide": "/docs/uploads",
    "docs-realtime": "/docs/realtime",
    "docs-errors": "/docs/errors",
    "docs-reference": "/docs/reference",
    "docs-operation": "/docs/reference/messages_send",
    "docs-search": "/docs/search?q=paging",
    "docs-changelog": "/docs/changelog",
    "docs-packages": "/sdk/",
    "docs-api": "/api/docs",
    "docs-mailbox": "/dev/mail/",
}
OWN_PAGES = {
    "chats": "/app/chats",
    "conversation": "/app/chats/{chat}",
    "calls": "/app/calls",
    "notifications": "/app/notifications",
    "settings": "/app/settings",
    **{f"settings-{section}": f"/app/settings/{section}" for section in SECTIONS},
}
# Of staff, on a server with a row of everything.
SUPPORT_PAGES = {
    "support": "/admin/",
    "support-users": "/admin/accounts/user/",
    "support-user": "/admin/accounts/user/{untouched}/change/",
    "support-reports": "/admin/messaging/report/",
    "support-report": "/admin/messaging/report/{kept report}/change/",
    "support-audit-log": "/admin/accounts/auditentry/",
}
# Of someone who has no conversation yet.
NEW_PAGES = {"first-run": "/app/chats"}
# Between the first and the second password.
STEP_PAGES = {"two-step": "/app/two-step", "recovery": "/app/recovery"}
# Alice is called by Bob while this page is open.
CALL_PAGES = {"ring": "/app/chats/{chat}", "call": "/app/chats/{chat}"}
PAGES = OPEN_PAGES | STEP_PAGES | NEW_PAGES | OWN_PAGES | CALL_PAGES | SUPPORT_PAGES
# Picture of the README: page, size, colours.
README_PICTURES = {
    "conversation": ("conversation", "desktop", "light"),
    "conversation-phone": ("conversation", "phone", "dark"),
    "reference": ("docs-reference", "desktop", "light"),
}
# As large as the landing page shows it at most (pages/landing.js), for screens with half as many points again.
LANDING_SIZE = {"width": 760, "height": 540}
LANDING_SCALE = 1.5
LANDING_QUALITY = 70


def settle(page) -> None:
    """Waits until the page is drawn: requests answered, fonts there, animations ended."""
    page.wait_for_load_state("networkidle")
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(150)


# The texts of the pictures by language: `others` wrote the messages in the list; Bob and Alice take turns in `talk`.
OTHERS = ("Olga Lind", "Omar Said", "Mei Tan")
WORDS = json.loads((Path(__file__).parent / "screenshots.json").read_text(encoding="utf-8"))


class Studio:
    """A running server, a browser, and a conversation worth showing."""

    def __init__(self, chromium, server, stack, language):
        self.chromium, self.server = chromium, server
        self.folder = stack.enter_context(tempfile.TemporaryDirectory())
        self.stack = stack
        self.logins = demo_people(server)
        alice, bob = (Api(server, self.logins[name]) for name in ("Alice", "Bob"))
        self.alice = alice
        self.chat = alice.chat_with(bob)
        words = WORDS[language]
        for name, text in zip(OTHERS, words["others"], strict=True):
            first_name, last_name = name.split()
            person = Person(server, first_name)
            person.api.patch("/profile", json={"last_name": last_name}).raise_for_status()
            chat = person.api.post("/messages/conversations", json={"user_id": alice.user["id"]}).json()["conversation"]
            person.api.post(f"/messages/conversations/{chat['id']}/messages", json={"body": text}).raise_for_status()
            # The last one stays unread.
            if name != OTHERS[-1]:
                alice.http.post(f"/messages/conversations/{chat['id']}/read", json={}).raise_for_status()
        for turn, text in enumerate(words["talk"]):
            said = (bob, alice)[turn % 2].send(self.chat, text)
        for reader in (bob, alice):
            reader.http.post(f"/messages/conversations/{self.chat}/read", json={}).raise_for_status()
        alice.http.post(f"/messages/messages/{said['id']}/reactions", json={"emoji": "❤"}).raise_for_status()

    @contextlib.contextmanager
    def window(self, name: str) -> Iterator[None]:
        """This demo user is online meanwhile."""
        with contextlib.closing(Window(self.chromium, self.server, self.logins[name])) as window:
            window.open()
            yield

    @cached_property
    def cautious(self) -> Person:
        """A user with a second password."""
        person = Person(self.server, "Tess")
        person.turn_on_two_step()
        return person

    @cached_property
    def newcomer(self) -> Person:
        return Person(self.server, "Nora")

    @cached_property
    def staff(self) -> StaffServer:
        server = StaffServer(Path(self.folder))
        self.stack.callback(server.kill)
        server.start()
        server.fill()
        # Once: a code signs in once.
        with contextlib.closing(self.chromium.new_context()) as context:
            sign_in(context.new_page(), server, "admin")
            server.cookies["admin"] = context.storage_state()
        return server

    def take(self, name: str, target: Path, *, size: str, scheme: str, language: str) -> None:
        self.draw(name, target, {"viewport": SIZES[size], "color_scheme": scheme, "locale": language})

    def draw(self, name: str, target: Path, options: dict[str, Any]) -> None:
        language = options["locale"]
        options["reduced_motion"] = "reduce"
        # Of a signed-in user the account decides.
        reader = self.newcomer.api if name in NEW_PAGES else self.alice.http
        reader.patch("/profile", json={"language": language}).raise_for_status()
        with contextlib.ExitStack() as stack:
            page = self.page_of(name, stack, options)
            if name not in OPEN_PAGES | SUPPORT_PAGES:
                page.evaluate("language => localStorage.setItem('parley.language', language)", language)
            if name in SUPPORT_PAGES:
                page.goto(self.staff.base + PAGES[name].format(**self.staff.rows))
            else:
                page.goto(self.server.base + PAGES[name].format(chat=self.chat))
            settle(page)
            if not name.startswith(("docs", "support")):
                page.wait_for_function(
                    "language => document.documentElement.lang.toLowerCase() === language", arg=language
                )
            if name == "landing":
                page.locator(".landing-picture.there").wait_for()
                settle(page)
            if name in CALL_PAGES:
                self.ring(stack, page, answered=name == "call")
            target.parent.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=target)

    def page_of(self, name: str, stack: contextlib.ExitStack, options: dict[str, Any]) -> Page:
        if name in OPEN_PAGES | SUPPORT_PAGES:
            state = self.staff.cookies["admin"] if name in SUPPORT_PAGES else None
            context = self.chromium.new_context(**options, storage_state=state)
            return stack.enter_context(contextlib.closing(context)).new_page()
        login = self.logins["Alice"]
        if name in STEP_PAGES | NEW_PAGES:
            person = self.cautious if name in STEP_PAGES else self.newcomer
            login = {"email": person.email, "password": person.password}
        return stack.enter_context(contextlib.closing(Window(self.chromium, self.server, login, **options))).page

    def ring(self, stack: contextlib.ExitStack, page: Page, *, answered: bool) -> None:
        """Bob calls with video; what is shown here may be in any language."""
        bob = CallWindow(self.chromium, self.server, self.logins["Bob"])
        stack.enter_context(contextlib.closing(bob))
        bob.open_chat(self.chat).call("Video")
        page.get_by_role("alertdialog").wait_for()
        stack.callback(bob.press, "Hang up")
        if answered:
            page.locator(".ring .accept").click()
            page.get_by_role("timer").wait_for()
            bob.receives("frames")
            page.wait_for_function(
                "() => document.querySelector('video.remote').getVideoPlaybackQuality().totalVideoFrames"
            )
        page.wait_for_timeout(500)


def take_all(chromium: Browser, folder: Path = FOLDER, *, only: str = "") -> list[Path]:
    """Writes `<page>-<size>-<colours>-<language>.png` of every page, or of the pages whose name contains `only`."""
    names = [name for name in PAGES if only in name]
    variants = list(itertools.product(names, SIZES, SCHEMES, LANGUAGES))
    written = []
    with running_studio(chromium) as studio:
        for name, size, scheme, language in tqdm(variants, disable=not sys.stderr.isatty(), unit="picture"):
            target = folder / f"{name}-{size}-{scheme}-{language}.png"
            studio.take(name, target, size=size, scheme=scheme, language=language)
            written.append(target)
    return written


def take_shown(chromium: Browser) -> list[Path]:
    """Writes the pictures that the README and the landing page show."""
    written = []
    for language in tqdm(WORDS, disable=not sys.stderr.isatty(), unit="language"):
        with running_studio(chromium, language) as studio, studio.window("Bob"):
            if language == "en":
                for picture, (name, size, scheme) in README_PICTURES.items():
                    written.append(README_FOLDER / f"{picture}.png")
                    studio.take(name, written[-1], size=size, scheme=scheme, language=language)
            for scheme in SCHEMES:
                look = {"viewport": LANDING_SIZE, "device_scale_factor": LANDING_SCALE, "color_scheme": scheme}
                target = LANDING_FOLDER / f"landing-{language}-{scheme}.webp"
                drawn = target.with_suffix(".png")
                studio.draw("conversation", drawn, {**look, "locale": language})
                with Image.open(drawn) as image:
                    image.convert("RGB").save(target, quality=LANDING_QUALITY, method=6)
                drawn.unlink()
                written.append(target)
    return written


@contextlib.contextmanager
def running_studio(chromium: Browser, language: str = "en") -> Iterator[Studio]:
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        server = RunningServer(Path(folder), RATELIMIT_ENABLE="0")
        stack.callback(server.kill)
        server.start(demo=True)
        yield Studio(chromium, server, stack, language)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="dev.py screenshots", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="pages whose name contains this")
    parser.add_argument("--shown", action="store_true", help="write the pictures of the README and the landing page")
    options = parser.parse_args()
    with browser() as opened:
        pictures = take_shown(opened) if options.shown else take_all(opened, only=options.only)
    folders = sorted({f"{path.parent.relative_to(ROOT)}/" for path in pictures})
    print(f"{len(pictures)} pictures in {', '.join(folders)}" if pictures else "No such page.")
