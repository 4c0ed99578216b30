"""What the client costs: the first page in bytes, a long conversation in elements, hours of messages in memory."""

import re
import secrets

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import needs_chromium, watch
from tests.browser.client_pages import Window, demo_people
from tests.browser.long_conversation import Meter, held, receive, stretch

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(300)]
FIRST_PAGE_BYTES = 60 * 1024
FIRST_CHAT_REQUESTS = 40
PICTURE = "/app/pictures/"
# Of all that is not a picture, which comes when the page is there.
TRANSFERRED = """(picture) => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .filter((entry) => !entry.name.includes(picture))
  .reduce((sum, entry) => sum + entry.encodedBodySize, 0)"""
PICTURES = """(picture) => performance.getEntriesByType("resource").filter((entry) => entry.name.includes(picture))
  .map((entry) => [entry.name, entry.encodedBodySize, entry.startTime])"""

# Counts the messages that are put into the page from now on.
COUNT_DRAWN = """() => {
  window.drawn = 0;
  const count = (changes) => changes.forEach(({ addedNodes }) => { window.drawn += addedNodes.length; });
  new MutationObserver(count).observe(document.querySelector(".log-rows"), { childList: true });
}"""


@pytest.fixture
def open_chat(chromium, server, chat, people):
    window = Window(chromium, server, demo_people(server)["Alice"]).open_chat(chat)
    window.last = f"the last of them {secrets.token_hex(3)}"
    people["Bob"].send(chat, window.last)
    window.sees(window.last)
    yield window
    assert window.complaints == []
    window.close()


@pytest.mark.parametrize("path", ["/", "/app/sign-in"])
def test_a_first_page_is_small(chromium, server, path):
    context = chromium.new_context()
    page = context.new_page()
    complaints = watch(page, server.base)
    page.goto(server.base + path, wait_until="networkidle")
    assert 20 * 1024 < page.evaluate(TRANSFERRED, PICTURE) <= FIRST_PAGE_BYTES
    assert complaints == []
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_picture_of_the_first_page_comes_last_and_in_one_colour(chromium, server, scheme):
    context = chromium.new_context(color_scheme=scheme)
    page = context.new_page()
    complaints = watch(page, server.base)
    page.goto(server.base)
    picture = page.get_by_role("img", name="A conversation")
    expect(picture).to_be_visible()
    page.wait_for_function("() => [...document.images].some((image) => image.naturalWidth > 1000 && image.complete)")
    page.wait_for_load_state("networkidle")
    [[name, size, start]] = page.evaluate(PICTURES, PICTURE)
    assert f"landing-en-{scheme}." in name
    assert 5 * 1024 < size <= 60 * 1024
    rest = page.evaluate(
        """(picture) => performance.getEntriesByType("resource").filter((entry) => !entry.name.includes(picture))
        .map((entry) => entry.responseEnd)""",
        PICTURE,
    )
    assert start > max(rest)
    assert complaints == []
    context.close()


def test_a_visitor_opens_a_chat_in_few_requests(chromium, server):
    context = chromium.new_context()
    page = context.new_page()
    complaints = watch(page, server.base)
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(server.base)
    page.get_by_role("button", name="Open as Alice").click()
    page.get_by_role("list", name="Conversations").get_by_role("link", name="Bob Baker").first.click()
    expect(page.get_by_role("log", name="Messages").get_by_role("article").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert any("/messages?" in address for address in requests)
    assert len(requests) <= FIRST_CHAT_REQUESTS, requests
    assert complaints == []
    context.close()


def test_ten_thousand_messages_leave_few_elements_in_the_page(open_chat):
    page, meter = open_chat.page, Meter(open_chat.page)
    stretch(page, 10_000)
    most = 0
    for place in (0.99, 0.5, 0.25, 0):
        open_chat.log.evaluate("(log, place) => { log.scrollTop = place * log.scrollHeight; }", place)
        page.evaluate("() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
        assert open_chat.log.get_by_role("article").count() > 5
        most = max(most, meter.elements())
        # The list scrolls, the page around it does not.
        assert page.locator(".body").evaluate("body => body.scrollHeight - body.clientHeight") == 0
    expect(open_chat.article("Older 0:")).to_be_in_viewport()
    assert most < 5_000
    page.get_by_role("button", name="Jump to latest").click()
    expect(open_chat.article(open_chat.last)).to_be_in_viewport()
    # The end needs no long history.
    assert held(page) <= 600
    # A message of one's own draws itself, not the rows around it.
    page.evaluate(COUNT_DRAWN)
    sent = f"of my own {secrets.token_hex(3)}"
    open_chat.write(sent)
    open_chat.sees_status(sent, re.compile("Sent|Delivered|Read"))
    expect(open_chat.article(sent)).to_be_in_viewport()
    assert 1 <= page.evaluate("() => window.drawn") < 10
    open_chat.log.hover()
    page.mouse.wheel(0, -2_000)
    expect(open_chat.article(open_chat.last)).not_to_be_in_viewport()


def test_hours_of_messages_leave_nothing_behind(open_chat):
    page, meter = open_chat.page, Meter(open_chat.page)
    receive(page, 1_000)
    before, elements = meter.heap(), meter.elements()
    receive(page, 3_000, start=1_000)
    expect(open_chat.article("Message 3999 of an hour")).to_be_in_viewport()
    assert held(page) <= 600
    assert meter.elements() < elements * 1.5
    # Three thousand messages and what hangs on them take some megabytes if they are kept.
    assert meter.heap() - before < 1_000_000
