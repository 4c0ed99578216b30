"""Calls and the devices under them: a headset that is pulled out, one that comes later, none at all; windows in the background."""

import re
from functools import partial

import pytest
from playwright.sync_api import expect

from tests.browser.call_pages import CallWindow
from tests.browser.chromium import needs_chromium, wait_until
from tests.browser.client_pages import opened_windows

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]

# Microphones that the test plugs in and pulls out: `plug(id, label)`, `pull(id, how)`.
FAKE_DEVICES = """
  const devices = new Map();
  const tracks = [];
  const media = navigator.mediaDevices;
  window.taken = [];
  media.enumerateDevices = async () => [...devices].map(([deviceId, { label, kind }]) => ({ deviceId, groupId: `g-${label}`, kind, label }));
  media.getUserMedia = async ({ audio, video }) => {
    const stream = new MediaStream();
    for (const [kind, wanted] of [["audioinput", audio], ["videoinput", video]]) {
      if (!wanted) continue;
      const id = wanted.deviceId?.exact ?? [...devices].find(([, row]) => row.kind === kind)?.[0];
      if (!devices.has(id)) throw new DOMException("none", wanted.deviceId?.exact ? "OverconstrainedError" : "NotFoundError");
      const context = new AudioContext();
      const tone = context.createOscillator();
      const target = context.createMediaStreamDestination();
      tone.connect(target);
      tone.start();
      const canvas = Object.assign(document.createElement("canvas"), { width: 64, height: 48 });
      canvas.getContext("2d").fillRect(0, 0, 64, 48);
      const [track] = kind === "audioinput" ? target.stream.getTracks() : canvas.captureStream(5).getTracks();
      const { label } = devices.get(id);
      Object.defineProperty(track, "label", { get: () => label });
      track.getSettings = () => ({ deviceId: id, groupId: `g-${label}` });
      tracks.push({ id, track });
      window.taken.push(id);
      stream.addTrack(track);
    }
    return stream;
  };
  window.plug = (id, label, kind = "audioinput") => {
    devices.set(id, { label, kind });
    media.dispatchEvent(new Event("devicechange"));
  };
  // "ended": the track ends; "list": the system tells only that the list has changed; "both".
  window.pull = (id, how) => {
    devices.delete(id);
    for (const { id: of, track } of how === "list" ? [] : tracks) {
      if (of !== id) continue;
      track.stop();
      track.dispatchEvent(new Event("ended"));
    }
    if (how !== "ended") media.dispatchEvent(new Event("devicechange"));
  };
  devices.set("headset", { label: "Headset", kind: "audioinput" });
"""
NO_CALLS = {
    "RTCPeerConnection": "delete window.RTCPeerConnection;",
    "MediaStream": "delete window.MediaStream;",
    "mediaDevices": "Object.defineProperty(navigator, 'mediaDevices', { value: undefined });",
    "getUserMedia": "navigator.mediaDevices.getUserMedia = undefined;",
}
NOTE_NOTIFICATIONS = """
  window.shown = [];
  window.Notification = class extends EventTarget {
    static permission = %s;
    static requestPermission = async () => (window.Notification.permission = window.answer ?? "granted");
    constructor(title, options) {
      super();
      Object.assign(this, { title, ...options, closed: false });
      window.shown.push(this);
    }
    close() { this.closed = true; }
  };
  Object.defineProperty(document, "visibilityState", { get: () => (window.isSeen ? "visible" : "hidden") });
"""


@pytest.fixture
def windows(chromium, server):
    with opened_windows(partial(CallWindow, chromium, server), server) as window:
        yield window


@pytest.fixture
def alice(windows, chat):
    window = windows("Alice", allowed=["microphone", "camera"])
    window.context.add_init_script(FAKE_DEVICES)
    return window.open_chat(chat)


@pytest.fixture
def bob(windows):
    return windows("Bob", allowed=["microphone", "camera"]).open()


def talk(alice, bob, kind="Voice"):
    alice.call(kind)
    bob.rings("Alice").answer()
    alice.expect_active(), bob.expect_active()


def hang_up(alice, bob):
    alice.press("Hang up")
    bob.ended("Call ended")


