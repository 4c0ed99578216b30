"""Two users of whom one has blocked the other, as the blocked one sees it: only what the API tells."""

import re
from functools import partial

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import needs_chromium

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]


@pytest.fixture
def blocks(people):
    """Blocks the second user by the first one; what is left of it ends with the test."""
    made = []

    def block(name, other):
        http, user = people[name].http, people[other].user["id"]
        http.post("/profile/blocks", json={"user_id": user}).raise_for_status()
        made.append(partial(http.delete, f"/profile/blocks/{user}"))
        return made[-1]

    yield block
    for unblock in made:
        unblock()


def test_the_first_key_tells_the_blocked_user_before_a_text_is_written(windows, blocks, chat):
    windows("Bob").open()
    alice = windows("Alice").open_chat(chat)
    online = alice.page.get_by_text("online")
    expect(online).to_be_visible()
    blocks("Bob", "Alice")
    alice.page.wait_for_timeout(1_000)
    expect(alice.box).to_be_visible()
    alice.box.type("H")
    expect(alice.page.get_by_text("You can't message this person.")).to_be_visible()
    expect(alice.box).to_have_count(0)
    expect(alice.page.get_by_role("heading", name="Bob Baker")).to_be_focused()
    # Presence is not sent across a block, so what was known before it is not shown any more.
    expect(online).to_have_count(0)
    expect(alice.page.get_by_title("online")).to_have_count(0)


def test_a_refused_message_tells_the_blocked_user(windows, blocks, chat):
    alice = windows("Alice").open_chat(chat)
    # Written before the block, and unchanged since.
    alice.box.fill("too late")
    alice.page.wait_for_timeout(500)
    blocks("Bob", "Alice")
    alice.box.press("Enter")
    expect(alice.page.get_by_text("You can't message this person.")).to_be_visible()
    alice.article("too late").get_by_role("button", name="Discard").click()
    alice.complaints.clear()


def test_the_blocked_user_sees_the_end_of_the_block_on_the_way_back_to_the_window(windows, blocks, chat):
    unblock = blocks("Bob", "Alice")
    alice = windows("Alice").open_chat(chat)
    expect(alice.page.get_by_text("You can't message this person.")).to_be_visible()
    unblock()
    alice.page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    expect(alice.box).to_be_visible()


def test_the_blocked_user_is_not_offered_to_unblock_but_can_block_as_well(windows, blocks, chat, people):
    unblock = blocks("Bob", "Alice")
    alice = windows("Alice").open_chat(chat)
    menu = alice.page.get_by_role("button", name="Conversation actions")
    menu.click()
    expect(alice.page.get_by_role("menuitem", name="Clear")).to_be_visible()
    expect(alice.page.get_by_role("menuitem", name="Unblock")).to_have_count(0)
    alice.page.get_by_role("menuitem", name="Block").click()
    alice.page.get_by_role("alertdialog", name="Block Bob Baker?").get_by_role("button", name="Block").click()
    expect(alice.page.get_by_text("You have blocked Bob Baker.")).to_be_visible()
    alice.page.get_by_role("button", name="Unblock").click()
    expect(alice.page.get_by_text("You can't message this person.")).to_be_visible()
    unblock()


def test_the_notice_of_a_block_covers_no_word_about_it_on_a_phone(windows, blocks, people, chat):
    alice = windows("Alice", viewport={"width": 360, "height": 740}).open_chat(chat)
    blocks("Alice", "Bob")()
    alice.page.get_by_role("button", name="Conversation actions").click()
    alice.page.get_by_role("menuitem", name="Block").click()
    alice.page.get_by_role("alertdialog").get_by_role("button", name="Block").click()
    expect(alice.page.get_by_text("You have blocked Bob Baker.")).to_be_visible()
    notice, bar = (alice.page.locator(name).bounding_box() for name in (".notice", ".blocked-bar"))
    assert notice["y"] + notice["height"] <= bar["y"]


def test_of_many_blocked_users_the_first_one_can_still_be_unblocked(windows, blocks, people, chat):
    blocks("Alice", "Bob")
    alice = windows("Alice")
    card = {"first_name": "", "last_name": "", "username": "", "avatar_url": None}
    others = [
        {"user_id": number, "user": card | {"id": number}, "created_at": "2026-11-20T10:00:00Z"}
        for number in range(1_000, 1_100)
    ]

    def answer(route):
        if "cursor=" in route.request.url:
            route.continue_(url=route.request.url.split("?")[0])
        else:
            route.fulfill(json={"ok": True, "blocks": others, "has_more": True, "next_cursor": "further"})

    alice.page.route(
        re.compile("/profile/blocks"),
        lambda route: answer(route) if route.request.method == "GET" else route.continue_(),
    )
    alice.open("settings/blocked")
    expect(alice.page.get_by_role("button", name="Unblock Bob Baker")).to_be_visible()
    alice.open_chat(chat)
    alice.page.get_by_role("button", name="Unblock").click()
    expect(alice.box).to_be_visible()


@pytest.mark.parametrize("blocker", ["Alice", "Bob"])
def test_what_was_read_before_a_block_stays_read_in_both_windows(windows, blocks, people, chat, blocker):
    mine, theirs = f"read before {blocker} blocks", f"answered before {blocker} blocks"
    people["Alice"].send(chat, mine)
    people["Bob"].send(chat, theirs)
    alice, bob = windows("Alice").open_chat(chat), windows("Bob").open_chat(chat)
    alice.sees_status(mine, "Read")
    bob.sees_status(theirs, "Read")
    blocks(blocker, "Bob" if blocker == "Alice" else "Alice")
    blocking, blocked = (alice, bob) if blocker == "Alice" else (bob, alice)
    expect(blocking.page.get_by_text("You have blocked")).to_be_visible()
    # The blocked user is told nothing until something is forbidden.
    expect(blocked.box).to_be_visible()
    blocked.box.type("H")
    expect(blocked.page.get_by_text("You can't message this person.")).to_be_visible()
    alice.sees_status(mine, "Read")
    bob.sees_status(theirs, "Read")
    # Also when all is loaded anew.
    for window in (alice, bob):
        window.page.reload()
    alice.sees_status(mine, "Read")
    bob.sees_status(theirs, "Read")
    blocked.complaints.clear()
