"""What the client does when a part of it, of the network or of the browser fails for a while."""

import secrets

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import needs_chromium, wait_until
from tests.browser.feed_events import like, notifications_of
from tests.images.corpus import jpeg

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]

COUNT_SOCKETS = """
  window.sockets = [];
  const Native = window.WebSocket;
  window.WebSocket = class extends Native {
    constructor(...values) {
      super(...values);
      window.sockets.push(this);
    }
  };
"""
# A canvas that a page may draw on, but not read.
NOISE = """
  const noise = (data) => data.forEach((_, index) => { data[index] = (index * 37) % 256; });
  const read = CanvasRenderingContext2D.prototype.getImageData;
  CanvasRenderingContext2D.prototype.getImageData = function (...values) {
    const image = read.apply(this, values);
    noise(image.data);
    return image;
  };
"""


def lose_for_good(window, pattern, once=1):
    """The first request for an address fails, and so does each later one for the same address: Firefox keeps the failure."""
    lost, asked = set(), []

    def answer(route):
        asked.append(route.request.url)
        if len(lost) < once:
            lost.add(route.request.url)
        if route.request.url in lost:
            route.abort()
        else:
            route.continue_()

    window.page.route(pattern, answer)
    return asked


def until(page, ask):
    """Requests are answered while the page waits."""
    for _ in range(150):
        if ask():
            return
        page.wait_for_timeout(200)
    raise AssertionError("waited in vain")


def clear_of_failures(window):
    window.complaints[:] = [text for text in window.complaints if "net::ERR_FAILED" not in text]


def test_calls_ring_though_the_browser_keeps_the_failure_of_their_module(windows, chat):
    alice, bob = windows("Alice"), windows("Bob").open_chat(chat)
    asked = lose_for_good(alice, "**/static/built/calls/layer.*")
    alice.open()
    until(alice.page, lambda: len(asked) > 1)
    bob.page.get_by_role("button", name="Voice call").click()
    expect(alice.page.get_by_role("alertdialog", name="Bob Baker")).to_be_visible()
    alice.page.get_by_role("button", name="Decline").click()
    expect(bob.page.get_by_role("status").filter(has_text="Call declined")).to_be_visible()
    clear_of_failures(alice)


def test_a_page_whose_module_failed_is_there_at_the_next_visit(windows):
    alice = windows("Alice").open()
    lose_for_good(alice, "**/static/built/pages/settings/page.*")
    main = alice.page.get_by_role("navigation", name="Main")
    main.get_by_role("link", name="Settings").click()
    expect(alice.page.get_by_role("heading", name="This page could not be loaded")).to_be_visible()
    main.get_by_role("link", name="Chats").click()
    main.get_by_role("link", name="Settings").click()
    expect(alice.page.get_by_role("heading", name="Profile")).to_be_visible()
    clear_of_failures(alice)


@pytest.mark.parametrize("module", ["media", "link"])
def test_a_call_is_possible_after_one_whose_module_failed(windows, chat, module):
    alice, bob = windows("Alice").open_chat(chat), windows("Bob").open()
    alice.context.grant_permissions(["microphone"], origin=alice.base)
    lose_for_good(alice, f"**/static/built/{module}.*")
    alice.page.get_by_role("button", name="Voice call").click()
    alice.page.get_by_role("button", name="Call again").click()
    expect(bob.page.get_by_role("alertdialog", name="Alice Archer")).to_be_visible()
    bob.page.get_by_role("button", name="Decline").click()
    # A call that the server does not know to be over would ring in the next test.
    expect(alice.page.get_by_role("status").filter(has_text="Call declined")).to_be_visible()
    clear_of_failures(alice)


def test_a_module_that_fails_under_each_address_leads_to_a_reload(windows, chat):
    """As one whose imports are missing does: they have no other address."""
    alice, bob = windows("Alice"), windows("Bob").open_chat(chat)
    lose_for_good(alice, "**/static/built/calls/layer.*", once=99)
    alice.open()
    alice.page.evaluate("() => { window.before = true; }")
    alice.page.wait_for_function("() => !window.before", timeout=60_000)
    alice.page.unroute_all()
    alice.open()
    bob.page.get_by_role("button", name="Voice call").click()
    expect(alice.page.get_by_role("alertdialog", name="Bob Baker")).to_be_visible()
    alice.page.get_by_role("button", name="Decline").click()
    clear_of_failures(alice)


def test_no_socket_is_opened_before_the_server_answers_again(windows, people, chat):
    alice = windows("Alice")
    alice.context.add_init_script(COUNT_SOCKETS)
    alice.open_chat(chat)
    alice.page.wait_for_function("() => window.sockets.length === 1 && window.sockets[0].readyState === 1")
    asked = []

    def refuse(route):
        asked.append(route.request.url)
        route.abort()

    alice.page.route("**/healthz", refuse)
    alice.page.evaluate("() => window.sockets[0].close()")
    until(alice.page, lambda: len(asked) > 2)
    assert alice.page.evaluate("() => window.sockets.length") == 1
    alice.page.unroute("**/healthz")
    alice.page.get_by_role("button", name="Retry").click()
    wait_until(alice.page, "async () => (await import('/static/app/client.js')).parley.status === 'online'")
    assert alice.page.evaluate("() => window.sockets.length") == 2
    mark = secrets.token_hex(4)
    people["Bob"].send(chat, f"after it {mark}")
    alice.sees(f"after it {mark}")
    clear_of_failures(alice)


