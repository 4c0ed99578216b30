"""Thousands like one post: one row, the right number, and a phone that is not shaken to pieces."""

import itertools
import os
import time

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from notifications.models import Delivery, Notification, Occurrence
from tests.notifications.test_events import KEY, post
from tests.parallel import run_parallel
from tests.waiting import wait_for

FULL = bool(os.environ.get("FULL"))
FANS, AT_ONCE, MINUTE = (10_000, 500, 60) if FULL else (400, 50, 3)
REPORTERS = 8

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(900 if FULL else 120)]


@pytest.fixture(autouse=True)
def configured(settings):
    settings.NOTIFICATIONS_EVENT_SOURCES = f"blog:{KEY.replace(' ', '_')}:post_like"
    settings.NOTIFICATIONS_PUSH_GROUP_SECONDS = MINUTE
    settings.NOTIFICATIONS_NOTIFY = False


def crowd(number):
    return User.objects.bulk_create(
        [
            User(
                email=f"fan{index}@example.com", username=f"fan_{index:05d}", username_folded=f"fan_{index:05d}",
                first_name=f"Fan{index}", last_name="Example",
                password="!",
            )
            for index in range(number)
        ],
        batch_size=500,
    )  # fmt: skip


def likes(recipient, fans):
    return {
        "events": [
            {
                "event_id": f"like_{fan.id}",
                "type": "post_like",
                "action": "create",
                "recipient_id": recipient.id,
                "actor_id": fan.id,
                "target": {"id": 7, "title": "Tea"},
            }
            for fan in fans
        ]
    }


@pytest.mark.slow
def test_many_actors_are_one_row_with_the_right_number_and_few_pushes(fcm, worker, alice, as_alice, device_of):
    phone = device_of(alice).registration_id
    fans = crowd(FANS)
    worker()

    done_after = []

    def report(own):
        results = []
        for first in range(0, len(own), AT_ONCE):
            results += post(likes(alice, own[first : first + AT_ONCE]))["results"]
            done_after.append(time.monotonic() - begun)
        return [result["result"] for result in results]

    begun = time.monotonic()
    reporters = [lambda index=index: report(fans[index::REPORTERS]) for index in range(REPORTERS)]
    results = list(itertools.chain(*run_parallel(reporters, seconds=100)))
    assert sorted(results) == ["aggregated"] * (FANS - 1) + ["created"]

    body = as_alice.get("/api/v1/notifications")
    [row] = body["notifications"]
    assert (row["count"], row["target"]["title"], body["unread_count"]) == (FANS, "Tea", 1)
    assert Notification.objects.get().occurrences.count() == FANS
    # The row is the latest occurrence's.
    latest = Occurrence.objects.order_by("-occurred_at", "-id")[0]
    assert row["actor"]["first_name"] == latest.actor.first_name

    last = f"and {FANS - 1} more people liked your post: Tea"
    pushes = wait_for(lambda: recipients_of(fcm.requests(phone), last), MINUTE + 30)
    assert pushes[-1]["message"]["notification"] == {"title": latest.actor.display_name, "body": last}
    assert {one["message"]["android"]["notification"]["notification_count"] for one in pushes} == {1}
    assert len({one["message"]["android"]["notification"]["tag"] for one in pushes}) == 1
    at = [one["at"] for one in pushes]
    print(
        f"{FANS} likes in {max(done_after):.1f} s, half of them after {sorted(done_after)[len(done_after) // 2]:.1f} s;"
        f" pushes after {[round(moment - at[0], 1) for moment in at]} s"
    )
    assert all(later - earlier >= MINUTE for earlier, later in itertools.pairwise(at))
    wait_for(lambda: not Delivery.objects.filter(state__in=["pending", "leased"]).exists())
    # The same likes again change nothing.
    again = {result["result"] for result in post(likes(alice, fans[:AT_ONCE]))["results"]}
    assert again == {"duplicate"}
    assert set(Delivery.objects.values_list("state", flat=True)) <= {"sent", "cancelled"}
    assert len(fcm.requests(phone)) == len(pushes)


def recipients_of(pushes, body):
    return pushes if any(one["message"]["notification"]["body"] == body for one in pushes) else None


def test_a_like_costs_the_same_among_many(alice, bob, like, device_of):
    device_of(alice)
    fans = crowd(2_000)
    counts = []
    for post_id, size in ((1, 10), (2, 2_000)):
        like(fans[0], alice, post_id)
        row = Notification.objects.get(target_id=post_id)
        Occurrence.objects.bulk_create(Occurrence(notification=row, actor=fan, is_single=True) for fan in fans[1:size])
        for _ in ("a new one", "the same once more"):
            with CaptureQueriesContext(connection) as captured:
                like(bob, alice, post_id)
            statements = [query["sql"] for query in captured.captured_queries]
            counts.append(len(statements))
            for statement in statements:
                if f'"{Occurrence._meta.db_table}"' in statement and not statement.startswith("INSERT"):
                    # By row and person, never by the row alone.
                    assert all("actor_id" in search for search in searches(statement)), statement
    assert counts[:2] == counts[2:]


def searches(statement):
    """The plan's ways into its tables."""
    explain = "EXPLAIN (COSTS OFF) " if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN "
    with connection.cursor() as cursor:
        cursor.execute(explain + statement.replace("%", "%%"), [])
        lines = [str(row[-1]) for row in cursor.fetchall()]
    plan = [line for line in lines if "Cond:" in line or "SEARCH" in line or "SCAN" in line]
    assert plan, lines
    return plan
