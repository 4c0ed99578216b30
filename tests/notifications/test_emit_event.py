"""Events from the command line."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from accounts.models import AuditEntry
from notifications.models import Notification


def emit(*arguments, stdin=None, monkeypatch=None):
    if stdin is not None:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
    out = io.StringIO()
    call_command("emit_event", *arguments, stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def flags(alice, bob, **changes):
    options = {
        "type": "post_like",
        "recipient-id": alice.id,
        "actor-id": bob.id,
        "target-id": 7,
        "target-title": "Tea",
        "event-id": "evt_1",
    }
    return [f"--{name}={value}" for name, value in (options | changes).items() if value is not None]


def test_flags_make_one_event(alice, bob, as_alice):
    assert emit(*flags(alice, bob)) == [{"event_id": "evt_1", "result": "created"}]
    assert emit(*flags(alice, bob)) == [{"event_id": "evt_1", "result": "duplicate"}]
    [row] = as_alice.get("/api/v1/notifications")["notifications"]
    assert row["target"] == {"type": "post", "id": 7, "title": "Tea"}
    back = flags(alice, bob, **{"event-id": "evt_2"})
    assert emit(*back, "--retract") == [{"event_id": "evt_2", "result": "retracted"}]
    assert not Notification.objects.exists()


def test_a_run_leaves_an_audit_row_and_a_dry_one_nothing(alice, bob):
    assert emit(*flags(alice, bob), "--dry-run", "--json") == [{"event_id": "evt_1", "result": "created"}]
    assert not Notification.objects.exists()
    assert not AuditEntry.objects.exists()
    assert emit(*flags(alice, bob)) == [{"event_id": "evt_1", "result": "created"}]
    row = AuditEntry.objects.get()
    assert (row.action, row.details) == ("emit_event", {"results": {"created": 1}})
    assert row.actor_label.startswith("cli:")


def test_an_event_id_is_made_up_when_none_is_given(alice, bob):
    [first] = emit(*flags(alice, bob, **{"event-id": None}))
    [second] = emit(*flags(alice, bob, **{"event-id": None, "target-id": 8}))
    assert first["event_id"] != second["event_id"]
    assert (first["result"], second["result"]) == ("created", "created")


def test_json_lines_on_standard_input(alice, bob, charlie, monkeypatch):
    lines = [
        {
            "event_id": f"evt_{actor.id}",
            "type": "follow",
            "action": "create",
            "recipient_id": alice.id,
            "actor_id": actor.id,
        }
        for actor in (bob, charlie)
    ]
    text = "\n".join(json.dumps(line) for line in lines) + "\n\n"
    results = emit(stdin=text, monkeypatch=monkeypatch)
    assert [result["result"] for result in results] == ["created", "aggregated"]


def test_a_line_ends_at_its_line_feed_only(alice, bob, as_alice, monkeypatch):
    """JSON allows other line breaks of Unicode inside a text."""
    event = {"event_id": "e1", "type": "comment", "recipient_id": alice.id, "actor_id": bob.id}
    lines = [
        event | {"event_id": f"e{n}", "target": {"id": n, "title": f"Tea{c}time"}}
        for n, c in ((1, "\u2028"), (2, "\x85"))
    ]
    text = "\r\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    assert [result["result"] for result in emit(stdin=text, monkeypatch=monkeypatch)] == ["created", "created"]
    rows = as_alice.get("/api/v1/notifications")["notifications"]
    assert {row["target"]["title"] for row in rows} == {"Tea time"}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"type": "post_hate"}, 1),
        ({"type": None}, 2),
        ({"type": "message"}, 1),
        ({"recipient-id": "abc"}, 2),
        ({"recipient-id": "-1"}, 2),
        ({"recipient-id": None}, 2),
        ({"actor-id": 10**30}, 2),
        ({"target-id": "seven"}, 2),
        ({"target-id": None, "target-title": None}, 1),
        ({"occurred-at": "yesterday"}, 2),
    ],
)
def test_nonsense_is_one_line(alice, bob, changes, code):
    with pytest.raises(CommandError) as refused:
        emit(*flags(alice, bob, **changes))
    assert refused.value.returncode == code
    assert "\n" not in str(refused.value)
    assert not Notification.objects.exists()


@pytest.mark.parametrize("text", ["", "\n", "nonsense", "[1]", '{"a":', "[" * 100_000, '"text"'])
def test_nonsense_on_standard_input_is_one_line(db, text, monkeypatch):
    with pytest.raises(CommandError) as refused:
        emit(stdin=text, monkeypatch=monkeypatch)
    assert "\n" not in str(refused.value)


def test_a_rejected_line_is_named_and_the_others_are_taken(alice, bob, monkeypatch):
    good = {
        "event_id": "evt_1",
        "type": "follow",
        "action": "create",
        "recipient_id": alice.id,
        "actor_id": bob.id,
    }
    bad = good | {"event_id": "evt_2", "actor_id": 10**12}
    with pytest.raises(CommandError, match=r"1 of 2"):
        emit(stdin=f"{json.dumps(bad)}\n{json.dumps(good)}", monkeypatch=monkeypatch)
    assert Notification.objects.count() == 1


class ClosedPipe(io.StringIO):
    def write(self, text):
        raise BrokenPipeError


def test_a_reader_that_leaves_loses_no_event(alice, bob, monkeypatch, settings):
    """`emit_event < events | head -1` adds all events, and their row in the audit log."""
    settings.NOTIFICATIONS_EVENTS_PER_REQUEST = 2
    event = {"type": "post_like", "recipient_id": alice.id, "actor_id": bob.id}
    lines = [json.dumps(event | {"event_id": f"e{n}", "target": {"id": n, "title": "Tea"}}) for n in range(1, 6)]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines)))
    monkeypatch.setattr("notifications.management.commands.emit_event.discard_output", lambda: None)
    call_command("emit_event", stdout=ClosedPipe())
    assert Notification.objects.count() == 5
    assert AuditEntry.objects.get().details == {"results": {"created": 5}}


@pytest.mark.parametrize("text", ["yesterday", "", "2026-13-01", "0001-01-01T00:00:00Z"])
def test_a_wrong_moment_is_named_with_its_option(alice, bob, text):
    with pytest.raises(CommandError, match=r"^--occurred-at: "):
        emit(*flags(alice, bob, **{"occurred-at": text}))
    assert not Notification.objects.exists()
