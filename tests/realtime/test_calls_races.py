"""Concurrent commands: one succeeds, the other gets an error, and no call rings on. Real threads, both databases."""

from functools import partial

import pytest

from accounts.exceptions import UserBlocked
from accounts.services import profile
from core.api.exceptions import ApiError
from messaging.models import Message
from realtime.calls import services as calls
from realtime.calls.services import invitations
from realtime.models import Call, CallParticipant
from tests.parallel import parallel_outcomes, run_parallel
from tests.realtime.phones import conversation_of, phone_of, start_call
from tests.server import ON_POSTGRES

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(*works):
    """What each of these functions returned or raised, all started together."""
    answers = parallel_outcomes(len(works), lambda index: works[index]())
    unexpected = [a for a in answers if isinstance(a, BaseException) and not isinstance(a, ApiError)]
    assert unexpected == []
    return answers


def codes(answers):
    return sorted(getattr(answer, "default_code", "ok") for answer in answers)


def live_calls():
    return Call.objects.exclude(state="ended").count()


@pytest.mark.parametrize("round_number", range(5))
def test_of_devices_that_accept_at_once_one_is_bound(round_number, alice, bob):
    chat = conversation_of(alice, bob)
    caller, devices = phone_of(alice), [phone_of(bob) for _ in range(4)]
    call_id = caller.invite(chat).id
    answers = at_once(*[lambda phone=phone: phone.accept(call_id) for phone in devices])
    assert codes(answers) == ["call_conflict"] * 3 + ["ok"]
    views = [phone.sees(call_id) for phone in devices]
    assert sum(view["bound_to_you"] for view in views) == 1
    assert {view["state"] for view in views} == {"connecting"}


@pytest.mark.parametrize("round_number", range(5))
def test_both_invite_at_once_and_share_one_call(round_number, alice, bob):
    chat = conversation_of(alice, bob)
    one, two = phone_of(alice), phone_of(bob)
    answers = at_once(lambda: one.invite(chat), lambda: two.invite(chat))
    assert len({call.id for call in answers}) == 1
    call = Call.objects.get()
    assert call.state == "connecting"
    assert CallParticipant.objects.filter(live=True).exclude(socket_id="").count() == 2


@pytest.mark.parametrize("round_number", range(5))
def test_an_invitation_sent_many_times_at_once_is_one(round_number, alice, bob):
    chat = conversation_of(alice, bob)
    caller = phone_of(alice)
    answers = at_once(*[lambda: caller.invite(chat, client_id="same") for _ in range(6)])
    assert len({call.id for call in answers}) == 1
    assert Call.objects.count() == 1


def test_an_invitation_that_accepts_sent_many_times_at_once_is_one(alice, bob):
    chat = conversation_of(alice, bob)
    call_id = phone_of(alice).invite(chat).id
    callee = phone_of(bob)
    answers = at_once(*[lambda: callee.invite(chat, client_id="same")] * 6)
    assert {(call.id, call.state) for call in answers} == {(call_id, "connecting")}


def test_all_call_each_other_and_no_user_is_in_two_calls(alice, bob, charlie):
    people = [alice, bob, charlie]
    pairs = [(a, b) for a in people for b in people if a is not b]
    chats = {frozenset((a.id, b.id)): conversation_of(a, b) for a, b in pairs}
    works = [lambda a=a, b=b: phone_of(a).invite(chats[frozenset((a.id, b.id))]) for a, b in pairs]
    answers = at_once(*works)
    assert set(codes(answers)) <= {"ok", "call_conflict"}
    held = list(CallParticipant.objects.filter(live=True).values_list("user_id", flat=True))
    assert len(held) == len(set(held)) == 2 * live_calls() == 2


def test_accept_meets_cancel_meets_decline(alice, bob):
    chat = conversation_of(alice, bob)
    caller, callee, tablet = phone_of(alice), phone_of(bob), phone_of(bob)
    for _ in range(5):
        call_id = caller.invite(chat).id
        works = [partial(work, call_id) for work in (callee.accept, caller.cancel, tablet.decline)]
        answers = at_once(*works)
        assert codes(answers) == ["call_conflict", "call_conflict", "ok"]
        call = Call.objects.get(id=call_id)
        if call.state == "connecting":
            callee.hangup(call_id)
        assert Message.objects.filter(call_id=call_id).count() == 1
    assert live_calls() == 0


@pytest.mark.parametrize("round_number", range(5))
def test_a_call_answered_while_its_users_are_blocked_ends(round_number, alice, bob):
    chat = conversation_of(alice, bob)
    caller, callee = phone_of(alice), phone_of(bob)
    call_id = caller.invite(chat).id
    at_once(lambda: callee.accept(call_id), lambda: profile.block(blocker=bob, blocked_id=alice.id))
    assert Call.objects.get(id=call_id).state in ("ringing", "ended")


def test_a_block_between_two_who_call_each_other_comes_first(alice, bob, monkeypatch):
    """It arrives after the second invitation was allowed and before it answers the first."""
    chat = conversation_of(alice, bob)
    call_id = phone_of(alice).invite(chat).id
    start = invitations._start_ringing

    def block_first(*args):
        profile.block(blocker=alice, blocked_id=bob.id)
        return start(*args)

    monkeypatch.setattr(invitations, "_start_ringing", block_first)
    with pytest.raises(UserBlocked):
        phone_of(bob).invite(chat)
    assert Call.objects.get(id=call_id).state == "ringing"


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite runs one transaction after the other")
def test_a_call_that_is_canceled_at_the_moment_of_an_invitation_does_not_refuse_it(alice, bob, monkeypatch):
    """The invited user calls back after the live call was read and before it is locked."""
    chat = conversation_of(alice, bob)
    caller, callee = phone_of(alice), phone_of(bob)
    canceled_id = caller.invite(chat).id
    lock = invitations.lock_call_for

    def cancel_first(**call):
        monkeypatch.setattr(invitations, "lock_call_for", lock)
        run_parallel([lambda: caller.cancel(canceled_id)])
        return lock(**call)

    monkeypatch.setattr(invitations, "lock_call_for", cancel_first)
    call = callee.invite(chat)
    assert (call.id != canceled_id, call.state) == (True, "ringing")


@pytest.mark.parametrize("round_number", range(5))
def test_a_call_is_canceled_while_its_users_are_blocked(round_number, alice, bob):
    chat = conversation_of(alice, bob)
    caller = phone_of(alice)
    call_id = caller.invite(chat).id
    at_once(lambda: caller.cancel(call_id), lambda: profile.block(blocker=bob, blocked_id=alice.id))
    assert Call.objects.get(id=call_id).outcome == "canceled"


def test_many_sweepers_end_a_call_once(alice, bob, settings):
    settings.REALTIME_CALL_RING_SECONDS = 0
    chat = conversation_of(alice, bob)
    call_id = phone_of(alice).invite(chat).id
    ended = at_once(*[calls.end_overdue] * 5)
    assert sum(ended) == 1
    assert Message.objects.filter(call_id=call_id).count() == 1


def test_both_hang_up_at_once(alice, bob):
    chat = conversation_of(alice, bob)
    caller, callee = phone_of(alice), phone_of(bob)
    call_id = start_call(caller, callee, chat)
    answers = at_once(lambda: caller.hangup(call_id), lambda: callee.hangup(call_id))
    assert codes(answers) == ["call_conflict", "ok"]
    assert Message.objects.filter(call_id=call_id).count() == 1
