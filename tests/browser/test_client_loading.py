"""Modules that could not be loaded at first, and pages that are loaded anew."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import needs_chromium
from tests.browser.client_pages import demo_people
from tests.waiting import wait_for

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]
NOT_LOADED = "Failed to load resource: net::ERR_FAILED"


def fail_once(window, module):
    """The first request for a module fails; returns all of them."""
    requests = []

    def answer(route):
        requests.append(route.request.url)
        if len(requests) == 1:
            route.abort()
        else:
            route.continue_()

    window.page.route(f"**/static/built/{module}.*", answer)
    return requests


def has_read_everything(person, chat):
    conversation = person.http.get(f"/messages/conversations/{chat}").json()["conversation"]
    return conversation["last_read_id"] == conversation["last_message"]["id"]


def test_calls_ring_though_their_module_was_not_there_at_first(windows, chat):
    alice, bob = windows("Alice"), windows("Bob").open_chat(chat)
    fail_once(alice, "calls/layer")
    with alice.page.expect_request_finished(lambda request: "/calls/layer." in request.url):
        alice.open()
    bob.page.get_by_role("button", name="Voice call").click()
    expect(alice.page.get_by_role("alertdialog", name="Bob Baker")).to_be_visible()
    alice.page.get_by_role("button", name="Decline").click()
    expect(bob.page.get_by_role("status").filter(has_text="Call declined")).to_be_visible()
    assert alice.complaints == [NOT_LOADED]
    alice.complaints.clear()


def test_a_client_that_could_not_be_loaded_says_so_and_is_tried_again(windows):
    alice = windows("Alice")
    fail_once(alice, "signed_in")
    alice.page.goto(f"{alice.base}/app/chats")
    expect(alice.page.get_by_role("heading", name="This page could not be loaded")).to_be_visible()
    alice.page.get_by_role("button", name="Try again").click()
    expect(alice.conversation("Bob")).to_be_visible()
    assert alice.complaints == [NOT_LOADED]
    alice.complaints.clear()


def test_why_the_session_ended_is_still_there_after_a_reload(windows, people):
    alice = windows("Alice").open()
    alice.page.wait_for_load_state("networkidle")
    people["Alice"].http.post("/auth/sessions/revoke-others").raise_for_status()
    reason = alice.page.get_by_text("This session was ended on another device")
    expect(reason).to_be_visible()
    alice.page.reload()
    expect(reason).to_be_visible()
    expect(alice.page.get_by_role("link", name="Sign in")).to_have_attribute("href", "/app/sign-in?next=%2Fapp%2Fchats")


def test_the_page_has_the_language_of_the_account_in_a_browser_of_another_language(windows):
    alice = windows("Alice", locale="ar").open()
    page = alice.page
    for _ in range(2):
        expect(page.get_by_role("heading", name="Chats")).to_be_visible()
        expect(page.locator("html")).to_have_attribute("lang", "en")
        expect(page.locator("html")).to_have_attribute("dir", "ltr")
        page.reload()


def test_a_search_takes_no_more_than_the_server_does(windows, chat):
    alice = windows("Alice").open_chat(chat)
    alice.page.get_by_role("button", name="Search in conversation").click()
    for name in ("Search people", "Search messages"):
        search = alice.page.get_by_role("searchbox", name=name)
        search.focus()
        alice.page.keyboard.insert_text("x" * 300)
        expect(search).to_have_value("x" * 128)
    expect(alice.page.get_by_text("Nothing found")).to_be_visible()
    expect(alice.page.get_by_text("No people found")).to_be_visible()


def test_a_page_that_takes_long_to_load_shows_that_it_does(windows):
    alice = windows("Alice").open()
    held = []
    alice.page.route("**/static/built/pages/calls.*", lambda route: held.append(route))
    alice.page.get_by_role("link", name="Calls").click()
    expect(alice.page.get_by_role("progressbar", name="Loading")).to_be_visible()
    held.pop().continue_()
    expect(alice.page.get_by_role("heading", name="Calls")).to_be_visible()
    expect(alice.page.get_by_role("progressbar", name="Loading")).to_have_count(0)


def has_call(person):
    return any(call["state"] != "ended" for call in person.http.get("/calls").json()["calls"])


def test_another_user_who_signs_in_without_a_reload_stands_elsewhere_and_calls_someone_else(
    windows, server, people, chat
):
    for number in range(40):
        people["Bob"].send(chat, f"line {number} of 40")
    people["Alice"].http.post(f"/messages/conversations/{chat}/read").raise_for_status()
    alice = windows("Alice").open_chat(chat)
    page = alice.page
    alice.sees("line 39 of 40")
    page.get_by_role("button", name="Voice call").click()
    expect(page.get_by_role("dialog", name="Call with Bob Baker")).to_be_visible()
    # A call that is given up before the server knows it leaves no line in the conversation.
    wait_for(lambda: has_call(people["Alice"]), what="the call on the server")
    page.get_by_role("button", name="Hang up").click()
    expect(alice.article("Call canceled")).to_be_in_viewport()
    # A little later the page reports that as read: after the end of the session that would be refused.
    wait_for(lambda: has_read_everything(people["Alice"], chat), what="the report of what has been read")
    alice.log.evaluate("log => { log.scrollTop = 0; }")
    expect(page.get_by_role("button", name="Jump to latest")).to_be_visible()
    people["Alice"].http.post("/auth/sessions/revoke-others").raise_for_status()
    people["Bob"].http.post(f"/messages/conversations/{chat}/read").raise_for_status()
    page.get_by_role("link", name="Sign in").click()
    bob = demo_people(server)["Bob"]
    page.get_by_label("E-mail").fill(bob["email"])
    page.get_by_label("Password", exact=True).fill(bob["password"])
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="Alice Archer")).to_be_visible()
    expect(alice.log.get_by_role("article").last).to_be_in_viewport()
    page.get_by_role("button", name="Voice call").click()
    expect(page.get_by_role("dialog", name="Call with Alice Archer")).to_be_visible()
    page.get_by_role("button", name="Hang up").click()


def test_a_window_that_is_taller_than_the_first_conversations_shows_the_next_ones(windows, people, chat):
    row = people["Alice"].http.get(f"/messages/conversations/{chat}").json()["conversation"]
    row |= {"last_message": people["Bob"].send(chat, "one of many")}

    def answer(route):
        number = int(route.request.url.partition("cursor=")[2] or 0)
        rows = [row | {"id": 1_000_000 - 30 * number - place} for place in range(30)]
        has_more = number < 3
        cursor = str(number + 1) if has_more else None
        route.fulfill(json={"ok": True, "conversations": rows, "has_more": has_more, "next_cursor": cursor})

    alice = windows("Alice", viewport={"width": 1280, "height": 3_200})
    alice.page.route(re.compile(r"/conversations\?"), answer)
    alice.open()
    rows = alice.page.get_by_role("list", name="Conversations").get_by_role("listitem")
    expect(rows).to_have_count(60)
    alice.page.wait_for_timeout(500)
    expect(rows).to_have_count(60)
