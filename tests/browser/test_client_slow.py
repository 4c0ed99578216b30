"""A slow or faulty network: what happens while a page of messages is under way, and pages that do not come."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import needs_chromium, wait_until
from tests.waiting import wait_for

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]
MESSAGES = re.compile(r"/messages\?")
LISTS = re.compile(r"/conversations\?")
SEARCHES = re.compile(r"/search\?")
CALLS = re.compile(r"/calls\?")
# As after a break that is too long for the log of events.
LOAD_AGAIN = "async () => (await import('/static/app/client.js')).parley.emit('reload', { reason: 'expired' })"


@pytest.fixture(scope="module")
def long_chat(people, chat):
    """More messages than three pages have; the first ones are to be searched for."""
    bodies = [*(f"a pelican, number {number}" for number in range(3)), *(f"Entry {number}" for number in range(240))]
    for body in bodies:
        people["Bob"].send(chat, body)
    people["Alice"].http.post(f"/messages/conversations/{chat}/read", json={}).raise_for_status()
    return chat


def held(window, act):
    """A handler of a route: the server answers, then `act` happens, and only then does the page get the answer."""

    def handle(route):
        answer = route.fetch()
        act()
        # The events of it arrive first.
        window.page.wait_for_timeout(1_000)
        route.fulfill(response=answer)

    return handle


def test_what_happens_while_a_conversation_loads_is_not_lost(windows, people, chat):
    gone = people["Bob"].send(chat, "soon deleted")
    alice = windows("Alice").open()

    def act():
        people["Bob"].send(chat, "sent meanwhile")
        people["Bob"].http.delete(f"/messages/messages/{gone['id']}").raise_for_status()

    alice.page.route(MESSAGES, held(alice, act), times=1)
    alice.conversation("Bob").get_by_role("link").click()
    alice.sees("sent meanwhile")
    expect(alice.article("soon deleted")).to_have_count(0)


def test_the_list_is_not_behind_its_events(windows, people, chat):
    alice = windows("Alice").open()
    expect(alice.conversation("Bob")).to_be_visible()
    wait_until(alice.page, "async () => (await import('/static/app/client.js')).parley.status === 'online'")
    alice.page.wait_for_load_state("networkidle")
    alice.page.route(LISTS, held(alice, lambda: people["Bob"].send(chat, "newer than the list")), times=1)
    with alice.page.expect_response(LISTS):
        alice.page.evaluate(LOAD_AGAIN)
    expect(alice.conversation("Bob")).to_contain_text("newer than the list")
    alice.page.wait_for_timeout(500)
    expect(alice.conversation("Bob")).to_contain_text("newer than the list")


def test_the_way_back_to_the_end_misses_no_message(windows, people, long_chat):
    alice = windows("Alice").open_chat(long_chat)
    alice.page.get_by_role("button", name="Search in conversation").click()
    alice.page.get_by_role("searchbox", name="Search messages").fill("pelican")
    expect(alice.article("a pelican, number 2")).to_be_in_viewport()
    alice.page.route(MESSAGES, held(alice, lambda: people["Bob"].send(long_chat, "on the way")), times=1)
    alice.page.get_by_role("button", name="Jump to latest").click()
    alice.sees("on the way")


def test_of_two_ways_the_last_one_counts(windows, people, long_chat):
    alice = windows("Alice").open_chat(long_chat)
    expect(alice.article("Entry 239")).to_be_in_viewport()
    waiting = []
    # The messages before the hit, and those after it.
    alice.page.route(MESSAGES, lambda route: waiting.append(route) if len(waiting) < 2 else route.continue_())
    alice.page.get_by_role("button", name="Search in conversation").click()
    alice.page.get_by_role("searchbox", name="Search messages").fill("pelican")
    expect(alice.page.get_by_text("1 of 3")).to_be_visible()
    wait_for(lambda: alice.page.wait_for_timeout(50) or len(waiting) == 2, what="the requests of a stretch")
    # The reader turns to the end before the stretch around the hit is here.
    alice.box.fill("written at the end")
    alice.box.press("Enter")
    for route in waiting:
        route.continue_()
    alice.page.wait_for_timeout(1_000)
    expect(alice.article("written at the end")).to_be_in_viewport()


def test_a_search_goes_on_behind_a_part_without_a_hit(windows, long_chat):
    alice = windows("Alice").open_chat(long_chat)
    expect(alice.article("Entry 239")).to_be_in_viewport()
    nothing_yet = {"ok": True, "messages": [], "has_more": True, "next_before": 1_000_000}
    alice.page.route(SEARCHES, lambda route: route.fulfill(json=nothing_yet), times=1)
    alice.page.get_by_role("button", name="Search in conversation").click()
    alice.page.get_by_role("searchbox", name="Search messages").fill("a p")
    expect(alice.article("a pelican, number 2")).to_be_in_viewport()
    expect(alice.page.get_by_text("1 of 3")).to_be_visible()


def test_older_messages_are_asked_for_again(windows, long_chat):
    alice = windows("Alice").open_chat(long_chat)
    expect(alice.article("Entry 239")).to_be_in_viewport()
    refused = []
    alice.page.route(MESSAGES, lambda route: refused.append(route) or route.abort())
    alice.log.evaluate("log => { log.scrollTop = 0; }")
    # The first one and its repetition.
    wait_for(lambda: alice.page.wait_for_timeout(50) or len(refused) > 1, what="two requests")
    alice.page.wait_for_timeout(500)
    # Nothing scrolls any more: the reader is at the first of the messages that are here.
    alice.log.evaluate("log => { log.scrollTop = 0; }")
    alice.page.unroute(MESSAGES)
    alice.page.wait_for_function("() => document.querySelector('.log').scrollTop > 500")
    alice.complaints.clear()


def test_calls_that_cannot_be_loaded_are_not_none(windows):
    alice = windows("Alice").open("settings")
    alice.page.route(CALLS, lambda route: route.abort())
    alice.page.get_by_role("link", name="Calls").click()
    again = alice.page.get_by_role("button", name="Try again")
    expect(again).to_be_visible()
    expect(alice.page.get_by_text("No calls yet.")).to_have_count(0)
    # The browser's words are not for the user, and English is not for all of them.
    useLanguage = (
        "async () => { await (await import('/static/app/lib/i18n.js')).useLanguage('de', { remember: false }); }"
    )
    alice.page.evaluate(useLanguage)
    expect(alice.page.get_by_text("Der Server ist nicht erreichbar.")).to_be_visible()
    alice.page.unroute(CALLS)
    again = alice.page.get_by_role("button", name="Erneut versuchen")
    # The client may have tried again by itself.
    again.evaluate_all("buttons => buttons.forEach((button) => button.click())")
    expect(again).to_have_count(0)
    alice.complaints.clear()


def test_from_far_back_the_last_message_is_edited(windows, people, long_chat):
    for body in ("a pelican, said Alice", *(f"and {number}" for number in range(120)), "my last words"):
        people["Alice"].send(long_chat, body)
    alice = windows("Alice").open_chat(long_chat)
    alice.page.get_by_role("button", name="Search in conversation").click()
    alice.page.get_by_role("searchbox", name="Search messages").fill("pelican, said")
    expect(alice.article("a pelican, said Alice")).to_be_in_viewport()
    alice.box.press("ArrowUp")
    expect(alice.box).to_have_value("my last words")
    alice.box.press("Escape")


def test_an_error_of_a_proxy_says_that_the_server_cannot_be_reached(windows, chat):
    alice = windows("Alice").open_chat(chat)
    alice.page.route("**/clear", lambda route: route.fulfill(status=502, content_type="text/html", body="<h1>502</h1>"))
    alice.page.get_by_role("button", name="Conversation actions").click()
    alice.page.get_by_role("menuitem", name="Clear").click()
    alice.page.get_by_role("alertdialog").get_by_role("button", name="Clear").click()
    expect(alice.page.locator(".notices")).to_contain_text("The server cannot be reached.")
    alice.complaints[:] = [text for text in alice.complaints if "502" not in text]


def test_of_switches_changed_one_after_the_other_the_last_change_counts(windows, people):
    def stored():
        preferences = people["Alice"].http.get("/notifications/preferences").json()["preferences"]
        return preferences["likes"], preferences["comments"]

    alice = windows("Alice").open("settings/notifications")
    likes, comments = (alice.page.get_by_role("switch", name=name) for name in ("Likes", "Comments"))
    expect(comments).to_be_visible()
    before = stored()
    waiting = []
    alice.page.route("**/notifications/preferences", lambda route: waiting.append(route), times=1)
    for switch in (likes, comments, likes):
        switch.click()
    alice.page.wait_for_timeout(1_000)
    waiting[0].continue_()
    alice.page.wait_for_timeout(1_000)
    assert stored() == (before[0], not before[1])
    assert (likes.is_checked(), comments.is_checked()) == stored()
    comments.click()
    wait_for(lambda: stored() == before, what="the former values")


def test_of_languages_chosen_one_after_the_other_the_last_one_is_stored(windows, people):
    alice = windows("Alice").open("settings/language")
    choice = alice.page.get_by_label("Language (also")
    expect(choice).to_be_visible()
    waiting = []
    alice.page.route("**/api/v1/profile", lambda route: waiting.append(route), times=1)
    for language in ("de", "en"):
        choice.select_option(language)
    alice.page.wait_for_timeout(1_000)
    waiting[0].continue_()
    alice.page.wait_for_timeout(1_500)
    assert people["Alice"].http.get("/profile").json()["profile"]["language"] == "en"
    expect(alice.page.locator("html")).to_have_attribute("lang", "en")


def test_what_a_search_finds_after_it_was_closed_leads_nowhere(windows, long_chat):
    alice = windows("Alice").open_chat(long_chat)
    end = alice.log.get_by_role("article").last
    expect(end).to_be_in_viewport()
    waiting = []
    alice.page.route(re.compile(r"/search\?"), lambda route: waiting.append(route))
    alice.page.get_by_role("button", name="Search in conversation").click()
    box = alice.page.get_by_role("searchbox", name="Search messages")
    box.fill("pelican, number")
    wait_for(lambda: alice.page.wait_for_timeout(50) or waiting, what="the request of the search")
    box.press("Escape")
    expect(box).to_have_count(0)
    waiting[0].continue_()
    alice.page.wait_for_timeout(1_000)
    expect(end).to_be_in_viewport()
    expect(alice.log.locator(".marked")).to_have_count(0)
