"""What operators read: one sentence per error, reasons instead of class names, dry runs that say so."""

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from django.core.management import CommandError, call_command

from core.commands import table
from server import health
from server.health import database_problem

ROOT = Path(__file__).resolve().parents[2]


def manage(*arguments, input=None, start_new_session=False, **environment):
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "DEBUG": "1"} | environment
    # A test before this one may have imported config.asgi, which asks for a pool.
    env.pop("DATABASE_CONNECTIONS", None)
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=env,
        input=input,
        start_new_session=start_new_session,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


@pytest.mark.slow
@pytest.mark.once
def test_migrate_and_wait_say_that_the_server_refuses_the_connection(tmp_path):
    env = {"DATABASE_URL": "postgres://parley:secret@127.0.0.1:9/parley", "VAR_DIR": str(tmp_path)}
    done = manage("migrate", **env)
    assert done.returncode == 1
    assert done.stderr.strip() == "The database server does not answer: the connection was refused. Start it."
    done = manage("wait_for_services", "--timeout", "1", **env)
    assert done.returncode == 1
    assert done.stderr.startswith("Waiting for the database: The database server does not answer")
    assert "No answer within 1 s from: database." in done.stderr
    assert "secret" not in done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.once
def test_a_terminal_without_the_letters_of_a_name_gets_escapes(tmp_path):
    """Also as JSON, which knows no escapes but its own."""
    environment = {"DATABASE_URL": "", "VAR_DIR": str(tmp_path), "PYTHONIOENCODING": "ascii", "REDIS_URL": ""}
    assert manage("migrate", "--verbosity", "0", **environment).returncode == 0
    make = "from tests.factories import make_user; make_user('Zoë👩', email='zoe@example.com')"
    assert manage("shell", "--command", make, **environment).returncode == 0
    shown = manage("show_user", "zoe@example.com", **environment)
    assert (shown.returncode, "Zo\\xeb\\U0001f469" in shown.stdout) == (0, True), shown
    shown = manage("show_user", "zoe@example.com", "--json", **environment)
    assert json.loads(shown.stdout)["first_name"] == "Zoë👩"


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize("command", ["doctor", "demo"])
def test_a_reader_that_leaves_is_no_traceback(tmp_path, command):
    environment = {"DATABASE_URL": "", "VAR_DIR": str(tmp_path), "REDIS_URL": ""}
    assert manage("migrate", "--verbosity", "0", **environment).returncode == 0
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "DEBUG": "1", **environment}
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "-u", "manage.py", command]
    done = subprocess.run(words, cwd=ROOT, env=env, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr, done.stderr


@pytest.mark.once
def test_ctrl_c_before_the_server_runs_shows_no_traceback(tmp_path):
    env = {**os.environ, "DEBUG": "1", "DATABASE_URL": "postgres://parley:secret@127.0.0.1:9/parley"}
    env |= {"VAR_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    env.pop("DATABASE_CONNECTIONS", None)
    command = [sys.executable, "manage.py", "wait_for_services", "--timeout", "60"]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=env,
        stderr=subprocess.PIPE,
        text=True,
        # A run of the tests in the background ignores Ctrl-C, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("Waiting for the database")
    process.send_signal(signal.SIGINT)
    output = process.communicate(timeout=20)[1]
    assert (process.returncode, "Traceback" in output) == (130, False), output


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('FATAL:  database "x" does not exist', "The database does not exist. Create it, or correct DATABASE_URL."),
        (
            'FATAL:  password authentication failed for user "x"',
            "The database refuses the user name or the password. Correct DATABASE_URL.",
        ),
        ("Connection refused", "The database server does not answer: the connection was refused. Start it."),
        ('invalid connection option "ssl"', "DATABASE_URL has an option that PostgreSQL does not know. Correct it."),
        ('invalid sslmode value: "on"', "DATABASE_URL has an option that PostgreSQL does not know. Correct it."),
        ("something else", "The database does not answer (OperationalError)."),
        (
            "canceling statement due to lock timeout",
            "Another transaction has locked what is needed, for too long. Repeat the command.",
        ),
        (
            "database is locked",
            "Another process writes to the database file, for too long. Repeat the command.",
        ),
    ],
)
def test_problems_of_the_database_are_told_apart(text, sentence):
    assert database_problem(psycopg.OperationalError(text)) == sentence


