"""Drift: a database that differs from the schema of this version is told, with what repairs it."""

import json

import pytest
from django.core import checks
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, transaction

from core.database.inspection import read_schema
from server import drift
from server.management.commands import doctor
from server.management.commands.record_schema import as_lines
from tests.factories import make_user
from tests.server import ON_POSTGRES

ERROR, WARNING = drift.ERROR, drift.WARNING
BOTH, POSTGRESQL, SQLITE = {"postgresql", "sqlite"}, {"postgresql"}, {"sqlite"}

# Databases, the statement that plants the fault, the level, the sentence and the beginning of the repair.
FAULTS = {
    "a table is missing": (
        BOTH, "DROP TABLE realtime_socket", ERROR,
        "The table realtime_socket is missing.",
        "Restore a backup if it had rows. An empty one: CREATE TABLE realtime_socket (",
    ),
    "a table of another application": (
        BOTH, "CREATE TABLE theirs (id int)", WARNING,
        "The table theirs is not part of this version.", "Leave it",
    ),
    "a column is missing": (
        BOTH, "ALTER TABLE notifications_channelpause DROP COLUMN reason", ERROR,
        "The column reason of table notifications_channelpause is missing.",
        "ALTER TABLE notifications_channelpause ADD COLUMN reason ",
    ),
    "a column of another type": (
        POSTGRESQL, "ALTER TABLE realtime_stream ALTER COLUMN head_seq TYPE integer", ERROR,
        "The column head_seq of table realtime_stream is integer NOT NULL instead of bigint NOT NULL.",
        "ALTER TABLE realtime_stream ALTER COLUMN head_seq TYPE bigint;",
    ),
    "a column that may be null": (
        POSTGRESQL, "ALTER TABLE realtime_stream ALTER COLUMN epoch DROP NOT NULL", ERROR,
        "The column epoch of table realtime_stream is character varying(16) instead of character varying(16) NOT NULL.",
        "ALTER TABLE realtime_stream ALTER COLUMN epoch SET NOT NULL;",
    ),
    "a column with a default": (
        POSTGRESQL, "ALTER TABLE realtime_stream ALTER COLUMN min_seq SET DEFAULT 7", ERROR,
        "The column min_seq of table realtime_stream is bigint NOT NULL DEFAULT 7 instead of bigint NOT NULL.",
        "ALTER TABLE realtime_stream ALTER COLUMN min_seq DROP DEFAULT;",
    ),
    "a nullable column of another application": (
        BOTH, "ALTER TABLE realtime_stream ADD COLUMN theirs integer", WARNING,
        "The column theirs of table realtime_stream is not part of this version.",
        "ALTER TABLE realtime_stream DROP COLUMN theirs; if nothing of yours needs it.",
    ),
    "a column that every insert would have to fill": (
        POSTGRESQL, "ALTER TABLE realtime_socket ADD COLUMN theirs integer NOT NULL", ERROR,
        "The column theirs of table realtime_socket is not part of this version.",
        "ALTER TABLE realtime_socket DROP COLUMN theirs; if nothing of yours needs it.",
    ),
    "an index is missing": (
        BOTH, "DROP INDEX socket_seen", ERROR,
        "The index socket_seen of table realtime_socket is missing.",
        "CREATE INDEX CONCURRENTLY socket_seen ON realtime_socket USING btree (seen_at);" if ON_POSTGRES
        else "CREATE INDEX socket_seen ON realtime_socket (seen_at);",
    ),
    "an index over something else": (
        BOTH, "DROP INDEX socket_seen; CREATE INDEX socket_seen ON realtime_socket (opened_at)", ERROR,
        "The index socket_seen of table realtime_socket is CREATE INDEX socket_seen ON realtime_socket"
        f"{' USING btree' if ON_POSTGRES else ''} (opened_at) instead of",
        f"DROP INDEX {'CONCURRENTLY ' if ON_POSTGRES else ''}socket_seen; CREATE INDEX",
    ),
    "an index of another application": (
        BOTH, "CREATE INDEX theirs ON realtime_socket (opened_at)", WARNING,
        "The index theirs of table realtime_socket is not part of this version.",
        f"DROP INDEX {'CONCURRENTLY ' if ON_POSTGRES else ''}theirs; if nothing of yours needs it.",
    ),
    "a constraint is missing": (
        POSTGRESQL, "ALTER TABLE realtime_event DROP CONSTRAINT event_user_seq", ERROR,
        "The constraint event_user_seq of table realtime_event is missing.",
        "ALTER TABLE realtime_event ADD CONSTRAINT event_user_seq UNIQUE (user_id, seq);",
    ),
    "another constraint": (
        POSTGRESQL,
        "ALTER TABLE realtime_event DROP CONSTRAINT event_user_seq;"
        " ALTER TABLE realtime_event ADD CONSTRAINT event_user_seq UNIQUE (seq)", ERROR,
        "The constraint event_user_seq of table realtime_event is UNIQUE (seq) instead of UNIQUE (user_id, seq).",
        "ALTER TABLE realtime_event DROP CONSTRAINT event_user_seq; ALTER TABLE realtime_event ADD CONSTRAINT",
    ),
    "a constraint that is not validated": (
        POSTGRESQL,
        "DO $$ DECLARE fk text; BEGIN SELECT conname INTO fk FROM pg_constraint"
        " WHERE conrelid = 'realtime_event'::regclass AND contype = 'f';"
        " EXECUTE format('ALTER TABLE realtime_event DROP CONSTRAINT %I', fk);"
        " EXECUTE format('ALTER TABLE realtime_event ADD CONSTRAINT %I FOREIGN KEY (user_id)"
        " REFERENCES accounts_user (id) DEFERRABLE INITIALLY DEFERRED NOT VALID', fk); END $$", ERROR,
        "of table realtime_event is not validated.",
        "ALTER TABLE realtime_event VALIDATE CONSTRAINT realtime_event_user_id_",
    ),
    "a constraint of another application": (
        POSTGRESQL, "ALTER TABLE realtime_socket ADD CONSTRAINT theirs CHECK (acked_seq >= 0)", ERROR,
        "The constraint theirs of table realtime_socket is not part of this version.",
        "ALTER TABLE realtime_socket DROP CONSTRAINT theirs; if nothing of yours needs it.",
    ),
    "tables without room in their pages": (
        POSTGRESQL, "ALTER TABLE realtime_stream RESET (fillfactor)", ERROR,
        "The table realtime_stream has the options none instead of ['fillfactor=70'].",
        "ALTER TABLE realtime_stream SET (fillfactor=70);",
    ),
    "tables with more options": (
        POSTGRESQL, "ALTER TABLE realtime_stream SET (autovacuum_vacuum_cost_delay = 1)", WARNING,
        "The table realtime_stream has the options", "Leave it.",
    ),
    "a migration that this code does not know": (
        BOTH, "INSERT INTO django_migrations (app, name, applied) VALUES ('realtime', '9999_later', '2026-01-01')", ERROR,
        "The database is newer than this code: it has the migration realtime.9999_later.",
        "Install the version that made it, or restore a backup of this one.",
    ),
    "a migration of another application": (
        BOTH, "INSERT INTO django_migrations (app, name, applied) VALUES ('theirs', '0001_initial', '2026-01-01')",
        WARNING, "The database has the migration theirs.0001_initial of an app that is not installed.",
        "DELETE FROM django_migrations WHERE app = 'theirs' AND name = '0001_initial';",
    ),
}  # fmt: skip


