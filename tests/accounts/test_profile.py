"""One's own profile, privacy and blocked people."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts import selectors
from accounts.models import Block, User
from accounts.services import erasure
from accounts.signals import block_changed, profile_changed
from tests.accounts.steps import answers
from tests.client import ApiClient
from tests.factories import make_user, sign_in
from tests.parallel import parallel_outcomes

PROFILE = "/api/v1/profile"
PRIVACY = "/api/v1/profile/privacy"
BLOCKS = "/api/v1/profile/blocks"


@pytest.fixture
def received_signals():
    """What the signals of profile and blocks said during a test."""
    signals = []

    def listen(sender, signal, **facts):
        signals.append(facts)

    for signal in (profile_changed, block_changed):
        signal.connect(listen)
    yield signals
    for signal in (profile_changed, block_changed):
        signal.disconnect(listen)


class TestProfile:
    def test_it_holds_what_is_documented(self, alice, as_alice):
        body = as_alice.get(PROFILE)
        assert body == {
            "ok": True,
            "profile": {
                "id": alice.id,
                "username": alice.username,
                "email": alice.email,
                "first_name": "Alice",
                "last_name": "Archer",
                "bio": None,
                "avatar_url": None,
                "language": "en",
                "is_verified": True,
                "created_at": body["profile"]["created_at"],
            },
        }

    def test_what_is_sent_changes_and_nothing_else(self, alice, as_alice, received_signals):
        before = as_alice.get(PROFILE)["profile"]
        changes = {"first_name": "Alicia", "last_name": "Ángel", "bio": "Line one\nline two", "language": "pt-BR"}
        after = as_alice.patch(PROFILE, changes)["profile"]
        assert after == before | changes | {"language": "pt"}
        assert as_alice.get(PROFILE)["profile"] == after
        assert received_signals == [{"user_id": alice.id}]
        assert as_alice.get("/api/v1/auth/me")["user"]["bio"] == "Line one\nline two"

    def test_nothing_sent_changes_and_says_nothing(self, as_alice, received_signals):
        before = as_alice.get(PROFILE)
        assert as_alice.patch(PROFILE, {}) == before
        assert as_alice.patch(PROFILE, {"first_name": "Alice", "id": 1, "is_staff": True, "email": "x@y.zz"}) == before
        assert received_signals == []

    def test_a_bio_can_be_emptied(self, as_alice):
        as_alice.patch(PROFILE, {"bio": "x" * 500})
        assert as_alice.patch(PROFILE, {"bio": None})["profile"]["bio"] is None
        assert as_alice.patch(PROFILE, {"bio": ""})["profile"]["bio"] == ""

    @pytest.mark.parametrize(
        "changes",
        [
            {"first_name": ""},
            {"first_name": "   "},
            {"first_name": "\u200b"},
            {"first_name": "\u200d \u3164"},
            {"first_name": "x" * 51},
            {"first_name": None},
            {"first_name": 7},
            {"first_name": "nul\x00"},
            {"first_name": "\ud800"},
            {"last_name": "x" * 51},
            {"last_name": " \u0007"},
            {"last_name": "\u00ad\ufe0f"},
            {"last_name": ["x"]},
            {"bio": "x" * 501},
            {"bio": True},
            {"bio": "nul\x00"},
            {"username": None},
            {"username": 7},
        ],
    )
    def test_what_is_not_right_is_named(self, as_alice, changes):
        before = as_alice.get(PROFILE)
        body = as_alice.patch(PROFILE, changes, status=400)
        assert body["error"] == "validation_error"
        assert list(body["fields"]) == list(changes)
        assert as_alice.get(PROFILE) == before

    def test_names_lose_control_characters(self, as_alice):
        body = as_alice.patch(PROFILE, {"first_name": " Al\u202ei\u0007ce\t\nB\u200b  ", "last_name": "e\u200b\u0301"})
        assert (body["profile"]["first_name"], body["profile"]["last_name"]) == ("Alice B", "é")

    def test_names_keep_the_joiners_of_their_script(self, as_alice):
        assert as_alice.patch(PROFILE, {"first_name": "\u0645\u06cc\u200c\u0631\u0627"})["profile"]["first_name"] == (
            "\u0645\u06cc\u200c\u0631\u0627"
        )

    def test_a_new_name_is_found(self, alice, as_alice, bob):
        as_alice.patch(PROFILE, {"first_name": "Zoë"})
        assert selectors.search_people(bob, "zoe", 5) == [alice]


class TestUsername:
    def test_it_changes_once_in_thirty_days(self, alice, as_alice):
        assert as_alice.patch(PROFILE, {"username": "Alice_A"})["profile"]["username"] == "Alice_A"
        body = as_alice.patch(PROFILE, {"username": "alice_b"}, status=400)
        assert body["error"] == "validation_error"
        assert list(body["fields"]) == ["username"]
        assert as_alice.patch(PROFILE, {"username": "Alice_A", "bio": "same name"})["ok"]
        with time_machine.travel(timezone.now() + timedelta(days=30, seconds=1)):
            client = ApiClient(sign_in(alice)[1])
            assert client.patch(PROFILE, {"username": "alice_b"})["profile"]["username"] == "alice_b"

    def test_it_is_unique_without_regard_to_case(self, as_alice, as_bob):
        as_alice.patch(PROFILE, {"username": "Wanted"})
        assert as_bob.patch(PROFILE, {"username": "wANTED"}, status=409)["error"] == "username_taken"

    @pytest.mark.parametrize(
        "username",
        [
            "",
            "ab",
            "x" * 33,
            "with space",
            "dash-ed",
            "ünï",
            "a.b.c",
            "tab\t",
            "abc\n",
            "@alice",
            "Admin",
            "deleted_7_ab",
        ],
    )
    def test_what_it_may_not_be(self, as_alice, username):
        body = as_alice.patch(PROFILE, {"username": username}, status=400)
        assert list(body["fields"]) == ["username"]

    def test_a_refused_name_changes_nothing_else(self, as_alice, bob):
        as_alice.patch(PROFILE, {"username": bob.username, "first_name": "Changed"}, status=409)
        assert as_alice.get(PROFILE)["profile"]["first_name"] == "Alice"

    def test_an_unconfirmed_account_keeps_its_own(self, db):
        client = ApiClient(sign_in(make_user("Una", verified=False))[1])
        assert client.patch(PROFILE, {"username": "una"}, status=403)["error"] == "email_not_verified"
        assert client.patch(PROFILE, {"first_name": "Uma"})["profile"]["first_name"] == "Uma"

    @pytest.mark.django_db(transaction=True)
    def test_of_many_who_want_it_one_gets_it(self):
        clients = [ApiClient(sign_in(make_user(f"Ann{number}"))[1]) for number in range(10)]
        names = ["Wanted", "wanted"]
        got = parallel_outcomes(10, lambda n: clients[n].raw("PATCH", PROFILE, {"username": names[n % 2]}))
        assert answers(got) == {"200": 1, "username_taken": 9}


class TestPrivacy:
    def test_the_defaults(self, as_alice):
        assert as_alice.get(PRIVACY) == {
            "ok": True,
            "privacy": {
                "who_can_message": "everyone",
                "read_receipts": True,
                "show_last_seen": True,
                "relay_calls": False,
            },
        }

    def test_what_is_sent_changes(self, as_alice, as_bob):
        privacy = {
            "who_can_message": "nobody",
            "read_receipts": False,
            "show_last_seen": False,
            "relay_calls": True,
        }
        assert as_alice.put(PRIVACY, privacy)["privacy"] == privacy
        part = as_alice.put(PRIVACY, {"who_can_message": "contacts"})["privacy"]
        assert part == privacy | {"who_can_message": "contacts"}
        form = "application/x-www-form-urlencoded"
        assert as_alice.raw("PUT", PRIVACY, b"", content_type=form).json()["privacy"] == part
        assert as_alice.get(PRIVACY)["privacy"] == part
        assert as_bob.get(PRIVACY)["privacy"]["who_can_message"] == "everyone"

    @pytest.mark.parametrize(
        "bad",
        [
            {"who_can_message": "friends"},
            {"who_can_message": None},
            {"who_can_message": 1},
            {"who_can_message": ["nobody"]},
            {"read_receipts": "false"},
            {"read_receipts": 0},
            {"show_last_seen": None},
            {"relay_calls": []},
        ],
    )
    def test_what_is_not_right_is_named(self, as_alice, bad):
        body = as_alice.put(PRIVACY, bad, status=400)
        assert list(body["fields"]) == list(bad)


class TestBlocks:
    def test_a_blocked_person_is_on_the_list(self, bob, as_alice, alice, received_signals):
        body = as_alice.post(BLOCKS, {"user_id": bob.id})
        entry = {
            "user_id": bob.id,
            "user": {
                "id": bob.id,
                "username": bob.username,
                "first_name": "Bob",
                "last_name": "Baker",
                "avatar_url": None,
            },
            "created_at": body["block"]["created_at"],
        }
        assert body == {"ok": True, "block": entry}
        page = {"blocks": [entry], "has_more": False, "next_cursor": None}
        assert as_alice.get(BLOCKS) == {"ok": True, **page}
        assert selectors.blocked_either_way(bob.id, alice.id)
        assert received_signals == [{"blocker_id": alice.id, "blocked_id": bob.id, "blocked": True}]

    def test_blocking_twice_is_blocking_once(self, bob, as_alice, received_signals):
        first = as_alice.post(BLOCKS, {"user_id": bob.id})
        assert as_alice.post(BLOCKS, {"user_id": bob.id}) == first
        assert len(received_signals) == 1

    def test_the_newest_is_first_and_other_users_blocks_are_missing(self, bob, charlie, as_alice, as_bob):
        as_alice.post(BLOCKS, {"user_id": bob.id})
        as_alice.post(BLOCKS, {"user_id": charlie.id})
        assert [row["user_id"] for row in as_alice.get(BLOCKS)["blocks"]] == [charlie.id, bob.id]
        assert as_bob.get(BLOCKS)["blocks"] == []

    def test_not_oneself(self, alice, as_alice):
        body = as_alice.post(BLOCKS, {"user_id": alice.id}, status=400)
        assert list(body["fields"]) == ["user_id"]

    def test_no_user_who_cannot_be_found(self, as_alice, bob):
        unconfirmed = make_user("Una", verified=False)
        erasure.erase(user_id=bob.id)
        for unknown_id in (999_999_999, 2**63 - 1, unconfirmed.id, bob.id):
            assert as_alice.post(BLOCKS, {"user_id": unknown_id}, status=404)["error"] == "user_not_found"

    @pytest.mark.parametrize("odd", [0, -1, 2**63, "7", 7.0, True, None, [7], "x"])
    def test_odd_ids_are_named(self, as_alice, odd):
        assert list(as_alice.post(BLOCKS, {"user_id": odd}, status=400)["fields"]) == ["user_id"]

    def test_taking_it_back(self, bob, alice, as_alice, as_bob, received_signals):
        as_alice.post(BLOCKS, {"user_id": bob.id})
        absent = as_bob.delete(f"{BLOCKS}/{alice.id}", status=404)
        assert absent["error"] == "user_not_found"
        assert as_alice.delete(f"{BLOCKS}/{bob.id}") == {"ok": True}
        assert received_signals[-1] == {"blocker_id": alice.id, "blocked_id": bob.id, "blocked": False}
        for odd in (str(bob.id), "999999999", "0", "-1", "x", "1.0", "9" * 30, "١", "%00"):
            body = as_alice.delete(f"{BLOCKS}/{odd}", status=404)
            assert body | {"request_id": ""} == absent | {"request_id": ""}
        assert not selectors.blocked_either_way(alice.id, bob.id)

    def test_the_list_takes_the_same_number_of_queries_whatever_its_length(
        self, alice, as_alice, django_assert_max_num_queries
    ):
        for _ in range(12):
            Block.objects.create(blocker=alice, blocked=make_user("Ann"))
        with django_assert_max_num_queries(2):
            assert len(as_alice.get(BLOCKS)["blocks"]) == 12

    def test_a_block_shows_no_card_that_a_search_would_not(self, alice, bob, charlie, as_alice, as_bob):
        hidden = {"username": "", "first_name": "", "last_name": "", "avatar_url": None}
        as_bob.post(BLOCKS, {"user_id": alice.id})
        body = as_alice.post(BLOCKS, {"user_id": bob.id})
        assert body["block"] == {
            "user_id": bob.id,
            "user": {"id": bob.id, **hidden},
            "created_at": body["block"]["created_at"],
        }
        assert as_alice.get(BLOCKS)["blocks"] == [body["block"]]
        # Bob blocked first, so he still sees whom he blocked.
        assert [row["user"]["username"] for row in as_bob.get(BLOCKS)["blocks"]] == [alice.username]
        as_bob.delete(f"{BLOCKS}/{alice.id}")
        assert [row["user"]["username"] for row in as_alice.get(BLOCKS)["blocks"]] == [bob.username]
        for field in ({"blocked_at": timezone.now()}, {"erase_after": timezone.now()}):
            User.objects.filter(id=charlie.id).update(blocked_at=None, erase_after=None)
            User.objects.filter(id=charlie.id).update(**field)
            shown = as_alice.post(BLOCKS, {"user_id": charlie.id})["block"]["user"]
            assert shown == {"id": charlie.id, **hidden}

    def test_pages(self, alice, as_alice):
        blocked = [make_user(f"P{n}").id for n in range(5)]
        for user_id in blocked:
            as_alice.post(BLOCKS, {"user_id": user_id})
        first = as_alice.get(f"{BLOCKS}?limit=3")
        assert ([row["user_id"] for row in first["blocks"]], first["has_more"]) == (blocked[:1:-1], True)
        second = as_alice.get(f"{BLOCKS}?limit=3&cursor={first['next_cursor']}")
        assert [row["user_id"] for row in second["blocks"]] == blocked[1::-1]
        assert (second["has_more"], second["next_cursor"]) == (False, None)
        for odd in ("limit=0", "limit=x", "cursor=x"):
            assert list(as_alice.get(f"{BLOCKS}?{odd}", status=400)["fields"]) == [odd.partition("=")[0]]

    @pytest.mark.django_db(transaction=True)
    def test_blocking_in_parallel_makes_one_row_and_one_fact(self, alice, bob, as_alice, received_signals):
        got = parallel_outcomes(10, lambda n: as_alice.raw("POST", BLOCKS, {"user_id": bob.id}))
        assert answers(got) == {"200": 10}
        assert len(received_signals) == Block.objects.count() == 1


def test_one_may_block_a_user_whom_staff_has_blocked(bob, as_alice):
    User.objects.filter(id=bob.id).update(blocked_at=timezone.now())
    as_alice.post(BLOCKS, {"user_id": bob.id})
