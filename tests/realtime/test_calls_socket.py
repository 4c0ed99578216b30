"""Calls as devices live them: over real sockets."""

import secrets
import threading

import pytest

from accounts.sign_in import sessions
from messaging.services import messages
from realtime.consumers import consumer
from realtime.consumers.consumer import record_closed
from realtime.models import Call
from tests.factories import sign_in
from tests.realtime.phones import block, conversation_of


@pytest.fixture
def chat(alice, bob):
    return conversation_of(alice, bob)


@pytest.fixture
def device(open_socket):
    """One more device of a person, with a sign-in of its own."""
    return lambda user, **options: open_socket(sign_in(user)[1], **options)


def send_command(client, command, **data):
    reply = client.command(command, **data)
    assert reply["ok"], reply
    return reply["data"]


def connect_call(caller, callee, chat):
    call_id = send_command(caller, "call.invite", conversation_id=chat, media="audio", client_id="c1")["call"]["id"]
    send_command(callee, "call.accept", call_id=call_id)
    send_command(caller, "call.connected", call_id=call_id)
    send_command(callee, "call.connected", call_id=call_id)


def refused(client, command, code, **data):
    reply = client.command(command, **data)
    assert (reply["ok"], reply.get("error")) == (False, code), reply


def updated(client, state):
    """The next call.updated of this state."""
    while True:
        call = client.expect("call.updated")["data"]["call"]
        if call["state"] == state:
            return call


def test_a_call_over_sockets(device, alice, bob, chat):
    caller, callee, tablet = device(alice), device(bob), device(bob)
    invited = send_command(caller, "call.invite", conversation_id=chat, media="video", client_id="c1")
    assert set(invited) == {"call", "ice_servers", "ice_transport_policy"}
    call_id = invited["call"]["id"]
    assert invited["call"]["bound_to_you"] is True
    for rung in (callee, tablet):
        ring = updated(rung, "ringing")
        assert (ring["id"], ring["bound_to_you"], ring["media"]) == (call_id, False, "video")
    send_command(callee, "call.ringing", call_id=call_id)
    assert caller.expect("call.ringing")["data"] == {"call_id": call_id}

    accepted = send_command(callee, "call.accept", call_id=call_id)
    assert (accepted["call"]["state"], accepted["call"]["bound_to_you"]) == ("connecting", True)
    assert "ice_servers" in accepted
    assert updated(caller, "connecting")["bound_to_you"] is True
    assert updated(callee, "connecting")["bound_to_you"] is True
    assert updated(tablet, "connecting")["bound_to_you"] is False

    offer = {"type": "offer", "sdp": "v=0\r\n" + "a=x\r\n" * 9000}
    send_command(caller, "call.signal", call_id=call_id, kind="offer", payload=offer)
    signal = callee.expect("call.signal")
    assert signal == {"type": "call.signal", "data": {"call_id": call_id, "kind": "offer", "payload": offer}}
    refused(tablet, "call.signal", "call_conflict", call_id=call_id, kind="ice", payload={"candidate": "c"})
    refused(tablet, "call.decline", "call_conflict", call_id=call_id, reason="declined")

    send_command(caller, "call.connected", call_id=call_id)
    assert send_command(callee, "call.connected", call_id=call_id)["call"]["state"] == "active"
    updated(caller, "active")
    ended = send_command(callee, "call.hangup", call_id=call_id)["call"]
    assert (ended["state"], ended["outcome"]) == ("ended", "completed")
    for one in (caller, callee, tablet):
        assert updated(one, "ended")["outcome"] == "completed"
        line = one.expect("message.new")["data"]["message"]
        assert (line["kind"], line["call"]["id"], line["call"]["outcome"]) == ("call", call_id, "completed")
    assert not [frame for frame in tablet.silence(0.3) if frame["type"] == "call.signal"]


def test_another_user_and_a_blocked_user_are_refused(device, alice, bob, charlie, chat):
    caller, callee, other_user = device(alice), device(bob), device(charlie)
    call_id = send_command(caller, "call.invite", conversation_id=chat, media="audio", client_id="c1")["call"]["id"]
    for command in ("call.ringing", "call.accept", "call.decline", "call.cancel", "call.connected", "call.hangup"):
        refused(other_user, command, "not_found", call_id=call_id)
        refused(other_user, command, "not_found", call_id=call_id + 1000)
    signal = {"kind": "ice", "payload": {"candidate": "c"}}
    refused(other_user, "call.signal", "not_found", call_id=call_id, **signal)
    refused(other_user, "call.invite", "conversation_not_found", conversation_id=chat, media="audio", client_id="x")
    block(bob, alice)
    refused(callee, "call.accept", "user_blocked", call_id=call_id)
    send_command(caller, "call.cancel", call_id=call_id)
    refused(caller, "call.invite", "user_blocked", conversation_id=chat, media="audio", client_id="c2")
    assert Call.objects.count() == 1


