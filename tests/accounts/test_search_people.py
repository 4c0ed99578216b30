"""Finding people to write to."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from accounts import selectors
from accounts.exceptions import UserNotFound
from accounts.models import Block, User
from tests.factories import make_user


def names(viewer, q, limit=20):
    return [user.username for user in selectors.search_people(viewer=viewer, q=q, limit=limit)]


def test_prefixes_without_case_and_accents_exact_username_first(alice):
    exact = make_user("Zoe", username="mar")
    by_username = make_user("Zed", username="marvin_aaaaa")
    by_first = make_user("Márta", username="x_aaaaa")
    by_last = make_user("Bo", last_name="MARSH", username="y_aaaaa")
    make_user("Omar", username="omar_aaaaa")
    expected = [user.username for user in (exact, by_username, by_first, by_last)]
    assert names(alice, "MAR") == expected
    assert names(alice, " @már") == expected
    assert names(alice, "mar", limit=2) == expected[:2]


def test_a_full_name_finds_its_owner(alice):
    make_user("Mary Ann", last_name="Cooper", username="mary_aaaaa")
    assert names(alice, "mary ann coo") == ["mary_aaaaa"]


def test_no_user_is_found_by_address_or_wildcard(alice, bob):
    for q in ("bob@example.com", bob.email, "%", "_", "", "   ", "\\", "b%"):
        assert names(alice, q) == []


def test_who_is_never_found(alice, bob, charlie):
    now = timezone.now()
    make_user("Carla", verified=False)
    make_user("Carlo", blocked_at=now)
    make_user("Carmen", blocked_at=now, blocked_until=now + timedelta(hours=1))
    make_user("Casper", erase_after=now + timedelta(days=14))
    back = make_user("Carol", blocked_at=now, blocked_until=now - timedelta(hours=1))
    make_user("Alice", username="another_alice")
    Block.objects.create(blocker=alice, blocked=bob)
    Block.objects.create(blocker=charlie, blocked=alice)
    assert names(alice, "ca") == [back.username]
    assert names(alice, "bob") == []
    assert names(alice, "charlie") == []
    assert names(alice, "alice") == ["another_alice"]
    assert names(bob, "charlie") == [charlie.username]


def test_the_lists_are_read_from_their_indexes(alice):
    columns = ("username_folded", "first_name_folded", "last_name_folded")
    User.objects.bulk_create(
        User(
            email=f"crowd{n}@example.com",
            username=f"crowd_{n:06d}",
            first_name="C",
            last_name="D",
            username_folded=f"crowd_{n:06d}",
            first_name_folded=f"c{n}",
            last_name_folded=f"d{n}",
            email_verified_at=timezone.now(),
        )
        for n in range(3000)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    for column in columns:
        plan = User.objects.filter(selectors._starts_with(column, "crowd_0000")).order_by(column)[:20].explain()
        assert f"user_search_{column.removesuffix('_folded')}" in plan, plan
        assert "SCAN accounts_user\n" not in plan and "Seq Scan" not in plan and "Sort" not in plan, plan


def test_a_contactable_person_is_confirmed_and_not_blocked(bob):
    assert selectors.contactable_user(bob.id) == bob
    for user in (make_user("No", verified=False), make_user("Out", blocked_at=timezone.now())):
        with pytest.raises(UserNotFound):
            selectors.contactable_user(user.id)
    with pytest.raises(UserNotFound):
        selectors.contactable_user(999_999)
