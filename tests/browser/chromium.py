"""Debian's Chromium, driven from Python; a page that complains fails its test."""

import contextlib
import shutil
import time

import pytest
from playwright.sync_api import expect, sync_playwright

EXECUTABLE = shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = [
    # Ten pictures a second instead of twenty: two cameras are encoded and decoded by the processor.
    "--use-fake-device-for-media-stream=fps=10",
    "--use-fake-ui-for-media-stream",
    "--allow-loopback-in-peer-connection",
    "--disable-features=WebRtcHideLocalIpsWithMdns",
    "--no-sandbox",
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