@pytest.mark.parametrize(
    ("command", "data", "field"),
    [
        ("call.invite", {"media": "audio", "client_id": "a"}, "conversation_id"),
        ("call.invite", {"conversation_id": 1, "media": "smoke", "client_id": "a"}, "media"),
        ("call.invite", {"conversation_id": 1, "media": ["audio"], "client_id": "a"}, "media"),
        ("call.invite", {"conversation_id": "1", "media": "audio", "client_id": "a"}, "conversation_id"),
        ("call.accept", {}, "call_id"),
        ("call.accept", {"call_id": True}, "call_id"),
        ("call.decline", {"call_id": 1, "reason": "later"}, "reason"),
        ("call.signal", {"call_id": 1, "kind": "telegram", "payload": {}}, "kind"),
        ("call.signal", {"call_id": 1, "kind": "ice", "payload": "text"}, "payload"),
        ("call.signal", {"call_id": 1, "kind": "ice"}, "payload"),
    ],
)
def test_wrong_input_names_its_field(command, data, field, device, alice):
    reply = device(alice).command(command, **data)
    assert (reply["ok"], reply["error"], list(reply["fields"])) == (False, "validation_error", [field])


def test_a_signal_that_cannot_be_transported_is_refused(device, alice, bob, chat):
    caller, callee = device(alice), device(bob)
    call_id = send_command(caller, "call.invite", conversation_id=chat, media="audio", client_id="c1")["call"]["id"]
    send_command(callee, "call.accept", call_id=call_id)
    deep = payload = {}
    for _ in range(200):
        deep["a"] = deep = {}
    for odd in (payload, {"candidate": "\ud800"}, {"n": 2**70}, {"candidate": "x" * 3000}):
        refused(caller, "call.signal", "validation_error", call_id=call_id, kind="ice", payload=odd)
    refused(caller, "call.signal", "validation_error", call_id=call_id, kind="offer", payload={"sdp": "v" * 49 * 1024})
    send_command(caller, "call.signal", call_id=call_id, kind="media", payload={"audio": False})
    assert callee.expect("call.signal")["data"]["payload"] == {"audio": False}


def test_ready_knows_the_call_and_a_device_comes_back_to_it(device, open_socket, alice, bob, chat):
    token = sign_in(bob)[1]
    caller, callee = device(alice), open_socket(token)
    call_id = send_command(caller, "call.invite", conversation_id=chat, media="audio", client_id="c1")["call"]["id"]
    send_command(callee, "call.accept", call_id=call_id)
    callee.close()
    while True:
        back = open_socket(token)
        (call,) = back.ready["calls"]
        assert (call["id"], call["state"]) == (call_id, "connecting")
        if call["bound_to_you"]:
            break
        back.close()  # the server had not yet heard of the close
    send_command(back, "call.signal", call_id=call_id, kind="restart", payload={})
    assert caller.expect("call.signal")["data"]["kind"] == "restart"
    elsewhere = device(bob)
    assert [call["bound_to_you"] for call in elsewhere.ready["calls"]] == [False]
    send_command(back, "call.hangup", call_id=call_id)
    assert device(bob).ready["calls"] == []


def test_a_device_that_is_back_before_its_close_is_recorded_gets_its_call(
    device, open_socket, alice, bob, chat, monkeypatch
):
    token = sign_in(bob)[1]
    caller, callee = device(alice), open_socket(token)
    call_id = send_command(caller, "call.invite", conversation_id=chat, media="audio", client_id="c1")["call"]["id"]
    send_command(callee, "call.accept", call_id=call_id)
    is_back = threading.Event()

    def record_late(batch):
        assert is_back.wait(10)
        return record_closed(batch)

    monkeypatch.setattr(consumer, "record_closed", record_late)
    callee.close()
    back = open_socket(token)
    assert [call["bound_to_you"] for call in back.ready["calls"]] == [False]
    is_back.set()
    assert updated(back, "connecting")["bound_to_you"] is True
    send_command(caller, "call.signal", call_id=call_id, kind="offer", payload={"sdp": "v=0"})
    assert back.expect("call.signal")["data"]["kind"] == "offer"


def test_an_unanswered_call_ends_by_itself(device, alice, bob, chat, settings):
    settings.REALTIME_CALL_RING_SECONDS = 1
    caller, callee = device(alice), device(bob)
    send_command(caller, "call.invite", conversation_id=chat, media="audio", client_id="c1")
    assert updated(callee, "ended")["outcome"] == "missed"
    assert callee.expect("message.new")["data"]["unread_count"] == 1
    assert updated(caller, "ended")["outcome"] == "missed"


