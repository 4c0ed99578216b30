"""Reads that are compiled once: each use yields what the QuerySet itself yields."""

from datetime import timedelta

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import Session, User
from core.database.compiled import compiled
from tests.factories import sign_in


@compiled
def sessions_since(user_id: int, since) -> QuerySet[Session]:
    return Session.objects.select_related("user").filter(user_id=user_id, created_at__gt=since).order_by("id")


@compiled
def sids(user_id: int, sid) -> QuerySet[Session, tuple]:
    return Session.objects.filter(user_id=user_id).exclude(sid=sid).order_by("id").values_list("sid", "created_at")


def test_objects_with_their_related_ones(alice, bob, django_assert_num_queries):
    made = [sign_in(alice)[0], sign_in(alice)[0]]
    sign_in(bob)
    since = timezone.now() - timedelta(minutes=1)
    with django_assert_num_queries(1):
        rows = sessions_since(alice.id, since)
        assert [(row, row.user, row.user.email) for row in rows] == [(one, alice, alice.email) for one in made]
    assert vars(rows[0]) | {"_state": None} == vars(Session.objects.select_related("user").get(id=made[0].id)) | {
        "_state": None
    }
    assert not rows[0]._state.adding
    assert sessions_since(bob.id, since + timedelta(hours=1)) == []
    assert sessions_since.first(bob.id, since + timedelta(hours=1)) is None


def test_columns(alice):
    one, other = sign_in(alice)[0], sign_in(alice)[0]
    assert sids(alice.id, one.sid) == [(other.sid, other.created_at)]
    assert sids.first(alice.id, other.sid) == (one.sid, one.created_at)


def test_it_is_compiled_once(alice, bob):
    made = []

    @compiled
    def of_id(user_id: int) -> QuerySet[User]:
        made.append(1)
        return User.objects.filter(id=user_id)

    assert [of_id.first(user.id) for user in (alice, bob, alice)] == [alice, bob, alice]
    assert made == [1]


def test_a_missing_user_is_not_locked(db):
    with pytest.raises(User.DoesNotExist):
        User.objects.lock(0)


@compiled
def sessions_of_any(user_ids: set[int]) -> QuerySet[Session, int]:
    return Session.objects.filter(user__id__any=user_ids).order_by("id").values_list("id")


def test_any_number_of_ids_is_one_parameter(alice, bob):
    one, other = sign_in(alice)[0], sign_in(bob)[0]
    assert sessions_of_any({alice.id}) == [(one.id,)]
    assert sessions_of_any({alice.id, bob.id}) == [(one.id,), (other.id,)]
    assert sessions_of_any(set()) == []
    assert list(Session.objects.filter(user__id__any=[bob.id])) == [other]
    assert list(Session.objects.filter(user__id__any=set())) == []
