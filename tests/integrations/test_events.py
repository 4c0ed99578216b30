"""Events for the team's own server: which there are, what they say, in which order, how long they are kept."""

import json
import re
import traceback
from datetime import timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from accounts.services import account_status, erasure, registration
from integrations import receivers
from integrations.kinds import EVENT_TYPES, types_of
from integrations.models import Event, EventLog
from integrations.services import event_log
from integrations.targets import targets, wanted
from messaging.models import Report
from messaging.services import messages, reports
from tests.client import ApiClient
from tests.factories import make_user, sign_in
from tests.integrations.receiving import SECRET
from tests.integrations.server import PREFIX, new_user, server
from tests.parallel import open_transaction, run_parallel
from tests.realtime.phones import phone_of, start_call
from tests.server import ON_POSTGRES
from tests.staff import staff


def setting(types="*", name="shop", url="https://shop.example.com/hook"):
    return f"{name}|{url}|{SECRET}|{types}"


@pytest.fixture
def wanting(settings):
    def want(types="*"):
        settings.INTEGRATIONS_WEBHOOKS = setting(types)

    want()
    return want


@pytest.fixture
def read(db):
    reader = server("events:read")
    return lambda query="", status=200: reader.get(f"{PREFIX}/events{query}", status)


def types_in(reply):
    return [event["type"] for event in reply["events"]]


# --- The setting ------------------------------------------------------------------------------------------

GOOD = {
    "*": set(EVENT_TYPES),
    "*+text": set(EVENT_TYPES),
    "message.created": {"message.created"},
    "block.*,call.ended": {"block.created", "block.removed", "call.ended"},
}
BAD = [
    "shop", "shop|https://x", setting("nothing.*"), setting("message"), setting(""), setting("message.created,"),
    setting("message.created +text").replace(" ", "+"), setting(name="two.words"), setting(name="x" * 41),
    setting(url="http://shop.example.com/"), setting(url="ftp://shop.example.com/"), setting(url="https:///x"),
    setting(url="https://user:pass@shop.example.com/"), setting(url="https://shop.example.com:99999/"),
    setting(url="https://shop.example.com/#x"), setting(url="https://shöp.example.com/"),
    f"{setting()} {setting()}", setting().replace("whsec_", ""), setting().replace(SECRET, "whsec_AAAA"),
    setting().replace(SECRET, "whsec_" + "!" * 44), setting().replace(SECRET, f"{SECRET},"), f"{setting()}|x",
]  # fmt: skip


@pytest.mark.once
@pytest.mark.parametrize("types", GOOD)
def test_a_target_chooses_its_types(settings, types):
    settings.INTEGRATIONS_WEBHOOKS = f"\n {setting(types)}\n{setting('*', name='other', url='http://127.0.0.1:9/')}\n"
    first, other = targets()
    assert (first.types, first.with_text, other.name) == (GOOD[types], types.endswith("+text"), "other")
    assert SECRET not in repr(first) and "shop.example.com" not in repr(first)


@pytest.mark.once
@pytest.mark.parametrize("text", BAD)
def test_a_malformed_target_stops_the_start_without_telling_secrets(settings, text):
    from core.conf import refuse_unsafe_settings

    settings.INTEGRATIONS_WEBHOOKS = text
    with pytest.raises(ImproperlyConfigured, match=r"integrations\.E001.*WEBHOOKS") as error:
        refuse_unsafe_settings()
    assert SECRET not in str(error.value) and "pass" not in str(error.value)


@pytest.mark.once
def test_patterns():
    assert types_of(["*"]) == EVENT_TYPES.keys()
    for bad in (
        "",
        "x",
        "account",
        "account.",
        ".*",
        "*.*",
        "message.create",
        "Message.created",
        "message.created+text",
    ):
        with pytest.raises(ValueError):
            types_of([bad])


# --- Each type --------------------------------------------------------------------------------------------


