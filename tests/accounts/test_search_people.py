"""Finding people to write to."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
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
    for q in (" @már", "＠mar", "\u2068@mar\u2069", "\u200b@ mar", "@ｍａｒ"):
        assert names(alice, q) == expected, q
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


FULL_NAMES = [
    # first name, last name, what finds the person, what does not
    ("太郎", "山田", ["山田太郎", "山田 太郎", "山田　太郎", "太郎山田", "山田太", "山", "太郎", "山田‌太郎"], ["田太郎", "郎山"]),
    ("Anna", "Nagy", ["Nagy Anna", "nagy a", "NAGYANNA", "Anna Nagy", "annanagy", "Nagy, Anna", "Nagy,Anna", "nagy，a", "anna n", "nagy", "anna", " nagy   anna"], ["gy anna", "nagy b"]),
    ("철수", "김", ["김철수", "김 철수", "철수김", "철수", "김", "김철"], ["수김"]),
    ("小明", "王", ["王小明", "王 小明", "小明王"], ["明王"]),
    ("ジョン", "スミス", ["スミス・ジョン", "ジョン・スミス", "ｼﾞｮﾝ", "ｽﾐｽ ｼﾞｮﾝ"], ["ヨン"]),
    ("Văn An", "Nguyễn", ["nguyen van an", "Nguyễn Văn", "Nguye\u0302\u0303n", "van an nguyen", "vanan", "NGUYENVANAN"], ["an nguyen"]),
    ("Seán", "O’Brien", ["o'brien", "O’Brien Seán", "obrien", "sean o'b", "seanobrien"], ["brien"]),
    ("Mária", "Nagy-Kiss", ["nagy kiss", "Nagy–Kiss Mária", "maria nagy k", "mária nagy-kiss"], ["kiss"]),
    ("Jean-Luc", "D'Arc", ["jean luc d", "jean-luc", "jean‑luc d’arc", "jeanluc", "d'arc jean"], ["luc"]),
    ("علی", "کریمی", ["كريمي علي", "علي", "کریمی‌علی", "علیکریمی"], ["ریمی"]),
    ("สมชาย", "ใจดี", ["สมชายใจดี", "ใจดีสมชาย", "สมชาย ใจ"], ["ชาย"]),
    ("İpek", "Işık", ["ipek", "ışık", "isik ipek", "IŞIK"], ["pek"]),
    ("Łukasz", "Weiß", ["lukasz weiss", "weiss lukasz", "WEISS", "weiß łuk"], ["ukasz"]),
]  # fmt: skip


@pytest.mark.parametrize(("first_name", "last_name", "matching", "absent"), FULL_NAMES)
def test_both_names_in_either_order_with_and_without_a_space(alice, first_name, last_name, matching, absent):
    make_user(first_name, last_name=last_name, username="one_aaaaa", email="one@example.com")
    make_user("Zz", last_name="Zz", username="zz_aaaaa")
    for q in matching:
        assert names(alice, q) == ["one_aaaaa"], q
    for q in absent:
        assert names(alice, q) == [], q


def test_a_search_asks_three_lists_however_many_words_it_has(alice):
    make_user("Nagy", last_name="Nagy", username="nagy")
    for q in ("nagy", "nagy anna", "nagy anna maria of budapest", "山田太郎"):
        with CaptureQueriesContext(connection) as captured:
            names(alice, q)
        assert len(captured) == 3, q


def test_the_lists_are_read_from_their_indexes(alice):
    columns = {
        "username_folded": "user_search_username",
        "name_folded": "user_search_name",
        "family_first_folded": "user_search_family_first",
        "name_joined": "user_search_joined",
        "family_first_joined": "user_search_family_joined",
    }
    User.objects.bulk_create(
        User(
            email=f"crowd{n}@example.com",
            username=f"crowd_{n:06d}",
            first_name="C",
            last_name="D",
            email_verified_at=timezone.now(),
            **dict.fromkeys(columns, f"crowd_{n:06d}"),
        )
        for n in range(3000)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    asked = {order for q in ("crowd_0000", "crowd 0000") for _, order in selectors.name_matches(q)}
    assert asked == set(columns)
    for column, index in columns.items():
        plan = User.objects.filter(selectors._starts_with(column, "crowd_0000")).order_by(column)[:20].explain()
        assert f"{index} " in plan or plan.endswith(index), plan
        assert "SCAN accounts_user\n" not in plan and "Seq Scan" not in plan and "Sort" not in plan, plan


def test_a_contactable_person_is_confirmed_and_not_blocked(bob):
    assert selectors.contactable_user(bob.id) == bob
    for user in (make_user("No", verified=False), make_user("Out", blocked_at=timezone.now())):
        with pytest.raises(UserNotFound):
            selectors.contactable_user(user.id)
    with pytest.raises(UserNotFound):
        selectors.contactable_user(999_999)
