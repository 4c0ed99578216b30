"""One emoji a value, six a person, in order of first use."""

import pytest

from messaging.models import Reaction
from messaging.text import clean_emoji
from tests.messaging.conftest import message_path


@pytest.fixture
def path(as_alice, send_message):
    return message_path(send_message(as_alice)["id"], "/reactions")


def test_reactions_group_in_order_of_first_use(as_alice, as_bob, alice, bob, path, thread):
    as_bob.post(path, {"emoji": "👍"})
    as_alice.post(path, {"emoji": "🎉"})
    reply = as_alice.post(path, {"emoji": "👍"})
    expected = [
        {"emoji": "👍", "count": 2, "user_ids": [bob.id, alice.id]},
        {"emoji": "🎉", "count": 1, "user_ids": [alice.id]},
    ]
    assert reply == {"ok": True, "reactions": expected}
    for client in (as_alice, as_bob):
        assert thread(client)["messages"][0]["reactions"] == expected
    reply = as_bob.delete(path, {"emoji": "👍"})
    # Alice's thumb is younger than her tada.
    assert reply["reactions"] == [expected[1], {"emoji": "👍", "count": 1, "user_ids": [alice.id]}]


def test_both_ways_are_idempotent(as_bob, bob, path):
    once = [{"emoji": "👍", "count": 1, "user_ids": [bob.id]}]
    assert as_bob.post(path, {"emoji": "👍"})["reactions"] == once
    assert as_bob.post(path, {"emoji": "👍"})["reactions"] == once
    assert as_bob.delete(path, {"emoji": "👍"})["reactions"] == []
    assert as_bob.delete(path, {"emoji": "👍"})["reactions"] == []


def test_the_emoji_may_stand_in_the_query(as_bob, path):
    as_bob.post(path, {"emoji": "❤️"})
    assert as_bob.delete(f"{path}?emoji=%E2%9D%A4")["reactions"] == []


def test_spellings_of_one_emoji_are_one(as_bob, path):
    for spelling in ("❤", "❤️"):
        assert as_bob.post(path, {"emoji": spelling})["reactions"][0]["emoji"] == "❤️"
    assert Reaction.objects.count() == 1


def test_the_seventh_is_refused(as_alice, as_bob, path):
    six = ["👍", "❤️", "😂", "🎉", "😮", "😢"]
    for emoji in six:
        as_bob.post(path, {"emoji": emoji})
    refused = as_bob.post(path, {"emoji": "🔥"}, status=400)
    assert (refused["error"], list(refused["fields"])) == ("validation_error", ["emoji"])
    as_bob.post(path, {"emoji": six[0]})
    as_alice.post(path, {"emoji": "🔥"})
    as_bob.delete(path, {"emoji": six[0]})
    as_bob.post(path, {"emoji": "🔥"})


@pytest.mark.parametrize("emoji", ["👨‍👩‍👧‍👦", "👍🏽", "🇺🇦", "1️⃣", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🏳️‍🌈", "❤️‍🔥", "©️", "☺️", "🫠", "🤦🏾‍♀️"])
def test_every_kind_of_emoji(emoji):
    assert clean_emoji(emoji) == emoji
    assert clean_emoji(emoji.replace("\ufe0f", "")) == emoji


@pytest.mark.parametrize(
    "value",
    [
        "", " ", "a", "👍 ", " 👍", "👍👍", "👍 x", "1", "#", "❤\ufe0e", "\ufe0f", "\u200d", "🇺", "🏽", "<3", ":+1:", "👍\x00",
        "\ud83d", "👍" * 200, 5, None, True, ["👍"], {"emoji": "👍"},
    ],
)  # fmt: skip
def test_what_is_not_exactly_one_emoji_is_refused(as_bob, path, value):
    for call in (as_bob.post, as_bob.delete):
        refused = call(path, {"emoji": value}, status=400)
        assert (refused["error"], list(refused["fields"])) == ("validation_error", ["emoji"])
    refused = as_bob.post(path, {}, status=400)
    assert list(refused["fields"]) == ["emoji"]
