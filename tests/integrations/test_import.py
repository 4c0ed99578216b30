"""`manage.py import_users`: a JSON object a line, started again after an interruption."""

import io
import json
import tracemalloc

import pytest
from django.core import mail
from django.core.management import CommandError, call_command

from accounts.models import AuditEntry, User
from integrations.models import Event
from tests.factories import make_user
from tests.integrations.receiving import SECRET
from tests.integrations.test_hashes import PASSWORD, login, pbkdf2


def line(number, **fields):
    return {
        "email": f"u{number}@example.com",
        "first_name": f"U{number}",
        "last_name": "Example",
        "external_id": f"u-{number}",
        **fields,
    }


def run(tmp_path, rows, *options, refused=False):
    """The result, and the lines about refused rows."""
    file = tmp_path / "users.jsonl"
    file.write_text(
        "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), encoding="utf-8"
    )
    out, notes = io.StringIO(), io.StringIO()
    if refused:
        with pytest.raises(CommandError) as error:
            call_command("import_users", str(file), "--json", *options, stdout=out, stderr=notes)
        assert error.value.returncode == 1
    else:
        call_command("import_users", str(file), "--json", *options, stdout=out, stderr=notes)
    return json.loads(out.getvalue()), [note for note in notes.getvalue().splitlines() if note.startswith("line")]


def counts(result):
    return [result[name] for name in ("created", "existing", "refused")]


def test_users_are_created_and_a_second_run_finds_them(db, tmp_path):
    rows = [line(number) for number in range(450)]
    result, notes = run(tmp_path, rows)
    assert (counts(result), notes) == ([450, 0, 0], [])
    assert User.objects.filter(external_id="u-449", email_verified_at__isnull=False).exists()
    assert mail.outbox == []
    assert counts(run(tmp_path, [*rows, line(450)])[0]) == [1, 450, 0]
    entries = AuditEntry.objects.filter(action="users.imported")
    assert [entry.details["created"] for entry in entries.order_by("id")] == [450, 1]


def test_the_others_are_in_when_some_are_refused(db, tmp_path):
    make_user("Ann", email="taken@example.com")
    make_user("Ben", email="ben@example.com", external_id="ben")
    rows = [
        line(1),
        "nonsense",
        "[]",
        json.dumps(line(2))[:-3],
        line(3, email="nowhere"),
        line(4, email="taken@example.com"),
        line(1, email="second@example.com"),  # the same id: there already
        line(5, password_hash="md5$a$b"),
        line(6, password="short"),
        {"email": "TAKEN@example.com", "first_name": "Ann"},  # the same address without an id: there already
        {"email": "ben@example.com", "first_name": "Ben"},
        "",
        line(7, email="u1@example.com"),
        '{"email": "a@example.com", "first_name": "\\ud800"}',
        "[" * 50_000,
        line(8),
    ]
    result, notes = run(tmp_path, rows, refused=True)
    assert counts(result) == [2, 3, 10]
    assert [int(note.split()[1].rstrip(":")) for note in notes] == [2, 3, 4, 5, 6, 8, 9, 13, 14, 15]
    assert "email_taken" in notes[4]
    assert "password_hash" in notes[5]
    assert not any("short" in note.partition("password:")[0] for note in notes)
    assert set(User.objects.filter(external_id__startswith="u-").values_list("external_id", flat=True)) == {
        "u-1",
        "u-8",
    }


@pytest.mark.parametrize("webhooks", ["", f"shop|http://127.0.0.1:9/|{SECRET}|*"])
def test_a_dry_run_creates_nothing(db, settings, tmp_path, webhooks):
    settings.INTEGRATIONS_WEBHOOKS = webhooks
    result, _notes = run(tmp_path, [line(1), line(1), line(2, is_verified=False), "x"], "--dry-run", refused=True)
    assert counts(result) == [2, 1, 1]
    assert not User.objects.exists()
    assert not AuditEntry.objects.exists() and not Event.objects.exists()


def test_an_imported_user_signs_in(db, tmp_path):
    run(tmp_path, [line(1, email="mia@example.com", password_hash=pbkdf2(rounds=1))])
    login(PASSWORD)


def test_a_stopped_import_keeps_and_records_what_is_in(db, tmp_path, monkeypatch):
    from integrations.services import imports

    monkeypatch.setattr(imports, "BATCH", 2)
    real, calls = imports._import_batch, []

    def stop_at_the_third(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        real(*arguments)

    monkeypatch.setattr(imports, "_import_batch", stop_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, [line(number) for number in range(7)])
    assert User.objects.count() == 4
    assert AuditEntry.objects.get().details["created"] == 4
    monkeypatch.setattr(imports, "_import_batch", real)
    assert counts(run(tmp_path, [line(number) for number in range(7)])[0]) == [3, 4, 0]


def test_the_memory_does_not_grow_with_the_file(db, tmp_path):
    file = tmp_path / "users.jsonl"

    def peak(lines):
        file.write_text(f"{json.dumps(line(1))}\n" * lines)
        tracemalloc.start()
        call_command("import_users", str(file), stdout=io.StringIO(), stderr=io.StringIO())
        _size, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    peak(200)
    small = peak(200)
    assert peak(20_000) < small + file.stat().st_size / 10


def test_a_file_that_is_not_there(db, tmp_path):
    with pytest.raises(CommandError, match="No such file"):
        call_command("import_users", str(tmp_path / "missing.jsonl"))
