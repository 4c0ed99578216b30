"""Operations for migrations that run while users write: on PostgreSQL no lock is held for longer than a moment.

A migration with one of them has `atomic = False`, so that each step commits by itself, and may be started again after an
interruption at any point: what is done already is skipped. On SQLite, which has one writer, they do the same in one step.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.db import DatabaseError, connections, transaction
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import AddConstraint, AddIndex, RemoveIndex, RunPython
from django.db.migrations.state import ProjectState
from django.db.models import CheckConstraint, Max, Min, Q
from tqdm import tqdm

from core.database.exclusive import LOCK_TIMEOUT

BATCH = 1_000


class AddIndexOnline(AddIndex):
    """Adds an index with CREATE INDEX CONCURRENTLY. An invalid one, left by an interruption, is built again."""

    atomic = False

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        if not _in_steps(self, schema_editor):
            super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        model = to_state.apps.get_model(app_label, self.model_name)
        if not self.allow_migrate_model(schema_editor.connection.alias, model):
            return
        is_valid = _selected(
            schema_editor, "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", [self.index.name]
        )
        if is_valid:
            return
        with _without_lock_timeout(schema_editor):
            if is_valid is False:
                schema_editor.execute(f"DROP INDEX CONCURRENTLY {schema_editor.quote_name(self.index.name)}")
            schema_editor.execute(self.index.create_sql(model, schema_editor, concurrently=True), params=None)

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        _drop_index(self, self.index.name, schema_editor, super().database_backwards, app_label, from_state, to_state)


class RemoveIndexOnline(RemoveIndex):
    """Removes an index with DROP INDEX CONCURRENTLY."""

    atomic = False

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        _drop_index(self, self.name, schema_editor, super().database_forwards, app_label, from_state, to_state)


class AddCheckOnline(AddConstraint):
    """Adds a check for new rows first, then looks at the rows that are there without keeping users from writing."""

    atomic = False

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        if not isinstance(self.constraint, CheckConstraint):
            raise TypeError("AddCheckOnline adds a CheckConstraint. A unique one begins with an index: AddIndexOnline.")
        if not _in_steps(self, schema_editor):
            super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        model = to_state.apps.get_model(app_label, self.model_name)
        if not self.allow_migrate_model(schema_editor.connection.alias, model):
            return
        table, name = model._meta.db_table, self.constraint.name
        statement = "SELECT convalidated FROM pg_constraint WHERE conrelid = to_regclass(%s) AND conname = %s"
        is_valid = _selected(schema_editor, statement, [table, name])
        if is_valid is None:
            schema_editor.execute(f"{self.constraint.create_sql(model, schema_editor)} NOT VALID", params=None)
        if not is_valid:
            quote = schema_editor.quote_name
            schema_editor.execute(f"ALTER TABLE {quote(table)} VALIDATE CONSTRAINT {quote(name)}")


class Backfill(RunPython):
    """Changes rows in batches of a transaction each, with a bar on a terminal.

    `where` selects the rows that still have to be changed, so that a second run goes on where the first one stopped;
    `values` are what `QuerySet.update` takes. `Backfill("messaging", "Message", where=Q(words=None), values={"words": 0})`.
    """

    atomic = False

    def __init__(
        self, app_label: str, model_name: str, *, where: Q, values: dict[str, Any], batch: int = BATCH
    ) -> None:
        self.target, self.where, self.values, self.batch = (app_label, model_name), where, values, batch
        super().__init__(self._run, RunPython.noop)

    def deconstruct(self) -> Any:
        words = {"where": self.where, "values": self.values, "batch": self.batch}
        return self.__class__.__name__, list(self.target), words

    def _run(self, apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
        backfill(
            apps.get_model(*self.target).objects.using(schema_editor.connection.alias).filter(self.where),
            self.values,
            batch=self.batch,
        )


def backfill(rows: Any, values: dict[str, Any], *, batch: int = BATCH) -> int:
    """Updates the rows of a QuerySet that are there, in the order of their ids, a transaction for each batch. Returns how
    many. Rows that come meanwhile are left out: where users write all the time, it would not end."""
    bounds = rows.aggregate(first=Min("id"), last=Max("id"))
    if bounds["first"] is None:
        return 0
    changed, after, last = 0, bounds["first"] - 1, bounds["last"]
    tidy = _gin_tidier(rows)
    with tqdm(total=last - after, desc=rows.model._meta.db_table, file=sys.stderr, disable=not _is_terminal()) as bar:
        while True:
            left = rows.filter(id__gt=after, id__lte=last).order_by("id")
            ids = list(left.values_list("id", flat=True)[:batch])
            if not ids:
                bar.update(last - after)
                return changed
            with transaction.atomic(using=rows.db):
                # Not a row that has got its value since it was found.
                changed += rows.filter(id__in=ids).update(**values)
            tidy()
            bar.update(ids[-1] - after)
            after = ids[-1]


# While a batch holds its rows, the list was merged for up to 2.4 s: docs/decisions/database.md#0124
def _gin_tidier(rows: Any) -> Callable[[], None]:
    """Merges the entries that GIN indexes of the table have put off; to be called while no row is held."""
    connection = connections[rows.db]
    if connection.vendor != "postgresql":
        return lambda: None
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT i.indexrelid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam"
            " WHERE i.indrelid = to_regclass(%s) AND a.amname = 'gin'",
            [rows.model._meta.db_table],
        )
        indexes = [index for (index,) in cursor.fetchall()]

    def tidy() -> None:
        with connection.cursor() as cursor:
            for index in indexes:
                cursor.execute("SELECT gin_clean_pending_list(%s::oid::regclass)", [index])

    return tidy


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _in_steps(operation: Any, schema_editor: BaseDatabaseSchemaEditor) -> bool:
    """Whether the database is PostgreSQL. NotImplementedError inside a transaction, which cannot be done in steps."""
    if schema_editor.connection.vendor != "postgresql":
        return False
    if schema_editor.connection.in_atomic_block:
        raise NotImplementedError(f"A migration with {operation.__class__.__name__} needs atomic = False.")
    return True


def _selected(schema_editor: BaseDatabaseSchemaEditor, statement: str, params: list[Any]) -> Any:
    """The only value of the only row; None without a row."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(statement, params)
        row = cursor.fetchone()
    return row[0] if row else None


def _drop_index(
    operation: Any,
    name: str,
    schema_editor: BaseDatabaseSchemaEditor,
    in_one_step: Callable[..., None],
    app_label: str,
    from_state: ProjectState,
    to_state: ProjectState,
) -> None:
    if not _in_steps(operation, schema_editor):
        in_one_step(app_label, schema_editor, from_state, to_state)
        return
    with _without_lock_timeout(schema_editor):
        schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {schema_editor.quote_name(name)}")


@contextmanager
def _without_lock_timeout(schema_editor: BaseDatabaseSchemaEditor) -> Iterator[None]:
    """What works concurrently waits for open transactions, and users do not wait behind it."""
    schema_editor.execute("SET lock_timeout = 0")
    try:
        yield
    finally:
        with suppress(DatabaseError):
            schema_editor.execute(f"SET lock_timeout = '{LOCK_TIMEOUT}'")
