"""The operator's commands for people: what they print, what they change, how they exit."""

import errno
import json
import os
import zipfile
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import AuditEntry, Session, User
from accounts.services import erasure
from tests.factories import make_user, sign_in


def run(capsys, name, *words) -> dict:
    """The JSON document a command prints; nothing else may stand on stdout."""
    capsys.readouterr()
    call_command(name, *words, "--json")
    return json.loads(capsys.readouterr().out)


def state(user: User) -> tuple:
    return (
        *User.objects.filter(id=user.id).values_list(),
        Session.objects.filter(user=user, ended_at=None).count(),
        AuditEntry.objects.count(),
    )


COMMANDS = {
    "block_user": ["--reason", "spam"],
    "unblock_user": [],
    "unlock_user": [],
    "verify_user": [],
    "revoke_sessions": [],
    "reset_two_step": [],
    "erase_user": ["--yes"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_dry_run_prints_json_and_changes_nothing(name, alice, capsys):
    sign_in(alice)
    before = state(alice)
    result = run(capsys, name, alice.email, *COMMANDS[name], "--dry-run")
    assert result["user_id"] == alice.id
    assert result["dry_run"] is True
    assert state(alice) == before


@pytest.mark.parametrize("name", COMMANDS)
def test_a_change_leaves_an_audit_row(name, db, capsys):
    user = make_user(verified=name != "verify_user")
    sign_in(user)
    run(capsys, name, str(user.id), *COMMANDS[name])
    row = AuditEntry.objects.get()
    assert row.actor_label.startswith("cli:")
    assert str(user.id) in (str(row.target_id), row.target_label.removeprefix("user "))


def test_an_operator_without_a_name_is_recorded_by_number(alice, monkeypatch):
    monkeypatch.setattr("getpass.getuser", Mock(side_effect=KeyError("uid not found")))
    call_command("unlock_user", alice.email)
    assert AuditEntry.objects.get().actor_label == f"cli:{os.getuid()}"


@pytest.mark.parametrize("name", [*COMMANDS, "show_user", "export_user"])
def test_an_unknown_user_is_exit_code_3(name, db):
    with pytest.raises(CommandError) as failure:
        call_command(name, "nobody@example.com", *COMMANDS.get(name, []))
    assert failure.value.returncode == 3


def test_a_user_is_found_by_an_address_as_people_write_it(db, capsys):
    person = make_user("Vera", email="vera@xn--bcher-kva.example")
    for address in ("vera@bücher.example", " Vera@BÜCHER.example", "vera@xn--bcher-kva.example"):
        assert run(capsys, "show_user", address)["user_id"] == person.id


def test_a_new_password_ends_what_the_old_one_opened(alice, as_alice, monkeypatch):
    monkeypatch.setattr("getpass.getpass", lambda prompt: "new battery 77")
    call_command("changepassword", str(alice.id))
    alice.refresh_from_db()
    assert alice.check_password("new battery 77")
    as_alice.get("/api/v1/auth/me", status=401)
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.target_id, entry.actor_label[:4]) == ("user.signed_out", alice.id, "cli:")
    with pytest.raises(CommandError) as refused:
        call_command("changepassword", "nobody@example.com")
    assert refused.value.returncode == 3


def test_a_block_that_is_set_while_the_password_is_typed_stays(alice, as_alice, monkeypatch):
    def typed(prompt):
        type(alice).objects.filter(id=alice.id).update(blocked_at=timezone.now())
        return "new battery 77"

    monkeypatch.setattr("getpass.getpass", typed)
    call_command("changepassword", alice.email)
    alice.refresh_from_db()
    assert alice.blocked_at is not None
    assert alice.check_password("new battery 77")


def test_an_account_that_is_removed_while_the_password_is_typed_stays_removed(alice, monkeypatch):
    monkeypatch.setattr(
        "getpass.getpass", lambda prompt: User.objects.filter(id=alice.id).delete() and "new battery 77"
    )
    with pytest.raises(CommandError) as refused:
        call_command("changepassword", alice.email)
    assert refused.value.returncode == 3
    assert not User.objects.filter(id=alice.id).exists()


def test_a_password_that_is_weak_or_typed_differently_changes_nothing(alice, as_alice, monkeypatch, capsys):
    typed = iter(["short", "short", "new battery 77", "new battery 78", "password", "password"])
    monkeypatch.setattr("getpass.getpass", lambda prompt: next(typed))
    with pytest.raises(CommandError, match="Nothing was changed"):
        call_command("changepassword", alice.email)
    assert "The two differ." in capsys.readouterr().err
    as_alice.get("/api/v1/auth/me")
    assert not AuditEntry.objects.exists()


def test_a_block_with_an_end_says_so(alice, capsys):
    sign_in(alice)
    result = run(capsys, "block_user", alice.email, "--reason", "spam", "--until", "2100-01-01")
    assert result["sessions_ended"] == 1
    assert result["until"] == "2100-01-01T00:00:00.000000Z"
    alice.refresh_from_db()
    assert alice.blocked_until.year == 2100


def test_a_wrong_date_is_wrong_usage(alice):
    with pytest.raises(CommandError):
        call_command("block_user", alice.email, "--reason", "x", "--until", "tomorrow")


@pytest.mark.parametrize(
    "words",
    [
        ["--reason", "x", "--until", "2020-01-01"],
        ["--reason", ""],
        ["--reason", " "],
    ],
)
def test_a_block_that_would_be_over_or_has_no_reason_is_wrong_usage(alice, words):
    with pytest.raises(CommandError, match=r"--until: '2020-01-01' is in the past|--reason: it is empty"):
        call_command("block_user", alice.email, *words)
    alice.refresh_from_db()
    assert alice.blocked_at is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("purge_expired", ["--limit", "0"]),
        ("purge_expired", ["--limit=-5"]),
        ("retry_deliveries", ["--limit", "0"]),
        ("retry_deliveries", ["9" * 30]),
        ("send_test_push", ["1", "--device", "9" * 30]),
        ("serve", ["--port", "99999"]),
        ("serve", ["--port=-1"]),
    ],
)
def test_numbers_out_of_range_are_wrong_usage(name, words):
    with pytest.raises(CommandError, match=r"must be a whole number of at least 1|is no port"):
        call_command(name, *words)


