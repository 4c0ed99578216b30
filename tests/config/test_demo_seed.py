"""`serve --seed`: known passwords for the tests of an app, and only there."""

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from accounts.models import AuditEntry
from core.commands import actor
from portal.development import demo
from tests.client import ApiClient


def test_a_seed_gives_the_same_passwords_every_time(db, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    first = demo.ensure(report=str, seed=7)
    assert demo.ensure(report=str, seed=7) == first
    assert [login.password for login in demo.ensure(report=str, seed=8)] != [login.password for login in first]
    again = demo.ensure(report=str, seed=7)
    assert [login.password for login in again] == [login.password for login in first]
    login = {"email": again[0].email, "password": again[0].password}
    assert ApiClient().post("/api/v1/auth/login", login)["user"]["first_name"] == "Alice"


def test_new_people_and_new_passwords_are_in_the_audit_log(db, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    for seed in (7, 7, 8):
        demo.ensure(report=str, seed=seed)
    actions = AuditEntry.objects.filter(actor_label=actor()).order_by("id").values_list("action", flat=True)
    assert list(actions) == ["user.added"] * 3 + ["user.changed"] * 3


def test_a_seed_gives_the_same_people_and_messages_every_time(db, settings, tmp_path):
    first, second, other = (seen(settings, tmp_path / name, seed) for name, seed in (("1", 7), ("2", 7), ("3", 8)))
    assert first == second
    assert [sender["username"] for sender in other["people"]] != [sender["username"] for sender in first["people"]]
    assert [line["text"] for line in first["messages"]] == list(demo.TEXTS)
    assert [line["age"] for line in first["messages"]] == [180, 120, 60]


def seen(settings, folder, seed):
    """What a fresh installation with this seed shows to Alice; times in seconds before its start."""
    settings.VAR_DIR = folder
    settings.MAILBOX_DIR = folder / "mail"
    with transaction.atomic():
        before = timezone.now()
        login = demo.ensure(report=str, seed=seed)[0]
        credentials = {"email": login.email, "password": login.password}
        api = ApiClient(ApiClient().post("/api/v1/auth/login", credentials)["token"])
        conversation = api.get("/api/v1/messages/conversations")["conversations"][0]
        lines = api.get(f"/api/v1/messages/conversations/{conversation['id']}/messages")["messages"]
        people = [api.get("/api/v1/auth/me")["user"], conversation["other_user"]]
        transaction.set_rollback(True)

    def age(row):
        return round((before - parse_datetime(row["created_at"])).total_seconds() / 10) * 10

    return {
        "people": [{key: row[key] for key in ("username", "first_name", "last_name")} for row in people],
        "joined": age(people[0]),
        "messages": sorted(({"text": row["body"], "age": age(row)} for row in lines), key=lambda row: -row["age"]),
    }


@pytest.mark.parametrize(("debug", "host"), [(False, "127.0.0.1"), (True, "0.0.0.0")])
def test_a_seed_is_for_the_developers_machine_alone(settings, debug, host):
    settings.DEBUG = debug
    with pytest.raises(CommandError, match="only with DEBUG=1"):
        call_command("serve", "--seed", "7", "--host", host)


def test_who_answered_has_read_what_came_before(db, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    unread = {}
    for login in demo.ensure(report=str, seed=7)[:2]:
        api = ApiClient(
            ApiClient().post("/api/v1/auth/login", {"email": login.email, "password": login.password})["token"]
        )
        [conversation] = api.get("/api/v1/messages/conversations")["conversations"]
        unread[login.title] = conversation["unread_count"]
    assert unread == {"Alice": 0, "Bob": 1}