def test_a_server_that_answers_with_an_error_is_not_there_yet(windows, chat):
    alice = windows("Alice")
    alice.context.add_init_script(COUNT_SOCKETS)
    alice.open_chat(chat)
    alice.page.wait_for_function("() => window.sockets[0]?.readyState === 1")
    alice.page.route("**/healthz", lambda route: route.fulfill(status=502, body=""))
    with alice.page.expect_response("**/healthz"):
        alice.page.evaluate("() => window.sockets[0].close()")
    alice.page.wait_for_timeout(300)
    assert alice.page.evaluate("() => window.sockets.length") == 1
    alice.complaints.clear()


def test_a_removal_leaves_with_the_window_that_is_hidden(windows, server, people):
    like(server, people["Alice"].user["id"], people["Bob"].user["id"])
    alice = windows("Alice").open("notifications")
    row = notifications_of(alice.page).first
    row.get_by_role("button", name="Remove").click()
    expect(alice.page.get_by_text("Notification removed")).to_be_visible()
    with alice.page.expect_response(
        lambda reply: reply.request.method == "DELETE" and "/notifications/" in reply.url
    ) as sent:
        alice.page.evaluate("""() => {
          Object.defineProperty(document, "visibilityState", { get: () => "hidden", configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }""")
    assert sent.value.status in {200, 204}
    # It cannot be taken back any more.
    expect(alice.page.get_by_text("Notification removed")).to_have_count(0)


def test_a_picture_that_cannot_be_read_back_is_sent_as_it_is(windows):
    alice = windows("Alice")
    alice.context.add_init_script(NOISE)
    alice.open("settings")
    content = jpeg()
    alice.page.get_by_label("Picture file").set_input_files(
        {"name": "me.jpg", "mimeType": "image/jpeg", "buffer": content}
    )
    expect(alice.page.get_by_text("The picture is sent as it is, and its middle is shown.")).to_be_visible()
    with alice.page.expect_request("**/api/v1/profile/avatar") as sent:
        alice.page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(alice.page.get_by_text("Your picture is saved.")).to_be_visible()
    assert sent.value.method in {"POST", "PUT"}


def test_a_sign_out_loads_no_page_in_passing(windows):
    alice = windows("Alice").open("settings")
    expect(alice.page.get_by_role("heading", name="Security")).to_be_visible()
    asked = []
    alice.page.on(
        "request",
        lambda request: asked.append(request.url) if "signin" in request.url or "signed_out" in request.url else None,
    )
    alice.page.get_by_role("button", name="Sign out").click()
    expect(alice.page.get_by_role("button", name="Open as Alice")).to_be_visible()
    assert asked == []


def test_large_letters_stay_inside_the_navigation(windows):
    page = windows("Alice").open("settings").page
    page.evaluate("() => { document.documentElement.style.fontSize = '200%'; }")
    rail = page.get_by_role("navigation", name="Main").bounding_box()
    for link in page.locator("nav.rail a span:not(.visually-hidden)").all():
        box = link.bounding_box()
        assert rail["x"] <= box["x"] and box["x"] + box["width"] <= rail["x"] + rail["width"]
    body = page.locator("#content").bounding_box()
    assert body["x"] >= rail["x"] + rail["width"]


def test_the_first_emoji_stand_in_one_line_beside_a_scroll_bar(windows, chat):
    alice = windows("Alice").open_chat(chat)
    alice.page.get_by_role("button", name="Emoji").first.click()
    quick = alice.page.locator(".emoji-row.quick .emoji")
    picker = alice.page.get_by_role("dialog", name="Emoji")
    for room in (0, 12, 15, 17):
        picker.evaluate("(element, room) => { element.style.paddingInlineEnd = `${8 + room}px`; }", room)
        assert len({button.bounding_box()["y"] for button in quick.all()}) == 1
        assert min(button.bounding_box()["width"] for button in quick.all()) >= 36


def test_boxes_that_scroll_have_a_name(windows, chat):
    """Firefox lets the Tab key stop at each of them."""
    alice = windows("Alice").open_chat(chat)
    nameless = """() => [...document.querySelectorAll("*")].filter((element) => {
      const scrolls = /auto|scroll/.test(getComputedStyle(element).overflowY) && element.checkVisibility();
      const isNamed = element.getAttribute("aria-label") && element.getAttribute("role");
      return scrolls && !isNamed && element.tabIndex !== 0 && !element.matches("textarea, html, body, #content, [tabindex='-1']");
    }).map(({ className }) => className)"""
    assert alice.page.evaluate(nameless) == []
    alice.page.goto(f"{alice.base}/docs/")
    alice.page.get_by_label("Search the documentation").fill("recovery")
    hits = alice.page.get_by_role("group", name="Results")
    expect(hits.get_by_role("link").first).to_be_visible()
    assert hits.get_attribute("tabindex") == "-1"