def everything(alice, bob):
    """What leads to each type of event."""
    backend = server()
    mia = new_user(backend, external_id="u-1", is_verified=False)["user"]
    registration_user = User.objects.get(id=mia["id"])
    with transaction.atomic():
        pass
    account_status.mark_verified(user=registration_user, actor="tests", reason="asked")
    path = f"{PREFIX}/users/{mia['id']}"
    backend.patch(path, {"first_name": "Mia Sophie"})
    session = backend.post(f"{path}/sessions", {}, 201)
    backend.post(f"{path}/block", {"reason": "spam"})
    backend.post(f"{path}/unblock")
    as_alice, as_bob = ApiClient(sign_in(alice)[1]), ApiClient(sign_in(bob)[1])
    chat = as_alice.post("/api/v1/messages/conversations", {"user_id": bob.id}, 201)["conversation"]["id"]
    sent = as_alice.post(f"/api/v1/messages/conversations/{chat}/messages", {"body": "secret words"}, 201)["message"][
        "id"
    ]
    as_alice.patch(f"/api/v1/messages/messages/{sent}", {"body": "other words"})
    as_bob.post(f"/api/v1/messages/messages/{sent}/report", {"reason": "spam"}, 201)
    reports.close(report=Report.objects.get(), staff=staff(), state="resolved", resolution="done")
    as_alice.delete(f"/api/v1/messages/messages/{sent}")
    as_bob.post("/api/v1/profile/blocks", {"user_id": alice.id})
    as_bob.delete(f"/api/v1/profile/blocks/{alice.id}")
    User.objects.filter(id=mia["id"]).update(erase_after=timezone.now() + timedelta(days=1))
    login_again(mia)
    backend.delete(path, {"reason": "left"})
    assert session["token"]


def login_again(mia):
    from accounts.client import UNKNOWN
    from accounts.sign_in import stages
    from core.database.transactions import unit_of_work

    with unit_of_work():
        stages.complete(user=User.objects.lock(mia["id"]), client=UNKNOWN, announce=False)


def test_each_fact_is_told_once_in_order(wanting, read, alice, bob):
    everything(alice, bob)
    reply = read("?limit=1000")
    about_mia = [event for event in reply["events"] if event["data"].get("user", {}).get("external_id") == "u-1"]
    assert [event["type"] for event in about_mia] == [
        "account.created", "account.verified", "account.updated", "session.created", "session.ended", "account.blocked",
        "account.unblocked", "account.deletion_cancelled", "session.created", "session.ended", "account.erased",
    ]  # fmt: skip
    told = types_in(reply)
    assert {*EVENT_TYPES} - {*told} == {"account.deletion_scheduled", "call.ended"}
    for type_ in (
        "message.created",
        "message.updated",
        "message.deleted",
        "report.created",
        "report.closed",
        "block.created",
        "block.removed",
    ):
        assert told.count(type_) == 1, type_
    ids = [event["id"] for event in reply["events"]]
    assert ids == sorted(set(ids))
    text = json.dumps(reply)
    assert "words" not in text and "@example.com" not in text


def test_a_deletion_that_a_user_asks_for_is_told(wanting, read, as_alice, alice):
    from tests.accounts.steps import action_token

    as_alice.post(
        "/api/v1/auth/delete-account", headers={"X-Action-Token": action_token(as_alice, alice, "delete_account")}
    )
    [event] = read("?types=account.deletion_scheduled")["events"]
    assert event["data"]["user"]["id"] == alice.id
    assert event["data"]["erase_after"] > f"{timezone.now() + timedelta(days=13):%Y-%m-%d}"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", event["data"]["erase_after"])


