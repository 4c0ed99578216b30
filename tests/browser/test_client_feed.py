"""The notifications in the client: grouped, counted everywhere, read, removed and brought back."""

import json
import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from tests.browser.account_pages import Person
from tests.browser.chromium import needs_chromium
from tests.browser.client_pages import Api, Window, demo_people, opened_windows
from tests.server import ROOT
from tests.waiting import wait_for

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]


def like(server, recipient, *actors):
    """Likes of a post of the recipient, as another service would report them."""
    event = {
        "type": "post_like",
        "recipient_id": recipient,
        "target": {"type": "post", "id": 7, "title": "The river path"},
    }
    lines = "\n".join(json.dumps(event | {"event_id": f"like-{actor}", "actor_id": actor}) for actor in actors)
    command = [sys.executable, "manage.py", "emit_event"]
    done = subprocess.run(
        command, cwd=ROOT, env=server.environment, input=lines, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_feed_and_its_badge(chromium, server):
    logins = demo_people(server)
    alice, bob = (Api(server, logins[name]) for name in ("Alice", "Bob"))
    alice.http.post("/notifications/read-all", json={})
    with opened_windows(lambda login: Window(chromium, server, login), server) as window:
        feed, elsewhere = window("Alice").open("notifications"), window("Alice").open("settings")
        like(server, alice.user["id"], bob.user["id"], Person(server, "Charlie").id)
        rows = feed.page.get_by_role("list", name="Notifications").get_by_role("listitem")
        row = rows.filter(has_text=re.compile("1 other like .The river path"))
        expect(row).to_have_count(1)
        # Both likes are one row and one on the badge, on every page.
        for each in (feed, elsewhere):
            link = each.page.get_by_role("navigation", name="Main").get_by_role("link", name="Notifications")
            expect(link.locator(".count")).to_have_text("1")
            expect(link).to_have_accessible_name("Notifications 1 unread")
        assert feed.axe() == []

        # The focus goes to an entry beside the removed one, after the last one to the heading, and back with it.
        bob.send(alice.chat_with(bob), "something else")
        others = rows.filter(has_not_text="The river path")
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
        bob.send(alice.chat_with(bob), "to be removed")
        feed = window("Alice").open("notifications")
        rows = feed.page.get_by_role("list", name="Notifications").get_by_role("listitem")
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
            return len(alice.http.get("/notifications").json()["notifications"])

        wait_for(lambda: listed() == count - 1, what="the notification to be gone")


def removal(feed, rows):
    """Removes the first of these rows; the notice of it."""
    rows.first.get_by_role("button", name="Remove").click()
    return feed.page.locator(".notice").filter(has_text="Notification removed")


def test_the_time_to_undo_waits_for_the_pointer_and_for_the_focus(chromium, server):
    logins = demo_people(server)
    alice, bob = (Api(server, logins[name]) for name in ("Alice", "Bob"))
    bob.send(alice.chat_with(bob), "not to be lost")
    with opened_windows(lambda login: Window(chromium, server, login), server) as window:
        feed = window("Alice").open("notifications")
        rows = feed.page.get_by_role("list", name="Notifications").get_by_role("listitem")
        expect(rows).not_to_have_count(0)
        count = rows.count()

        def listed():
            return len(alice.http.get("/notifications").json()["notifications"])

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
        bob.send(alice.chat_with(bob), "whose notification has gone")
        expect(feed.page.get_by_role("button", name="Mark all as read")).to_be_enabled()

        # What had the focus goes: the button beside it takes it.
        removed_meanwhile.clear()
        row = feed.page.get_by_role("list", name="Notifications").get_by_role("listitem").first
        feed.page.reload()
        row.get_by_role("button", name="Mark as read").press("Enter")
        expect(row.get_by_role("button", name="Remove")).to_be_focused()
