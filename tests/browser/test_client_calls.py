"""Calls in the web client, between two real browsers: the ring on every page, both pictures, and every way to end."""

import pytest
from playwright.sync_api import expect

from tests.browser.account_pages import Person, Window
from tests.browser.chromium import needs_chromium, wait_until
from tests.server import RunningServer
from tests.waiting import wait_for

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]
# The conversation's own buttons call the same; here any page may begin.
INVITE = """async ([id, media]) => {
  const { parley } = await import("/static/app/client.js");
  parley.calls.invite({ conversation_id: id, media });
}"""
# Invites, cancels before or after the answer to the invitation, and invites again at once.
CALL_TWICE = """async ([id, isAnswered]) => {
  const { parley } = await import("/static/app/client.js");
  const command = parley.command.bind(parley);
  let isSent = false;
  // As on a slow line.
  parley.command = async (...values) => {
    isSent = true;
    await new Promise((done) => setTimeout(done, 300));
    return command(...values);
  };
  const first = parley.calls.invite({ conversation_id: id });
  while (isAnswered ? first.id === null : !isSent) await new Promise((done) => setTimeout(done, 10));
  first.cancel();
  window.second = parley.calls.invite({ conversation_id: id });
}"""
# The connection breaks once the server has an invitation, before its answer, and the user cancels meanwhile.
LOSE_THE_ANSWER = """async (id) => {
  const { parley } = await import("/static/app/client.js");
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (data) {
    send.call(this, data);
    if (!data.includes("call.invite")) return;
    WebSocket.prototype.send = send;
    this.onmessage = null;
    setTimeout(() => {
      call.cancel();
      this.close();
    }, 1000);
  };
  const call = parley.calls.invite({ conversation_id: id });
}"""
# What is sent arrives a moment later, as on a slow line.
SLOWLY = """async () => {
  const { parley } = await import("/static/app/client.js");
  const command = parley.command.bind(parley);
  parley.command = async (...values) => {
    await new Promise((done) => setTimeout(done, 1500));
    return command(...values);
  };
}"""
REFUSE_SCREEN = """() => {
  navigator.mediaDevices.getDisplayMedia = () => Promise.reject(new DOMException("", "NotAllowedError"));
}"""
FRAMES = "(video) => video.getVideoPlaybackQuality().totalVideoFrames"


@pytest.fixture(scope="module")
def chromium(whole_chromium):
    return whole_chromium


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = RunningServer(tmp_path_factory.mktemp("client-calls"), RATELIMIT_ENABLE="0", CALL_RING_SECONDS="8")
    running.start()
    yield running
    running.kill()


@pytest.fixture
def people(server):
    """Alice and Bob know each other, and so do Alice and Charlie. New ones for each test: no call is left over."""
    alice, bob, charlie = (Person(server, name) for name in ("Alice", "Bob", "Charlie"))
    conversations = {}
    for other in (bob, charlie):
        reply = alice.api.post("/messages/conversations", json={"user_id": other.id}).json()
        conversations[other.name] = reply["conversation"]["id"]
        for person in (alice, other):
            sent = person.api.post(
                f"/messages/conversations/{conversations[other.name]}/messages", json={"body": "Hello"}
            )
            assert sent.status_code == 201
    return {"Alice": alice, "Bob": bob, "Charlie": charlie}, conversations


@pytest.fixture
def open_as(chromium, server, people):
    opened = []

    def make(name, path="/app/settings", **context):
        context = {"permissions": ["camera", "microphone"]} | context
        window = Window(chromium, server, **context)
        opened.append(window)
        window.sign_in(people[0][name])
        window.signed_in()
        window.open(path)
        wait_until(window.page, "async () => (await import('/static/app/client.js')).parley.status === 'online'")
        return window

    yield make
    for window in opened:
        window.close()


def ring_of(window):
    return window.page.get_by_role("alertdialog")


