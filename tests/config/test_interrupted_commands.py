"""Commands that are stopped half way, meet a second one or lose the database leave what was, or say what they did."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError
from django_otp import match_token
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts.models import AuditEntry
from accounts.services import audit
from core import commands
from server.management.commands import purge_expired
from tests.config.test_operator_words import manage
from tests.staff import staff

KEYS = "k1:" + "a" * 40


@pytest.fixture
def key_file(settings, tmp_path):
    path = settings.ACCOUNTS_TOKEN_KEYS_FILE = tmp_path / "token_keys.txt"
    settings.ACCOUNTS_TOKEN_KEYS = KEYS
    path.write_text(KEYS)
    return path


def test_a_key_is_not_rotated_without_its_row_in_the_audit_log(db, key_file, monkeypatch):
    def unreachable(**_):
        raise DatabaseError("no connection")

    monkeypatch.setattr(audit, "record", unreachable)
    with pytest.raises(CommandError, match="The database refuses"):
        call_command("rotate_token_key")
    assert key_file.read_text() == KEYS


def test_a_full_disk_leaves_the_keys(db, key_file, monkeypatch):
    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(commands.os, "fsync", full)
    with pytest.raises(CommandError, match="No space left on device"):
        call_command("rotate_token_key")
    assert key_file.read_text() == KEYS and [path.name for path in key_file.parent.iterdir()] == [key_file.name]
    assert not AuditEntry.objects.filter(action="token_key.rotated").exists()


def test_a_key_that_another_process_has_just_added_stays(db, key_file, monkeypatch):
    record = audit.record

    def meanwhile(**values):
        key_file.write_text(f"{KEYS},k2:{'b' * 40}")
        return record(**values)

    monkeypatch.setattr(audit, "record", meanwhile)
    with pytest.raises(CommandError, match="Repeat it"):
        call_command("rotate_token_key", "stage")
    assert key_file.read_text().endswith("b") and not AuditEntry.objects.exists()


def test_a_purge_that_is_stopped_tells_the_audit_log_what_it_deleted(db, monkeypatch):
    class Interrupted:
        @staticmethod
        def jobs(_now, _limit):
            def batches():
                yield 7
                raise KeyboardInterrupt

            return {"codes": batches()}

    monkeypatch.setattr(purge_expired, "APPS", {"accounts": Interrupted})
    with pytest.raises(KeyboardInterrupt):
        call_command("purge_expired", stdout=StringIO())
    assert AuditEntry.objects.get(action="purge_expired").details["removed"]["accounts.codes"] == 7


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-12:00", "99999-01-01", "soon"])
def test_a_moment_that_no_clock_reaches_is_refused(text):
    with pytest.raises(commands.argparse.ArgumentTypeError, match="neither a day"):
        commands.moment(text)


def test_no_machine_starts_a_hundred_thousand_workers(settings):
    settings.REDIS_URL = "redis://127.0.0.1:1"
    with pytest.raises(CommandError, match="--workers is a number from 1 to"):
        call_command("serve", workers=100_000)


@pytest.mark.parametrize("workers", [0, -1])
def test_a_server_needs_a_worker(workers):
    with pytest.raises(CommandError, match="--workers is a number from 1 to") as refused:
        call_command("serve", workers=workers)
    assert refused.value.returncode == 2


@pytest.mark.slow
@pytest.mark.once
def test_a_question_without_an_answer_changes_nothing(tmp_path):
    environment = {"DATABASE_URL": "", "REDIS_URL": "", "VAR_DIR": str(tmp_path)}
    assert manage("migrate", "--verbosity", "0", **environment).returncode == 0
    make = "from tests.factories import make_user; make_user('Zoe', email='zoe@example.com')"
    assert manage("shell", "--command", make, **environment).returncode == 0
    done = manage("changepassword", "zoe@example.com", input="", start_new_session=True, **environment)
    assert done.returncode == 1 and done.stderr.endswith("No answer was given. Nothing was changed.\n"), done.stderr
    assert "Traceback" not in done.stderr


def test_a_recovery_code_of_staff_is_in_the_audit_log(alice, capsys):
    with pytest.raises(CommandError, match="is not a staff member"):
        call_command("addstatictoken", alice.email)
    sam = staff("Support")
    with pytest.raises(CommandError, match="has no authenticator app"):
        call_command("addstatictoken", sam.email)
    TOTPDevice.objects.create(user=sam, confirmed=True, name="app")
    call_command("addstatictoken", sam.email)
    code = capsys.readouterr().out.strip()
    assert match_token(sam, code) and not match_token(sam, code)
    row = AuditEntry.objects.get(action="admin.second_factor_added")
    assert row.target == sam and row.actor_label.startswith("cli:")
    with pytest.raises(CommandError) as raised:
        call_command("addstatictoken", "nobody@example.com")
    assert raised.value.returncode == 3