def test_both_sockets_gone_and_the_call_is_lost(device, alice, bob, chat, settings):
    settings.REALTIME_CALL_LOST_SECONDS = 1
    caller, callee, watcher = device(alice), device(bob), device(bob)
    connect_call(caller, callee, chat)
    caller.close()
    callee.close()
    assert updated(watcher, "ended")["outcome"] == "lost"


def test_another_tab_of_the_session_does_not_keep_a_call_that_both_have_left(
    device, open_socket, alice, bob, chat, settings
):
    settings.REALTIME_CALL_LOST_SECONDS = 2
    token = sign_in(bob)[1]
    caller, callee, tab = device(alice), open_socket(token), open_socket(token)
    connect_call(caller, callee, chat)
    callee.close()
    caller.close()
    assert updated(tab, "ended")["outcome"] == "lost"


def test_a_call_follows_its_socket_to_another_session(device, open_socket, alice, bob, chat):
    first, token = sign_in(alice)
    second, later_token = sign_in(alice)
    caller, callee = open_socket(token), device(bob)
    connect_call(caller, callee, chat)
    assert caller.command("auth", token=later_token)["ok"]

    sessions.revoke([first], reason="logout")
    caller.close()
    caller = open_socket(later_token)
    [call] = caller.ready["calls"]
    assert (call["state"], call["bound_to_you"]) == ("active", True)
    send_command(caller, "call.signal", call_id=call["id"], kind="restart", payload={"sdp": "v=0"})
    assert callee.expect("call.signal")["data"]["kind"] == "restart"

    sessions.revoke([second], reason="logout")
    assert updated(callee, "ended")["outcome"] == "completed"


def test_a_signal_is_refused_for_its_sender_before_its_payload(device, alice, bob, charlie, chat):
    caller, callee, third = device(alice), device(bob), device(charlie)
    call_id = send_command(caller, "call.invite", conversation_id=chat, media="audio", client_id="c1")["call"]["id"]
    refused(third, "call.signal", "not_found", call_id=call_id, kind="offer", payload={})
    refused(caller, "call.signal", "call_conflict", call_id=call_id, kind="offer", payload={})
    send_command(callee, "call.accept", call_id=call_id)
    refused(caller, "call.signal", "validation_error", call_id=call_id, kind="offer", payload={})


def test_the_callee_is_busy(device, alice, bob, charlie, chat):
    caller, callee, third = device(alice), device(bob), device(charlie)
    send_command(caller, "call.invite", conversation_id=chat, media="audio", client_id="c1")
    answer = send_command(
        third, "call.invite", conversation_id=conversation_of(charlie, bob), media="audio", client_id="c1"
    )
    assert (answer["call"]["state"], answer["call"]["outcome"]) == ("ended", "busy")
    assert updated(callee, "ended")["outcome"] == "busy"


def test_a_hundred_candidates_pass_at_once_and_no_more(device, alice, bob, chat, settings):
    settings.RATELIMIT_ENABLE = True
    caller, callee = device(alice), device(bob)
    call_id = send_command(caller, "call.invite", conversation_id=chat, media="audio", client_id="c1")["call"]["id"]
    send_command(callee, "call.accept", call_id=call_id)
    for number in range(100):
        send_command(caller, "call.signal", call_id=call_id, kind="ice", payload={"candidate": f"candidate:{number}"})
    refused(caller, "call.signal", "validation_error", call_id=call_id, kind="ice", payload={"candidate": "one more"})
    received = [callee.expect("call.signal")["data"]["payload"]["candidate"] for _ in range(100)]
    assert received == [f"candidate:{number}" for number in range(100)]


def test_a_callee_who_never_wrote_back_is_rung_three_times_a_minute(device, alice, bob, charlie, chat, settings):
    settings.RATELIMIT_ENABLE = True
    settings.RATELIMIT_CACHE_PREFIX = secrets.token_hex(8)
    settings.REALTIME_RATES = {"call_invite_unanswered": (3, 3600, "allow")}
    caller = device(alice)
    data = {"conversation_id": chat, "media": "audio"}

    def ring(number):
        call_id = send_command(caller, "call.invite", client_id=f"c{number}", **data)["call"]["id"]
        send_command(caller, "call.cancel", call_id=call_id)

    for number in range(3):
        ring(number)
    refusal = caller.command("call.invite", client_id="c3", **data)
    assert (refusal["ok"], refusal["error"]) == (False, "rate_limited")
    assert 1 <= refusal["retry_after"] <= 3600
    # A repeat of one of the three is the same call again; other people can be rung.
    assert send_command(caller, "call.invite", client_id="c2", **data)["call"]["state"] == "ended"
    other = send_command(
        caller, "call.invite", client_id="c4", conversation_id=conversation_of(alice, charlie), media="audio"
    )
    send_command(caller, "call.cancel", call_id=other["call"]["id"])
    assert Call.objects.filter(callee=bob).count() == 3
    messages.send(sender=bob, conversation_id=chat, body="Hello")
    for number in range(5, 10):
        ring(number)
