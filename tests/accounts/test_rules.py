"""Each rule on data means the same to a QuerySet, to a row that was read, and to a hand-written statement."""

from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import OuterRef
from django.utils import timezone

from accounts import selectors, sql
from accounts.models import Block, Session, User
from tests.factories import make_user, sign_in

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


def ids_by_sql(statement, *values):
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return {row[0] for row in cursor.fetchall()}


@pytest.fixture
def now(clock):
    return timezone.now()


@pytest.mark.parametrize(
    ("blocked", "until", "is_active"),
    [
        (False, None, True),
        (True, None, False),
        (True, HOUR, False),
        (True, -HOUR, True),
        (True, timedelta(), True),
    ],
)
def test_blocked_by_staff(now, blocked, until, is_active):
    user = make_user(
        blocked_at=now - 2 * HOUR if blocked else None, blocked_until=now + until if until is not None else None
    )
    adapted = connection.ops.adapt_datetimefield_value(now)
    by_sql = ids_by_sql(f"SELECT u.id FROM {sql.USERS} u WHERE {sql.is_active('u')}", adapted)
    assert by_sql == set(User.objects.active(now).values_list("id", flat=True)) == ({user.id} if is_active else set())
    assert User.objects.blocked(now).exists() is user.is_blocked(now) is not is_active
    assert User.objects.contactable().exists() is user.is_active is is_active


@pytest.mark.parametrize(
    ("change", "is_contactable"),
    [({}, True), ({"email_verified_at": None}, False), ({"erase_after": timezone.now()}, False)],
)
def test_contactable(change, is_contactable):
    user = make_user()
    User.objects.update(**change)
    assert User.objects.contactable().filter(id=user.id).exists() is is_contactable


@pytest.mark.parametrize(
    ("change", "is_live", "is_signed_in"),
    [
        ({}, True, True),
        ({"ended_at": timezone.now()}, False, False),
        ({"expires_at": timezone.now() - HOUR}, False, False),
        ({"token_expires_at": timezone.now() - HOUR}, True, False),
    ],
)
def test_live_session(alice, change, is_live, is_signed_in, django_assert_num_queries):
    session = sign_in(alice)[0]
    Session.objects.update(**change)
    session.refresh_from_db()
    assert session.is_live(timezone.now()) is Session.objects.live().exists() is is_live
    assert selectors.signed_in_sessions().exists() is bool(selectors.sessions_of(alice.id)) is is_signed_in
    with django_assert_num_queries(1):
        assert selectors.active_verified_sessions([session.id]) == ({session.id: alice.id} if is_live else {})
    User.objects.update(blocked_at=timezone.now())
    assert selectors.active_verified_sessions([session.id]) == {}


@pytest.mark.parametrize("direction", ["none", "made", "met", "other"])
def test_block_between_two(alice, bob, charlie, direction, django_assert_num_queries):
    pairs = {"made": (alice, bob), "met": (bob, alice), "other": (charlie, bob)}
    if direction != "none":
        blocker, blocked = pairs[direction]
        Block.objects.create(blocker=blocker, blocked=blocked)
    expected = {bob.id} if direction in ("made", "met") else set()
    others = User.objects.exclude(id=alice.id)
    table = f"SELECT b.id FROM {sql.USERS} a JOIN {sql.USERS} b ON b.id <> a.id WHERE a.id = %s AND"
    assert ids_by_sql(f"{table} {sql.blocked_between('a.id', 'b.id')}", alice.id) == expected
    assert ids_by_sql(f"{table} NOT {sql.no_block_between('a.id', 'b.id')}", alice.id) == expected
    with django_assert_num_queries(3):
        in_query = others.filter(selectors.blocked_between(alice.id, OuterRef("id")))
        assert set(in_query.values_list("id", flat=True)) == expected
        assert selectors.ids_blocked_either_way(alice.id, [bob.id, charlie.id]) == expected
        assert selectors.blocked_either_way(alice.id, bob.id) is bool(expected)


def test_who_can_message(alice, bob):
    User.objects.filter(id=alice.id).update(who_can_message=User.WhoCanMessage.CONTACTS)
    User.objects.filter(id=bob.id).update(erased_at=timezone.now())
    statement = f"SELECT u.id FROM {sql.USERS} u WHERE {sql.who_can_message('u')} = %s"
    assert ids_by_sql(statement, "contacts") == {alice.id}
    assert ids_by_sql(statement, "nobody") == {bob.id}
