"""Other services report what happens with them: signed, once, one result for each."""

import base64
import hashlib
import hmac
import itertools
import json
import time
from datetime import timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

from core.checks import secrets_are_long
from notifications.checks import event_sources
from notifications.models import IngestedEvent, Notification
from notifications.services.ingestion import sources
from tests.client import ApiClient
from tests.parallel import run_parallel

URL = "/api/v1/notifications/events"
KEY = "a key of the blog — with UTF-8"
NEW_KEY = "the next key of the blog"
_numbers = itertools.count(1)


@pytest.fixture(autouse=True)
def configured(settings):
    settings.NOTIFICATIONS_EVENT_SOURCES = (
        f"blog:{KEY.replace(' ', '_')}:post_like,comment,follow;blog:{NEW_KEY.replace(' ', '_')}:post_like;"
        "all:another-key:*"
    )


def signature(body, key=KEY, message_id="msg_1", timestamp=None):
    timestamp = str(int(time.time())) if timestamp is None else str(timestamp)
    signed = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.new(key.replace(" ", "_").encode(), signed, hashlib.sha256).digest()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def post(data, status=202, *, client=None, headers=None, **signing):
    body = json.dumps(data).encode()
    headers = signature(body, **signing) if headers is None else headers
    return (client or ApiClient()).post(URL, body, status=status, headers=headers)


@pytest.fixture
def event(alice, bob):
    def build(**changes):
        body = {
            "event_id": f"evt_{next(_numbers)}",
            "type": "post_like",
            "action": "create",
            "recipient_id": alice.id,
            "actor_id": bob.id,
            "target": {"id": 7, "title": "Tea"},
        }
        return {name: value for name, value in (body | changes).items() if value is not ...}

    return build