def answer(callee, *, caller):
    ring_of(callee).get_by_role("button", name="Accept").click()
    for window in (caller, callee):
        window.page.get_by_role("timer").wait_for()


def button(window, name):
    return window.page.get_by_role("button", name=name, exact=True)


def ended(window, reason):
    window.page.get_by_role("status").filter(has_text=reason).wait_for()


def flows(window):
    """The pictures of the other side keep coming."""
    video = window.page.get_by_label("Remote video")
    before = video.evaluate(FRAMES)
    element = video.element_handle()
    window.page.wait_for_function(
        "([video, before]) => video.getVideoPlaybackQuality().totalVideoFrames > before", arg=[element, before]
    )


def test_a_video_call_with_everything(open_as, people):
    alice, bob = open_as("Alice", "/app/calls"), open_as("Bob", "/app/help")
    alice.page.evaluate(INVITE, [people[1]["Bob"], "video"])
    ring = ring_of(bob)
    ring.get_by_text("Alice Example").wait_for()
    assert "Alice" in bob.page.get_by_role("alertdialog", name="Alice Example").inner_text()
    bob.accessible()
    ring.get_by_role("button", name="Accept", exact=True).click()
    for window in (alice, bob):
        window.page.get_by_role("timer").wait_for()
        window.page.get_by_label("Own video").wait_for()
        flows(window)
        window.accessible()

    button(alice, "Mute").click()
    bob.see("Alice Example is muted")
    # What is off is struck through.
    expect(button(alice, "Unmute").locator(".icon-microphoneOff")).to_be_visible()
    button(alice, "Unmute").click()
    expect(button(alice, "Mute").locator(".icon-microphone")).to_be_visible()
    button(alice, "Camera off").click()
    expect(button(alice, "Camera on").locator(".icon-cameraOff")).to_be_visible()
    bob.page.locator(".call-avatar").wait_for()
    button(alice, "Camera on").click()
    bob.page.locator(".call-avatar").wait_for(state="detached")
    flows(bob)
    button(bob, "Share screen").click()
    button(bob, "Stop sharing").wait_for()
    flows(alice)
    # On a phone all buttons are in one line, none is cut off.
    bob.page.set_viewport_size({"width": 360, "height": 740})
    boxes = [box.bounding_box() for box in bob.page.locator(".call-buttons .call-button").all()]
    assert len(boxes) == 5
    assert len({box["y"] for box in boxes}) == 1
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 360 for box in boxes)
    bob.accessible()
    bob.page.set_viewport_size({"width": 1280, "height": 800})
    button(alice, "Devices").click()
    expect(alice.page.get_by_label("Microphone").locator("option")).not_to_have_count(0)

    # Small, the call leaves the page to its user, on a phone the text box too.
    button(alice, "Minimize the call").click()
    alice.page.set_viewport_size({"width": 360, "height": 740})
    small = alice.page.locator("dialog.call.small").bounding_box()
    assert small["y"] > 60
    assert small["y"] + small["height"] < 600
    alice.page.set_viewport_size({"width": 1280, "height": 800})
    alice.page.get_by_role("link", name="Help").or_(alice.page.get_by_role("link", name="Chats")).first.click()
    button(alice, "Hang up").click()
    for window in (alice, bob):
        ended(window, "Call ended")
    alice.open("/app/calls")
    alice.page.get_by_role("list", name="Calls").get_by_text("outgoing").wait_for()
    alice.accessible()


def test_declined_and_called_again(open_as, people):
    alice, bob = open_as("Alice"), open_as("Bob")
    alice.page.evaluate(INVITE, [people[1]["Bob"], "audio"])
    ring_of(bob).get_by_role("button", name="Decline").click()
    ended(alice, "Call declined")
    ended(bob, "You declined the call")
    button(alice, "Call again").click()
    answer(bob, caller=alice)
    button(bob, "Hang up").click()
    for window in (alice, bob):
        ended(window, "Call ended")
    for window, text in ((alice, "Voice call, declined by Bob Example"), (bob, "Voice call, declined by you")):
        window.open("/app/calls")
        expect(window.page.get_by_role("list", name="Calls").get_by_text(text)).to_have_count(1)


