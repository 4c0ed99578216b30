"""What two browsers hear and see of one another in a call: media, routes, refusals, reloads and restarts."""

import contextlib
import os

import pytest
from playwright.sync_api import expect

from tests.browser.call_pages import PATIENCE, CallWindow
from tests.browser.chromium import FLAGS, WHOLE, needs_chromium, wait_until
from tests.browser.client_pages import opened_windows
from tests.browser.test_calls import turn  # noqa: F401 (fixture)
from tests.databases import TemporaryDatabase
from tests.relay import SECRET, needs_turnserver
from tests.server import ON_POSTGRES, RunningServer

# The page that is loaded anew waits for its devices until `release` is called.
HOLD_DEVICES = """
  const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = (wanted) => {
    window.released ??= new Promise((resolve) => (window.release = resolve));
    return window.released.then(() => ask(wanted));
  };
"""

# The media flow between the browsers: `test_calls.py` has the same server on every database.
pytestmark = [pytest.mark.once, needs_chromium, pytest.mark.timeout(300)]

# With Redis, the sockets of a dead process count as open for 50 seconds, without it for 12.5: see `dead_after` in
# realtime/calls/services/connections.py. What the pages do meanwhile is the same.
kills_the_server = pytest.mark.once


@pytest.fixture(scope="module")
def chromium(whole_chromium):
    return whole_chromium


@pytest.fixture(scope="module")
def server(tmp_path_factory, turn):  # noqa: F811
    with contextlib.ExitStack() as stack:
        environment = {"RATELIMIT_ENABLE": "0", "TURN_URLS": turn, "TURN_SECRET": SECRET}
        if ON_POSTGRES:
            environment["DATABASE_URL"] = stack.enter_context(TemporaryDatabase())
            environment["REDIS_URL"] = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/0")
        running = RunningServer(tmp_path_factory.mktemp("client-calls"), **environment)
        stack.callback(running.kill)
        running.start(demo=True)
        yield running


@pytest.fixture
def open_window(chromium, server, people):
    """`open_window("Alice")` is a browser of Alice."""

    def make(login, *, program=chromium, **options):
        return CallWindow(program, server, login, **options)

    try:
        with opened_windows(make, server) as window:
            yield window
    finally:
        # A call ends with the session of its device: what a failed test leaves would keep the users busy for a minute.
        for person in people.values():
            person.http.post("/auth/sessions/revoke-others").raise_for_status()


@pytest.fixture
def alice(open_window, chat):
    return open_window("Alice").open_chat(chat)


@pytest.fixture
def bob(open_window):
    """Anywhere: it rings on every page."""
    return open_window("Bob").open("settings")


def last_call(people, name="Bob"):
    return people[name].http.get("/calls?limit=1").json()["calls"][0]


def test_a_video_call(alice, bob, people, chat):
    alice.call("Video")
    expect(alice.dialog).to_contain_text("Ringing", timeout=PATIENCE)
    bob.rings("Alice").answer()
    for window in (alice.expect_active(), bob.expect_active()):
        window.receives("frames")
        window.receives("energy")
        expect(window.video("Remote")).to_be_visible()
        expect(window.video("Own")).to_be_visible()

    alice.press("Mute")
    expect(bob.dialog).to_contain_text("is muted", timeout=PATIENCE)
    alice.press("Unmute")
    expect(bob.dialog).not_to_contain_text("is muted", timeout=PATIENCE)

    alice.press("Camera off")
    expect(alice.video("Own")).to_have_count(0)
    # The other side shows the caller's picture in place of the last frame.
    expect(bob.dialog.locator(".call-avatar")).to_be_visible(timeout=PATIENCE)
    alice.press("Camera on")
    expect(bob.dialog.locator(".call-avatar")).to_have_count(0, timeout=PATIENCE)
    bob.receives("frames")

    alice.press("Share screen")
    expect(alice.button("Stop sharing")).to_be_visible(timeout=PATIENCE)
    expect(bob.dialog.locator("video.screen")).to_be_visible(timeout=PATIENCE)
    bob.receives("frames")
    alice.press("Stop sharing")
    expect(bob.dialog.locator("video.screen")).to_have_count(0, timeout=PATIENCE)

    bob.press("Hang up")
    for window in (alice, bob):
        window.ended("Call ended")
        # Camera and microphone are let go of.
        assert window.page.evaluate("() => window.peers.every((peer) => peer.connectionState === 'closed')")
    call = last_call(people)
    assert (call["media"], call["outcome"]) == ("video", "completed")
    bob.open_chat(chat)
    expect(bob.log.get_by_role("article").last).to_contain_text("ideo call")


