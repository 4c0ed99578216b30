"""How many files of the product run for what users do most. The limits only go down.

Counted are files whose functions run, from the request to the last event; declarations run no function.
"""

import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings

from accounts.services import account_status
from messaging.services import conversations
from notifications.signals import social_event_happened
from realtime.conf import conf
from tests.accounts.steps import SECOND, enable_two_step, send_second_step
from tests.factories import sign_in

ROOT = f"{Path(settings.BASE_DIR)}/"
PACKAGES = (
    "core/",
    "accounts/",
    "messaging/",
    "notifications/",
    "realtime/",
    "integrations/",
    "portal/",
    "server/",
    "config/",
)
# name: (the limit: the figure when it was set, and over sockets a few for work in the background; the figure to aim at).
# Receivers of `integrations`, which find that there is no target, are three files of each but the like; subjects that stood
# together in one file of `core` are up to six.
LIMITS = {
    "send over REST": (40, 26),
    "sign in with two steps": (35, 20),
    "like": (14, 14),
    "send over the socket": (54, 34),
    "call": (59, 36),
    # 29, and what a closed socket leaves to do, as far as that is done by then.
    "block by staff": (34, 20),
}
# The files are the same on every database, apart from its backend.
pytestmark = pytest.mark.once


class Journey:
    """Records the product's files while it is switched on, in every thread that starts after `install`."""

    def __init__(self):
        self.files = set()
        self.is_on = False

    def __call__(self, frame, event, _argument):
        if self.is_on and event == "call" and frame.f_code.co_name != "<module>":
            path = frame.f_code.co_filename
            if path.startswith(ROOT) and path[len(ROOT) :].startswith(PACKAGES):
                self.files.add(path[len(ROOT) :])

    @contextmanager
    def recorded(self):
        self.files, self.is_on = set(), True
        previous = sys.getprofile()
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(previous)
            self.is_on = False

    def check(self, name):
        limit, aim = LIMITS[name]
        print(f"{name:24} {len(self.files):3} files, at most {limit}, aim {aim}")
        assert len(self.files) <= limit, sorted(self.files)


@pytest.fixture
def journey():
    recorder = Journey()
    threading.setprofile(recorder)
    yield recorder
    threading.setprofile(None)


@pytest.fixture
def chat(alice, bob):
    return conversations.start(starter=alice, user_id=bob.id)[0].id


def wait_for_what_follows(*clients):
    """Until the counters of unread rows, which wait for a second, and acknowledgements are not part of the next journey."""
    for client in clients:
        client.silence(conf.BADGE_SECONDS + 0.3)


@pytest.mark.django_db(transaction=True)
def test_requests(journey, alice, bob, as_alice, chat):
    # Modules that Django imports with the first request are not part of it.
    as_alice.post(f"/api/v1/messages/conversations/{chat}/messages", {"body": "first"}, status=201)
    with journey.recorded():
        as_alice.post(f"/api/v1/messages/conversations/{chat}/messages", {"body": "hi"}, status=201)
    journey.check("send over REST")

    enable_two_step(as_alice, alice)
    with journey.recorded():
        send_second_step(alice).post("/api/v1/auth/two-step", {"password": SECOND}, status=200)
    journey.check("sign in with two steps")

    with journey.recorded():
        social_event_happened.send(
            None, action="create", kind="post_like", recipient_id=alice.id, actor_id=bob.id, target_id=5, title="A"
        )
    journey.check("like")


def test_sockets(journey, open_socket, transactional_db, alice, bob, chat, settings):
    # What runs periodically is not part of a journey.
    settings.REALTIME_SWEEP_SECONDS_EMBEDDED = settings.REALTIME_SWEEP_SECONDS = 3600
    settings.REALTIME_CALL_SWEEP_SECONDS = 3600
    alices, bobs = open_socket(sign_in(alice)[1]), open_socket(sign_in(bob)[1])
    with journey.recorded():
        assert alices.command("message.send", conversation_id=chat, body="hi", client_id="1")["ok"]
        bobs.expect("message.new")
    journey.check("send over the socket")
    wait_for_what_follows(alices, bobs)

    with journey.recorded():
        call = alices.command("call.invite", conversation_id=chat, media="audio", client_id="c")["data"]["call"]
        assert bobs.command("call.accept", call_id=call["id"])["ok"]
        assert alices.command("call.hangup", call_id=call["id"])["ok"]
        bobs.expect("message.new")
    journey.check("call")
    wait_for_what_follows(alices, bobs)

    with journey.recorded():
        account_status.block(user=bob, reason="spam", actor=alice)
        assert bobs.closed()[0] == 4401
    journey.check("block by staff")
