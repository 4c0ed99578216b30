"""Time-outs are data: every reader sees them, even if no process ran when they passed."""

import pytest
import time_machine
from django.utils import timezone

from realtime.calls import services as calls
from realtime.exceptions import CallConflict
from realtime.models import Call, Event, Socket
from tests.realtime.phones import conversation_of, phone_of, start_call


def later(seconds):
    return time_machine.travel(timezone.now() + timezone.timedelta(seconds=seconds), tick=False)


@pytest.fixture
def chat(alice, bob):
    return conversation_of(alice, bob)


@pytest.fixture
def phones(alice, bob, chat):
    return phone_of(alice), phone_of(bob)


@pytest.mark.parametrize(("state", "seconds", "outcome"), [("ringing", 60, "missed"), ("connecting", 30, "failed")])
def test_a_state_runs_out(state, seconds, outcome, phones, chat, alice):
    call_id = start_call(*phones, chat, state)
    expires_at = Call.objects.get(id=call_id).expires_at
    with later(seconds - 2):
        assert phones[0].sees(call_id)["state"] == state
        assert calls.end_overdue() == 0
    with later(seconds + 1):
        for refused in (phones[1].accept, phones[1].decline, phones[0].cancel, phones[0].hangup, phones[0].connected):
            with pytest.raises(CallConflict):
                refused(call_id)
        ended = phones[1].sees(call_id)
        assert (ended["state"], ended["outcome"]) == ("ended", outcome)
        assert Call.objects.get(id=call_id).ended_at == expires_at
        assert calls.end_overdue() == 0


def test_the_sweep_notifies_both(phones, chat, alice, bob):
    start_call(*phones, chat, "ringing")
    before = Event.objects.filter(type="call.updated").count()
    with later(61):
        assert calls.end_overdue() == 1
    assert Event.objects.filter(type="call.updated").count() == before + 2


def test_an_overdue_call_leaves_no_user_busy(phones, chat):
    call_id = start_call(*phones, chat, "ringing")
    with later(61):
        fresh = phones[1].invite(chat)
        assert (fresh.id != call_id, fresh.state) == (True, "ringing")


def test_an_active_call_is_lost_a_minute_after_both_sockets_closed(phones, chat):
    caller, callee = phones
    call_id = start_call(caller, callee, chat)
    caller.close()
    assert callee.sees(call_id)["expires_at"] is None
    with later(300):
        Socket.objects.update(seen_at=timezone.now())
        assert calls.end_overdue() == 0
        callee.close()
        assert callee.sees(call_id)["expires_at"] is not None
    with later(300 + 58):
        assert callee.sees(call_id)["state"] == "active"
    with later(300 + 61):
        assert calls.end_overdue() == 1
        assert callee.sees(call_id)["outcome"] == "lost"


def test_a_killed_process_leaves_no_call_behind(phones, chat):
    """The sockets are not closed; their rows are only no longer touched."""
    call_id = start_call(*phones, chat)
    with later(62):
        calls.end_overdue()
        assert phones[0].sees(call_id)["outcome"] == "lost"


def test_a_call_goes_on_while_one_socket_is_touched(phones, chat):
    caller, _ = phones
    call_id = start_call(*phones, chat)
    for minutes in range(1, 6):
        with later(60 * minutes):
            Socket.objects.filter(id=caller.device.socket_id).update(seen_at=timezone.now())
            assert calls.end_overdue() == 0
            assert caller.sees(call_id)["state"] == "active"


def test_a_device_that_comes_back_takes_its_place_again(phones, chat):
    caller, callee = phones
    call_id = start_call(caller, callee, chat)
    second_tab = callee.reopen()
    assert second_tab.sees(call_id)["bound_to_you"] is False
    with pytest.raises(CallConflict):
        second_tab.signal(call_id)
    second_tab.close()
    callee.close()
    caller.close()
    back = callee.reopen()
    assert back.sees(call_id)["bound_to_you"] is True
    back.signal(call_id)
    with pytest.raises(CallConflict):
        callee.signal(call_id)
    with later(50):
        assert calls.end_overdue() == 0


def test_the_place_of_a_closed_socket_is_taken_at_the_next_command_too(phones, chat):
    caller, callee = phones
    call_id = start_call(caller, callee, chat)
    second_tab = callee.reopen()
    callee.close()
    second_tab.signal(call_id)
    assert second_tab.sees(call_id)["bound_to_you"] is True


def test_a_call_goes_on_when_both_are_back_before_their_closes_are_recorded(phones, chat):
    caller, callee = phones
    call_id = start_call(caller, callee, chat)
    back = [phone.reopen() for phone in phones]
    caller.close()
    callee.close()
    assert [phone.sees(call_id)["bound_to_you"] for phone in back] == [True, True]
    with later(300):
        Socket.objects.update(seen_at=timezone.now())
        assert calls.end_overdue() == 0
        assert back[0].sees(call_id)["expires_at"] is None


def test_a_tab_that_was_open_before_does_not_take_the_place(phones, chat):
    caller, callee = phones
    other_tab = callee.reopen()
    call_id = start_call(caller, callee, chat)
    with later(61):
        Socket.objects.update(seen_at=timezone.now())
        callee.close()
        reloaded = callee.reopen()
        assert (other_tab.sees(call_id)["bound_to_you"], reloaded.sees(call_id)["bound_to_you"]) == (False, True)


@pytest.mark.parametrize("is_restart", [False, True])
def test_another_tab_gives_the_place_back(phones, chat, is_restart):
    """It was opened just before; or the server restarts, and all tabs of a browser connect again in any order."""
    caller, callee = phones
    call_id = start_call(caller, callee, chat)
    if is_restart:
        callee.close()
    other_tab = callee.reopen()
    if not is_restart:
        callee.close()
    back = callee.reopen()
    back.connected(call_id)
    assert (other_tab.sees(call_id)["bound_to_you"], back.sees(call_id)["bound_to_you"]) == (False, True)
    with pytest.raises(CallConflict):
        other_tab.hangup(call_id)


def test_devices_that_are_back_after_a_kill_take_their_places_when_the_former_sockets_are_dead(phones, chat):
    call_id = start_call(*phones, chat)
    with later(2):
        back = [phone.reopen() for phone in phones]
        assert [phone.sees(call_id)["bound_to_you"] for phone in back] == [False, False]
    announced = Event.objects.filter(type="call.updated").count()
    with later(63):
        Socket.objects.filter(id__in=[phone.device.socket_id for phone in back]).update(seen_at=timezone.now())
        assert calls.end_overdue() == 0
        assert [phone.sees(call_id)["bound_to_you"] for phone in back] == [True, True]
        assert Event.objects.filter(type="call.updated").count() > announced


def test_another_sign_in_never_takes_the_place(phones, chat, bob):
    caller, callee = phones
    call_id = start_call(caller, callee, chat)
    callee.close()
    with pytest.raises(CallConflict):
        phone_of(bob).signal(call_id)