def run(statements):
    with connection.cursor() as cursor:
        for statement in [statements] if "$$" in statements else statements.split(";"):
            if statement.strip():
                cursor.execute(statement)


@pytest.mark.parametrize("name", [name for name, (on, *_) in FAULTS.items() if connection.vendor in on])
def test_a_fault_is_told_with_its_repair(db, name):
    _, plant, level, sentence, repair = FAULTS[name]
    run(plant)
    faults = drift.faults()
    assert len(faults) == 1, faults
    (fault,) = faults
    assert (fault.level, sentence in fault.what, fault.fix[: len(repair)]) == (level, True, repair), fault
    if fault.fix.startswith(("Leave it", "Install")):
        return
    statements = fault.fix.removeprefix("Restore a backup if it had rows. An empty one: ")
    statements = statements.removesuffix(" if nothing of yours needs it.").replace("CONCURRENTLY ", "")
    # A validation checks rows that this transaction has not written.
    run(statements.removesuffix(" A table with rows needs a DEFAULT with it."))
    assert drift.faults() == []


def test_the_recorded_schema_is_the_one_that_migrations_make(db):
    path = drift.record_of(connection.vendor)
    assert path.read_text() == as_lines(read_schema()) + "\n", (
        f"write server/schema/{path.name} anew: manage.py record_schema, with the DATABASE_URL of a PostgreSQL server"
        " for postgresql.json"
    )


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite builds no index concurrently")
@pytest.mark.django_db(transaction=True)
def test_an_index_that_was_not_finished_is_invalid_until_it_is_built_again():
    for name in ("Alice", "Bob"):
        make_user(name)
    run("DROP INDEX socket_seen")
    with pytest.raises(Exception, match="could not create unique index"):
        run("CREATE UNIQUE INDEX CONCURRENTLY theirs ON accounts_user (language)")
    run("ALTER INDEX theirs RENAME TO socket_seen")
    fault = next(fault for fault in drift.faults() if fault.level == ERROR)
    assert fault.what == "The index socket_seen of table realtime_socket is missing."
    others = [fault for fault in drift.faults() if "socket_seen of table accounts_user" in fault.what]
    run(others[0].fix.removesuffix(" if nothing of yours needs it."))
    # The same name on the same table, as a release leaves it.
    run("CREATE INDEX socket_seen ON realtime_socket (seen_at)")
    run("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'socket_seen'::regclass")
    (fault,) = drift.faults()
    assert (fault.level, fault.what) == (
        ERROR,
        "The index socket_seen of table realtime_socket is invalid: building it was interrupted, so queries do not use it.",
    )
    run(fault.fix)
    assert drift.faults() == []