@pytest.mark.parametrize("how", ["ended", "list", "both"])
def test_another_microphone_takes_the_place_of_one_that_is_pulled_out(alice, bob, how):
    alice.page.evaluate("() => plug('built-in', 'Built-in')")
    talk(alice, bob)
    bob.receives("energy")
    alice.page.evaluate("(how) => pull('headset', how)", how)
    alice.page.wait_for_function("() => window.taken.at(-1) === 'built-in'", timeout=2_000)
    expect(alice.dialog.get_by_text("Microphone: Built-in")).to_be_visible()
    bob.receives("energy")
    expect(bob.dialog.get_by_text("is muted")).to_have_count(0)
    assert alice.page.evaluate("() => window.taken") == ["headset", "built-in"]
    hang_up(alice, bob)


@pytest.mark.parametrize("how", ["ended", "list"])
def test_both_learn_that_there_is_no_microphone_and_the_next_one_is_taken(alice, bob, how):
    talk(alice, bob)
    alice.page.evaluate("(how) => pull('headset', how)", how)
    expect(alice.dialog.get_by_text("the other person cannot hear you")).to_be_visible(timeout=2_000)
    expect(bob.dialog.get_by_text("Alice Archer is muted")).to_be_visible(timeout=2_000)
    alice.page.evaluate("() => plug('usb', 'USB')")
    expect(bob.dialog.get_by_text("Alice Archer is muted")).to_have_count(0)
    bob.receives("energy")
    hang_up(alice, bob)


def test_a_microphone_that_is_muted_stays_so_when_another_one_is_taken(alice, bob):
    alice.page.evaluate("() => plug('built-in', 'Built-in')")
    talk(alice, bob)
    alice.press("Mute")
    alice.page.evaluate("() => pull('headset', 'both')")
    alice.page.wait_for_function("() => window.taken.at(-1) === 'built-in'")
    expect(alice.button("Unmute")).to_be_visible()
    expect(bob.dialog.get_by_text("Alice Archer is muted")).to_be_visible()
    hang_up(alice, bob)


def test_a_headset_that_comes_later_is_offered_and_not_taken_unasked(alice, bob):
    talk(alice, bob)
    alice.page.evaluate("() => plug('buds', 'Wireless buds')")
    offer = alice.dialog.locator(".notice").filter(has_text="New microphone: Wireless buds")
    expect(offer).to_be_visible()
    assert alice.page.evaluate("() => window.taken") == ["headset"]
    offer.get_by_role("button", name="Use it").click()
    alice.page.wait_for_function("() => window.taken.at(-1) === 'buds'")
    bob.receives("energy")
    # It goes again: back to the one before.
    alice.page.evaluate("() => pull('buds', 'both')")
    alice.page.wait_for_function("() => window.taken.at(-1) === 'headset'", timeout=2_000)
    bob.receives("energy")
    hang_up(alice, bob)


def test_a_camera_that_is_pulled_out_is_told(alice, bob):
    alice.page.evaluate("() => plug('cam', 'Camera', 'videoinput')")
    talk(alice, bob, "Video")
    expect(alice.video("Own")).to_be_visible()
    alice.page.evaluate("() => pull('cam', 'list')")
    expect(alice.dialog.get_by_text("The camera cannot be used")).to_be_visible()
    expect(alice.video("Own")).to_have_count(0)
    hang_up(alice, bob)


@pytest.mark.parametrize("part", NO_CALLS)
def test_a_browser_that_cannot_hold_calls_refuses_at_once(windows, chat, part):
    alice, bob = windows("Alice"), windows("Bob", allowed=["microphone"]).open_chat(chat)
    alice.context.add_init_script(NO_CALLS[part])
    alice.open_chat(chat)
    alice.call("Voice")
    expect(alice.page.get_by_text("This browser cannot hold calls on this page.")).to_be_visible()
    expect(alice.dialog).to_have_count(0)
    # It rings here all the same; another device of the user may answer.
    bob.call("Voice")
    alice.rings("Bob").answer()
    expect(alice.page.get_by_text("This browser cannot hold calls on this page.").first).to_be_visible()
    expect(alice.ring).to_be_visible()
    alice.press("Decline")
    bob.ended("declined")


@pytest.mark.parametrize(
    ("error", "text"), [("NotFoundError", "There is no screen"), ("NotReadableError", "The screen could not be shared")]
)
def test_a_screen_that_cannot_be_shared(alice, bob, error, text):
    alice.page.evaluate(
        "(name) => { navigator.mediaDevices.getDisplayMedia = () => Promise.reject(new DOMException('', name)); }",
        error,
    )
    talk(alice, bob)
    alice.press("Share screen")
    expect(alice.dialog.get_by_text(text)).to_be_visible()
    hang_up(alice, bob)