def test_a_phone_changes_to_its_other_camera(chromium, open_window, bob, chat):
    # The second one of Chromium measures depth, which no call sends.
    flags = [*FLAGS, "--use-fake-device-for-media-stream=device-count=3,fps=10"]
    phone = chromium.browser_type.launch(executable_path=WHOLE, args=flags)
    try:
        alice = open_window(
            "Alice", program=phone, viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True
        )
        alice.open_chat(chat).call("Video")
        bob.rings("Alice").answer()
        alice.expect_active(), bob.expect_active()
        # Some phones open one camera at a time: between the two the video has no track.
        camera = "() => document.querySelector('video.own')?.srcObject?.getVideoTracks()[0]?.label"
        for _ in range(2):
            before = alice.page.wait_for_function(camera).json_value()
            alice.press("Switch camera")
            alice.page.wait_for_function(f"before => ![undefined, before].includes(({camera})())", arg=before)
        bob.receives("frames")
        # With one camera, or a mouse, there is nothing to change to.
        expect(bob.button("Switch camera")).to_have_count(0)
        bob.press("Hang up")
        alice.ended("Call ended")
    finally:
        phone.close()


def test_the_end_is_seen_by_both_at_once(alice, bob):
    """From the click on one side to the end on the other, by the clocks of both pages on this machine."""
    alice.call("Voice")
    bob.rings("Alice").answer()
    alice.expect_active(), bob.expect_active()
    observe = "() => { new MutationObserver((_, observer) => { if (document.querySelector('.call-end [role=status]'))"
    observe += " { window.endedAt ??= Date.now(); observer.disconnect(); } }).observe(document, { childList: true, subtree: true }); }"
    bob.page.evaluate(observe)
    clicked = alice.page.evaluate("() => Date.now()")
    alice.press("Hang up")
    bob.ended("Call ended")
    seconds = (bob.page.evaluate("() => window.endedAt") - clicked) / 1000
    # One second on a quiet machine; the tests share theirs.
    assert seconds < 5


def test_both_call_at_the_same_time(alice, open_window, chat):
    bob = open_window("Bob").open_chat(chat)
    # Without waiting for one another.
    for window in (alice, bob):
        window.page.evaluate("() => document.querySelector('[aria-label=\"Voice call\"]').click()")
    alice.expect_active(), bob.expect_active()
    for window in (alice, bob):
        window.receives("energy")
    alice.press("Hang up")
    bob.ended("Call ended")


@pytest.fixture
def strict_chromium(chromium):
    """A browser that grants nothing by itself."""
    flags = [flag for flag in FLAGS if flag != "--use-fake-ui-for-media-stream"]
    opened = chromium.browser_type.launch(executable_path=WHOLE, args=flags)
    yield opened
    opened.close()


def test_camera_denied(alice, strict_chromium, open_window):
    bob = open_window("Bob", program=strict_chromium, allowed=["microphone"]).open()
    alice.call("Video")
    bob.rings("Alice").answer()
    alice.expect_active(), bob.expect_active()
    bob.receives("frames")
    alice.receives("energy")
    expect(bob.dialog.get_by_text("The camera cannot be used")).to_be_visible()
    expect(bob.video("Own")).to_have_count(0)
    expect(alice.dialog.locator(".call-avatar")).to_be_visible(timeout=PATIENCE)
    alice.press("Hang up")
    bob.ended("Call ended")


