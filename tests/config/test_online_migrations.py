"""Migrations that run while users write: short waits for locks, indexes built beside them, batches that go on."""

import time

import pytest
from django.core.management import CommandError, call_command
from django.core.management.commands import migrate
from django.db import connection, models, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.models import Q

from accounts.models import AuditEntry
from core.database import online
from messaging.models import Conversation, Message
from server.management.commands.migrate import Command
from tests.factories import make_user
from tests.parallel import is_waited_for, open_transaction
from tests.server import ON_POSTGRES

on_postgres = pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has one writer")
INDEX = models.Index(fields=["opened_at"], name="socket_opened")
CHECK = models.CheckConstraint(condition=Q(acked_seq__gte=0), name="socket_acked_positive")


def apply(operation, *, backwards=False, atomic=False):
    """The operation as part of a migration of `realtime`."""
    before = MigrationLoader(connection).project_state()
    after = before.clone()
    operation.state_forwards("realtime", after)
    with connection.schema_editor(atomic=atomic) as editor:
        if backwards:
            operation.database_backwards("realtime", editor, after, before)
        else:
            operation.database_forwards("realtime", editor, before, after)


def selected(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()


def has_index():
    with connection.cursor() as cursor:
        return INDEX.name in connection.introspection.get_constraints(cursor, "realtime_socket")


def use_sockets():
    """What a request does to the table that it writes."""
    with connection.cursor() as cursor:
        cursor.execute("LOCK TABLE realtime_socket IN ROW EXCLUSIVE MODE")


@pytest.mark.django_db(transaction=True)
def test_an_index_is_added_and_removed_again_and_again():
    for _ in range(2):
        apply(online.AddIndexOnline("socket", INDEX))
        assert has_index()
        if not ON_POSTGRES:
            break
    apply(online.AddIndexOnline("socket", INDEX), backwards=True)
    assert not has_index()


@on_postgres
@pytest.mark.django_db(transaction=True)
def test_an_index_that_was_not_finished_is_built_anew_while_a_transaction_is_open():
    with connection.cursor() as cursor:
        cursor.execute("CREATE INDEX socket_opened ON realtime_socket (opened_at)")
        cursor.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'socket_opened'::regclass")
        cursor.execute("SET lock_timeout = '100ms'")
    # CREATE INDEX CONCURRENTLY waits for it longer than for a lock that others would queue behind.
    with open_transaction(use_sockets, until=lambda: is_waited_for(seconds=0.5)):
        apply(online.AddIndexOnline("socket", INDEX))
    assert selected("SELECT indisvalid FROM pg_index WHERE indexrelid = 'socket_opened'::regclass") == (True,)
    apply(online.AddIndexOnline("socket", INDEX), backwards=True)
    connection.close()


@on_postgres
@pytest.mark.django_db(transaction=True)
def test_a_check_is_added_in_steps_and_goes_on_after_an_interruption():
    statement = "SELECT convalidated FROM pg_constraint WHERE conname = 'socket_acked_positive'"
    with connection.cursor() as cursor:
        cursor.execute(
            "ALTER TABLE realtime_socket ADD CONSTRAINT socket_acked_positive CHECK (acked_seq >= 0) NOT VALID"
        )
    apply(online.AddCheckOnline("socket", CHECK))
    assert selected(statement) == (True,)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE realtime_socket DROP CONSTRAINT socket_acked_positive")
    apply(online.AddCheckOnline("socket", CHECK))
    assert selected(statement) == (True,)
    apply(online.AddCheckOnline("socket", CHECK), backwards=True)
    assert selected(statement) is None


@on_postgres
@pytest.mark.django_db(transaction=True)
def test_steps_need_a_migration_that_is_not_atomic():
    with pytest.raises(NotImplementedError, match="needs atomic = False"):
        apply(online.AddIndexOnline("socket", INDEX), atomic=True)


@pytest.mark.django_db(transaction=True)
def test_a_backfill_goes_on_where_it_was_stopped(capfd, monkeypatch):
    actor = make_user("Alice")
    AuditEntry.objects.bulk_create([AuditEntry(actor=actor, actor_label="a", action="old") for _ in range(25)])
    old = AuditEntry.objects.filter(action="old")
    batches = []
    update = models.QuerySet.update

    def counted(rows, **values):
        if len(batches) == 1:
            raise KeyboardInterrupt
        batches.append(update(rows, **values))
        return batches[-1]

    monkeypatch.setattr(models.QuerySet, "update", counted)
    with pytest.raises(KeyboardInterrupt):
        online.backfill(old, {"action": "new"}, batch=10)
    monkeypatch.setattr(models.QuerySet, "update", update)
    assert (batches, old.count()) == ([10], 15)
    assert online.backfill(old, {"action": "new"}, batch=10) == 15
    assert (old.count(), online.backfill(old, {"action": "new"})) == (0, 0)
    assert capfd.readouterr().err == ""  # a bar is for a terminal


@pytest.mark.django_db(transaction=True)
def test_a_backfill_ends_and_overwrites_nothing_while_others_write(monkeypatch):
    """Each batch meets a row that has got its value meanwhile, and a new row that has not."""
    actor = make_user("Alice")

    def add():
        return AuditEntry.objects.create(actor=actor, actor_label="a", action="old").id

    rows = [add() for _ in range(20)]
    update = models.QuerySet.update

    def meanwhile(found, **values):
        rows.append(add())
        update(AuditEntry.objects.filter(id=rows[(len(rows) - 20) * 10 - 1]), action="theirs")
        return update(found, **values)

    monkeypatch.setattr(models.QuerySet, "update", meanwhile)
    assert online.backfill(AuditEntry.objects.filter(action="old"), {"action": "new"}, batch=10) == 18
    actions = dict(AuditEntry.objects.values_list("id", "action"))
    assert [actions[row] for row in rows] == [*["new"] * 9, "theirs", *["new"] * 9, "theirs", "old", "old"]


@on_postgres
@pytest.mark.django_db(transaction=True)
def test_a_backfill_leaves_no_merging_of_an_index_to_users():
    alice, bob = make_user("Alice"), make_user("Bob")
    talk = Conversation.objects.create(user_low=alice, user_high=bob)
    rows = [Message(conversation=talk, sender=bob, body="harbour", body_folded="harbour") for _ in range(12)]
    Message.objects.bulk_create(rows)
    assert online.backfill(Message.objects.all(), {"body_folded": "boats"}, batch=5) == 12
    assert selected("SELECT gin_clean_pending_list('message_search')") == (0,)


@on_postgres
@pytest.mark.django_db(transaction=True)
def test_a_migration_waits_a_second_for_a_table_and_tries_again(monkeypatch, capsys):
    """Requests queue behind the one that waits: it must give up before they do."""
    waited = []

    def lock(self, *args, **options):
        began = time.monotonic()
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("LOCK TABLE realtime_socket IN ACCESS EXCLUSIVE MODE")
        finally:
            waited.append(time.monotonic() - began)

    monkeypatch.setattr(migrate.Command, "handle", lock)
    monkeypatch.setattr("server.management.commands.migrate.PAUSE_SECONDS", 0.2)
    with open_transaction(use_sockets, until=lambda: len(waited) >= 2):
        call_command("migrate")
    assert len(waited) > 1 and max(waited) < 2.5
    assert capsys.readouterr().err.count("A table is in use. Tried again in 0.2 s") == len(waited) - 1
    monkeypatch.setattr("server.management.commands.migrate.TRIES", 1)
    with open_transaction(use_sockets), pytest.raises(CommandError, match="too long"):
        call_command("migrate")
    connection.close()


@on_postgres
@pytest.mark.django_db(transaction=True)
def test_behind_a_bouncer_nothing_is_migrated(monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "DISABLE_SERVER_SIDE_CURSORS", True)
    monkeypatch.setattr(migrate.Command, "handle", lambda *_, **__: pytest.fail("it migrates"))
    with pytest.raises(CommandError, match="PgBouncer stands between: run migrate with a DATABASE_URL that leads"):
        call_command(Command())
