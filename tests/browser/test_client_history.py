"""A long conversation, and a server that goes away and comes back."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import browser, needs_chromium
from tests.browser.client_pages import PATIENCE, Api, Window, demo_people
from tests.server import RunningServer

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(400)]


@pytest.fixture
def server(tmp_path):
    running = RunningServer(tmp_path, RATELIMIT_ENABLE="0")
    running.start(demo=True)
    yield running
    running.kill()


def test_a_reply_leads_to_what_it_answers(server):
    logins = demo_people(server)
    alice, bob = Api(server, logins["Alice"]), Api(server, logins["Bob"])
    chat = alice.chat_with(bob)
    asked = alice.send(chat, "the question")
    for number in range(160):
        alice.send(chat, f"Entry {number}")
    body = {"body": "the answer", "reply_to_id": asked["id"]}
    assert bob.http.post(f"/messages/conversations/{chat}/messages", json=body).status_code == 201
    bob.http.post(f"/messages/conversations/{chat}/read", json={})
    with browser() as chromium:
        window = Window(chromium, server, logins["Bob"]).open_chat(chat)
        window.article("the answer").get_by_role("button", name="Go to the message that is answered").click()
        question = window.log.locator(f'[data-message-id="{asked["id"]}"]')
        expect(question).to_be_in_viewport(timeout=PATIENCE)
        window.page.get_by_role("button", name="Jump to latest").click()
        window.sees("the answer")
        assert window.complaints == []


def test_messages_written_while_the_server_is_away_appear_once_and_in_order(server):
    logins = demo_people(server)
    alice_api, bob_api = Api(server, logins["Alice"]), Api(server, logins["Bob"])
    chat = alice_api.chat_with(bob_api)
    with browser() as chromium:
        alice = Window(chromium, server, logins["Alice"]).open_chat(chat)
        bob = Window(chromium, server, logins["Bob"]).open_chat(chat)
        alice.write("before")
        bob.sees("before")
        server.kill()
        for window in (alice, bob):
            expect(window.page.get_by_role("status", name=re.compile("Offline|Connecting"))).to_be_visible(
                timeout=PATIENCE
            )
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
        expect(alice.page.get_by_role("status", name=re.compile("Offline|Connecting"))).to_have_count(
            0, timeout=PATIENCE
        )
        for window in (alice, bob):
            texts = window.texts()
            for kind in ("waits", "too"):
                assert [text for text in texts if text.startswith(kind)] == [f"{kind} {number}" for number in range(3)]
        assert alice.texts() == bob.texts()
        # The browser itself reports each failed connection; nothing else may be wrong.
        away = re.compile("ERR_CONNECTION_REFUSED|WebSocket connection|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|50[023]")
        assert [text for text in alice.complaints + bob.complaints if not away.search(text)] == []
