"""Debian's Chromium, driven from Python; a page that complains fails its test."""

import contextlib
import shutil
import time

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

# The shell has the same engine without the windows and menus around a page, which are a third of the work of a short test.
# Only the whole browser refuses a device by itself, and asks about notifications; the shell refuses those, and the clipboard
# without a permission.
WHOLE = shutil.which("chromium") or "/usr/bin/chromium"
EXECUTABLE = shutil.which("chromium-headless-shell") or WHOLE
FLAGS = [
    # Ten pictures a second instead of twenty: two cameras are encoded and decoded by the processor.
    "--use-fake-device-for-media-stream=fps=10",
    "--use-fake-ui-for-media-stream",
    "--allow-loopback-in-peer-connection",
    "--disable-features=WebRtcHideLocalIpsWithMdns",
    "--no-sandbox",
    # The processor draws either way; without the detour over a simulated graphics card it has less to do.
    "--disable-gpu",
]
# Milliseconds: a busy machine takes longer than the five seconds that `expect` waits by default.
PATIENCE = 20_000
expect.set_options(timeout=PATIENCE)
needs_chromium = pytest.mark.skipif(not shutil.which("chromium"), reason="no Chromium (apt-get install chromium)")


@contextlib.contextmanager
def browser():
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=EXECUTABLE, args=FLAGS)
        try:
            yield chromium
        finally:
            chromium.close()


@contextlib.contextmanager
def closed_at_the_end(chromium):
    """Whatever the block opens in the browser is closed after it."""
    before = set(chromium.contexts)
    try:
        yield
    finally:
        for context in set(chromium.contexts) - before:
            context.close()


def wait_until(page, function, arg=None, *, timeout=30_000):
    """Waits until an async function of the page returns something true, and returns that.

    `wait_for_function` takes the promise of such a function for the answer, and does not wait at all.
    """
    deadline = time.monotonic() + timeout / 1000
    while not (answer := page.evaluate(function, arg)):
        assert time.monotonic() < deadline, f"not within {timeout} ms: {function}"
        page.wait_for_timeout(200)
    return answer


def watch(page, base):
    """Collects what must not happen on a page: errors, broken policies, requests to other hosts."""
    complaints = []
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in {"error", "warning"} else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    # The console names no address: this does.
    page.on(
        "response", lambda answer: complaints.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None
    )
    page.on(
        "request",
        lambda request: None if request.url.startswith((base, "data:", "blob:")) else complaints.append(request.url),
    )
    return complaints


class InputMethod:
    """The keys that Safari reports while, and right after, an input method makes a word."""

    def __init__(self, page):
        self.cdp = page.context.new_cdp_session(page)

    def press(self, key):
        for kind in ("rawKeyDown", "keyUp"):
            event = {"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": 229}
            self.cdp.send("Input.dispatchKeyEvent", event)


def barriers(page, **options):
    """What stands in the way of people with a screen reader, a keyboard or weak eyes, as axe sees it: rule, elements."""
    violations = Axe().run(page, options={"resultTypes": ["violations"], **options}).response["violations"]
    return [(rule["id"], [node["html"][:200] for node in rule["nodes"]]) for rule in violations]