def test_microphone_denied(strict_chromium, open_window, chat, people):
    alice = open_window("Alice", program=strict_chromium).open_chat(chat)
    before = last_call(people)["id"]
    alice.call("Voice")
    alice.ended("Microphone access was denied")
    assert last_call(people)["id"] == before


@needs_turnserver
def test_by_relay_alone(alice, bob, people):
    for name in ("Alice", "Bob"):
        choice = people[name].http.get("/profile/privacy").json()["privacy"]
        people[name].http.put("/profile/privacy", json=choice | {"relay_calls": True}).raise_for_status()
    try:
        alice.call("Video")
        bob.rings("Alice").answer()
        for window in (alice.expect_active(), bob.expect_active()):
            window.receives("frames")
            assert window.flow()["types"] == ["relay", "relay"]
        alice.press("Hang up")
        bob.ended("Call ended")
    finally:
        for name in ("Alice", "Bob"):
            choice = people[name].http.get("/profile/privacy").json()["privacy"]
            people[name].http.put("/profile/privacy", json=choice | {"relay_calls": False}).raise_for_status()


def start_call(alice, bob):
    alice.call("Video")
    bob.rings("Alice").answer()
    for window in (alice.expect_active(), bob.expect_active()):
        window.receives("frames")


def ignore_lost_connections(*windows):
    """Browsers complain about each attempt while there is no server, and about replies that broke off."""
    lost = ("net::ERR_", "WebSocket connection")
    for window in windows:
        window.complaints[:] = [text for text in window.complaints if not any(word in text for word in lost)]


def test_a_reload_does_not_end_a_call(alice, bob):
    """The first offer after it is lost, as when the other device's socket is just reconnecting."""
    start_call(alice, bob)
    bob.page.evaluate("() => { window.deaf = true; }")
    alice.page.reload()
    alice.page.wait_for_function("() => window.peers?.at(-1)?.signalingState === 'have-local-offer'")
    alice.page.wait_for_timeout(500)
    bob.page.evaluate("() => { window.deaf = false; }")
    alice.expect_active()
    for window in (alice, bob):
        window.receives("frames")
    bob.press("Hang up")
    alice.ended("Call ended")


def test_a_reload_of_the_caller_while_it_rings_does_not_end_the_call(alice, bob):
    alice.call("Video")
    bob.rings("Alice")
    alice.page.reload()
    expect(alice.button("Hang up")).to_be_visible(timeout=PATIENCE)
    bob.answer()
    for window in (alice.expect_active(), bob.expect_active()):
        window.receives("frames")
    alice.press("Hang up")
    bob.ended("Call ended")


@kills_the_server
def test_a_killed_server_does_not_end_a_call(alice, bob, server):
    start_call(alice, bob)
    server.kill()
    for window in (alice, bob):
        # Media needs no server.
        window.receives("frames")
    server.start(demo=True)
    for window in (alice, bob):
        expect(window.page.get_by_role("status").filter(has_text="Offline")).to_have_count(0, timeout=PATIENCE)
        window.receives("frames")
    bob.press("Hang up")
    alice.ended("Call ended")
    ignore_lost_connections(alice, bob)


@kills_the_server
def test_a_server_killed_during_a_reload_does_not_end_a_call(alice, bob, server):
    """Nothing connects the two until the server is back: the reloaded page tries until then."""
    start_call(alice, bob)
    bob.page.context.add_init_script(HOLD_DEVICES)
    bob.page.reload()
    wait_until(bob.page, "async () => Boolean(window.released)", timeout=PATIENCE)
    server.kill()
    bob.page.evaluate("() => window.release()")
    server.start(demo=True)
    for window in (alice, bob):
        window.receives("frames")
    alice.press("Hang up")
    bob.ended("Call ended")
    ignore_lost_connections(alice, bob)