def test_the_line_of_a_call_says_who_declined_and_calls_back(open_as, people):
    alice, bob = open_as("Alice", f"/app/chats/{people[1]['Bob']}"), open_as("Bob")
    button(alice, "Voice call").click()
    ring_of(bob).get_by_role("button", name="Decline").click()
    line = alice.page.get_by_role("log", name="Messages").get_by_role("article").filter(has_text="Call declined")
    line.wait_for()
    conversations = alice.page.get_by_role("list", name="Conversations")
    expect(conversations).to_contain_text("Call declined")
    expect(conversations).not_to_contain_text("You:")
    bob.open("/app/chats")
    expect(bob.page.get_by_role("list", name="Conversations")).to_contain_text("You declined the call")
    line.get_by_role("button", name="Repeat this call").click()
    answer(bob, caller=alice)
    window = alice.page.get_by_role("dialog", name="Call with Bob")
    window.get_by_role("button", name="Full screen").click()
    alice.page.wait_for_function("() => document.fullscreenElement?.matches('.call-body')")
    expect(window.get_by_role("button", name="Hang up")).to_be_visible()
    window.get_by_role("button", name="Full screen").click()
    alice.page.wait_for_function("() => !document.fullscreenElement")
    button(alice, "Hang up").click()
    ended(bob, "Call ended")


def test_no_answer_and_called_back_from_the_history(open_as, people):
    alice, bob = open_as("Alice"), open_as("Bob", "/app/calls")
    alice.page.evaluate(INVITE, [people[1]["Bob"], "audio"])
    ring_of(bob).wait_for()
    ended(alice, "No answer")
    ended(bob, "Missed call")
    bob.page.get_by_role("list", name="Calls").get_by_text("missed").first.wait_for()
    button(bob, "Voice call with Alice Example").first.click()
    ring_of(alice).get_by_role("button", name="Accept").click()
    bob.page.get_by_role("timer").wait_for()
    button(alice, "Hang up").click()
    ended(bob, "Call ended")


def test_missed_calls_are_counted_until_the_list_is_looked_at(open_as, people):
    alice, bob = open_as("Alice"), open_as("Bob")
    calls = bob.page.get_by_role("navigation", name="Main").get_by_role("link", name="Calls")
    expect(calls).not_to_contain_text("missed")
    for text in ("1 missed call", "2 missed calls"):
        alice.page.evaluate(INVITE, [people[1]["Bob"], "audio"])
        ring_of(bob).wait_for()
        button(alice, "Hang up").click()
        ended(bob, "Missed call")
        expect(calls).to_contain_text(text)
    other = bob.page.context.new_page()
    other.goto(bob.page.url)
    elsewhere = other.get_by_role("navigation", name="Main").get_by_role("link", name="Calls")
    expect(elsewhere).to_contain_text("2 missed calls")
    calls.click()
    expect(calls).not_to_contain_text("missed")
    expect(elsewhere).not_to_contain_text("missed")
    bob.page.reload()
    bob.page.get_by_role("list", name="Calls").get_by_text("missed").first.wait_for()
    expect(calls).not_to_contain_text("missed")
    # The calls that this user makes are not missed by them.
    expect(alice.page.get_by_role("navigation", name="Main")).not_to_contain_text("missed")


