"""What counts as read: what stood on the screen of a visible window, and nothing else. And what the counts say."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import needs_chromium
from tests.browser.client_pages import LOOK
from tests.waiting import wait_for

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]
# Every text that the counts have shown from now on.
RECORD = """() => {
  window.shown = [];
  const look = () => {
    const counts = [...document.querySelectorAll("nav .count, .entries .count, .to-end .count")].map((count) => count.textContent);
    window.shown.push(...counts, ...(document.title.match(/^\\(\\d+\\)/) ?? []));
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true });
}"""


@pytest.fixture(autouse=True)
def empty(people, chat):
    for person in people.values():
        person.http.post(f"/messages/conversations/{chat}/clear").raise_for_status()
        person.http.post("/notifications/read-all").raise_for_status()


@pytest.fixture
def history(people, chat):
    """A conversation of many screens that both have read."""
    for number in range(60):
        people["Alice"].send(chat, f"Old {number} of a long talk")
    people["Bob"].http.post(f"/messages/conversations/{chat}/read", json={}).raise_for_status()


@pytest.fixture
def alice(windows, history, chat):
    window = windows("Alice").open_chat(chat)
    expect(window.article("Old 59 of")).to_be_in_viewport(ratio=1)
    yield window
    window.page.evaluate("() => localStorage.clear()")


def send(people, chat, count, start=0):
    return [people["Bob"].send(chat, f"New {number} of Bob")["id"] for number in range(start, start + count)]


def read_by_alice(people, chat):
    """The last message that Bob is told Alice has read."""
    return people["Bob"].http.get(f"/messages/conversations/{chat}").json()["conversation"]["other_last_read_id"]


def unread_of_alice(people, chat):
    return people["Alice"].http.get(f"/messages/conversations/{chat}").json()["conversation"]["unread_count"]


def counts(window):
    """Beside the link Chats, in the row, on the button: as texts, missing ones are empty."""
    page = window.page
    places = [
        page.get_by_role("link", name="Chats").locator(".count"),
        window.conversation("Bob").locator(".count [aria-hidden]"),
        page.locator(".to-end .count"),
    ]
    return ["".join(place.all_inner_texts()) for place in places]


def in_viewport(window):
    """The numbers of Bob's messages that stand in the window."""
    texts = window.log.evaluate("""log => {
        const { top, bottom } = log.getBoundingClientRect();
        return [...log.querySelectorAll("article")].filter((article) => {
            const box = article.getBoundingClientRect();
            return box.top >= top - 1 && box.bottom <= bottom + 1;
        }).map((article) => article.innerText);
    }""")
    return [int(found[1]) for text in texts if (found := re.match(r"New (\d+) of Bob", text))]


def assert_read_is_what_was_shown(window, people, chat, ids):
    """The window begins at the first new message; only what it shows has been read, by all counts."""
    expect(window.log.get_by_text("Unread messages")).to_be_in_viewport()
    expect(window.article("New 0 of Bob")).to_be_in_viewport(ratio=0.95)
    expect(window.article(f"New {len(ids) - 1} of Bob")).not_to_be_in_viewport()
    shown = in_viewport(window)
    left = len(ids) - 1 - shown[-1]
    assert left > 5
    wait_for(lambda: window.page.wait_for_timeout(100) or unread_of_alice(people, chat) == left, what="the report")
    window.page.wait_for_timeout(1_000)
    assert read_by_alice(people, chat) == ids[shown[-1]]
    wait_for(lambda: window.page.wait_for_timeout(100) or counts(window) == [str(left)] * 3, what="equal counts")
    # The button leads to the end, and then all of them have been shown.
    window.page.get_by_role("button", name=re.compile(f"Jump to latest, {left} new messages")).click()
    wait_for(lambda: window.page.wait_for_timeout(100) or read_by_alice(people, chat) == ids[-1], what="the report")
    wait_for(lambda: window.page.wait_for_timeout(100) or counts(window) == ["", "", ""], what="no counts")