@pytest.mark.once
@pytest.mark.slow
def test_an_error_on_the_command_line_is_its_sentence(tmp_path):
    env = {"DATABASE_URL": "", "VAR_DIR": str(tmp_path)}
    del env["DATABASE_URL"]
    assert manage("migrate", "-v0", **env).returncode == 0
    done = manage("show_user", "nobody@example.com", **env)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "There is no account nobody@example.com.\n"


@pytest.mark.once
@pytest.mark.parametrize(
    "command",
    [
        ("demo",),
        ("createsuperuser", "--noinput", "--email", "root@example.com", "--first_name", "Root"),
        ("emit_event", "--type", "follow", "--recipient-id", "1", "--actor-id", "2"),
        ("stats",),
    ],
    ids=lambda command: command[0],
)
def test_without_its_database_a_command_says_one_sentence(tmp_path, command):
    env = {"DATABASE_URL": "postgres://parley:secret@127.0.0.1:9/parley", "VAR_DIR": str(tmp_path)}
    done = manage(*command, **env)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("The database refuses: connection failed") and len(done.stderr.splitlines()) == 1
    assert "See `manage.py doctor`." in done.stderr and "secret" not in done.stderr


def test_an_answer_that_ends_is_a_no(alice, monkeypatch):
    def end_of_input(question):
        raise EOFError

    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("builtins.input", end_of_input)
    with pytest.raises(CommandError, match="Nothing was changed"):
        call_command("erase_user", alice.email)
    alice.refresh_from_db()
    assert alice.erased_at is None


def test_a_dry_run_says_what_would_be_done(alice, capsys):
    call_command("block_user", alice.email, "--reason", "spam", "--dry-run")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Dry run: nothing was changed."
    assert any(line.split() == ["would", "be", "blocked", "True"] for line in lines)
    assert not any("dry_run" in line for line in lines)


@pytest.mark.parametrize(
    ("name", "arguments", "line"),
    [
        ("block_user", ["--reason", "spam"], ["sessions", "would", "be", "ended", "0"]),
        ("verify_user", [], ["would", "be", "verified", "True"]),
        ("export_user", [], ["user_id"]),
    ],
)
def test_names_of_options_and_fields_make_no_nonsense(alice, capsys, name, arguments, line):
    call_command(name, alice.email, *arguments, "--dry-run")
    output = capsys.readouterr().out
    assert any(row.split()[: len(line)] == line for row in output.splitlines()), output
    assert "bytes" not in output


def test_a_dry_run_of_the_purge_counts_kinds_of_rows(db, capsys):
    call_command("purge_expired", "--dry-run")
    output = capsys.readouterr().out
    assert any(line.split() == ["accounts.accounts_erased", "0"] for line in output.splitlines()), output
    assert "would" not in output


def test_a_command_that_acted_does_not_speak_of_a_dry_run(alice, capsys, tmp_path):
    call_command("export_user", alice.email, "--output", str(tmp_path / "alice.zip"))
    call_command("unlock_user", alice.email)
    assert "dry" not in capsys.readouterr().out.replace(str(tmp_path), "")


def test_nested_figures_are_a_table():
    rows = {"people": {"all": 2, "blocked": 0}, "paused": {}, "next": None}
    assert list(table(rows)) == ["people", "  all      2", "  blocked  0", "paused  {}", "next"]


def test_each_finding_of_a_deployment_is_told_once(db, settings):
    from django.core import checks

    messages = [message for message in checks.run_checks(include_deployment_checks=True) if not message.is_silenced()]
    output = [message.id for message in messages if "mail" in message.msg.lower() or "push" in message.msg.lower()]
    assert sorted(output) == ["notifications.W001", "notifications.W002"]