def test_canceled_by_the_caller(open_as, people):
    alice, bob = open_as("Alice"), open_as("Bob")
    alice.page.evaluate(INVITE, [people[1]["Bob"], "video"])
    ring_of(bob).wait_for()
    button(alice, "Hang up").click()
    ended(alice, "Call canceled")
    ended(bob, "Missed call")
    # The list says it in the language of its reader.
    people[0]["Bob"].api.patch("/profile", json={"language": "de"}).raise_for_status()
    expect(bob.page.locator("html")).to_have_attribute("lang", "de")
    bob.open("/app/chats")
    row = bob.page.locator(".entry").filter(has_text="Alice Example")
    expect(row).to_contain_text("Verpasster Videoanruf")
    expect(row.locator(".entry-text .icon-camera")).to_be_visible()
    # The caller has missed nothing.
    alice.open("/app/chats")
    expect(alice.page.locator(".entry").filter(has_text="Bob Example")).to_contain_text("Call canceled")


@pytest.mark.parametrize("is_answered", [False, True])
def test_canceled_and_called_again_at_once(open_as, people, is_answered):
    alice, bob = open_as("Alice"), open_as("Bob")
    alice.page.evaluate(CALL_TWICE, [people[1]["Bob"], is_answered])
    # By now the first call has ended, and nothing of it ends the second.
    alice.page.wait_for_timeout(2500)
    assert alice.page.evaluate("() => window.second.state") == "ringing"
    answer(bob, caller=alice)
    button(bob, "Hang up").click()
    ended(alice, "Call ended")


def test_canceled_while_the_connection_is_away(open_as, people):
    alice = open_as("Alice")
    alice.page.evaluate(LOSE_THE_ANSWER, people[1]["Bob"])

    def outcome():
        calls = people[0]["Bob"].api.get("/calls").json()["calls"]
        return calls and calls[0]["outcome"]

    # Else it would ring until it is missed.
    assert wait_for(outcome, what="the end of the call") == "canceled"


def test_accepted_and_declined_at_once(open_as, people):
    alice, bob = open_as("Alice"), open_as("Bob")
    alice.page.evaluate(INVITE, [people[1]["Bob"], "audio"])
    ring = ring_of(bob)
    ring.get_by_role("button", name="Accept").wait_for()
    bob.page.evaluate(SLOWLY)
    ring.get_by_role("button", name="Accept").click()
    bob.page.wait_for_timeout(700)
    ring.get_by_role("button", name="Decline").click()
    # Long before a call that does not connect is given up.
    alice.page.get_by_role("status").filter(has_text="Call ended").wait_for(timeout=10_000)


def test_busy_with_another_call(open_as, people):
    alice, bob, charlie = open_as("Alice"), open_as("Bob"), open_as("Charlie")
    alice.page.evaluate(INVITE, [people[1]["Bob"], "audio"])
    ring_of(bob).get_by_role("button", name="Accept").click()
    alice.page.get_by_role("timer").wait_for()
    charlie.page.evaluate(INVITE, [people[1]["Charlie"], "audio"])
    ended(charlie, "Busy")
    button(bob, "Hang up").click()
    ended(alice, "Call ended")


def test_answered_in_another_tab(open_as, people):
    alice, bob = open_as("Alice"), open_as("Bob")
    other = bob.context.new_page()
    other.goto(bob.server.base + "/app/help")
    alice.page.evaluate(INVITE, [people[1]["Bob"], "audio"])
    ring_of(bob).wait_for()
    other.get_by_role("alertdialog").get_by_role("button", name="Accept").click()
    ended(bob, "Answered on another device")
    other.get_by_role("timer").wait_for()
    other.get_by_role("button", name="Hang up").click()
    ended(alice, "Call ended")


def test_by_keyboard_alone(open_as, people):
    alice, bob = open_as("Alice"), open_as("Bob")
    alice.page.evaluate(INVITE, [people[1]["Bob"], "audio"])
    ring_of(bob).wait_for()
    # Keys that were meant for the page neither accept nor decline. Browsers close a dialog at the second Escape.
    for key in ("Escape", "Escape", "Escape", "Enter"):
        bob.page.keyboard.press(key)
    assert ring_of(bob).is_visible()
    bob.page.keyboard.press("Tab")
    bob.page.keyboard.press("Tab")
    bob.page.keyboard.press("Enter")
    bob.page.get_by_role("timer").wait_for()
    assert bob.page.evaluate("() => document.activeElement.innerText.trim()") == "Hang up"
    bob.page.keyboard.press("Enter")
    ended(alice, "Call ended")


