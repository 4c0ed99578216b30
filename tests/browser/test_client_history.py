"""A long conversation, and a server that goes away and comes back."""

import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import needs_chromium
from tests.browser.client_pages import Api, Window, demo_people
from tests.server import ROOT, RunningServer
from tests.waiting import wait_for

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(400)]


@pytest.fixture
def server(tmp_path):
    running = RunningServer(tmp_path, RATELIMIT_ENABLE="0")
    running.start(demo=True)
    yield running
    running.kill()


# Bob's messages; the first is the question that the one before the last one answers.
FILL = """
from core.database.transactions import unit_of_work
from messaging.services import messages
from accounts.models import User
chat, me = {chat}, User.objects.get(id={user_id})
def send(body, **more):
    return messages.send(sender=me, conversation_id=chat, body=body, **more)[0]
with unit_of_work():
    first = send("the very first")
    for number in range(2, 1000):
        send(f"Entry {{number}}" + (" has a pelican" if number in (40, 500, 960) else ""))
    send("an answer", reply_to_id=first.id)
"""


def fill(server, chat, user_id):
    command = [sys.executable, "manage.py", "shell", "-c", FILL.format(chat=chat, user_id=user_id)]
    subprocess.run(command, cwd=ROOT, env=server.environment, check=True, capture_output=True, timeout=120)


def test_a_thousand_messages(server, empty_chromium):
    """To the first one by scrolling, through the hits of a search, along a quote, and back to the end."""
    logins = demo_people(server)
    alice, bob = Api(server, logins["Alice"]), Api(server, logins["Bob"])
    chat = alice.chat_with(bob)
    alice.http.post(f"/messages/conversations/{chat}/clear", json={})
    fill(server, chat, bob.http.get("/auth/me").json()["user"]["id"])
    alice.http.post(f"/messages/conversations/{chat}/read", json={})
    window = Window(empty_chromium, server, logins["Alice"]).open_chat(chat)
    page = window.page
    expect(window.article("an answer")).to_be_in_viewport()
    # A page of older messages is under way during the jump to the quoted one: it does not join on there.
    held = []
    page.route(
        re.compile(r"/messages\?.*limit=100"), lambda route: held.append(route) if not held else route.continue_()
    )
    window.log.hover()
    page.mouse.wheel(0, -2500)
    wait_for(lambda: page.wait_for_timeout(50) or held, what="a request for older messages")
    page.mouse.wheel(0, 5000)
    window.article("an answer").get_by_role("button", name="Go to the original message").click()
    expect(window.article("the very first")).to_be_in_viewport()
    with page.expect_response(held[0].request.url):
        held[0].continue_()
    page.wait_for_timeout(300)
    assert window.texts()[:2] == ["the very first", "Entry 2"]
    page.get_by_role("button", name="Jump to latest").click()
    expect(window.article("an answer")).to_be_in_viewport()

    # Nor does the way back stop at what was passed in steps of a little more than a window.
    window.log.hover()
    for _ in range(4):
        page.mouse.wheel(0, -900)
        page.wait_for_timeout(200)
    page.get_by_role("button", name="Jump to latest").click()
    page.wait_for_function(
        "() => { const log = document.querySelector('[role=log]'); return log.scrollHeight - log.scrollTop - log.clientHeight < 4; }"
    )

    window.log.hover()
    beginning = page.get_by_text("This is the beginning of the conversation.")
    seen = []
    for _ in range(400):
        seen += [text for text in window.texts() if text not in seen[-200:]]
        if beginning.count() and beginning.is_visible() and window.log.evaluate("log => log.scrollTop") == 0:
            break
        page.mouse.wheel(0, -1500)
        page.wait_for_timeout(30)
    expect(window.article("the very first")).to_be_in_viewport()
    numbers = {int(found[1]) for text in seen if (found := re.match(r"Entry (\d+)", text))}
    assert numbers == set(range(2, 1000))
    assert len(window.log.get_by_role("article").all()) < 200

    page.get_by_role("button", name="Search in conversation").click()
    page.get_by_role("searchbox", name="Search messages").fill("pelican")
    for place, number in ((1, 960), (2, 500), (3, 40)):
        expect(page.get_by_text(f"{place} of 3")).to_be_visible()
        expect(window.article(f"Entry {number} has a pelican")).to_be_in_viewport()
        if place < 3:
            page.get_by_role("button", name="Previous").click()
    page.get_by_role("button", name="Next", exact=True).click()
    expect(window.article("Entry 500 has a pelican")).to_be_in_viewport()
    page.get_by_role("button", name="Jump to latest").click()
    expect(window.article("an answer")).to_be_in_viewport()
    # The rows in the page are one stretch in order.
    shown = [int(found[1]) for text in window.texts() if (found := re.match(r"Entry (\d+)", text))]
    assert shown == list(range(shown[0], 1000))
    assert window.complaints == []


def test_a_reply_leads_to_what_it_answers(server, empty_chromium):
    logins = demo_people(server)
    alice, bob = Api(server, logins["Alice"]), Api(server, logins["Bob"])
    chat = alice.chat_with(bob)
    original = alice.send(chat, "the question")
    for number in range(160):
        alice.send(chat, f"Entry {number}")
    body = {"body": "the answer", "reply_to_id": original["id"]}
    assert bob.http.post(f"/messages/conversations/{chat}/messages", json=body).status_code == 201
    bob.http.post(f"/messages/conversations/{chat}/read", json={})
    window = Window(empty_chromium, server, logins["Bob"]).open_chat(chat)
    window.article("the answer").get_by_role("button", name="Go to the original message").click()
    question = window.log.locator(f'[data-message-id="{original["id"]}"]')
    expect(question).to_be_in_viewport()
    # The quote and the button are there no longer: the focus goes along.
    expect(question).to_be_focused()
    window.page.get_by_role("button", name="Jump to latest").click()
    window.sees("the answer")
    expect(window.log).to_be_focused()
    assert window.complaints == []


def test_messages_written_while_the_server_is_away_appear_once_and_in_order(server, empty_chromium):
    logins = demo_people(server)
    alice_api, bob_api = Api(server, logins["Alice"]), Api(server, logins["Bob"])
    chat = alice_api.chat_with(bob_api)
    alice = Window(empty_chromium, server, logins["Alice"]).open_chat(chat)
    bob = Window(empty_chromium, server, logins["Bob"]).open_chat(chat)
    alice.write("before")
    bob.sees("before")
    server.kill()
    for window in (alice, bob):
        expect(window.page.get_by_role("status", name=re.compile("Offline|Connecting"))).to_be_visible()
    for number in range(3):
        alice.write(f"waits {number}")
        bob.write(f"too {number}")
    alice.sees_status("waits 0", "Sending")
    server.start(demo=True)
    for window, other in ((alice, "too"), (bob, "waits")):
        for number in range(3):
            expect(window.article(f"{other} {number}")).to_have_count(1, timeout=60_000)
    for number in range(3):
        alice.sees_status(f"waits {number}", re.compile("Sent|Delivered|Read"))
    expect(alice.page.get_by_role("status", name=re.compile("Offline|Connecting"))).to_have_count(0)
    for window in (alice, bob):
        texts = window.texts()
        for kind in ("waits", "too"):
            assert [text for text in texts if text.startswith(kind)] == [f"{kind} {number}" for number in range(3)]
    assert alice.texts() == bob.texts()
    # The browser itself reports each failed connection; nothing else may be wrong.
    away = re.compile("ERR_CONNECTION_REFUSED|WebSocket connection|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|50[023]")
    assert [text for text in alice.complaints + bob.complaints if not away.search(text)] == []
