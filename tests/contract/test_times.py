"""Every time that leaves the service has one shape, on a whole second, too: `2026-11-01T10:00:00.000000Z`."""

import io
import json
import zipfile
from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.contrib import admin
from django.core.management import call_command

from accounts.models import AuditEntry, Session
from accounts.services import account_status
from accounts.staff.actions import download
from core.database.statements import as_parameter, rows
from core.times import json_time
from notifications.models import Delivery
from realtime import selectors, socket_events
from realtime.consumers import protocol
from realtime.devices import Device
from realtime.models import Stream
from realtime.services import presence
from tests import schema
from tests.client import ApiClient
from tests.factories import make_user
from tests.integrations.receiving import SECRET
from tests.realtime.phones import conversation_of, phone_of, start_call
from tests.reference.story import EVENT_KEY, Story
from tests.times import hold, times_in

WHOLE = datetime(2026, 11, 1, 10, tzinfo=UTC)
# Documented fields that the story leaves out: `occurred_at` and `until` are parts of requests, `blocked_until` is of the team's own
# server, the others have tests below.
UNTOLD = {"until", "blocked_until", "occurred_at", "answered_at", "last_seen_at", "at"}


@pytest.fixture
def whole_seconds(monkeypatch):
    """The clock of the product stands on whole seconds."""
    monkeypatch.setattr("django.utils.timezone.now", lambda: datetime.now(UTC).replace(microsecond=0))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (WHOLE, "2026-11-01T10:00:00.000000Z"),
        (WHOLE + timedelta(microseconds=5), "2026-11-01T10:00:00.000005Z"),
        (WHOLE.replace(tzinfo=None), "2026-11-01T10:00:00.000000Z"),
        (WHOLE.astimezone(timezone(timedelta(hours=5, minutes=30))), "2026-11-01T10:00:00.000000Z"),
        ("2026-11-01 10:00:00", "2026-11-01T10:00:00.000000Z"),
        ("2026-11-01 10:00:00.500000", "2026-11-01T10:00:00.500000Z"),
        ("2026-11-01 10:00:00.5", "2026-11-01T10:00:00.500000Z"),
        ("2026-11-01 10:00:00.123", "2026-11-01T10:00:00.123000Z"),
        ("2026-11-01T10:00:00+00:00", "2026-11-01T10:00:00.000000Z"),
        (datetime.max.replace(tzinfo=UTC), "9999-12-31T23:59:59.999999Z"),
    ],
)  # fmt: skip
def test_a_time_has_one_shape(value, written):
    assert json_time(value) == written


@pytest.mark.parametrize("microsecond", [0, 1, 500_000, 999_999])
def test_a_time_is_the_same_from_both_databases(alice, microsecond):
    at = WHOLE.replace(microsecond=microsecond)
    Session.objects.create(user=alice, created_at=at, last_used_at=at, token_expires_at=at, expires_at=at)
    [[stored]] = rows("SELECT created_at FROM accounts_session WHERE user_id = %s", [alice.id])
    assert json_time(stored) == json_time(at) == json_time(as_parameter(at))


@pytest.mark.timeout(300)
def test_every_time_of_every_reply(db, settings, whole_seconds, monkeypatch):
    settings.NOTIFICATIONS_EVENT_SOURCES = f"blog:{EVENT_KEY}:*"
    settings.INTEGRATIONS_IDENTITY_AUDIENCES = ["shop"]
    settings.INTEGRATIONS_WEBHOOKS = f"shop|http://127.0.0.1:9/|{SECRET}|*"
    found: set[tuple[str, str]] = set()
    request = ApiClient.request

    def note(client, method, path, *args, **options):
        body = request(client, method, path, *args, **options)
        if isinstance(body, dict):
            found.update(times_in(body, path))
        elif body.headers["Content-Type"] == "application/zip":
            found.update(times_of_archive(b"".join(body.streaming_content)))
        return body

    monkeypatch.setattr(ApiClient, "request", note)
    Story().tell()
    # The log of the three: events of messages, calls, the feed and the profile.
    for stream in Stream.objects.all():
        events = selectors.events_after(stream.user_id, 0, 500)
        for frame in socket_events.render([selectors.UserEvents(Device(stream.user_id, 0), events)])[0]:
            found |= times_in(json.loads(protocol.write(frame)), f"socket.{frame['type']}")
    paths = hold(found)
    assert documented_times() - {path.rpartition(".")[2] for path in paths} <= UNTOLD
    assert sum(path.startswith("socket.") for path in paths) > 10 and any(".json" in path for path in paths)


def times_of_archive(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if name.endswith(".json")]
        return {pair for name in names for pair in times_in(json.loads(archive.read(name)), name)}


def documented_times():
    """Names of all fields that OpenAPI documents as times of replies."""
    names = set()

    def walk(value):
        if isinstance(value, dict):
            for name, inner in value.get("properties", {}).items():
                if isinstance(inner, dict) and inner.get("format") == "date-time":
                    names.add(name)
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk({name: part for name, part in schema.document()["components"]["schemas"].items() if "Input" not in name})
    return names


def test_frames_of_the_socket(alice, whole_seconds):
    alice.last_seen_at = WHOLE
    frame = {"type": "auth.expiring", "at": WHOLE, "data": {"expires_at": WHOLE.replace(tzinfo=None)}}
    found = times_in(json.loads(protocol.write(frame))) | times_in(presence._state(alice, online=False))
    assert hold(found) == {".at", ".data.expires_at", ".last_seen_at"}


def test_a_call_and_its_push(alice, bob, as_bob, whole_seconds):
    as_bob.post("/api/v1/profile/push-token", {"token": "phone"})
    phones = phone_of(alice), phone_of(bob)
    call_id = start_call(*phones, conversation_of(alice, bob), "ringing")
    [row] = Delivery.objects.filter(kind="incoming_call")
    assert hold(times_in(row.payload)) == {".data.expires_at"}
    phones[1].accept(call_id)
    assert ".call.answered_at" in hold(times_in(as_bob.get(f"/api/v1/calls/{call_id}")))


def test_commands_and_downloads(alice, whole_seconds, capsys):
    account_status.block(
        user=alice, actor=make_user("Staff", is_staff=True), reason="spam", until=WHOLE.replace(year=2099)
    )
    call_command("show_user", alice.email, "--json")
    found = times_in(json.loads(capsys.readouterr().out), "show_user")
    call_command("stats", "--json")
    found |= times_in(json.loads(capsys.readouterr().out), "stats")
    entries = AuditEntry.objects.values("action", "details", "created_at")
    page = admin.site._registry[AuditEntry]
    found |= times_in(json.loads(download(page, entries, ("action", "details", "created_at"), "json").content), "log")
    assert {"show_user.created_at", "log[].created_at", "log[].details.until"} <= hold(found)
    [_, row] = download(page, entries, ("action", "created_at"), "csv").content.decode().split()
    assert row.split(",")[1] == json_time(AuditEntry.objects.get().created_at)