def test_a_call_is_told(wanting, read, alice, bob, as_alice):
    chat = as_alice.post("/api/v1/messages/conversations", {"user_id": bob.id}, 201)["conversation"]["id"]
    call = start_call(phone_of(alice), phone_of(bob), chat, "ringing")
    ApiClient(sign_in(bob)[1]).post(f"/api/v1/calls/{call}/decline", {"reason": "busy"})
    [event] = read("?types=call.*")["events"]
    assert event["data"]["call_id"] == call
    assert event["data"]["outcome"] in ("declined", "busy")
    assert event["data"]["caller"]["id"] == alice.id


def test_an_erased_user_is_named_by_ids_alone(wanting, read):
    backend = server()
    user = new_user(backend, external_id="u-1")["user"]
    backend.delete(f"{PREFIX}/users/{user['id']}", {"reason": "left"})
    reply = read()
    assert types_in(reply) == ["account.created", "account.verified", "account.erased"]
    for event in reply["events"]:
        assert event["data"]["user"] == {"id": user["id"], "external_id": "u-1"}
    erasure.erase_due(now=timezone.now(), batch=10)  # erases recent ones again
    assert types_in(read()) == types_in(reply)


def test_accounts_of_staff_are_not_told(wanting, read):
    boss = make_user("Boss", is_staff=True)
    sign_in(boss)
    account_status.block(user=boss, actor="tests", reason="spam")
    account_status.unblock(user=boss, actor="tests")
    assert read()["events"] == []


def test_without_a_target_no_receiver_asks_the_database(settings, alice, bob):
    settings.INTEGRATIONS_WEBHOOKS = ""
    asked = []

    def note(execute, sql, params, many, context):
        if any(frame.f_code.co_filename == receivers.__file__ for frame, _line in traceback.walk_stack(None)):
            asked.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        everything(alice, bob)
    assert asked == []


def test_without_a_target_nothing_is_written_and_a_message_costs_nothing_more(settings, read, alice, bob, as_alice):
    chat = as_alice.post("/api/v1/messages/conversations", {"user_id": bob.id}, 201)["conversation"]["id"]

    def statements(types):
        settings.INTEGRATIONS_WEBHOOKS = setting(types) if types else ""
        messages.send(sender=alice, conversation_id=chat, body="first")  # compiled, prepared
        with CaptureQueriesContext(connection) as captured:
            messages.send(sender=alice, conversation_id=chat, body="again")
        return [query["sql"] for query in captured]

    without = statements("")
    assert not Event.objects.exists()
    assert len(statements("account.*,session.*,message.deleted")) == len(without)
    assert not Event.objects.exists()
    with_one = statements("message.*")
    assert len(with_one) == len(without) + 1
    assert len([sql for sql in with_one if "integrations_event" in sql]) == 1
    settings.INTEGRATIONS_WEBHOOKS = ""
    assert wanted() == frozenset()


def test_an_event_commits_with_its_cause_or_not_at_all(wanting, read, alice, bob, as_alice):
    chat = as_alice.post("/api/v1/messages/conversations", {"user_id": bob.id}, 201)["conversation"]["id"]
    with transaction.atomic():
        messages.send(sender=alice, conversation_id=chat, body="first")
        transaction.set_rollback(True)
    assert read("?types=message.*")["events"] == []


# --- Reading ----------------------------------------------------------------------------------------------


