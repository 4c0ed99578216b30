"""Replies and events that cross: what is under way when something else happens, or when the session ends."""

import re
from functools import partial

import pytest
from playwright.sync_api import expect

from tests.browser.account_pages import Person
from tests.browser.chromium import needs_chromium, wait_until
from tests.browser.client_pages import SIGN_IN, demo_people
from tests.browser.feed_events import like, notifications_of
from tests.browser.test_client_slow import LOAD_AGAIN, held
from tests.waiting import wait_for

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]
ONLINE = "async () => (await import('/static/app/client.js')).parley.status === 'online'"
NOTIFICATIONS = re.compile(r"/notifications\?")


@pytest.fixture
def alice(windows):
    window = windows("Alice").open()
    wait_until(window.page, ONLINE)
    expect(window.conversation("Bob")).to_be_visible()
    window.page.wait_for_load_state("networkidle")
    return window


@pytest.fixture
def no_notifications(people):
    http = people["Alice"].http
    for row in http.get("/notifications?limit=100").json()["notifications"]:
        http.delete(f"/notifications/{row['id']}").raise_for_status()


def go(window, name):
    window.page.get_by_role("navigation", name="Main").get_by_role("link", name=name).click()


def rows_of(window):
    return notifications_of(window.page)


def like_by_bob(server, people):
    like(server, people["Alice"].user["id"], people["Bob"].user["id"])


def end_sessions(people):
    people["Alice"].http.post("/auth/sessions/revoke-others", json={}).raise_for_status()


def signed_out(window):
    expect(window.page.get_by_role("heading", name="Signed out")).to_be_visible()


@pytest.mark.usefixtures("no_notifications")
def test_a_notification_that_comes_while_the_list_loads(alice, server, people):
    alice.page.route(NOTIFICATIONS, held(alice, partial(like_by_bob, server, people)), times=1)
    go(alice, "Notifications")
    expect(rows_of(alice)).to_have_count(1)
    count = (
        alice.page.get_by_role("navigation", name="Main").get_by_role("link", name="Notifications").locator(".count")
    )
    expect(count).to_have_text("1")


@pytest.mark.usefixtures("no_notifications")
def test_a_removed_notification_that_has_news_stays(alice, server, people):
    like_by_bob(server, people)
    go(alice, "Notifications")
    rows_of(alice).get_by_role("button", name="Remove").click()
    notice = alice.page.locator(".notice").filter(has_text="Notification removed")
    notice.hover()
    expect(rows_of(alice)).to_have_count(0)
    like(server, people["Alice"].user["id"], Person(server, "Charlie").id)
    expect(rows_of(alice)).to_have_count(1)
    notice.get_by_role("button", name="Dismiss").click()
    alice.page.wait_for_timeout(1_000)
    assert len(people["Alice"].http.get("/notifications").json()["notifications"]) == 1


@pytest.mark.usefixtures("no_notifications")
def test_a_removal_ends_with_the_session(alice, server, people):
    like_by_bob(server, people)
    go(alice, "Notifications")
    rows_of(alice).get_by_role("button", name="Remove").click()
    end_sessions(people)
    signed_out(alice)
    notice = alice.page.locator(".notice").filter(has_text="Notification removed")
    if notice.count():
        notice.get_by_role("button", name="Dismiss").click()
    alice.page.wait_for_timeout(500)
    expect(alice.page.locator(".notice")).to_have_count(0)
    rows = "async () => (await import('/static/app/state/store.js')).store.notifications.getSnapshot().notifications"
    assert alice.page.evaluate(rows) is None


def test_settings_that_load_while_the_session_ends(alice, people):
    alice.page.route(re.compile(r"/api/v1/profile$"), held(alice, lambda: end_sessions(people)), times=1)
    go(alice, "Settings")
    signed_out(alice)
    alice.page.wait_for_timeout(1_500)
    expect(alice.page.get_by_role("navigation", name="Main")).to_have_count(0)
    alice.page.get_by_role("link", name="Sign in").click()
    expect(alice.page.get_by_label("Password", exact=True)).to_be_visible()


def test_conversations_that_load_while_the_session_ends(alice, people):
    alice.page.route(re.compile(r"/conversations\?"), held(alice, lambda: end_sessions(people)), times=1)
    with alice.page.expect_response(re.compile(r"/conversations\?")):
        alice.page.evaluate(LOAD_AGAIN)
    signed_out(alice)
    rows = "async () => (await import('/static/app/state/store.js')).store.conversations.getSnapshot()"
    state = alice.page.evaluate(rows)
    assert (state["conversations"], state["byId"]) == (None, {})


