"""Calls over REST: lock screen, history, credentials."""

import pytest
import time_machine
from django.utils import timezone

from notifications.models import Delivery, Device
from realtime.models import Call
from tests.client import ApiClient
from tests.factories import sign_in
from tests.realtime.phones import conversation_of, phone_of, start_call


@pytest.fixture
def chat(alice, bob):
    return conversation_of(alice, bob)


@pytest.fixture
def phones(alice, bob, chat):
    return phone_of(alice), phone_of(bob)


def test_one_call_as_both_see_it(phones, chat, as_alice, as_bob, alice):
    call_id = start_call(*phones, chat, "ringing")
    call = Call.objects.get()
    shown = as_bob.get(f"/api/v1/calls/{call_id}")
    assert shown == {
        "ok": True,
        "call": {
            "id": call_id,
            "conversation_id": chat,
            "caller_id": alice.id,
            "media": "audio",
            "state": "ringing",
            "outcome": None,
            "created_at": call.created_at.isoformat().replace("+00:00", "Z"),
            "expires_at": (call.created_at + timezone.timedelta(seconds=60)).isoformat().replace("+00:00", "Z"),
            "answered_at": None,
            "ended_at": None,
            "duration_s": None,
            "bound_to_you": False,
        },
    }
    assert as_alice.get(f"/api/v1/calls/{call_id}") == shown


def test_reading_a_call_ends_it_at_its_deadline(phones, chat, as_bob):
    call_id = start_call(*phones, chat, "ringing")
    with time_machine.travel(timezone.now() + timezone.timedelta(seconds=61), tick=False):
        assert as_bob.get(f"/api/v1/calls/{call_id}")["call"]["outcome"] == "missed"
        (missed,) = as_bob.get("/api/v1/calls")["calls"]
        assert missed["outcome"] == "missed"


def test_reading_the_log_ends_it_too(phones, chat, as_bob):
    start_call(*phones, chat, "ringing")
    with time_machine.travel(timezone.now() + timezone.timedelta(seconds=61), tick=False):
        events = as_bob.get("/api/v1/realtime/changes?since=0")["events"]
        updates = [event["data"]["call"] for event in events if event["type"] == "call.updated"]
        assert updates[-1]["outcome"] == "missed"


def test_declining_from_a_lock_screen(phones, chat, as_alice, as_bob, as_charlie):
    call_id = start_call(*phones, chat, "ringing")
    path = f"/api/v1/calls/{call_id}/decline"
    assert as_alice.post(path, {}, status=409)["error"] == "call_conflict"
    assert as_charlie.post(path, {}, status=404)["error"] == "not_found"
    assert as_bob.post(path, {"reason": "later"}, status=400)["fields"].keys() == {"reason"}
    assert as_bob.post(path, {"reason": 5}, status=400)["fields"].keys() == {"reason"}
    assert as_bob.post(path)["call"]["outcome"] == "declined"
    assert as_bob.post(path, {}, status=409)["error"] == "call_conflict"


def test_declining_as_busy_and_never_a_live_call(phones, chat, as_bob):
    call_id = start_call(*phones, chat, "ringing")
    assert as_bob.post(f"/api/v1/calls/{call_id}/decline", {"reason": "busy"})["call"]["outcome"] == "busy"
    live = start_call(*phones, chat)
    assert as_bob.post(f"/api/v1/calls/{live}/decline", {}, status=409)["error"] == "call_conflict"
    assert Call.objects.get(id=live).state == "active"


def test_the_conversation_says_of_its_last_call_what_the_message_says(phones, chat, as_alice, as_bob):
    start_call(*phones, chat, "ended")
    for http in (as_alice, as_bob):
        line = http.get(f"/api/v1/messages/conversations/{chat}/messages?limit=1")["messages"][0]
        assert line["kind"] == "call"
        listed = http.get("/api/v1/messages/conversations")["conversations"][0]["last_message"]
        assert listed["call"] == line["call"]
        assert set(listed["call"]) == {"id", "media", "outcome", "duration_s"}
    as_alice.post(f"/api/v1/messages/conversations/{chat}/messages", {"body": "later"}, status=201)
    assert as_bob.get(f"/api/v1/messages/conversations/{chat}")["conversation"]["last_message"]["call"] is None


def test_history_is_newest_first_and_paged(phones, chat, as_alice, as_charlie):
    ids = [start_call(*phones, chat, "ended") for _ in range(5)][::-1]
    first = as_alice.get("/api/v1/calls?limit=2")
    assert ([call["id"] for call in first["calls"]], first["has_more"]) == (ids[:2], True)
    rest = as_alice.get(f"/api/v1/calls?limit=3&before={ids[1]}")
    assert ([call["id"] for call in rest["calls"]], rest["has_more"]) == (ids[2:], False)
    assert as_charlie.get("/api/v1/calls") == {"ok": True, "calls": [], "has_more": False}
    for query in ("limit=0", "limit=x", "before=x", "before=0"):
        assert as_alice.get(f"/api/v1/calls?{query}", status=400)["error"] == "validation_error"
    assert len(as_alice.get("/api/v1/calls?limit=5000")["calls"]) == 5


