"""A call from the ring to its line in the conversation."""

import pytest
import time_machine
from django.utils import timezone

from accounts.exceptions import EmailNotVerified, UserBlocked, UserNotFound
from accounts.sign_in import sessions
from accounts.signals import account_erased
from core.api.exceptions import NotFound
from core.database.transactions import unit_of_work
from messaging.exceptions import ConversationNotFound, IdempotencyConflict, MessagePermissionDenied
from realtime.exceptions import CallConflict
from realtime.models import Call, CallParticipant, Event
from tests.factories import make_user
from tests.realtime.phones import block, conversation_of, phone_of, start_call, unblock


@pytest.fixture
def chat(alice, bob):
    return conversation_of(alice, bob)


@pytest.fixture
def phones(alice, bob, chat):
    return phone_of(alice), phone_of(bob)


def lines(client, chat):
    """What the call left in the conversation, newest first."""
    messages = client.get(f"/api/v1/messages/conversations/{chat}/messages")["messages"]
    return [message["call"] | {"sender_id": message["sender_id"], "body": message["body"]} for message in messages]


def unread(client, chat):
    return client.get(f"/api/v1/messages/conversations/{chat}")["conversation"]["unread_count"]


def updates(user):
    return Event.objects.filter(user=user, type="call.updated").count()


def test_a_call_rings_is_answered_and_hung_up(phones, alice, bob, chat, as_bob):
    caller, callee = phones
    call_id = caller.invite(chat, "video").id
    ringing = callee.sees(call_id)
    assert (ringing["state"], ringing["media"], ringing["caller_id"]) == ("ringing", "video", alice.id)
    assert (ringing["bound_to_you"], caller.sees(call_id)["bound_to_you"]) == (False, True)
    callee.ringing(call_id)
    callee.accept(call_id)
    assert callee.sees(call_id)["state"] == "connecting"
    assert callee.sees(call_id)["bound_to_you"] is True
    caller.connected(call_id)
    assert caller.sees(call_id)["state"] == "connecting"
    callee.connected(call_id)
    active = callee.sees(call_id)
    assert (active["state"], active["expires_at"], active["duration_s"]) == ("active", None, None)
    with time_machine.travel(timezone.now() + timezone.timedelta(seconds=42), tick=False):
        callee.hangup(call_id)
    ended = caller.sees(call_id)
    assert (ended["state"], ended["outcome"], ended["bound_to_you"]) == ("ended", "completed", True)
    assert ended["duration_s"] in (41, 42)
    assert [updates(alice), updates(bob)] == [4, 4]
    line = {"id": call_id, "media": "video", "outcome": "completed", "duration_s": ended["duration_s"]}
    assert [entry.items() >= line.items() for entry in lines(as_bob, chat)] == [True]
    assert unread(as_bob, chat) == 0


@pytest.mark.parametrize(
    ("how", "outcome", "missed"),
    [
        ("cancel", "canceled", 1),
        ("decline", "declined", 0),
        ("busy", "busy", 1),
        ("time", "missed", 1),
    ],
)
def test_an_unanswered_call(how, outcome, missed, phones, alice, chat, as_alice, as_bob):
    caller, callee = phones
    call_id = caller.invite(chat).id
    ends_at = timezone.now()
    if how == "cancel":
        caller.cancel(call_id)
    elif how == "time":
        ends_at += timezone.timedelta(seconds=61)
    else:
        callee.decline(call_id, outcome)
    with time_machine.travel(ends_at, tick=False):
        ended = callee.sees(call_id)
    assert (ended["state"], ended["outcome"], ended["duration_s"]) == ("ended", outcome, 0)
    assert ended["answered_at"] is None
    line = {"id": call_id, "media": "audio", "outcome": outcome, "sender_id": alice.id}
    assert [entry.items() >= line.items() for entry in lines(as_bob, chat)] == [True]
    assert (unread(as_bob, chat), unread(as_alice, chat)) == (missed, 0)
    assert not CallParticipant.objects.filter(live=True).exists()


def test_an_invitation_is_idempotent_by_its_client_id(phones, chat, alice):
    caller, _ = phones
    first = caller.invite(chat, client_id="one")
    assert caller.invite(chat, client_id="one").id == first.id
    assert phone_of(alice).invite(chat, client_id="one").id == first.id
    with pytest.raises(IdempotencyConflict):
        caller.invite(chat, "video", client_id="one")
    caller.cancel(first.id)
    again = caller.invite(chat, client_id="one")
    assert (again.id, again.state, Call.objects.count()) == (first.id, "ended", 1)


def test_an_invitation_that_accepted_the_others_is_idempotent_too(phones, chat, bob, charlie):
    caller, callee = phones
    first = caller.invite(chat, client_id="same")
    accepted = callee.invite(chat, "video", client_id="same")
    assert (accepted.id, accepted.state, accepted.media) == (first.id, "connecting", "audio")
    before = updates(bob)
    for phone in (callee, phone_of(bob)):
        repeated = phone.invite(chat, "video", client_id="same")
        assert (repeated.id, repeated.state, updates(bob)) == (first.id, "connecting", before)
    assert (callee.sees(first.id)["bound_to_you"], caller.invite(chat, client_id="same").id) == (True, first.id)
    with pytest.raises(CallConflict):
        callee.invite(chat, client_id="other")
    with pytest.raises(IdempotencyConflict):
        callee.invite(conversation_of(bob, charlie), client_id="same")
    callee.hangup(first.id)
    assert (callee.invite(chat, client_id="same").state, Call.objects.count()) == ("ended", 1)