def test_a_place_that_was_kept_gives_way_to_unread_messages(alice, people, chat):
    alice.log.hover()
    alice.page.mouse.wheel(0, -1500)
    expect(alice.article("Old 59 of")).not_to_be_in_viewport()
    alice.page.wait_for_timeout(400)
    alice.page.get_by_role("link", name="Chats").click()
    ids = send(people, chat, 40)
    expect(alice.conversation("Bob").locator(".count [aria-hidden]")).to_have_text("40")
    alice.page.wait_for_timeout(1_000)
    assert unread_of_alice(people, chat) == 40
    alice.conversation("Bob").get_by_role("link").click()
    assert_read_is_what_was_shown(alice, people, chat, ids)


def test_a_place_that_was_kept_over_a_reload_gives_way_too(alice, people, chat):
    alice.log.hover()
    alice.page.mouse.wheel(0, -1500)
    expect(alice.article("Old 59 of")).not_to_be_in_viewport()
    alice.page.wait_for_timeout(400)
    alice.page.goto(f"{alice.base}/app/settings")
    ids = send(people, chat, 100)
    alice.open_chat(chat)
    assert_read_is_what_was_shown(alice, people, chat, ids)


def test_a_place_that_was_kept_is_found_again_when_nothing_is_unread(alice):
    alice.log.hover()
    alice.page.mouse.wheel(0, -1500)
    expect(alice.article("Old 59 of")).not_to_be_in_viewport()
    alice.page.wait_for_timeout(400)
    place = alice.log.evaluate("log => log.scrollTop")
    alice.page.reload()
    expect(alice.article("Old 59 of")).not_to_be_in_viewport()
    alice.page.wait_for_timeout(500)
    assert alice.log.evaluate("log => log.scrollHeight - log.scrollTop - log.clientHeight") > 1_000
    assert place > 0


def test_a_draft_of_many_lines_hides_no_unread_message(alice, people, chat):
    alice.box.fill("\n".join(f"line {number}" for number in range(12)))
    alice.page.get_by_role("link", name="Chats").click()
    ids = send(people, chat, 40)
    expect(alice.conversation("Bob").locator(".count [aria-hidden]")).to_have_text("40")
    alice.conversation("Bob").get_by_role("link").click()
    assert_read_is_what_was_shown(alice, people, chat, ids)


def test_a_hidden_window_reads_nothing_and_shows_where_the_new_ones_begin(alice, people, chat):
    alice.page.evaluate(LOOK, "hidden")
    ids = send(people, chat, 40)
    expect(alice.conversation("Bob").locator(".count [aria-hidden]")).to_have_text("40")
    alice.page.wait_for_timeout(1_500)
    assert unread_of_alice(people, chat) == 40
    assert read_by_alice(people, chat) < ids[0]
    alice.page.evaluate(LOOK, "visible")
    assert_read_is_what_was_shown(alice, people, chat, ids)


def test_one_message_in_a_hidden_window_is_read_once_the_window_is_looked_at(alice, people, chat):
    alice.page.evaluate(LOOK, "hidden")
    [last] = send(people, chat, 1)
    expect(alice.article("New 0 of Bob")).to_be_in_viewport(ratio=1)
    alice.page.wait_for_timeout(1_500)
    assert unread_of_alice(people, chat) == 1
    alice.page.evaluate(LOOK, "visible")
    wait_for(lambda: alice.page.wait_for_timeout(100) or read_by_alice(people, chat) == last, what="the report")


def test_many_that_arrive_at_once_do_not_rush_past(alice, people, chat):
    """As after a break of the connection."""
    alice.page.evaluate("async () => (await import('/static/app/client.js')).parley.disconnect()")
    ids = send(people, chat, 40)
    alice.page.evaluate("async () => (await import('/static/app/client.js')).parley.connect()")
    row = alice.conversation("Bob")
    expect(row).to_contain_text("New 39 of Bob")
    wait_for(lambda: alice.page.wait_for_timeout(100) or 0 < unread_of_alice(people, chat) < 40, what="the report")
    shown = in_viewport(alice)
    assert shown[0] == 0
    left = len(ids) - 1 - shown[-1]
    wait_for(lambda: alice.page.wait_for_timeout(100) or counts(alice) == [str(left)] * 3, what="equal counts")
    alice.page.wait_for_timeout(1_000)
    assert read_by_alice(people, chat) == ids[shown[-1]]


