"""The log is gapless, in commit order, and written in one flush that cannot deadlock."""

import time
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.utils import timezone

from core.database.transactions import unit_of_work
from realtime import selectors
from realtime.models import Event, Stream
from realtime.services import event_log
from tests.client import ApiClient
from tests.factories import make_user, sign_in
from tests.parallel import Started, parallel_outcomes, run_parallel


def append(*user_ids, type="conversation.cleared", **fields):
    for user_id in user_ids:
        event_log.append(user_id=user_id, type=type, **fields)


def numbers(user):
    return list(Event.objects.filter(user=user).order_by("seq").values_list("seq", flat=True))


def test_a_unit_of_work_writes_its_events_in_one_go(alice, bob, django_assert_num_queries):
    with unit_of_work():
        append(bob.id, alice.id, conversation_id=5, extra={"upto": 3})
        append(alice.id, conversation_id=6)
        assert numbers(alice) == []
    assert numbers(alice) == [1, 2]
    assert numbers(bob) == [1]
    first, second = selectors.events_after(alice.id, 0, 10)
    assert (first.conversation_id, first.extra, second.conversation_id) == (5, {"upto": 3}, 6)
    assert event_log.position(alice.id)[1:] == (2, 0)
    assert event_log.position(alice.id).epoch != event_log.position(bob.id).epoch
    statements = 1 if connection.vendor == "postgresql" else 2
    with django_assert_num_queries(statements + 2), unit_of_work():  # and the savepoint of the test
        append(alice.id, bob.id)


def test_a_unit_that_fails_gives_its_numbers_back(alice):
    with pytest.raises(ZeroDivisionError), unit_of_work():
        append(alice.id)
        1 / 0  # noqa: B018
    with unit_of_work():
        with pytest.raises(ZeroDivisionError), unit_of_work():
            append(alice.id, conversation_id=1)
            1 / 0  # noqa: B018
        append(alice.id, conversation_id=2)
    assert [(e.seq, e.conversation_id) for e in selectors.events_after(alice.id, 0, 10)] == [(1, 2)]


def test_outside_of_a_unit_of_work_nothing_can_be_noted(alice):
    with pytest.raises(RuntimeError):
        append(alice.id)


def test_the_first_look_creates_the_log(alice):
    first = event_log.position(alice.id)
    assert (first.head_seq, first.min_seq) == (0, 0)
    assert event_log.position(alice.id) == first


@pytest.mark.parametrize("kept", [0, 2])
def test_a_client_is_told_to_reload_if_its_next_event_is_pruned_while_it_asks(alice, settings, monkeypatch, kept):
    for _ in range(5):
        with unit_of_work():
            append(alice.id)
    before = event_log.position(alice.id)
    settings.REALTIME_EVENTS_KEPT = kept
    event_log.prune(now=timezone.now(), batch=100)
    monkeypatch.setattr("realtime.viewsets.event_log.position", lambda user_id: before)
    reply = ApiClient(sign_in(alice)[1]).get("/api/v1/realtime/changes?since=0&limit=2")
    assert (reply["reset"], reply["events"], reply["seq"]) == (True, [], 5)


def test_pruning_raises_the_floor_with_the_deletion(alice, bob, settings):
    settings.REALTIME_EVENTS_KEPT = 3
    for _ in range(5):
        with unit_of_work():
            append(alice.id, bob.id)
    Event.objects.filter(user=bob, seq__lte=4).update(created_at=timezone.now() - timedelta(days=15))
    now = timezone.now()
    assert [event_log.prune(now=now, batch=1) for _ in range(6)] == [1] * 6
    assert (numbers(alice), event_log.position(alice.id).min_seq) == ([3, 4, 5], 2)
    assert (numbers(bob), event_log.position(bob.id).min_seq) == ([5], 4)
    assert event_log.prune(now=now, batch=100) == 0


def test_a_new_epoch_leaves_no_event_behind(alice, django_capture_on_commit_callbacks):
    with unit_of_work():
        append(alice.id)
    before = event_log.position(alice.id)
    with django_capture_on_commit_callbacks(execute=True):
        assert event_log.start_new_epoch([alice.id]) == 1
    after = event_log.position(alice.id)
    assert after.epoch != before.epoch
    # Far ahead: a socket that knows a number which the restored log has not reached is told to reload, too.
    assert after.head_seq == after.min_seq >= before.head_seq + 1_000_000
    assert numbers(alice) == []


@pytest.mark.django_db(transaction=True)
def test_eight_writers_around_a_ring_leave_no_hole_and_never_deadlock():
    """Neighbours share people, and each writer names them in another order; half the logs are new."""
    people = [make_user(f"Person{n}") for n in range(8)]
    rounds = 25

    def write(number):
        trio = [people[number].id, people[(number + 1) % 8].id, people[(number + 2) % 8].id]
        for turn in range(rounds):
            with unit_of_work():
                append(*(trio if turn % 2 else trio[::-1]), object_id=turn, conversation_id=number)

    assert parallel_outcomes(8, write) == [None] * 8
    for person in people:
        assert numbers(person) == list(range(1, 3 * rounds + 1))
        assert Stream.objects.get(user=person).head_seq == 3 * rounds
        for writer in range(8):
            mine = Event.objects.filter(user=person, conversation_id=writer).order_by("seq")
            turns = list(mine.values_list("object_id", flat=True))
            assert turns == sorted(turns)


@pytest.mark.django_db(transaction=True)
def test_a_reader_never_sees_a_number_before_a_lower_one(alice):
    """What 13 % of a plain sequence's readers do: see 7, then 6 later."""
    event_log.position(alice.id)

    def write():
        for _ in range(30):
            with unit_of_work():
                append(alice.id)

    writers = Started(lambda: run_parallel([write] * 4))
    seen = []
    while True:
        is_writing = writers.is_running
        rows = selectors.events_after(alice.id, seen[-1] if seen else 0, 50)
        seen.extend(row.seq for row in rows)
        if not rows and not is_writing:
            break
        time.sleep(0.001)
    writers.end()
    assert seen == list(range(1, 121))


def test_people_go_with_their_log(alice):
    with unit_of_work():
        append(alice.id)
    get_user_model().objects.filter(id=alice.id).delete()
    assert Event.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_a_wake_up_that_fails_loses_no_event(alice, monkeypatch):
    def fail(*_):
        raise RuntimeError("no channel layer")

    monkeypatch.setattr("realtime.wakeups.publish", fail)
    with unit_of_work():
        append(alice.id)
    assert numbers(alice) == [1]
