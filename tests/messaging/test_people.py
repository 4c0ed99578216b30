"""The search for users, as the view answers; the matching itself is tested with accounts."""

import pytest

from accounts.services import profile
from tests.factories import make_user
from tests.messaging.conftest import API


def test_people_are_found_by_the_beginning_of_a_name(as_alice, alice, bob):
    assert as_alice.get(f"{API}/users?q=BO") == {
        "ok": True,
        "users": [
            {
                "id": bob.id,
                "username": bob.username,
                "first_name": "Bob",
                "last_name": "Baker",
                "avatar_url": None,
            }
        ],
    }
    assert as_alice.get(f"{API}/users?q=bake")["users"][0]["id"] == bob.id
    assert as_alice.get(f"{API}/users?q=ob")["users"] == []
    assert as_alice.get(f"{API}/users?q=ali")["users"] == []
    assert as_alice.get(f"{API}/users?q={bob.email}")["users"] == []


def test_people_are_found_without_the_letters_of_their_language(as_alice):
    make_user("Łukasz", last_name="Øster")
    for q in ("lukasz", "ŁUK", "oster", "øst", "łukasz oster"):
        assert [user["first_name"] for user in as_alice.get(f"{API}/users?q={q}")["users"]] == ["Łukasz"], q


def test_the_blocked_do_not_find_each_other(as_alice, as_bob, alice, bob):
    profile.block(blocker=alice, blocked_id=bob.id)
    assert as_alice.get(f"{API}/users?q=bob")["users"] == []
    assert as_bob.get(f"{API}/users?q=alice")["users"] == []


def test_twenty_people_a_page_fifty_at_most(as_alice):
    for _ in range(55):
        make_user("Zoe")
    assert len(as_alice.get(f"{API}/users?q=zoe")["users"]) == 20
    assert len(as_alice.get(f"{API}/users?q=zoe&limit=999")["users"]) == 50


@pytest.mark.parametrize("query", ["", "q=", "q=%20", "q=%00", "q=a&limit=0", "q=a&limit=x", f"q={'x' * 129}"])
def test_odd_searches_are_refused(as_alice, query):
    assert as_alice.get(f"{API}/users?{query}", status=400)["error"] == "validation_error"


def test_a_user_is_shown_with_what_they_say_about_themselves(as_alice, alice, bob):
    profile.update(user=bob, bio="Plays the cello.")
    card = as_alice.get(f"{API}/users?q=bob")["users"][0]
    assert as_alice.get(f"{API}/users/{bob.id}")["user"] == card | {"bio": "Plays the cello."}
    assert as_alice.get(f"{API}/users/{alice.id}")["user"]["bio"] is None


def test_whoever_is_not_found_by_search_has_no_page(as_alice, as_bob, alice, bob):
    for user_id in (0, bob.id + 10_000, make_user("Una", verified=False).id, "x", "-1", "9" * 30, "%00"):
        assert as_alice.get(f"{API}/users/{user_id}", status=404)["error"] == "user_not_found"
    profile.block(blocker=alice, blocked_id=bob.id)
    assert as_alice.get(f"{API}/users/{bob.id}", status=404)["error"] == "user_not_found"
    assert as_bob.get(f"{API}/users/{alice.id}", status=404)["error"] == "user_not_found"
    profile.unblock(blocker=alice, blocked_id=bob.id)
    assert as_bob.get(f"{API}/users/{alice.id}")["user"]["id"] == alice.id


def test_a_user_is_read_with_one_statement(as_alice, bob, django_assert_num_queries):
    with django_assert_num_queries(2):  # the session, the user
        as_alice.get(f"{API}/users/{bob.id}")