@pytest.mark.django_db
class TestResults:
    def test_one_event(self, event, as_alice):
        body = event()
        assert post(body) == {
            "ok": True,
            "results": [{"event_id": body["event_id"], "result": "created"}],
        }
        [row] = as_alice.get("/api/v1/notifications")["notifications"]
        assert row["target"] == {"type": "post", "id": 7, "title": "Tea"}

    def test_many_with_a_result_each_in_their_order(self, event, alice, bob, charlie, as_alice):
        first = event()
        as_alice.patch("/api/v1/notifications/preferences", {"comments": False})
        events = [
            first,
            event(actor_id=charlie.id),
            first,
            first | {"target": {"id": 8}},
            event(actor_id=alice.id),
            event(type="comment"),
            event(type="reply"),
            event(actor_id=10**15),
            event(action="retract"),
            event(action="retract"),
            "nonsense",
        ]
        results = post({"events": events})["results"]
        assert [result["result"] for result in results] == [
            "created",
            "aggregated",
            "duplicate",
            "rejected:conflict",
            "suppressed:self",
            "suppressed:preference",
            "rejected:type_not_allowed",
            "rejected:user_not_found",
            "retracted",
            "rejected:not_found",
            "rejected:validation_error",
        ]
        ids = [body["event_id"] for body in events[:-1]]
        assert [result["event_id"] for result in results] == [*ids, None]

    @pytest.mark.parametrize(
        "changes",
        [
            {"event_id": ...},
            {"event_id": ""},
            {"event_id": 7},
            {"event_id": "x" * 129},
            {"event_id": "a\0b"},
            {"type": ...},
            {"type": "post_hate"},
            {"type": ["post_like"]},
            {"action": None},
            {"action": "undo"},
            {"action": []},
            {"recipient_id": ...},
            {"recipient_id": "7"},
            {"recipient_id": True},
            {"recipient_id": 1.0},
            {"recipient_id": 0},
            {"recipient_id": 2**63},
            {"actor_id": None},
            {"target": ...},
            {"target": 7},
            {"target": {}},
            {"target": {"id": "7"}},
            {"target": {"id": 7, "title": 5}},
            {"target": {"id": 7, "title": "a\0b"}},
            {"target": {"id": 7, "title": "a\ud800b"}},
            {"comment_id": "1"},
            {"comment_id": -1},
            {"occurred_at": 7},
            {"occurred_at": "yesterday"},
            {"occurred_at": "2026-02-30T00:00:00Z"},
            {"occurred_at": "2026-02-03T00:00:00"},
            {"occurred_at": "0001-01-01T00:00:00+14:00"},
        ],
    )
    def test_nonsense_is_rejected_and_its_neighbours_are_not(self, event, changes):
        results = post({"events": [event(**changes), event()]})["results"]
        assert [result["result"] for result in results] == ["rejected:validation_error", "created"]
        assert IngestedEvent.objects.count() == 1

    def test_messages_come_from_messaging_alone(self, event):
        [result] = post(event(type="message", target={"id": 1}), key="another-key")["results"]
        assert result["result"] == "rejected:type_not_allowed"

    def test_follows_need_no_target(self, event, as_alice, bob):
        [result] = post(event(type="follow", target=...))["results"]
        assert result["result"] == "created"
        [row] = as_alice.get("/api/v1/notifications")["notifications"]
        assert row["target"] == {"type": "user", "id": bob.id, "title": "Bob Baker"}

    def test_two_sources_have_event_ids_of_their_own(self, event, charlie):
        body = event()
        post(body)
        [result] = post(body | {"actor_id": charlie.id}, key="another-key")["results"]
        assert result["result"] == "aggregated"

    def test_an_event_id_is_free_again_after_seven_days(self, event, clock, charlie):
        body, other = event(type="comment"), event(type="comment")
        results = []
        for hours in (0, 167, 2, 1):
            clock.forward(hours=hours)
            now = int(clock.now().timestamp())
            results.append([row["result"] for row in post({"events": [body, other]}, timestamp=now)["results"]])
        assert results == [["created", "aggregated"], ["duplicate"] * 2, ["created", "aggregated"], ["duplicate"] * 2]
        results = post(body | {"actor_id": charlie.id}, timestamp=now)["results"]
        assert results[0]["result"] == "rejected:conflict"

    def test_a_retraction_that_came_too_early_counts_when_it_comes_again(self, event):
        liked, taken_back = event(), event(action="retract")
        results = [post(body)["results"][0]["result"] for body in (taken_back, liked, taken_back, taken_back)]
        assert results == ["rejected:not_found", "created", "retracted", "duplicate"]
        assert not Notification.objects.exists()

    def test_both_keys_of_a_source_are_the_same_source(self, event):
        body = event()
        post(body)
        assert post(body, key=NEW_KEY)["results"][0]["result"] == "duplicate"

    def test_a_repeat_counts_once_whatever_the_order_of_its_keys(self, event):
        body = event(type="comment")
        post(body)
        again = dict(reversed(list(body.items())))
        assert post(again)["results"][0]["result"] == "duplicate"
        assert Notification.objects.get().count == 1

    def test_five_hundred_at_once_and_no_more(self, event):
        # The longest titles, in JSON that escapes every letter.
        events = [event(target={"id": number + 1, "title": "ж" * 120}) for number in range(500)]
        assert {result["result"] for result in post({"events": events})["results"]} == {"created"}
        refused = post({"events": [*events, event()]}, status=400)
        assert (refused["error"], list(refused["fields"])) == ("validation_error", ["events"])

    @pytest.mark.parametrize("body", [{}, {"events": []}, {"events": 7}, {"events": {"event_id": "1"}}])
    def test_a_body_without_events_is_refused(self, db, body):
        refused = post(body, status=400)
        assert (refused["error"], list(refused["fields"])) == ("validation_error", ["events"])