def test_a_page_of_history_takes_three_queries(phones, chat, as_alice, django_assert_max_num_queries):
    for _ in range(4):
        start_call(*phones, chat, "ended")
    with django_assert_max_num_queries(5):
        as_alice.get("/api/v1/calls?limit=50")


def test_another_user_gets_not_found(phones, chat, as_charlie, as_alice):
    call_id = start_call(*phones, chat, "ringing")
    absent = as_alice.get("/api/v1/calls/999999", status=404)
    for path in (
        f"/api/v1/calls/{call_id}",
        f"/api/v1/calls/{call_id}/ice-servers",
        "/api/v1/calls/x",
        "/api/v1/calls/0",
        "/api/v1/calls/-1",
        "/api/v1/calls/1.5",
        f"/api/v1/calls/{2**70}",
    ):
        response = as_charlie.get(path, status=404)
        assert response | {"request_id": ""} == absent | {"request_id": ""}


def test_credentials_of_the_relay_have_a_rate_and_one_name_for_each_user(phones, chat, as_bob, as_alice, settings):
    settings.RATELIMIT_ENABLE = True
    settings.REALTIME_TURN_URLS = ["turn:turn.example.com:3478?transport=udp"]
    settings.REALTIME_TURN_SECRET = "a shared secret of thirty-two bytes"

    def name_for(client, call_id):
        (server,) = client.get(f"/api/v1/calls/{call_id}/ice-servers")["ice_servers"]
        return server["username"].partition(":")[2]

    first = start_call(*phones, chat, "ringing")
    names = {name_for(as_bob, first) for _ in range(20)}
    refused = as_bob.get(f"/api/v1/calls/{first}/ice-servers", status=429)
    assert refused["error"] == "rate_limited" and refused["retry_after"] > 0
    assert {name_for(as_alice, first)}.isdisjoint(names)
    phones[0].cancel(first)
    second = start_call(*phones, chat, "ringing")
    settings.RATELIMIT_ENABLE = False
    assert names == {name_for(as_bob, second)}


def test_ice_servers_while_the_call_lives(phones, chat, as_bob, bob, settings):
    settings.REALTIME_TURN_URLS = ["turn:turn.example.com:3478?transport=udp"]
    settings.REALTIME_TURN_SECRET = "a shared secret"
    settings.REALTIME_STUN_URLS = ["stun:stun.example.com:3478"]
    call_id = start_call(*phones, chat, "ringing")
    path = f"/api/v1/calls/{call_id}/ice-servers"
    open_route = as_bob.get(path)
    assert [server["urls"] for server in open_route["ice_servers"]] == [
        ["stun:stun.example.com:3478"],
        ["turn:turn.example.com:3478?transport=udp"],
    ]
    assert open_route["ice_transport_policy"] == "all"
    bob.relay_calls = True
    bob.save()
    relayed = as_bob.get(path)
    assert [server["urls"] for server in relayed["ice_servers"]] == [["turn:turn.example.com:3478?transport=udp"]]
    assert relayed["ice_transport_policy"] == "relay"
    phones[0].cancel(call_id)
    assert as_bob.get(path, status=409)["error"] == "call_conflict"


def test_bound_to_you_follows_the_sign_in(alice, bob, chat):
    session, token = sign_in(bob)
    caller, callee = phone_of(alice), phone_of(bob)
    call_id = caller.invite(chat).id
    callee.accept(call_id)
    assert ApiClient(token).get(f"/api/v1/calls/{call_id}")["call"]["bound_to_you"] is False
    Call.objects.get().participants.filter(user=bob).update(session_id=session.id)
    assert ApiClient(token).get(f"/api/v1/calls/{call_id}")["call"]["bound_to_you"] is True


@pytest.fixture
def bobs_phone(bob):
    token = sign_in(bob)[1]
    ApiClient(token).post("/api/v1/profile/push-token", {"token": "push-token-of-bob", "platform": "android"})
    return Device.objects.get(user=bob)


def pushes(kind):
    return [row.payload["data"] for row in Delivery.objects.filter(kind=kind)]


def test_a_ring_is_pushed_as_data(phones, chat, alice, bobs_phone, as_bob):
    call_id = start_call(*phones, chat, "ringing")
    call = Call.objects.get()
    assert pushes("incoming_call") == [
        {
            "type": "incoming_call",
            "call_id": str(call_id),
            "conversation_id": str(chat),
            "caller_id": str(alice.id),
            "caller_name": "Alice Archer",
            "caller_avatar_url": "",
            "media": "audio",
            "expires_at": call.expires_at.isoformat().replace("+00:00", "Z"),
        }
    ]
    Delivery.objects.update(state="sent")
    phones[0].cancel(call_id)
    assert pushes("call_ended") == [{"type": "call_ended", "call_id": str(call_id), "outcome": "canceled"}]


def test_an_answer_on_another_device_cancels_the_rings_that_wait(phones, chat, bobs_phone):
    """After a failure of FCM the phone would ring for a call that goes on elsewhere."""
    call_id = start_call(*phones, chat, "ringing")
    assert Delivery.objects.get().state == "pending"
    phones[1].accept(call_id)
    assert Delivery.objects.get().state == "cancelled"
    phones[1].hangup(call_id)
    assert pushes("call_ended") == []