def doctors_schema(capsys):
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", "--json")
    answer = json.loads(capsys.readouterr().out)
    return ended.value.code, answer, next(check for check in answer["checks"] if check["name"] == "schema")


def test_doctor_and_check_name_the_same_fault(db, capsys):
    if ON_POSTGRES:
        # All checks of a slow machine, in the one transaction of a test.
        run("SET LOCAL idle_in_transaction_session_timeout = 0")
    run("DROP INDEX socket_seen; CREATE INDEX theirs ON realtime_socket (opened_at)")
    code, answer, schema = doctors_schema(capsys)
    assert (code, answer["ok"], schema["status"]) == (1, False, "error")
    assert set(answer) == {"ok", "checks"} and set(schema) == {"name", "status", "detail"}
    missing, theirs = schema["detail"].splitlines()
    assert missing.startswith("The index socket_seen of table realtime_socket is missing. → CREATE INDEX ")
    assert theirs.startswith("The index theirs ")
    ours = [message for message in checks.run_checks(include_deployment_checks=True) if message.id in drift.CHECK_IDS]
    assert [(message.id, message.level >= checks.WARNING) for message in ours] == [
        ("parley.E006", True),
        ("parley.I006", False),
    ]
    with pytest.raises(CommandError, match="socket_seen"):
        call_command("check", "--deploy")


def test_what_others_add_is_a_warning_and_no_failure(db):
    run("CREATE INDEX theirs ON realtime_socket (opened_at)")
    (line,) = doctor._schema(is_migrated=True)
    assert (line.name, line.status) == ("schema", "warning")
    (message,) = [
        message for message in checks.run_checks(include_deployment_checks=True) if message.id in drift.CHECK_IDS
    ]
    assert message.level < checks.WARNING


def test_a_schema_is_compared_once_migrations_are_applied(db):
    run("DELETE FROM django_migrations WHERE app = 'realtime'; DROP INDEX socket_seen")
    assert drift.faults() == []
    (line,) = doctor._schema(is_migrated=False)
    assert (line.status, line.what) == ("note", "tables are compared once all migrations are applied")


@pytest.mark.parametrize(
    ("plant", "sentence"),
    [
        ("", None),
        ("DELETE FROM django_migrations WHERE app = 'realtime'", "The database is not up to date."),
        ("DROP TABLE django_migrations", "The database is not up to date."),
        ("DROP TABLE realtime_socket", "The database lacks 6 columns, first realtime_socket.acked_seq."),
        (
            "INSERT INTO django_migrations (app, name, applied) VALUES ('realtime', '9999_later', '2026-01-01')",
            "The database is newer than this code: it has the migration realtime.9999_later.",
        ),
    ],
)
def test_a_server_looks_once_when_it_starts(db, django_assert_num_queries, plant, sentence):
    run(plant)
    # A statement that fails ends the transaction of the test.
    with transaction.atomic():
        with django_assert_num_queries(1):
            told = drift.faults_at_start()
        transaction.set_rollback(True)
    assert told == [] if sentence is None else told[0].startswith(sentence), told


@pytest.mark.once
def test_without_a_database_nothing_is_compared(settings, monkeypatch):
    def refuse(*_):
        raise OperationalError("unable to open database file")

    monkeypatch.setattr(drift, "faults", refuse)
    (message,) = [
        message for message in checks.run_checks(include_deployment_checks=True) if message.id in drift.CHECK_IDS
    ]
    assert (message.id, message.level) == ("parley.I007", checks.INFO)
