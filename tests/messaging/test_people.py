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
