"""`safe_migrations.py`: operations that are safe while users write pass, and every other one is named with the way out."""

import pytest
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.models import Q
from django.db.models.functions import Now

from core.database.online import AddCheckOnline, AddIndexOnline, Backfill, RemoveIndexOnline
from tests.upgrades.safe_migrations import unsafe

pytestmark = pytest.mark.once
INDEX = models.Index(fields=["sender"], name="message_of_sender")
CHECK = models.CheckConstraint(condition=Q(acked_seq__gte=0), name="acked_positive")
BADGE = migrations.CreateModel(
    "Badge",
    [
        ("id", models.BigAutoField(primary_key=True)),
        ("message", models.ForeignKey("messaging.message", models.CASCADE)),
    ],
)
SAFE = {
    "a column": (True, "messaging", migrations.AddField("message", "a", models.IntegerField(null=True))),
    "a column with a default": (True, "messaging", migrations.AddField("message", "a", models.IntegerField(db_default=0))),
    "a reference": (
        True,
        "messaging",
        migrations.AddField("message", "a", models.ForeignKey("accounts.user", models.CASCADE, null=True, db_index=False)),
    ),
    "a longer text": (True, "messaging", migrations.AlterField("message", "client_id", models.CharField(max_length=80, null=True, blank=True))),
    "a choice more": (True, "messaging", migrations.AlterField("message", "kind", models.CharField(max_length=5, choices=[("x", "x")], default="text"))),
    "NULL allowed": (True, "messaging", migrations.AlterField("message", "body_folded", models.TextField(blank=True, null=True))),
    "a table": (True, "messaging", BADGE),
    "an index": (False, "messaging", AddIndexOnline("message", INDEX)),
    "an index less": (False, "messaging", RemoveIndexOnline("message", "message_keyset")),
    "a check": (False, "realtime", AddCheckOnline("socket", CHECK)),
    "rows": (False, "messaging", Backfill("messaging", "Message", where=Q(body_folded=""), values={"body_folded": "x"})),
}  # fmt: skip
UNSAFE = {
    "a column that must be filled": (True, "messaging", migrations.AddField("message", "a", models.IntegerField(default=0)), "db_default"),
    "a column with a computed default": (True, "messaging", migrations.AddField("message", "a", models.DateTimeField(db_default=Now())), "a constant"),
    "a computed column": (
        True,
        "messaging",
        migrations.AddField("message", "a", models.GeneratedField(expression=models.F("id"), output_field=models.IntegerField(), db_persist=True)),
        "writes the whole table",
    ),
    "a column with an index": (True, "messaging", migrations.AddField("message", "a", models.IntegerField(null=True, db_index=True)), "AddIndexOnline"),
    "a reference with an index": (
        True,
        "messaging",
        migrations.AddField("message", "a", models.ForeignKey("accounts.user", models.CASCADE, null=True)),
        "AddIndexOnline",
    ),
    "a column outside of a transaction": (False, "messaging", migrations.AddField("message", "a", models.IntegerField(null=True)), "done twice"),
    "an index in a transaction": (True, "messaging", AddIndexOnline("message", INDEX), "atomic = False"),
    "an index that locks": (True, "messaging", migrations.AddIndex("message", INDEX), "AddIndexOnline"),
    "an index less that locks": (True, "messaging", migrations.RemoveIndex("message", "message_keyset"), "RemoveIndexOnline"),
    "a check that locks": (True, "realtime", migrations.AddConstraint("socket", CHECK), "AddCheckOnline"),
    "a unique constraint less": (True, "messaging", migrations.RemoveConstraint("message", "message_call"), "ON CONFLICT"),
    "another type": (True, "messaging", migrations.AlterField("message", "call_id", models.TextField(null=True)), "a new column"),
    "NOT NULL": (True, "messaging", migrations.AlterField("message", "call_id", models.BigIntegerField(db_default=0)), "AddCheckOnline"),
    "a shorter text": (True, "messaging", migrations.AlterField("message", "client_id", models.CharField(max_length=9, null=True)), "longer"),
    "another collation": (True, "messaging", migrations.AlterField("message", "body_folded", models.TextField(db_collation="C")), "db_collation changes"),
    "another column": (True, "messaging", migrations.RenameField("message", "body", "text"), "old name"),
    "another name": (True, "messaging", migrations.RenameModel("Reaction", "Like"), "old name"),
    "another table": (True, "messaging", migrations.AlterModelTable("reaction", "likes"), "old name"),
    "a column less": (True, "messaging", migrations.RemoveField("message", "call_media"), "a release later"),
    "a table less": (True, "messaging", migrations.DeleteModel("Reaction"), "a release later"),
    "all rows at once": (True, "messaging", migrations.RunPython(migrations.RunPython.noop), "Backfill"),
    "all rows in SQL": (True, "messaging", migrations.RunSQL("UPDATE messaging_message SET call_id = 1"), "Backfill"),
    "a lock behind a state": (
        True,
        "messaging",
        migrations.SeparateDatabaseAndState([migrations.AddIndex("message", INDEX)], []),
        "AddIndexOnline",
    ),
    "something new": (True, "messaging", migrations.AlterUniqueTogether("message", {("id", "call_id")}), "safe_because"),
}  # fmt: skip


@pytest.fixture(scope="module")
def released():
    """All migrations of this checkout in their order."""
    graph = MigrationLoader(None, ignore_no_migrations=True).graph
    keys = dict.fromkeys(key for leaf in graph.leaf_nodes() for key in graph.forwards_plan(leaf))
    return [graph.nodes[key] for key in keys]


def made(app, *operations, atomic=True):
    migration = migrations.Migration("9999_more", app)
    migration.operations, migration.atomic = list(operations), atomic
    return migration


def test_the_migrations_of_this_checkout_are_safe(released):
    assert unsafe(released) == []


@pytest.mark.parametrize("case", SAFE)
def test_what_users_do_not_notice_passes(released, case):
    atomic, app, operation = SAFE[case]
    assert unsafe([*released, made(app, operation, atomic=atomic)]) == []


@pytest.mark.parametrize("case", UNSAFE)
def test_what_stops_users_or_the_release_before_is_named(released, case):
    atomic, app, operation, way = UNSAFE[case]
    migration = made(app, operation, atomic=atomic)
    (problem,) = unsafe([*released, migration])
    assert problem.startswith(f"{app}/migrations/9999_more.py: {operation.__class__.__name__}")
    assert way in problem
    migration.safe_because = "The table has one row."
    assert unsafe([*released, migration]) == []


def test_a_table_of_the_same_migration_has_no_rows(released):
    field = migrations.AddField("badge", "name", models.TextField(default="", unique=True))
    assert unsafe([*released, made("messaging", BADGE, field)]) == []
    assert len(unsafe([*released, made("messaging", BADGE), made("messaging", field)])) == 1