def test_a_name_in_broken_utf8_is_unknown(db):
    with pytest.raises(CommandError) as failure:
        call_command("show_user", "\udcff@example.com")
    assert failure.value.returncode == 3


def test_a_reason_in_broken_utf8_is_wrong_usage(alice):
    with pytest.raises(CommandError, match="not UTF-8") as failure:
        call_command("block_user", alice.email, "--reason", "f\udcfcr immer")
    assert failure.value.returncode == 2
    assert not AuditEntry.objects.exists()


@pytest.mark.django_db
def test_a_database_without_tables_is_told_in_one_line():
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE accounts_user RENAME TO elsewhere")
    with (
        pytest.raises(CommandError, match=r"The database refuses: .*accounts_user.* See `manage.py doctor`\.$"),
        transaction.atomic(),
    ):
        call_command("show_user", "1")


def test_show_user_shows_standing_and_no_secret(alice, capsys):
    sign_in(alice)
    result = run(capsys, "show_user", alice.email)
    assert result["email"] == alice.email
    assert result["sessions"] == 1
    assert alice.password not in json.dumps(result)


def test_an_export_is_a_zip_for_the_operator_alone(alice, capsys, tmp_path):
    path = tmp_path / "alice.zip"
    result = run(capsys, "export_user", alice.email, "--output", str(path))
    assert result["bytes"] == path.stat().st_size
    assert path.stat().st_mode & 0o077 == 0
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert any(name.startswith("account/") for name in archive.namelist())
    with pytest.raises(CommandError):
        call_command("export_user", alice.email, "--output", str(path))


def test_an_export_finds_a_name_of_its_own_among_the_local_data(alice, capsys, tmp_path, settings):
    settings.VAR_DIR = tmp_path
    result = run(capsys, "export_user", alice.email)
    assert [str(path) for path in (tmp_path / "exports").iterdir()] == [result["file"]]


def test_a_dry_run_of_an_export_makes_no_folder(alice, capsys, tmp_path, settings):
    settings.VAR_DIR = tmp_path
    result = run(capsys, "export_user", alice.email, "--dry-run")
    assert result["file"].startswith(str(tmp_path / "exports")) and not list(tmp_path.iterdir())


def test_the_reason_of_an_export_is_kept(alice, tmp_path):
    call_command("export_user", alice.email, "--output", str(tmp_path / "a.zip"), "--reason", "asked by letter")
    assert AuditEntry.objects.get().reason == "asked by letter"


def test_an_export_that_fails_leaves_no_file(alice, tmp_path, monkeypatch):
    def full(source, file):
        file.write(b"half")
        assert os.fstat(file.fileno()).st_mode & 0o077 == 0
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", full)
    with pytest.raises(CommandError, match="No space left on device"):
        call_command("export_user", alice.email, "--output", str(tmp_path / "a.zip"))
    assert not list(tmp_path.iterdir()) and not AuditEntry.objects.exists()


def test_erasing_needs_yes_without_a_terminal(alice, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    with pytest.raises(CommandError) as refused:
        call_command("erase_user", alice.email, "--reason", "asked")
    assert refused.value.returncode == 2
    assert User.objects.get(id=alice.id).email == alice.email


def test_a_key_is_rotated_without_ending_sessions(settings, capsys, alice, tmp_path):
    """Staged it verifies, then it signs; tokens of the old key stay good throughout."""
    from accounts.sign_in import sessions

    old = settings.ACCOUNTS_TOKEN_KEYS
    key_file = settings.ACCOUNTS_TOKEN_KEYS_FILE = tmp_path / "token_keys.txt"
    key_file.write_text(old)
    _, token = sign_in(alice)
    staged = run(capsys, "rotate_token_key", "stage")
    assert staged["signing"] == old.split(":")[0]
    settings.ACCOUNTS_TOKEN_KEYS = key_file.read_text()
    assert sessions.authenticate(token)[0] == alice
    signing = run(capsys, "rotate_token_key", "sign")
    assert signing["signing"] == staged["kids"][-1]
    settings.ACCOUNTS_TOKEN_KEYS = key_file.read_text()
    assert sessions.authenticate(token)[0] == alice
    assert sessions.authenticate(sessions.refresh(token))[0] == alice
    with pytest.raises(CommandError, match="The newest key signs already"):
        call_command("rotate_token_key", "sign")
    dropped = run(capsys, "rotate_token_key", "drop")
    assert dropped["kids"] == [signing["signing"]]


@pytest.mark.parametrize("name", [*COMMANDS, "export_user", "send_test_push"])
def test_an_erased_account_is_exit_code_3(name, alice):
    erasure.erase(user_id=alice.id)
    before = state(alice)
    for words in ([], ["--dry-run"]):
        with pytest.raises(CommandError, match=f"The account {alice.id} has been erased.") as raised:
            call_command(name, str(alice.id), *COMMANDS.get(name, []), *words)
        assert raised.value.returncode == 3
    assert state(alice) == before


def test_show_user_tells_that_an_account_is_erased(alice, capsys):
    assert run(capsys, "show_user", str(alice.id))["erased_at"] is None
    erasure.erase(user_id=alice.id)
    assert run(capsys, "show_user", str(alice.id))["erased_at"] is not None