IN_CLIENT = """async (chat) => {
  const { parley } = await import("/static/app/client.js");
  const { loadProfile } = await import("/static/app/session.js");
  const { peerOf } = await import("/static/app/state/calls.js");
  const { app } = await import("/static/app/state/app.js");
  const { store } = await import("/static/app/state/store.js");
  %s
}"""


@pytest.mark.parametrize(
    ("address", "ask", "look", "expected"),
    [
        ("/profile", "await loadProfile()", "return app.getSnapshot().user.first_name", "Bob"),
        (
            "/notifications/unread-count",
            "parley.emit('reload', {})",
            "return store.unread.getSnapshot().unread_count",
            0,
        ),
        (
            "/messages/conversations/*",
            "await store.conversations.refreshOne(chat).catch(() => {})",
            "return (await peerOf(chat)).first_name",
            "Alice",
        ),
    ],
)
def test_a_reply_that_comes_after_another_user_has_signed_in(alice, people, server, chat, address, ask, look, expected):
    """In another tab of this browser."""
    people["Bob"].http.post("/notifications/read-all", json={})
    people["Bob"].send(chat, "unread for Alice")
    login = demo_people(server)["Bob"]
    sign_in = partial(alice.page.evaluate, SIGN_IN, [login["email"], login["password"]])
    alice.page.route(f"**/api/v1{address}", held(alice, sign_in), times=1)
    with alice.page.expect_response(f"**/api/v1{address}"):
        alice.page.evaluate(IN_CLIENT % ask, chat)
    alice.page.wait_for_timeout(1_500)
    assert alice.page.evaluate(IN_CLIENT % look, chat) == expected


def test_a_block_while_the_conversation_is_asked_for(alice, people, chat):
    bob = people["Bob"].user["id"]
    address = f"**/messages/conversations/{chat}"
    block = partial(people["Alice"].http.post, "/profile/blocks", json={"user_id": bob})
    alice.page.route(address, held(alice, lambda: block().raise_for_status()), times=1)
    fetch_chat = (
        "async (chat) => void (await import('/static/app/state/store.js')).store.conversations.refreshOne(chat)"
    )
    with alice.page.expect_response(address):
        alice.page.evaluate(fetch_chat, chat)
    alice.page.wait_for_timeout(1_000)
    shown = alice.page.evaluate(IN_CLIENT % "return store.conversations.getSnapshot().byId[chat].is_blocked", chat)
    people["Alice"].http.delete(f"/profile/blocks/{bob}").raise_for_status()
    assert shown is True


def test_a_reaction_that_comes_before_the_reply_to_ones_own(windows, people, chat):
    message = people["Bob"].send(chat, "to react to")
    alice = windows("Alice").open_chat(chat)
    alice.sees("to react to")
    wait_until(alice.page, ONLINE)
    address = f"/messages/messages/{message['id']}/reactions"
    both = partial(people["Bob"].http.post, address, json={"emoji": "🎉"})
    alice.page.route(f"**{address}", held(alice, lambda: both().raise_for_status()), times=1)
    alice.page.evaluate(
        """async ([chat, id]) => {
          const { store } = await import("/static/app/state/store.js");
          await store.messages(chat).react(id, "👍");
        }""",
        [chat, message["id"]],
    )
    expect(alice.article("to react to").locator(".reaction")).to_have_count(2)


READ = """async ([chat, ...ids]) => {
  const { store } = await import("/static/app/state/store.js");
  for (const id of ids) store.messages(chat).see(id);
}"""


def test_a_message_that_comes_before_the_reply_about_those_read(alice, people, chat):
    message = people["Bob"].send(chat, "read by now")
    expect(alice.conversation("Bob")).to_contain_text("read by now")
    alice.page.route("**/read", held(alice, lambda: people["Bob"].send(chat, "not read yet")), times=1)
    with alice.page.expect_response("**/read"):
        alice.page.evaluate(READ, [chat, message["id"]])
    alice.page.wait_for_timeout(500)
    expect(alice.conversation("Bob").locator(".count")).to_contain_text("1")