def test_only_participants_may_ring(phones, chat, charlie):
    with pytest.raises(ConversationNotFound):
        phone_of(charlie).invite(chat)
    with pytest.raises(ConversationNotFound):
        phones[0].invite(chat + 1000)
    assert not Call.objects.exists()


def test_a_block_or_privacy_stops_an_invitation_before_anything_exists(phones, chat, alice, bob):
    caller, callee = phones
    block(bob, alice)
    for phone in (caller, callee):
        with pytest.raises(UserBlocked):
            phone.invite(chat)
    unblock(bob, alice)
    bob.who_can_message = "nobody"
    bob.save()
    with pytest.raises(MessagePermissionDenied):
        caller.invite(chat)
    alice.email_verified_at = None
    with pytest.raises(EmailNotVerified):
        caller.invite(chat)
    assert not Call.objects.exists()
    assert updates(bob) == 0


def test_a_block_during_the_ring_refuses_the_answer(phones, chat, alice, bob):
    caller, callee = phones
    call_id = caller.invite(chat).id
    block(bob, alice)
    with pytest.raises(UserBlocked):
        callee.accept(call_id)
    assert callee.sees(call_id)["state"] == "ringing"


@pytest.mark.parametrize("blocker", ["alice", "bob"])
def test_a_call_that_is_missed_after_a_block_is_not_unread(phones, chat, alice, bob, as_bob, blocker):
    call_id = phones[0].invite(chat).id
    block(*((alice, bob) if blocker == "alice" else (bob, alice)))
    assert phones[0].cancel(call_id).outcome == "canceled"
    assert as_bob.get(f"/api/v1/messages/conversations/{chat}/messages")["messages"][0]["kind"] == "call"
    assert unread(as_bob, chat) == 0
    assert as_bob.get("/api/v1/notifications")["unread_count"] == 0


def test_a_block_ends_a_conversation_that_is_going_on(phones, chat, alice, bob):
    call_id = start_call(*phones, chat)
    block(bob, alice)
    assert phones[0].sees(call_id)["outcome"] == "completed"


def test_a_user_in_a_call_is_busy(phones, chat, charlie, bob, as_bob):
    caller, callee = phones
    start_call(caller, callee, chat, "ringing")
    other_user = phone_of(charlie)
    other_chat = conversation_of(charlie, bob)
    busy = other_user.invite(other_chat)
    assert (busy.state, busy.outcome) == ("ended", "busy")
    assert callee.sees(busy.id)["outcome"] == "busy"
    assert unread(as_bob, other_chat) == 1
    with pytest.raises(CallConflict):
        callee.invite(other_chat)
    with pytest.raises(CallConflict):
        caller.invite(chat)
    assert Call.objects.count() == 2


def test_both_call_each_other_and_find_one_call(phones, chat):
    caller, callee = phones
    call_id = caller.invite(chat).id
    answered = callee.invite(chat, "video")
    assert (answered.id, answered.state) == (call_id, "connecting")
    assert callee.sees(call_id)["bound_to_you"] is True
    assert Call.objects.count() == 1


def test_the_second_device_learns_that_it_was_answered_elsewhere(phones, chat, bob):
    caller, callee = phones
    tablet = phone_of(bob)
    call_id = caller.invite(chat).id
    callee.accept(call_id)
    assert (tablet.sees(call_id)["state"], tablet.sees(call_id)["bound_to_you"]) == ("connecting", False)
    for refused in (tablet.decline, tablet.accept, tablet.hangup, tablet.connected, tablet.signal):
        with pytest.raises(CallConflict):
            refused(call_id)
    caller.connected(call_id)
    callee.connected(call_id)
    with pytest.raises(CallConflict):
        tablet.decline(call_id)
    assert caller.sees(call_id)["state"] == "active"


def test_other_users_and_invalid_ids_find_nothing(phones, chat, charlie):
    call_id = start_call(*phones, chat, "ringing")
    other_user = phone_of(charlie)
    for requested_id in (call_id, call_id + 1000, 0, -1, "x", None, True, 2**70):
        for phone in (other_user, phones[0]):
            if phone is phones[0] and requested_id == call_id:
                continue
            for command in (
                phone.ringing,
                phone.accept,
                phone.decline,
                phone.cancel,
                phone.connected,
                phone.hangup,
                phone.signal,
            ):
                with pytest.raises(NotFound):
                    command(requested_id)


def test_an_ended_session_takes_its_call_along(phones, chat, alice):
    caller, callee = phones
    call_id = start_call(caller, callee, chat)
    sessions.revoke_all(user_id=alice.id, reason="logout")
    assert callee.sees(call_id)["outcome"] == "completed"


def test_an_erased_account_leaves_no_device_behind(phones, chat, alice, as_bob):
    call_id = start_call(*phones, chat)
    with unit_of_work():
        account_erased.send(None, user_id=alice.id)
    assert as_bob.get("/api/v1/calls")["calls"][0]["outcome"] == "completed"
    participant = CallParticipant.objects.get(call_id=call_id, user=alice)
    assert (participant.live, participant.session_id, participant.socket_id) == (False, None, "")


def test_an_unconfirmed_account_cannot_be_rung_at_all(alice):
    with pytest.raises(UserNotFound):
        conversation_of(alice, make_user("Una", verified=False))