def test_the_focus_returns_after_a_ring_and_after_a_call(open_as, people):
    alice, bob = open_as("Alice", f"/app/chats/{people[1]['Bob']}"), open_as("Bob")
    bob.page.get_by_label("First name").focus()
    button(alice, "Voice call").click()
    ring_of(bob).get_by_role("button", name="Decline").click()
    ended(alice, "Call declined")
    assert bob.page.evaluate("() => document.activeElement.name") == "first_name"
    assert alice.page.evaluate("() => document.activeElement.ariaLabel") == "Voice call"


def test_the_focus_returns_after_a_call_that_was_answered(open_as, people):
    alice, bob = open_as("Alice", f"/app/chats/{people[1]['Bob']}"), open_as("Bob")
    field = bob.page.get_by_label("First name")
    field.focus()
    button(alice, "Voice call").click()
    ring_of(bob).get_by_role("button", name="Accept", exact=True).click()
    bob.page.get_by_role("timer").wait_for()
    button(alice, "Hang up").click()
    ended(bob, "Call ended")
    expect(field).to_be_focused()


def test_a_call_that_ends_leaves_the_focus_where_its_user_went(open_as, people):
    alice, bob = open_as("Alice", f"/app/chats/{people[1]['Bob']}"), open_as("Bob")
    button(alice, "Voice call").click()
    ring_of(bob).get_by_role("button", name="Accept", exact=True).click()
    alice.page.get_by_role("timer").wait_for()
    button(alice, "Minimize the call").click()
    box = alice.page.get_by_role("textbox", name="Message", exact=True)
    box.fill("While we talk")
    button(bob, "Hang up").click()
    ended(alice, "Call ended")
    # The button that began the call would take the next space for another call.
    expect(box).to_be_focused()


def test_without_a_camera_the_call_goes_on(open_as, people):
    alice, bob = open_as("Alice"), open_as("Bob")
    # Chromium's fake devices are always there; a browser that refuses the camera answers like this.
    bob.page.evaluate(
        """() => {
          const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
          navigator.mediaDevices.getUserMedia = (wanted) => wanted.video
            ? Promise.reject(new DOMException("refused", "NotAllowedError")) : ask(wanted);
        }"""
    )
    alice.page.evaluate(INVITE, [people[1]["Bob"], "video"])
    ring_of(bob).get_by_role("button", name="Accept", exact=True).click()
    bob.page.get_by_role("timer").wait_for()
    flows(bob)
    # In the window of the call: the page behind it is out of reach.
    said = bob.page.get_by_role("dialog", name="Call with Alice Example").locator(".notices")
    for again in (False, True):
        button(bob, "Camera on").click() if again else None
        expect(said).to_contain_text("The camera cannot be used.")
        said.get_by_role("button", name="Dismiss").click()
    # Closing the choice of screens is no error.
    bob.page.evaluate(REFUSE_SCREEN)
    button(bob, "Share screen").click()
    bob.page.wait_for_timeout(300)
    expect(said).to_have_text("")
    button(alice, "Hang up").click()
    ended(bob, "Call ended")


def test_without_a_connection_no_call_begins(open_as, people):
    alice = open_as("Alice", f"/app/chats/{people[1]['Bob']}")
    button(alice, "Voice call").wait_for()
    alice.context.set_offline(True)
    alice.see("Messages will be sent when you're back online.")
    button(alice, "Voice call").click()
    alice.see("You're offline. Call again when you're back online.")
    assert alice.page.locator("dialog.call").count() == 0
    alice.context.set_offline(False)
    alice.complaints.clear()
