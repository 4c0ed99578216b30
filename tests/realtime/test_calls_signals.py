"""Signals pass between two devices, unread, within their limits."""

import pytest
from django.db import connection
from rest_framework.exceptions import ValidationError

from realtime import wakeups
from realtime.exceptions import CallConflict
from tests.realtime.phones import conversation_of, phone_of, start_call

KIB = 1024


@pytest.fixture
def sent_frames(monkeypatch):
    """What left for the sockets."""
    frames = []
    monkeypatch.setattr(wakeups, "publish", lambda messages: frames.extend(messages))
    return frames


@pytest.fixture
def phones(alice, bob):
    return phone_of(alice), phone_of(bob)


@pytest.fixture
def call_id(phones, alice, bob):
    return start_call(*phones, conversation_of(alice, bob), "connecting")


def test_a_signal_reaches_the_other_bound_device_alone(
    phones, call_id, sent_frames, bob, django_capture_on_commit_callbacks
):
    phone_of(bob)
    offer = {"type": "offer", "sdp": "v=0\r\no=- 46117 2 IN IP4 127.0.0.1\r\n", "extra": {"é": [1, None]}}
    with django_capture_on_commit_callbacks(execute=True):
        phones[0].signal(call_id, "offer", offer)
    (message,) = sent_frames
    assert message["user_id"] == bob.id
    assert message["only"] == phones[1].device.socket_id
    assert message["droppable"] is False
    assert message["frame"] == {
        "type": "call.signal",
        "data": {"call_id": call_id, "kind": "offer", "payload": offer},
    }


def test_a_signal_is_stored_nowhere(phones, call_id, caplog):
    secret = "candidate:842163049 1 udp 1677729535 203.0.113.7 46154 typ srflx"
    phones[0].signal(call_id, "ice", {"candidate": secret})
    assert "203.0.113.7" not in caplog.text
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            assert "203.0.113.7" not in repr(cursor.fetchall()), table


@pytest.mark.parametrize(
    ("kind", "payload", "fits"),
    [
        ("offer", {"type": "offer", "sdp": "v" * 48 * KIB}, True),
        ("offer", {"type": "offer", "sdp": "\r\n" * 24 * KIB}, True),
        ("offer", {"type": "offer", "sdp": "v" * (48 * KIB + 1)}, False),
        ("answer", {"type": "answer", "sdp": "v" * 49 * KIB}, False),
        ("answer", {"type": "answer", "sdp": "é" * 25 * KIB}, False),
        ("restart", {"sdp": "v" * 49 * KIB}, False),
        ("restart", {}, True),
        ("offer", {"type": "offer"}, False),
        ("offer", {"type": "offer", "sdp": 5}, False),
        ("offer", {"sdp": "v=0", "padding": "x" * 2 * KIB}, False),
        ("ice", {"candidate": "c" * 2 * KIB, "sdpMid": "0", "sdpMLineIndex": 0}, True),
        ("ice", {"candidate": {"candidate": "c" * 2 * KIB, "sdpMid": "0"}}, True),
        ("ice", {"candidate": "c" * (2 * KIB + 1)}, False),
        ("ice", {"candidate": {"candidate": "c" * (2 * KIB + 1)}}, False),
        ("ice", {"candidate": None, "padding": "x" * 3 * KIB}, False),
        ("ice", {"candidate": ""}, True),
        ("media", {"audio": True, "video": False}, True),
        ("media", {"padding": "x" * 3 * KIB}, False),
    ],
)
def test_a_signal_has_a_size(kind, payload, fits, phones, call_id):
    if fits:
        phones[0].signal(call_id, kind, payload)
        return
    with pytest.raises(ValidationError) as refused:
        phones[0].signal(call_id, kind, payload)
    assert list(refused.value.detail) == ["payload"]


def test_a_participant_has_a_hundred_candidates_between_restarts(phones, call_id):
    caller, callee = phones
    for number in range(100):
        caller.signal(call_id, "ice", {"candidate": f"candidate:{number}"})
    with pytest.raises(ValidationError):
        caller.signal(call_id, "ice", {"candidate": "candidate:100"})
    callee.signal(call_id, "ice", {"candidate": "candidate:0"})
    caller.signal(call_id, "offer", {"type": "offer", "sdp": "v=0"})
    caller.signal(call_id, "restart", {})
    caller.signal(call_id, "ice", {"candidate": "candidate:0"})


@pytest.mark.parametrize("state", ["ringing", "ended"])
def test_before_the_answer_and_after_the_end_nothing_passes(state, phones, alice, bob, sent_frames):
    call_id = start_call(*phones, conversation_of(alice, bob), state)
    sent_frames.clear()
    for phone in phones:
        with pytest.raises(CallConflict):
            phone.signal(call_id, "offer", {"type": "offer", "sdp": "v=0"})
    assert sent_frames == []