def test_a_minimized_call_has_a_picture(windows, chat):
    alice, bob = (windows(name, allowed=["microphone", "camera"]) for name in ("Alice", "Bob"))
    alice.open_chat(chat), bob.open()
    talk(alice, bob, "Video")
    alice.press("Minimize the call")
    stage = alice.page.locator(".call-stage")
    assert stage.bounding_box()["height"] > 100
    # No height of the stage may come from a share of a column that has none.
    assert stage.evaluate("(element) => getComputedStyle(element).flexBasis") == "auto"
    hang_up(alice, bob)


def test_what_is_dismissed_gives_the_focus_back(windows, chat):
    alice, bob = windows("Alice", allowed=["microphone"]).open_chat(chat), windows("Bob").open()
    alice.call("Voice")
    bob.rings("Alice")
    bob.press("Decline")
    alice.ended("declined")
    alice.page.get_by_role("button", name="Dismiss").click()
    expect(alice.page.locator(".call-end")).to_have_count(0)
    alice.page.wait_for_function("() => document.activeElement !== document.body")


def test_a_call_in_a_window_that_is_not_in_sight(windows, chat):
    bob = windows("Bob", allowed=["microphone"])
    bob.context.add_init_script(NOTE_NOTIFICATIONS % '"granted"')
    alice, bob = windows("Alice", allowed=["microphone"]).open_chat(chat), bob.open("settings")
    alice.call("Voice")
    bob.page.wait_for_function("() => document.title === 'Alice Archer is calling · Parley'")
    bob.page.wait_for_function("() => window.shown.length === 1")
    assert bob.page.evaluate("() => [shown[0].title, shown[0].body, shown[0].requireInteraction]") == [
        "Alice Archer",
        "Incoming voice call",
        True,
    ]
    alice.press("Hang up")
    bob.page.wait_for_function("() => window.shown[0].closed && document.title.endsWith('Settings · Parley')")
    # In sight, the ring is enough.
    bob.page.evaluate("() => { window.isSeen = true; }")
    alice.page.get_by_role("button", name="Dismiss").click()
    alice.call("Voice")
    bob.rings("Alice")
    bob.press("Decline")
    alice.ended("declined")
    # Beside what tells of the missed calls.
    assert bob.page.evaluate("() => shown.filter(({ body }) => body.startsWith('Incoming')).length") == 1


def test_notifications_in_this_browser_are_turned_on_and_off(windows, chat, people):
    bob = windows("Bob")
    bob.context.add_init_script(NOTE_NOTIFICATIONS % '(sessionStorage.permission ?? "default")')
    page = bob.open("settings/notifications").page
    switch = page.get_by_role("switch", name="Notifications in this browser")
    expect(switch).not_to_be_checked()
    switch.click()
    expect(switch).to_be_checked()
    page.wait_for_function("() => window.shown.length === 1")
    people["Alice"].send(chat, "told while it is on")
    page.wait_for_function("() => window.shown.length === 2")
    switch.click()
    expect(switch).not_to_be_checked()
    expect(switch).to_be_focused()
    people["Alice"].send(chat, "not told while it is off")
    wait_until(
        page,
        "async () => (await import('/static/app/state/store.js')).store.unread.getSnapshot().message_unread_count > 1",
    )
    page.wait_for_timeout(300)
    assert page.evaluate("() => window.shown.length") == 2


@pytest.mark.parametrize(
    ("script", "text"),
    [
        (NOTE_NOTIFICATIONS % '"denied"', "The browser blocks them."),
        ("delete window.Notification;", "This browser cannot show notifications of this page."),
    ],
    ids=["denied", "unsupported"],
)
def test_notifications_that_cannot_be_turned_on(windows, script, text):
    bob = windows("Bob")
    bob.context.add_init_script(script)
    page = bob.open("settings/notifications").page
    switch = page.get_by_role("switch", name="Notifications in this browser")
    expect(page.get_by_text(text)).to_be_visible()
    switch.press("Space")
    expect(switch).not_to_be_checked()
    expect(switch).to_have_accessible_description(re.compile(re.escape(text)))