@pytest.mark.django_db
class TestSignature:
    @pytest.mark.parametrize(
        "change",
        [
            {"webhook-id": ""},
            {"webhook-id": "msg_2"},
            {"webhook-timestamp": ""},
            {"webhook-timestamp": "now"},
            {"webhook-timestamp": "-5"},
            {"webhook-timestamp": "9" * 40},
            {"webhook-timestamp": str(int(time.time()) - 4000)},
            {"webhook-signature": ""},
            {"webhook-signature": "v1,AAAA"},
            {"webhook-signature": "v1,é"},
            {"webhook-signature": "v1"},
        ],
    )
    def test_any_flaw_is_a_token_that_is_not_valid(self, event, change):
        body = json.dumps(event()).encode()
        answer = ApiClient().post(URL, body, status=401, headers=signature(body) | change)
        assert answer["error"] == "token_invalid"
        assert not IngestedEvent.objects.exists()

    def test_no_header_at_all_and_a_bearer_is_no_signature(self, event, as_alice):
        assert post(event(), status=401, headers={})["error"] == "token_invalid"
        assert post(event(), status=401, headers={}, client=as_alice)["error"] == "token_invalid"

    def test_other_bytes_and_other_keys(self, event):
        body = json.dumps(event()).encode()
        headers = signature(body)
        ApiClient().post(URL, body + b" ", status=401, headers=headers)
        ApiClient().post(URL, body, status=401, headers=signature(body, key="not one of ours"))

    @pytest.mark.parametrize(("seconds", "status"), [(-290, 202), (290, 202), (-310, 401), (310, 401)])
    def test_five_minutes_either_way(self, event, seconds, status):
        post(event(), status=status, timestamp=int(time.time()) + seconds)

    def test_one_of_several_signatures_is_enough(self, event):
        body = json.dumps(event()).encode()
        headers = signature(body)
        headers["webhook-signature"] = f"v1a,xxx v1,AAAA {headers['webhook-signature']}"
        ApiClient().post(URL, body, status=202, headers=headers)

    def test_signed_nonsense_is_a_parse_error(self, db):
        for body in (b"{", b"[]", b"\xff", b"[" * 5000):
            answer = ApiClient().post(URL, body, status=400, headers=signature(body))
            assert answer["error"] == "parse_error"

    def test_without_sources_every_request_is_refused(self, event, settings):
        settings.NOTIFICATIONS_EVENT_SOURCES = ""
        post(event(), status=401)


class TestSources:
    @pytest.mark.parametrize(
        "text",
        [
            "a:k1:post_like,comment;b:k2:follow",
            "a:k1:post_like,comment,b:k2:follow",
            "a:k1:post_like|comment b:k2:follow",
            "a:k1:comment+post_like\nb:k2:follow",
        ],
    )
    def test_the_ways_to_write_two(self, settings, text):
        settings.NOTIFICATIONS_EVENT_SOURCES = text
        assert [(source.name, source.key, set(source.kinds)) for source in sources()] == [
            ("a", "k1", {"post_like", "comment"}),
            ("b", "k2", {"follow"}),
        ]

    @pytest.mark.parametrize("text", ["a:k", "a:k:*"])
    def test_without_types_all(self, settings, text):
        settings.NOTIFICATIONS_EVENT_SOURCES = text
        assert len(sources()[0].kinds) == 6

    @pytest.mark.parametrize("text", ["a", "a:", ":k:follow", "a:k:post_hate"])
    def test_what_makes_no_sense_says_so(self, settings, text):
        settings.NOTIFICATIONS_EVENT_SOURCES = text
        with pytest.raises(ImproperlyConfigured, match="EVENT_SOURCES"):
            sources()
        [problem] = event_sources()
        assert problem.id == "notifications.E010"

    def test_no_source_may_post_messages(self, settings):
        settings.NOTIFICATIONS_EVENT_SOURCES = "a:k:message,follow"
        assert sources()[0].kinds == {"follow"}

    def test_a_short_key_is_no_key_for_production(self, settings):
        settings.NOTIFICATIONS_EVENT_SOURCES = f"a:short:follow;b:{'x' * 32}:follow"
        assert event_sources() == []
        [error] = secrets_are_long(None)
        assert error.msg.startswith("EVENT_SOURCES holds less than 32 bytes") and error.is_serious()

    @pytest.mark.parametrize(
        "key",
        ["Zx9,kQ2vLw8rT5yU1pA7", f"{'x' * 40},{'y' * 40}", f"{'x' * 40},y", f"{'x' * 40};{'y' * 40}", f"x {'y' * 40}"],
    )
    def test_a_key_with_a_separator_is_found(self, settings, key):
        settings.NOTIFICATIONS_EVENT_SOURCES = f"blog:{key}:post_like,comment"
        assert [problem for check in (event_sources, secrets_are_long) for problem in check(app_configs=None)]


@pytest.mark.django_db(transaction=True)
def test_fifty_parallel_posts_of_one_event_are_one_occurrence(event):
    body = event(type="comment")
    replies = run_parallel([lambda: post(body)] * 50, seconds=100)
    assert (
        sorted(result["result"] for reply in replies for result in reply["results"]) == ["created"] + ["duplicate"] * 49
    )
    assert Notification.objects.get().count == 1


def test_the_clock_of_an_event_is_its_own(event, db, as_alice):
    at = timezone.now() - timedelta(hours=3)
    post(event(occurred_at=at.isoformat()))
    [row] = as_alice.get("/api/v1/notifications")["notifications"]
    assert row["created_at"] == at.isoformat().replace("+00:00", "Z")
