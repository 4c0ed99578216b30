"""The feed of the client: notifications, grouped, counted, read, removed and brought back; calls, sign-ins, security."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser import account_pages
from tests.browser.account_pages import Person
from tests.browser.chromium import barriers, needs_chromium, wait_until
from tests.browser.client_pages import Api, Window, demo_people, opened_windows
from tests.browser.feed_events import like, notifications_of
from tests.waiting import wait_for

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]


def test_the_feed_and_its_badge(chromium, server):
    logins = demo_people(server)
    alice, bob = (Api(server, logins[name]) for name in ("Alice", "Bob"))
    alice.http.post("/notifications/read-all", json={})
    with opened_windows(lambda login: Window(chromium, server, login), server) as window:
        feed, elsewhere = window("Alice").open("notifications"), window("Alice").open("settings")
        like(server, alice.user["id"], bob.user["id"], Person(server, "Charlie").id)
        rows = notifications_of(feed.page)
        row = rows.filter(has_text=re.compile("1 other like .The river path"))
        expect(row).to_have_count(1)
        # Both likes are one row and one on the badge, on every page.
        for each in (feed, elsewhere):
            link = each.page.get_by_role("navigation", name="Main").get_by_role("link", name="Notifications")
            expect(link.locator(".count")).to_have_text("1")
            expect(link).to_have_accessible_name("Notifications 1 unread")
        assert feed.axe() == []

        # Messages stand in the chats, and count there.
        bob.send(alice.chat_with(bob), "not in the feed")
        for each in (feed, elsewhere):
            main = each.page.get_by_role("navigation", name="Main")
            expect(main.get_by_role("link", name="Chats").locator(".count")).not_to_have_count(0)
            expect(main.get_by_role("link", name="Notifications").locator(".count")).to_have_text("1")
        assert alice.http.get("/notifications/unread-count").json()["unread_count"] == 2
        expect(rows).to_have_count(1)

        # The focus goes to an entry beside the removed one, after the last one to the heading, and back with it.
        like(server, alice.user["id"], bob.user["id"], posts=(8,))
        others = rows.filter(has_not_text="1 other")
        expect(others).not_to_have_count(0)
        for _ in range(others.count()):
            others.first.get_by_role("button", name="Remove").click()
        expect(row.get_by_role("button", name="Remove")).to_be_focused()
        feed.page.keyboard.press("Enter")
        expect(rows).to_have_count(0)
        expect(feed.page.get_by_role("heading", name="Notifications")).to_be_focused()
        feed.page.get_by_role("button", name="Undo").click()
        expect(row).to_have_count(1)
        expect(row.get_by_role("button", name="Remove")).to_be_focused()
        feed.page.get_by_role("button", name="Mark all as read").click()
        for each in (feed, elsewhere):
            link = each.page.get_by_role("navigation", name="Main").get_by_role("link", name="Notifications")
            expect(link.locator(".count")).to_have_count(0)
        expect(row.get_by_role("button", name="Mark as read")).to_have_count(0)
        feed.page.reload()
        expect(row).to_have_count(1)

        # While it can be undone, the server still has what was removed.
        row.get_by_role("button", name="Remove").click()
        feed.page.get_by_role("link", name="Calls").click()
        feed.page.get_by_role("link", name="Notifications").click()
        expect(feed.page.get_by_role("heading", name="Notifications")).to_be_visible()
        feed.page.wait_for_timeout(500)
        expect(row).to_have_count(0)


@pytest.mark.parametrize("leave", ["reload", "sign out"])
def test_what_was_removed_is_removed_though_the_page_is_left_before_the_time_to_undo_is_over(chromium, server, leave):
    logins = demo_people(server)
    alice, bob = (Api(server, logins[name]) for name in ("Alice", "Bob"))
    with opened_windows(lambda login: Window(chromium, server, login), server) as window:
        like(server, alice.user["id"], bob.user["id"])
        feed = window("Alice").open("notifications")
        rows = notifications_of(feed.page)
        expect(rows).not_to_have_count(0)
        count = rows.count()
        rows.first.get_by_role("button", name="Remove").click()
        expect(rows).to_have_count(count - 1)
        if leave == "reload":
            feed.page.reload()
            expect(feed.page.get_by_role("heading", name="Notifications")).to_be_visible()
        else:
            feed.page.get_by_role("link", name="Settings").click()
            expect(feed.page.get_by_role("heading", name="Trusted devices")).to_be_visible()
            feed.page.get_by_role("button", name="Sign out").click()
            expect(feed.page.get_by_role("link", name="Create account")).to_be_visible()

        def listed():
            return count_of(alice)

        wait_for(lambda: listed() == count - 1, what="the notification to be gone")


def count_of(person):
    return sum(row["type"] != "message" for row in person.http.get("/notifications").json()["notifications"])


def removal(feed, rows):
    """Removes the first of these rows; the notice of it."""
    rows.first.get_by_role("button", name="Remove").click()
    return feed.page.locator(".notice").filter(has_text="Notification removed")


def test_the_time_to_undo_waits_for_the_pointer_and_for_the_focus(chromium, server):
    logins = demo_people(server)
    alice, bob = (Api(server, logins[name]) for name in ("Alice", "Bob"))
    like(server, alice.user["id"], bob.user["id"])
    with opened_windows(lambda login: Window(chromium, server, login), server) as window:
        feed = window("Alice").open("notifications")
        rows = notifications_of(feed.page)
        expect(rows).not_to_have_count(0)
        count = rows.count()

        def listed():
            return count_of(alice)

        notice = removal(feed, rows)
        notice.hover()
        feed.page.wait_for_timeout(6_500)
        expect(notice).to_be_visible()
        assert listed() == count
        feed.page.mouse.move(5, 5)
        notice.get_by_role("button", name="Undo").focus()
        feed.page.wait_for_timeout(6_500)
        assert listed() == count
        feed.page.keyboard.press("Enter")
        expect(rows).to_have_count(count)
        expect(notice).to_have_count(0)

        # Left alone it goes, and with it what was removed.
        notice = removal(feed, rows)
        notice.hover()
        feed.page.mouse.move(5, 5)
        expect(notice).to_have_count(0)
        wait_for(lambda: listed() == count - 1, what="the notification to be gone")


def without_row(frame):
    """An event as it comes when the notification was removed before it could be sent."""
    event = json.loads(frame)
    if event["type"] == "notification.new":
        event["data"]["notification"] = None
    return json.dumps(event)


def test_the_event_of_a_notification_that_was_removed_meanwhile(chromium, server):
    logins = demo_people(server)
    alice, bob = (Api(server, logins[name]) for name in ("Alice", "Bob"))
    alice.http.post("/notifications/read-all", json={})

    removed_meanwhile = [True]

    def relay(route):
        real = route.connect_to_server()
        real.on_message(lambda frame: route.send(without_row(frame) if removed_meanwhile else frame))

    with opened_windows(lambda login: Window(chromium, server, login), server) as window:
        feed = window("Alice")
        feed.page.route_web_socket(re.compile("/api/v1/realtime"), relay)
        feed.open("notifications")
        expect(feed.page.get_by_role("button", name="Mark all as read")).to_be_disabled()
        like(server, alice.user["id"], bob.user["id"], posts=(9,))
        # Only its number is known.
        counts = "async () => (await import('/static/app/state/store.js')).store.unread.getSnapshot().unread_count"
        wait_until(feed.page, counts)

        # What had the focus goes: the button beside it takes it.
        removed_meanwhile.clear()
        row = notifications_of(feed.page).first
        feed.page.reload()
        row.get_by_role("button", name="Mark as read").press("Enter")
        expect(row.get_by_role("button", name="Remove")).to_be_focused()


def test_missed_calls_and_sign_ins_stand_in_the_feed(chromium, server):
    logins = demo_people(server)
    alice, bob = (Api(server, logins[name]) for name in ("Alice", "Bob"))
    chat = alice.chat_with(bob)
    bob.send(chat, "about to call")
    with opened_windows(lambda login: Window(chromium, server, login, permissions=["microphone"]), server) as window:
        callee, caller = window("Alice").open("notifications").page, window("Bob").open_chat(chat).page
        feed = callee.get_by_role("list", name="Notifications")
        missed = feed.get_by_role("link", name="Missed voice call from Bob Baker")
        expect(feed.get_by_role("link", name="Signed in").first).to_be_visible()
        expect(missed).to_have_count(0)
        caller.get_by_role("button", name="Voice call", exact=True).click()
        expect(callee.get_by_role("alertdialog", name="Bob Baker")).to_be_visible()
        caller.get_by_role("button", name="Hang up").click()
        expect(missed).to_have_count(1)
        # The newest stands above.
        expect(feed.get_by_role("listitem").first).to_contain_text("Missed voice call")
        # What tells of the end of the call covers nothing, and goes with the page.
        end = callee.get_by_role("complementary", name="Call ended")
        around, heading = end.bounding_box(), callee.get_by_role("heading", name="Notifications").bounding_box()
        assert around["y"] + around["height"] <= heading["y"]
        assert barriers(callee) == []
        missed.click()
        expect(callee).to_have_url(re.compile(f"/app/chats/{chat}$"))
        expect(end).to_have_count(0)
        callee.go_back()
        feed.get_by_role("link", name="Signed in").first.click()
        expect(callee.get_by_role("heading", name="Devices and sessions")).to_be_focused()
        callee.go_back()
        callee.get_by_role("button", name="Notification settings").press("Enter")
        expect(callee.get_by_role("heading", name="Notifications")).to_be_focused()
        # Who called has missed nothing.
        caller.get_by_role("link", name="Notifications").click()
        expect(caller.get_by_role("link", name="Signed in").first).to_be_visible()
        expect(caller.get_by_text("Missed voice call from")).to_have_count(0)


def test_security_changes_stand_in_the_feed(chromium, server):
    person, window = Person(server, "Sid"), account_pages.Window(chromium, server)
    try:
        window.sign_in(person)
        window.signed_in()
        person.turn_on_two_step()
        window.click("Notifications", role="link")
        entry = window.page.get_by_role("list", name="Notifications").get_by_role(
            "link", name="Your second password was set."
        )
        expect(entry).to_be_visible()
        window.accessible()
        entry.press("Enter")
        expect(window.page.get_by_role("heading", name="Security", exact=True)).to_be_focused()
    finally:
        window.close()


def test_sign_ins_of_one_device_are_one_row_with_their_count(chromium, server):
    person, window = Person(server, "Tom"), account_pages.Window(chromium, server)
    login = {"email": person.email, "password": person.password}
    for device in ("Kitchen tablet", "Old phone", "Kitchen tablet", "Kitchen tablet"):
        person.api.post("/auth/login", json=login, headers={"X-Device-Name": device}).raise_for_status()
    try:
        window.sign_in(person)
        window.signed_in()
        window.click("Notifications", role="link")
        feed = window.page.get_by_role("list", name="Notifications")
        expect(feed.get_by_role("link", name="Signed in 3 times: Kitchen tablet")).to_have_count(1)
        expect(feed.get_by_role("link", name="Kitchen tablet")).to_have_count(1)
        expect(feed.get_by_role("link", name="Signed in: Old phone")).to_have_count(1)
        # The newest one of each decides on the order.
        texts = feed.get_by_role("link").all_inner_texts()
        places = [next(at for at, text in enumerate(texts) if name in text) for name in ("Kitchen", "Old")]
        assert places == sorted(places)
        window.accessible()
    finally:
        window.close()


def test_what_stands_below_many_messages_is_found_and_counted(chromium, server):
    logins = demo_people(server)
    alice, bob = (Api(server, logins[name]) for name in ("Alice", "Bob"))
    alice.http.post("/notifications/read-all", json={})
    like(server, alice.user["id"], bob.user["id"], posts=(11,))
    now = alice.http.get("/notifications").json()["notifications"][0]["created_at"]
    message = {"type": "message", "actor": bob.user, "target": None, "count": 1, "is_read": True, "created_at": now}
    first_page = [message | {"id": 10_000_000 + number} for number in range(30)]

    def answer(route):
        if "cursor=further" in route.request.url:
            route.continue_(url=route.request.url.replace("cursor=further", ""))
        else:
            rest = {"ok": True, "unread_count": 1, "has_more": True, "next_cursor": "further"}
            route.fulfill(json={"notifications": first_page, **rest})

    with opened_windows(lambda login: Window(chromium, server, login), server) as window:
        page = window("Alice").page
        page.route(re.compile(r"/api/v1/notifications\?"), answer)
        page.goto(f"{server.base}/app/settings")
        link = page.get_by_role("navigation", name="Main").get_by_role("link", name="Notifications")
        expect(link.locator(".count")).to_have_text("1")
        link.click()
        expect(notifications_of(page).filter(has_text="The river path").first).to_be_visible()
        expect(page.get_by_text("new message")).to_have_count(0)