def test_paging_and_types(wanting, read):
    for number in range(7):
        registration.create_user(email=f"p{number}@example.com", password=None, first_name="P", verified=True)
    seen, after = [], ""
    while True:
        reply = read(f"?limit=3{after}")
        seen += reply["events"]
        if not reply["has_more"]:
            break
        after = f"&after={seen[-1]['id']}"
    assert len(seen) == 14
    assert [event["id"] for event in seen] == sorted({event["id"] for event in seen})
    assert set(types_in(read("?types=account.created"))) == {"account.created"}
    assert len(read("?types=account.verified,account.created")["events"]) == 14
    assert read(f"?after={seen[-1]['id']}") == {"ok": True, "events": [], "has_more": False}
    assert read("?after=9223372036854775807")["events"] == []
    for query, field in (
        ("?types=x", "types"),
        ("?types=", "types"),
        ("?after=-1", "after"),
        ("?after=x", "after"),
        ("?limit=0", "limit"),
    ):
        assert read(query, 400)["fields"].keys() == {field}
    assert len(read("?limit=5000")["events"]) == 14


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has one writer at a time")
def test_a_reader_misses_nothing_when_transactions_commit_in_another_order(settings, transactional_db):
    settings.INTEGRATIONS_WEBHOOKS = setting()
    reader = server("events:read")
    with open_transaction(lambda: Event.objects.create(type="account.created", data={"user_id": 1})):
        Event.objects.create(type="account.created", data={"user_id": 2})
        first = reader.get(f"{PREFIX}/events")["events"]
    second = reader.get(f"{PREFIX}/events?after={first[-1]['id']}")["events"]
    assert [event["data"]["user_id"] for event in first + second] == [2, 1]


def test_many_readers_at_once_give_each_event_one_number(settings, transactional_db):
    settings.INTEGRATIONS_WEBHOOKS = setting()
    reader = server("events:read").token
    Event.objects.bulk_create(Event(type="account.created", data={"user_id": number}) for number in range(300))

    def read_all():
        event_log.give_numbers()
        return [event["id"] for event in ApiClient(reader).get(f"{PREFIX}/events?limit=1000")["events"]]

    results = run_parallel([read_all] * 4)
    final = [event["data"]["user_id"] for event in ApiClient(reader).get(f"{PREFIX}/events?limit=1000")["events"]]
    assert final == list(range(300))
    for ids in results:
        assert ids == sorted(set(ids))


def test_numbers_of_many_events_cost_as_many_statements_as_one(settings, read):
    settings.INTEGRATIONS_WEBHOOKS = f"{setting()} {setting(name='other')}"

    def statements(count):
        Event.objects.bulk_create(Event(type="account.created", data={"user_id": 1}) for _ in range(count))
        with CaptureQueriesContext(connection) as captured:
            assert event_log.give_numbers() == count
        # SQLite splits the insert of many rows.
        return len([query for query in captured if not query["sql"].startswith("INSERT INTO")])

    statements(1)  # makes the row of the log
    assert statements(100) == statements(1)


def test_old_events_go_and_their_reader_is_told(wanting, read, clock):
    wanting("account.created")
    registration.create_user(email="a@example.com", password=None, first_name="A", verified=True)
    first = read()["events"][0]["id"]
    clock.forward(days=13)
    call_command("purge_expired", verbosity=0)
    assert len(read("?after=0")["events"]) == 1
    clock.forward(days=1, hours=1)
    registration.create_user(email="b@example.com", password=None, first_name="B", verified=True)
    call_command("purge_expired", verbosity=0)
    [kept] = read()["events"]
    for after in (0, first - 1):
        reply = read(f"?after={after}", 410)
        assert (reply["error"], reply["oldest_id"]) == ("events_expired", kept["id"])
    assert read(f"?after={first}")["events"] == [kept]
    clock.forward(days=15)
    call_command("purge_expired", verbosity=0)
    assert read(f"?after={first}", 410)["oldest_id"] is None
    assert read() == {"ok": True, "events": [], "has_more": False}


def test_numbers_never_go_back_after_a_restore_or_a_wrong_clock(wanting, read, clock):
    wanting("account.created")
    registration.create_user(email="a@example.com", password=None, first_name="A", verified=True)
    first = read()["events"][-1]["id"]
    Event.objects.all().delete()
    EventLog.objects.all().delete()  # as in a backup of the time before
    registration.create_user(email="b@example.com", password=None, first_name="B", verified=True)
    second = read(f"?after={first}")["events"]
    assert len(second) == 1
    clock.forward(hours=-3)
    registration.create_user(email="c@example.com", password=None, first_name="C", verified=True)
    assert len(read(f"?after={second[0]['id']}")["events"]) == 1