def test_messages_into_the_open_conversation_never_count(alice, people, chat):
    alice.page.wait_for_timeout(1_000)
    alice.page.evaluate(RECORD)
    for number in range(6):
        send(people, chat, 1, start=number)
        alice.page.wait_for_timeout(350)
    wait_for(lambda: alice.page.wait_for_timeout(100) or unread_of_alice(people, chat) == 0, what="the report")
    alice.page.wait_for_timeout(2_500)
    assert alice.page.evaluate("() => window.shown") == []
    expect(alice.article("New 5 of Bob")).to_be_in_viewport(ratio=1)


def test_the_counts_agree_while_the_reader_is_further_up(alice, people, chat):
    alice.log.hover()
    alice.page.mouse.wheel(0, -1500)
    expect(alice.article("Old 59 of")).not_to_be_in_viewport()
    for number in range(1, 6):
        send(people, chat, 1, start=number)
        expected = [str(number)] * 3
        wait_for(lambda value=expected: alice.page.wait_for_timeout(50) or counts(alice) == value, what="the counts")
    assert unread_of_alice(people, chat) == 5


# --- The end of a block ----------------------------------------------------------------------------------------------


@pytest.fixture
def blocked(windows, people, chat):
    """Alice before a conversation in which Bob has blocked her; the function ends the block."""
    people["Alice"].send(chat, "before the block")
    http, user = people["Bob"].http, people["Alice"].user["id"]
    http.post("/profile/blocks", json={"user_id": user}).raise_for_status()
    window = windows("Alice").open_chat(chat)
    window.unblock = lambda: http.delete(f"/profile/blocks/{user}").raise_for_status()
    expect(window.page.get_by_text("You can't message this person.")).to_be_visible()
    yield window
    http.delete(f"/profile/blocks/{user}")


def assert_open(window):
    expect(window.box).to_be_visible()
    expect(window.page.get_by_role("button", name="Voice call")).to_be_enabled()


def test_an_arriving_message_ends_the_block_that_is_shown(blocked, people, chat):
    blocked.unblock()
    people["Bob"].send(chat, "I am back")
    blocked.sees("I am back")
    assert_open(blocked)


def test_a_message_that_is_accepted_ends_the_block_that_is_shown(windows, people, chat):
    http, user = people["Bob"].http, people["Alice"].user["id"]
    alice = windows("Alice").open_chat(chat)
    alice.box.fill("too late")
    alice.page.wait_for_timeout(500)
    http.post("/profile/blocks", json={"user_id": user}).raise_for_status()
    alice.box.press("Enter")
    expect(alice.page.get_by_text("You can't message this person.")).to_be_visible()
    http.delete(f"/profile/blocks/{user}").raise_for_status()
    alice.article("too late").get_by_role("button", name="Send again").click()
    alice.sees_status("too late", re.compile("Sent|Delivered|Read"))
    assert_open(alice)
    alice.complaints.clear()


def test_opening_the_conversation_ends_the_block_that_is_shown(blocked):
    blocked.page.get_by_role("link", name="Chats").click()
    blocked.unblock()
    blocked.conversation("Bob").get_by_role("link").click()
    assert_open(blocked)


def test_a_block_that_goes_on_is_shown_on(blocked):
    blocked.page.get_by_role("link", name="Chats").click()
    blocked.conversation("Bob").get_by_role("link").click()
    blocked.page.wait_for_timeout(1_000)
    expect(blocked.page.get_by_text("You can't message this person.")).to_be_visible()
