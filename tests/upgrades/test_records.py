"""The database of each release, migrated to today: the schema of a fresh installation, and nothing lost."""

import json
import sys

import pytest
from django.apps import apps

from core.database.inspection import differences
from devtools import records as devtools_records
from server.drift import own_apps
from tests.flows.people import Person
from tests.installation import Installation
from tests.server import ROOT, RunningServer
from tests.upgrades import rows
from tests.upgrades.records import VERSIONS, load, replies

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
# Signed for a time, or about the moment.
MOMENTARY = {"media_url", "thumb_url", "avatar_url", "url", "request_id", "is_online", "last_seen_at", "next_cursor"}

SCHEMA = "import django, json; django.setup(); from core.database.inspection import read_schema; print(json.dumps(read_schema()))"


def asked(installation, program):
    done = installation.run(sys.executable, "-c", program, DJANGO_SETTINGS_MODULE="config.settings")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_version_of_this_code_or_the_one_before_has_a_record():
    assert VERSIONS, "releases/ is empty"


@pytest.mark.parametrize("upgraded", VERSIONS, indirect=True)
def test_the_schema_is_that_of_a_fresh_installation(upgraded, fresh):
    found = differences(asked(fresh, SCHEMA), asked(upgraded, SCHEMA))
    assert [str(difference) for difference in found] == []


@pytest.mark.parametrize("upgraded", VERSIONS, indirect=True)
def test_the_users_read_what_they_had_and_go_on(upgraded, request, tmp_path):
    server = RunningServer(tmp_path, **upgraded.environment | rows.ENVIRONMENT)
    server.empty = True
    alice, bob = Person(server, "Alice"), Person(server, "Bob")
    try:
        server.start()
        alice.token = alice.call("POST", "/auth/login", rows.ALICE)["token"]
        read = rows.replies(lambda path: alice.call("GET", f"/{path}"))
        (version,) = [name for name in VERSIONS if f"[{name}]" in request.node.name]
        for path, reply in replies(version).items():
            assert lost(reply, read[path]) == [], path
        # New rows get ids that are free.
        chat = rows.conversation_with_bob(read["messages/conversations?limit=30"])
        sent = alice.send(chat, "Still the same harbour?", "after-the-upgrade")
        assert alice.messages(chat)[0]["id"] == sent["id"]
        alice.call("PATCH", f"/messages/messages/{sent['id']}", {"body": "Still the same old harbour?"})
        reply = bob.call("POST", "/auth/login", rows.BOB)
        assert reply["two_step_required"] is True
        assert server.stop() == 0
        assert "Traceback" not in server.output()
    finally:
        server.kill()
        alice.close()
        bob.close()


def lost(before, now, path=""):
    """The paths of what is missing or other than before; fields may have come."""
    if isinstance(before, dict) and isinstance(now, dict):
        return [
            line
            for key, value in before.items()
            if key not in MOMENTARY
            for line in (lost(value, now[key], f"{path}/{key}") if key in now else [f"{path}/{key}"])
        ]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        return [line for n, pair in enumerate(zip(before, now, strict=True)) for line in lost(*pair, f"{path}/{n}")]
    return [] if before == now else [f"{path}: {before!r} → {now!r}"]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_table_of_ours_had_a_row(tmp_path, version):
    """Counted in the tables that exist today and then, before anything is migrated."""
    with Installation(tmp_path, empty=True) as recorded:
        load(recorded, version)
        tables = asked(recorded, SCHEMA)["tables"]
        models = [m for m in apps.get_models(include_auto_created=True) if m._meta.app_label in own_apps()]
        empty = [
            table
            for table in sorted({m._meta.db_table for m in models} & tables.keys())
            if not recorded.rows(f"SELECT 1 FROM {table} LIMIT 1")
        ]
    assert empty == []


@pytest.mark.once
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda path: None, []),
        (lambda path: path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n")), []),
        (lambda path: path.write_text(path.read_text() + "# more\n"), ["is edited"]),
        (lambda path: path.rename(path.with_name("0001_begin.py")), ["comes before", "is missing"]),
        (lambda path: path.unlink(), ["is missing"]),
        (lambda path: path.with_name("0002_more.py").write_text("new\n"), []),
        (lambda path: path.with_name("0000_more.py").write_text("new\n"), ["comes before"]),
    ],
)
def test_a_released_migration_never_changes(tmp_path, change, words):
    migration = tmp_path / "accounts" / "migrations" / "0001_initial.py"
    migration.parent.mkdir(parents=True)
    migration.write_text("first\n")
    devtools_records.write_migrations("1.0.0", tmp_path)
    change(migration)
    problems = devtools_records.changed_migrations(tmp_path)
    assert len(problems) == len(words)
    for problem, word in zip(problems, words, strict=True):
        assert (word in problem and "1.0.0" in problem) or word == "comes before"


@pytest.mark.once
def test_no_released_migration_has_changed():
    assert devtools_records.changed_migrations() == []
    assert devtools_records.released(ROOT) == VERSIONS