def test_messages_before_one_that_is_deleted_as_it_is_read(alice, people, chat):
    stays, goes = (people["Bob"].send(chat, body) for body in ("stays", "goes"))
    expect(alice.conversation("Bob")).to_contain_text("goes")
    people["Bob"].http.delete(f"/messages/messages/{goes['id']}").raise_for_status()
    expect(alice.conversation("Bob").locator(".count")).to_have_count(1)
    with alice.page.expect_response("**/read"):
        alice.page.evaluate(READ, [chat, stays["id"], goes["id"]])
    alice.page.wait_for_timeout(500)
    # The log is drawn without it.
    alice.page.evaluate(READ, [chat, stays["id"]])
    expect(alice.conversation("Bob").locator(".count")).to_have_count(0)
    alice.complaints.clear()


def test_a_saved_edit_leaves_the_next_one_alone(windows, people, chat):
    alice = windows("Alice").open_chat(chat)
    for body in ("the former", "the latter"):
        alice.write(body)
        alice.sees_status(body, "Sent")
    waiting = []
    alice.page.route(re.compile(r"/messages/messages/\d+$"), lambda route: waiting.append(route))
    alice.box.press("ArrowUp")
    alice.box.fill("the latter, changed")
    alice.box.press("Enter")
    alice.box.press("Escape")
    expect(alice.box).to_have_value("")
    alice.article("the former").hover()
    alice.article("the former").get_by_role("button", name="Message actions").click()
    alice.page.get_by_role("menuitem", name="Edit").click()
    alice.box.fill("half of a sen")
    wait_for(lambda: alice.page.wait_for_timeout(50) or waiting, what="the request that saves")
    waiting[0].continue_()
    alice.sees("the latter, changed")
    alice.page.wait_for_timeout(300)
    expect(alice.box).to_have_value("half of a sen")


def test_the_way_to_a_person_ends_where_the_reader_goes_elsewhere(alice, people, chat):
    waiting = []
    alice.page.route(re.compile(r"/messages/conversations$"), lambda route: waiting.append(route))
    alice.page.get_by_role("searchbox", name="Search people").fill("bob")
    alice.page.get_by_role("list", name="People").get_by_role("link").first.click()
    expect(alice.page).to_have_url(re.compile("/app/people/"))
    go(alice, "Calls")
    waiting[0].continue_()
    alice.page.wait_for_timeout(1_000)
    expect(alice.page).to_have_url(re.compile("/app/calls$"))


def test_earlier_calls_asked_for_twice_are_there_once(alice, people, chat):
    rows = [
        {
            "id": number,
            "conversation_id": chat,
            "caller_id": people["Bob"].user["id"],
            "media": "audio",
            "state": "ended",
        }
        | {"outcome": "missed", "created_at": "2026-11-20T10:00:00Z", "duration_s": None}
        for number in range(1, 61)
    ]
    waiting = []

    def answer(route):
        earlier = "before=" in route.request.url
        page = [row for row in rows if (row["id"] <= 30) == earlier]
        reply = {"ok": True, "calls": page[::-1], "has_more": not earlier}
        waiting.append(partial(route.fulfill, json=reply))
        if not earlier:
            waiting.pop()()

    alice.page.route(re.compile(r"/calls\?"), answer)
    # The navigation has counted the missed ones.
    alice.page.reload()
    go(alice, "Calls")
    calls = alice.page.get_by_role("list", name="Calls").get_by_role("listitem")
    expect(calls).to_have_count(30)
    alice.page.get_by_role("button", name="Earlier calls").dblclick()
    alice.page.wait_for_timeout(500)
    for fulfill in waiting:
        fulfill()
    alice.page.wait_for_timeout(500)
    expect(calls).to_have_count(60)
    # They stay when another call ends.
    ends = "async (call) => (await import('/static/app/client.js')).parley.emit('call.updated', { call })"
    alice.page.evaluate(ends, rows[-1] | {"id": 61})
    expect(calls).to_have_count(61)
    expect(alice.page.get_by_role("button", name="Earlier calls")).to_have_count(0)


def test_of_two_languages_the_last_one_counts(chromium, server):
    context = chromium.new_context(locale="en")
    page = context.new_page()
    page.goto(f"{server.base}/app/")
    waiting = []
    page.route("**/catalog/de*.json*", lambda route: waiting.append(route))
    language = page.get_by_role("combobox", name="Language")
    language.select_option("de")
    page.wait_for_timeout(300)
    language.select_option("fr")
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    waiting[0].continue_()
    page.wait_for_timeout(500)
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    context.close()