def test_a_folder_that_cannot_be_read_is_one_sentence(db, settings, tmp_path):
    (tmp_path / "media").write_text("no folder")
    settings.MEDIA_ROOT = str(tmp_path / "media")
    with pytest.raises(CommandError) as raised:
        call_command("purge_expired")
    assert str(raised.value) == f"{tmp_path / 'media'}: Not a directory"


@pytest.mark.once
@pytest.mark.parametrize(("no_color", "in_colour"), [("", True), ("1", False)])
def test_colours_can_be_switched_off_on_a_terminal(tmp_path, no_color, in_colour):
    ours, theirs = pty.openpty()
    env = {**os.environ, "DEBUG": "1", "VAR_DIR": str(tmp_path), "NO_COLOR": no_color, "TERM": "xterm"}
    env |= {"DATABASE_URL": "postgres://parley@127.0.0.1:9/parley", "DJANGO_SETTINGS_MODULE": "config.settings"}
    for name in ("DATABASE_CONNECTIONS", "DJANGO_COLORS"):
        env.pop(name, None)
    command = [sys.executable, "manage.py", "stats"]
    subprocess.run(command, cwd=ROOT, env=env, stdout=theirs, stderr=theirs, check=False, timeout=60)
    output = os.read(ours, 10_000).decode()
    assert "The database refuses" in output and ("\x1b[" in output) is in_colour


@pytest.mark.once
@pytest.mark.parametrize(("command", "note"), [("fake_fcm", "A local push service"), ("deliver", "Delivering.")])
def test_notes_on_a_terminal_do_not_look_like_errors(tmp_path, command, note):
    ours, theirs = pty.openpty()
    env = {**os.environ, "DEBUG": "1", "VAR_DIR": str(tmp_path), "TERM": "xterm", "NO_COLOR": "", "DATABASE_URL": ""}
    arguments = [sys.executable, "manage.py", command]
    with subprocess.Popen(arguments, cwd=ROOT, env=env, stdout=theirs, stderr=theirs) as process:
        output = os.read(ours, 10_000).decode()
        process.terminate()
    assert note in output and "\x1b[" not in output


def test_a_closed_standard_input_is_no_terminal(alice, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(CommandError, match="Without a terminal this needs --yes"):
        call_command("erase_user", alice.email)


@pytest.mark.parametrize("command", ["wait_for_services --timeout", "fake_fcm --delay"])
@pytest.mark.parametrize("text", ["nan", "inf", "-1", "1e400", "soon"])
def test_a_time_that_never_ends_is_refused(command, text):
    name, option = command.split()
    with pytest.raises(CommandError, match="must be a number of seconds of at least 0"):
        call_command(name, f"{option}={text}")


def test_redis_that_does_not_answer_has_a_remedy(settings):
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    assert health.channel_layer().detail.endswith("Start it, or correct REDIS_URL.")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--deliver", "--no-deliver"], "not allowed with argument"),
        (["--seed", "7"], "--prepare"),
        (["--no-demo"], "--prepare"),
    ],
)
def test_options_of_serve_that_do_nothing_together_are_refused(settings, monkeypatch, arguments, sentence):
    settings.DEBUG = True
    monkeypatch.setattr("server.management.commands.serve.listen", lambda *_: pytest.fail("it serves"))
    with pytest.raises(CommandError, match=sentence):
        call_command("serve", *arguments)


@pytest.mark.parametrize("text", ["", " "])
@pytest.mark.parametrize(
    "command", [["show_user"], ["unblock_user"], ["export_user"], ["send_test_push"], ["new_epoch", "--yes", "--user"]]
)
def test_an_empty_account_is_asked_for(db, command, text):
    with pytest.raises(CommandError, match="Name the account") as refused:
        call_command(*command, text)
    assert refused.value.returncode == 2
