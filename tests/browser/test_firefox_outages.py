"""A network that fails Firefox: for a while, at one module, and when a tab is closed.

Firefox keeps the failure of a module until the page goes, and delays sockets to a server where others have failed.
"""

import time

import pytest

from tests.browser.client_pages import END_CALL
from tests.browser.feed_events import like
from tests.browser.firefox import needs_firefox
from tests.browser.firefox_pages import ONLINE, enter, sign_in, unique, write
from tests.faults.proxy import PASS, REFUSE, FaultyProxy
from tests.waiting import wait_for

pytestmark = [needs_firefox, pytest.mark.once, pytest.mark.timeout(300)]

# The browser itself reports each of them.
AWAY = [
    "NetworkError",
    "can.t establish a connection",
    "was interrupted",
    "Loading failed",
    "error loading dynamically",
]
RING = "() => document.querySelector('[role=alertdialog]')?.textContent.includes('Bob')"

# Unless the client tries again just now.
RETRY = "() => document.querySelector('.banner button')?.click()"


@pytest.fixture
def proxy(fox, fox_server):
    """In front of the server; what its faults let the browser say is expected."""
    fox.expected += AWAY
    between = FaultyProxy(fox_server.port)
    between.base = f"http://127.0.0.1:{between.port}"
    yield between
    between.close()


def open_through(proxy, fox, fox_server, path, name="Alice"):
    return enter(fox, fox_server, name, path, base=proxy.base)


def invite(fox, server, chat, name="Bob"):
    """Calls the other one over a connection that works."""
    window = enter(fox, server, name, f"chats/{chat}")
    window.press("button", "Voice call")
    return window


# Firefox waits before each socket to a server where others have failed, half as long again after each. So its wait grows
# to a third of an outage in which someone presses "Retry" again and again; else to a minute, in 200 seconds.
OUTAGE_SECONDS = 45


def test_after_an_outage_the_client_is_online_as_soon_as_the_server(fox, proxy, fox_server, fox_people, fox_chat):
    alice = open_through(proxy, fox, fox_server, f"chats/{fox_chat}")
    alice.find("textbox", "Message")
    proxy.turn(REFUSE)
    end = time.monotonic() + OUTAGE_SECONDS
    alice.sees("Offline", ".banner")
    own, received = unique("while it was away"), unique("meanwhile")
    write(alice, own)
    fox_people["Bob"].send(fox_chat, received)
    while time.monotonic() < end:
        alice.run(RETRY)
        time.sleep(0.3)
    proxy.turn(PASS)
    back = time.monotonic()
    alice.run(RETRY)
    alice.until(ONLINE)
    took = time.monotonic() - back
    assert took < 5
    alice.sees(received, "article")

    def arrived():
        rows = fox_people["Bob"].http.get(f"/messages/conversations/{fox_chat}/messages").json()["messages"]
        return [row["body"] for row in rows].count(own)

    assert wait_for(arrived) == 1


def test_calls_ring_though_their_module_was_lost_once(fox, proxy, fox_server, fox_chat):
    proxy.cut = b"/built/calls/layer."
    alice = open_through(proxy, fox, fox_server, "calls")
    wait_for(lambda: alice.run(ONLINE) and fox.has_lost("layer"), what="the failure")
    proxy.cut = b""
    assert proxy.resets > 0
    bob = invite(fox, fox_server, fox_chat)
    alice.until(RING)
    bob.run(END_CALL)


@pytest.mark.parametrize("module", ["media", "link"])
def test_a_call_is_possible_after_one_whose_module_was_lost(fox, proxy, fox_server, fox_chat, module):
    alice = open_through(proxy, fox, fox_server, f"chats/{fox_chat}")
    bob = enter(fox, fox_server, "Bob", "calls")
    proxy.cut = f"/built/{module}.".encode()
    alice.press("button", "Voice call")
    wait_for(lambda: fox.has_lost(f"/{module}."), what="the failure")
    alice.find("button", "Call again")
    assert proxy.resets > 0
    proxy.cut = b""
    alice.press("button", "Call again")
    bob.find("alertdialog", "Alice Archer")
    bob.press("button", "Decline")
    alice.sees("Call declined")


@pytest.mark.parametrize("module", ["pages/settings/page.", "forms."])
def test_a_page_that_was_lost_once_is_there_at_the_next_visit(fox, proxy, fox_server, module):
    """`forms.js` is one that others import: it has no other address."""
    alice = open_through(proxy, fox, fox_server, "chats")
    proxy.cut = f"/built/{module}".encode()
    alice.press("link", "Settings")
    alice.sees("This page could not be loaded")
    proxy.cut = b""
    assert proxy.resets > 0
    alice.press("link", "Chats")
    alice.find("heading", "Chats")
    alice.press("link", "Settings")
    alice.find("heading", "Profile")


def test_settings_that_were_wanted_offline_are_there_online(fox, proxy, fox_server):
    alice = open_through(proxy, fox, fox_server, "chats")
    proxy.turn(REFUSE)
    alice.sees("Offline", ".banner")
    alice.press("link", "Settings")
    alice.sees("This page could not be loaded")
    alice.press("link", "Chats")
    alice.find("heading", "Chats")
    proxy.turn(PASS)
    alice.run(RETRY)
    alice.until("() => !document.querySelector('.banner')")
    alice.press("link", "Settings")
    alice.find("heading", "Profile")


def test_a_client_that_was_lost_at_its_start_says_so(fox, proxy, fox_server):
    proxy.cut = b"/built/main."
    alice = sign_in(fox.person(width=1280, height=800), fox_server, "Alice", proxy.base)
    alice.open(f"{proxy.base}/app/chats")
    alice.sees("Parley could not be started.")
    proxy.cut = b""
    alice.press("link", "Load again")
    alice.find("navigation", "Main")


def test_notifications_that_were_removed_are_gone_though_the_tab_is_closed_at_once(fox, fox_server, fox_people):
    """Firefox may end the process of a closed tab while it tells the page of that: six times, each before "Undo" goes."""
    alice = fox_people["Alice"]

    def likes():
        rows = alice.http.get("/notifications").json()["notifications"]
        return {row["id"] for row in rows if row["type"] == "post_like"}

    like(fox_server, alice.user["id"], fox_people["Bob"].user["id"], posts=range(100, 106))
    window = sign_in(fox.person(), fox_server, "Alice")
    for left in range(5, -1, -1):
        # The only one of its process.
        tab = fox.window(window.user)
        window.close()
        tab.open(f"{fox_server.base}/app/notifications")
        tab.click(tab.css(".remove"))
        tab.sees("Notification removed")
        assert len(likes()) == left + 1
        window = fox.window(window.user)
        tab.close()
        wait_for(lambda left=left: len(likes()) == left, 5, what="the end of the notification")
