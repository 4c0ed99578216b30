"""A database whose history of migrations this code does not know is refused before anything is changed."""

import pytest
from django.db import connection

from core.database.statements import on_postgresql
from server import history
from server.drift import own_apps
from tests.installation import Installation

ROW = "INSERT INTO django_migrations (app, name, applied) VALUES ('{}', '{}', CURRENT_TIMESTAMP)"
CASCADE = " CASCADE" if on_postgresql() else ""
LAST = "9999_later"

# Statement → a part of the sentence; with `newer`, whether the code goes on serving.
FOREIGN = {
    "before 1.0.0": ([ROW.format(*history.BEFORE_1_0_0)], "from a version before 1.0.0, which cannot be upgraded"),
    "another branch": ([ROW.format("messaging", "0001_other")], "does not know (messaging.0001_other)"),
    "a newer version of the database": ([ROW.format("accounts", LAST)], f"from a newer version (accounts.{LAST})"),
    "a newer version with a gap": (
        [ROW.format("accounts", LAST), "DELETE FROM django_migrations WHERE app = 'accounts' AND name LIKE '0001%'"],
        f"does not know (accounts.{LAST})",
    ),
    "tables without history": (["DELETE FROM django_migrations"], "is not recorded as applied"),
    "a part restored": (
        ["DELETE FROM django_migrations WHERE app = 'integrations'"],
        "is not recorded as applied",
    ),
    "a gap": (
        ["DELETE FROM django_migrations WHERE app = 'contenttypes'"],
        "has a gap",
    ),
    "history without a table": ([f"DROP TABLE messaging_reaction{CASCADE}"], "The table messaging_reaction is missing"),
    "history without a column": (
        ["ALTER TABLE accounts_user DROP COLUMN bio"],
        "The column accounts_user.bio is missing",
    ),
}
KNOWN = {
    "as it is": [],
    "a migration of another app": [ROW.format("elsewhere", "0001_initial")],
    "a table and an index of another application": [
        "CREATE TABLE reports (id integer)",
        "CREATE INDEX r ON accounts_user (bio)",
    ],
}


@pytest.fixture
def change(db):
    def run(statements):
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    return run


@pytest.mark.parametrize("case", FOREIGN)
def test_a_foreign_history_is_refused_in_one_sentence(change, case):
    statements, words = FOREIGN[case]
    change(statements)
    refused = history.refusal()
    assert words in refused and "\n" not in refused
    assert any(way in refused for way in ("dump", "backup", "doctor"))
    assert bool(history.foreign()) is not case.startswith(("a newer version of", "history without"))


@pytest.mark.parametrize("case", KNOWN)
def test_a_known_history_is_not(change, case):
    change(KNOWN[case])
    assert history.refusal() == ""


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_commands_say_it_and_change_nothing(tmp_path):
    (statement,), words = FOREIGN["another branch"]
    with Installation(tmp_path) as foreign:
        foreign.execute(statement)
        before = foreign.content()
        for command in (["migrate"], ["serve", "--port", "0"], ["serve", "--prepare", "--port", "0"]):
            refused = foreign.manage(*command)
            assert (refused.returncode, refused.stdout) == (1, "")
            assert words in refused.stderr and refused.stderr.count("\n") == 1
        told = foreign.manage("doctor")
        assert told.returncode == 1 and words in told.stdout
        assert foreign.content() == before


@pytest.mark.django_db
def test_the_apps_of_this_project_are_meant():
    assert own_apps() >= {"accounts", "messaging", "notifications", "realtime", "integrations"}
    assert not own_apps() & {"auth", "contenttypes", "sessions", "otp_totp", "flush"}
