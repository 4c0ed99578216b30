"""Calls in Firefox: with another Firefox, with Chromium, and where devices or sounds are forbidden."""

import pytest

from tests.browser.call_pages import GROWS, NOTE_PEERS, CallWindow
from tests.browser.chromium import needs_chromium
from tests.browser.client_pages import demo_people
from tests.browser.firefox import needs_firefox
from tests.browser.firefox_pages import MOVING, ONLINE, visit

pytestmark = [needs_firefox, needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]

HAS_FOCUS = "() => document.activeElement !== document.body"
STAGE = "() => document.querySelector('.call.small .call-stage')?.getBoundingClientRect().height"
OWN = """() => {
  const [own, stage] = ["video.own", ".call-stage"].map((name) => document.querySelector(`.call.small ${name}`)?.getBoundingClientRect());
  return own && own.top >= stage.top && own.bottom <= stage.bottom;
}"""
TIMER = "() => Boolean(document.querySelector('[role=timer]'))"


@pytest.fixture(scope="module", autouse=True)
def peers(fox_program):
    fox_program.order("script.addPreloadScript", functionDeclaration=f"() => {{ {NOTE_PEERS} }}")


def hears(window):
    """More sound than silence arrives."""
    window.until(GROWS, "energy")


def answer(caller, callee, kind="Video", button="Accept"):
    caller.press("button", f"{kind} call")
    callee.press("button", button)
    for window in (caller, callee):
        window.until(TIMER)


def test_a_video_call_and_its_small_picture(pair):
    alice, bob = pair
    answer(alice, bob)
    for window in pair:
        window.until(MOVING)
        hears(window)
    alice.type("Escape")
    assert alice.until(STAGE) > 180
    alice.until(OWN)
    alice.until(MOVING)
    alice.press("button", "Mute")
    bob.sees("is muted")
    alice.press("button", "Unmute")
    alice.press("button", "Enlarge the call")
    alice.order("browsingContext.setViewport", viewport={"width": 390, "height": 844})
    alice.press("button", "Minimize the call")
    assert alice.until(STAGE) > 100
    alice.until(OWN)
    alice.order("browsingContext.setViewport", viewport={"width": 1280, "height": 800})
    bob.press("button", "Hang up")
    alice.sees("Call ended")
    for window in pair:
        window.press("button", "Dismiss")
        window.lacks("button", "Dismiss")
        assert window.run(HAS_FOCUS)


def test_a_voice_call_is_heard_and_goes_on_after_a_reload(pair):
    alice, bob = pair
    answer(alice, bob, "Voice")
    for window in pair:
        hears(window)
    bob.reload()
    bob.until(TIMER)
    for window in (bob, alice):
        hears(window)
    bob.press("button", "Hang up")
    alice.sees("Call ended")


def test_escape_leaves_the_ring(pair):
    alice, bob = pair
    alice.press("button", "Voice call")
    bob.find("alertdialog", "Alice Archer")
    bob.type("Escape")
    bob.press("button", "Decline")
    alice.sees("Call declined")


def test_two_tabs_ring_and_one_answers(pair, fox, fox_server):
    alice, bob = pair
    other = visit(fox.window(bob.user, width=1280, height=800), f"{fox_server.base}/app/calls")
    alice.press("button", "Voice call")
    other.find("alertdialog", "Alice Archer")
    bob.press("button", "Accept")
    other.lacks("alertdialog")
    assert other.run("() => document.querySelector('dialog.call[open]')") is None
    for window in pair:
        hears(window)
    alice.press("button", "Hang up")
    bob.sees("Call ended")


def test_a_screen_that_cannot_be_shared_is_said(pair, fox):
    alice, bob = pair
    answer(alice, bob)
    alice.press("button", "Share screen")
    alice.sees("There is no screen that can be shared.")
    alice.until(MOVING)
    alice.press("button", "Hang up")
    bob.sees("Call ended")


@pytest.fixture
def bob_in_chromium(pair, fox_server, fox_chat, chromium):
    """The only browser of Bob that rings."""
    pair[1].open("about:blank")
    bob = CallWindow(chromium, fox_server, demo_people(fox_server)["Bob"], allowed=["camera", "microphone"])
    yield bob.open_chat(fox_chat)
    bob.close()
    assert bob.complaints == []
    visit(pair[1], f"{fox_server.base}/app/chats/{fox_chat}")


@pytest.mark.parametrize("caller", ["Firefox", "Chromium"])
def test_a_call_between_firefox_and_chromium(pair, bob_in_chromium, caller):
    alice, bob = pair[0], bob_in_chromium
    if caller == "Firefox":
        alice.press("button", "Video call")
        bob.rings("Alice").answer()
    else:
        bob.call("Video")
        alice.press("button", "Accept")
    bob.expect_active()
    bob.receives("frames")
    bob.receives("energy")
    alice.until(MOVING)
    hears(alice)
    if caller == "Chromium":
        bob.press("Share screen")
        alice.until("() => Boolean(document.querySelector('video.screen'))")
        alice.until(MOVING)
    bob.press("Hang up")
    alice.sees("Call ended")


def test_two_that_call_at_once_talk(pair, bob_in_chromium):
    """Not in two windows of one Firefox, which opens a microphone only for the one in front."""
    alice, bob = pair[0], bob_in_chromium
    click = "() => document.querySelector('[aria-label=\"Voice call\"]').click()"
    alice.show().run(click)
    bob.page.evaluate(click)
    bob.expect_active()
    alice.until(TIMER)
    bob.receives("energy")
    hears(alice)
    bob.press("Hang up")
    alice.sees("Call ended")


DENIED = {"media.navigator.permission.disabled": False}


def test_a_microphone_that_is_denied_ends_the_call_in_words(pair, fox):
    alice, bob = pair
    with fox.preferences(DENIED | {"permissions.default.microphone": 2, "permissions.default.camera": 2}):
        alice.press("button", "Voice call")
        alice.sees("Microphone access was denied.")
        bob.lacks("alertdialog")


def test_without_a_camera_the_call_goes_on(pair, fox):
    alice, bob = pair
    with fox.preferences(DENIED | {"permissions.default.microphone": 1, "permissions.default.camera": 2}):
        alice.press("button", "Video call")
        bob.press("button", "Accept")
        alice.sees("The camera cannot be used.")
        for window in pair:
            window.until(TIMER)
            hears(window)
        alice.press("button", "Hang up")
        bob.sees("Call ended")


def test_without_a_device_the_call_is_not_begun(pair, fox):
    with fox.preferences({"media.navigator.streams.fake": False}):
        pair[0].press("button", "Voice call")
        pair[0].sees("There is no microphone")


@pytest.mark.parametrize("level", [1, 5])
def test_pictures_play_though_sounds_may_not_begin_by_themselves(pair, fox, level):
    alice, bob = pair
    with fox.preferences({"media.autoplay.default": level}):
        for window in pair:
            window.reload()
            window.until(ONLINE)
        answer(alice, bob)
        for window in pair:
            window.until(MOVING)
        bob.reload()
        bob.until(TIMER)
        hears(bob)
        # A page that was loaded anew without the permission to use a microphone may play only after that.
        bob.press("button", "Mute")
        bob.until(MOVING)
        alice.press("button", "Hang up")
        bob.sees("Call ended")
