"""Compares the real schema with the one that the migrations make, and names what repairs each difference.

The wanted schema is recorded in `schema/`, one file for each database, by `manage.py record_schema`.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from django.apps import apps
from django.conf import settings
from django.db import Error as DatabaseProblem
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from core.database.inspection import CHANGED, INVALID, MISSING, UNEXPECTED, Difference, Schema, differences, read_schema
from server import health

ERROR, WARNING = "error", "warning"
# Of `check --deploy`. What belongs to other programs does not fail it.
ERROR_ID, OTHERS_ID, UNKNOWN_ID = "parley.E006", "parley.I006", "parley.I007"
CHECK_IDS = frozenset({ERROR_ID, OTHERS_ID, UNKNOWN_ID})


class Fault(NamedTuple):
    """A difference between the database and this code: `level` is ERROR or WARNING, `fix` a statement or a command."""

    level: str
    what: str
    fix: str


def record_of(vendor: str) -> Path:
    """The file with the schema that the migrations make on this kind of database."""
    return Path(__file__).parent / "schema" / f"{vendor}.json"


# A file, not scratch tables: docs/decisions/database.md#0111
@cache
def recorded(vendor: str) -> Schema:
    schema: Schema = json.loads(record_of(vendor).read_text(encoding="utf-8"))
    return schema


def faults() -> list[Fault]:
    """All differences, errors first. While migrations wait, the schema is not compared. DatabaseError."""
    found = list(_unknown_migrations(MigrationRecorder(connection).applied_migrations().keys()))
    if not found and not health.unapplied_migrations():
        found = list(compared(recorded(connection.vendor), read_schema(), connection.vendor))
    return sorted(found, key=lambda fault: fault.level != ERROR)


def faults_at_start() -> list[str]:
    """Sentences about what can be seen in one query: migrations that wait or are unknown, tables and columns that are
    missing. Empty while the database does not answer, because requests say that."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(_AT_START[connection.vendor])
            rows = cursor.fetchall()
    except DatabaseProblem as error:
        # Without its table of migrations the database is empty.
        is_empty = "django_migrations" in str(error)
        return ["The database is not up to date. Run `manage.py migrate`, or start with --prepare."] if is_empty else []
    applied = {(app, name) for kind, app, name in rows if kind == "migration"}
    found = [fault.what for fault in _unknown_migrations(applied) if fault.level == ERROR]
    if health.migrations_on_disk() - applied:
        return [*found, "The database is not up to date. Run `manage.py migrate`, or start with --prepare."]
    columns = {(table, column) for kind, table, column in rows if kind == "column"}
    wanted = recorded(connection.vendor)["tables"]
    lacking = sorted(
        f"{table}.{column}" for table in wanted for column in wanted[table]["columns"] if (table, column) not in columns
    )
    if lacking and not found:
        found.append(f"The database lacks {len(lacking)} columns, first {lacking[0]}. See `manage.py doctor`.")
    return found


_AT_START = {
    "postgresql": """
        SELECT 'migration', app::text, name::text FROM django_migrations
        UNION ALL
        SELECT 'column', c.relname::text, a.attname::text FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
          AND a.attnum > 0 AND NOT a.attisdropped
    """,
    "sqlite": """
        SELECT 'migration', app, name FROM django_migrations
        UNION ALL
        SELECT 'column', t.name, c.name FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'
    """,
}


def _unknown_migrations(applied: Any) -> Iterator[Fault]:
    """Migrations that the database has and this code does not know."""
    known = health.migrations_on_disk() | health.replaced_migrations()
    ours = own_apps()
    for app, name in sorted(set(applied) - known):
        if app in ours:
            yield Fault(
                ERROR,
                f"The database is newer than this code: it has the migration {app}.{name}.",
                "Install the version that made it, or restore a backup of this one.",
            )
        else:
            yield Fault(
                WARNING,
                f"The database has the migration {app}.{name} of an app that is not installed.",
                f"DELETE FROM django_migrations WHERE app = '{app}' AND name = '{name}';",
            )


@cache
def own_apps() -> frozenset[str]:
    """The labels of the apps of this project."""
    return frozenset(app.label for app in apps.get_app_configs() if Path(app.path).parent == Path(settings.BASE_DIR))


# --- The schema -----------------------------------------------------------------------------


def compared(expected: Schema, found: Schema, vendor: str) -> Iterator[Fault]:
    """The faults of a schema."""
    for difference in differences(expected, found):
        if not _is_told_elsewhere(difference, found):
            level = _level(difference)
            repair = _Repair(expected, vendor).of(difference)
            yield Fault(level, _sentence(difference), repair)


def _is_told_elsewhere(difference: Difference, found: Schema) -> bool:
    """Extensions, functions and sequences of others are theirs alone. A sequence goes with its column."""
    if difference.part in ("extension", "function"):
        return difference.kind == UNEXPECTED
    if difference.part == "sequence":
        if difference.kind == UNEXPECTED:
            return True
        table, _, column = str(difference.expected).rpartition(" ")[2].partition(".")
        return column not in found["tables"].get(table, {"columns": {}})["columns"]
    return False


def _level(difference: Difference) -> str:
    found = difference.found
    if difference.part == "storage":
        # Options that others have added to ours are theirs.
        return ERROR if set(difference.expected) - set(found) else WARNING
    if difference.kind != UNEXPECTED:
        return ERROR
    if difference.part == "column":
        return WARNING if found["nullable"] or found["default"] is not None or found["details"] else ERROR
    # A constraint of another program may refuse what this code writes.
    return ERROR if difference.part == "constraint" else WARNING


def _sentence(difference: Difference) -> str:
    where = f"{difference.part} {difference.name}" + (f" of table {difference.table}" if difference.table else "")
    if difference.part in ("table", "storage"):
        where = f"table {difference.table}"
    if difference.part == "storage":
        return f"The {where} has the options {difference.found or 'none'} instead of {difference.expected or 'none'}."
    if difference.kind == MISSING:
        return f"The {where} is missing."
    if difference.kind == INVALID and difference.part == "index":
        return f"The {where} is invalid: building it was interrupted, so queries do not use it."
    if difference.kind == INVALID:
        return f"The {where} is not validated."
    if difference.kind == CHANGED:
        return f"The {where} is {_shown(difference.found)} instead of {_shown(difference.expected)}."
    return f"The {where} is not part of this version."


def _shown(part: Any) -> str:
    if not isinstance(part, dict):
        return str(part)
    if "definition" in part:
        return str(part["definition"])
    return _column(part)


def _column(column: dict[str, Any]) -> str:
    """Type, collation, NOT NULL, default and the rest of a column, as both databases take it."""
    details = column["details"]
    is_collation = details.startswith("collate ")
    words = [
        column["type"],
        _collation(details) if is_collation else "",
        "" if column["nullable"] else "NOT NULL",
        "" if column["default"] is None else f"DEFAULT {column['default']}",
        "" if is_collation else _IDENTITY.get(details, details),
    ]
    return " ".join(word for word in words if word)


_IDENTITY = {"identity": "GENERATED BY DEFAULT AS IDENTITY", "always": "GENERATED ALWAYS AS IDENTITY"}


def _collation(details: str) -> str:
    return f'COLLATE "{details.removeprefix("collate ")}"' if details.startswith("collate ") else ""


class _Repair:
    """The statements that make the real schema the wanted one. They take no lock that users would notice where
    PostgreSQL allows it."""

    def __init__(self, expected: Schema, vendor: str) -> None:
        self.expected = expected
        self.on_postgresql = vendor == "postgresql"

    def of(self, difference: Difference) -> str:
        if difference.part == "table":
            return self._table(difference)
        if difference.part == "storage":
            return self._storage(difference)
        if difference.part == "extension":
            return f"CREATE EXTENSION {difference.name};"
        if difference.part in ("column", "index", "constraint"):
            parts = {"column": self._column, "index": self._index, "constraint": self._constraint}
            return parts[difference.part](difference)
        if difference.kind == UNEXPECTED:
            return "Remove it if it is not yours."
        return "Restore a backup, or make it as the migrations do (manage.py sqlmigrate)."

    def _table(self, difference: Difference) -> str:
        name = difference.table
        if difference.kind == UNEXPECTED:
            return "Leave it, or move it into a schema of its own." if self.on_postgresql else "Leave it."
        table = self.expected["tables"][name]
        lines = [f"{column} {_column(described)}" for column, described in table["columns"].items()]
        lines += [
            definition["definition"]
            if definition["definition"] == constraint
            else f"CONSTRAINT {constraint} {definition['definition']}"
            for constraint, definition in table["constraints"].items()
        ]
        storage = f" WITH ({', '.join(table['storage'])})" if self.on_postgresql and table["storage"] else ""
        statements = [f"CREATE TABLE {name} ({', '.join(lines)}){storage}"]
        statements += [index["definition"] for index in table["indexes"].values()]
        return "Restore a backup if it had rows. An empty one: " + " ".join(f"{each};" for each in statements)

    def _storage(self, difference: Difference) -> str:
        lacking = sorted(set(difference.expected) - set(difference.found))
        if not self.on_postgresql:
            return _REBUILD
        return f"ALTER TABLE {difference.table} SET ({', '.join(lacking)});" if lacking else "Leave it."

    def _column(self, difference: Difference) -> str:
        table, name, wanted, found = difference.table, difference.name, difference.expected, difference.found
        if difference.kind == MISSING:
            fix = f"ALTER TABLE {table} ADD COLUMN {name} {_column(wanted)};"
            is_filled = wanted["nullable"] or wanted["default"] is not None
            return fix if is_filled else f"{fix} A table with rows needs a DEFAULT with it."
        if difference.kind == UNEXPECTED:
            return f"ALTER TABLE {table} DROP COLUMN {name}; if nothing of yours needs it."
        if not self.on_postgresql:
            return _REBUILD
        changes = []
        if (wanted["type"], wanted["details"]) != (found["type"], found["details"]):
            kind = " ".join(filter(None, (wanted["type"], _collation(wanted["details"]))))
            changes.append(f"ALTER COLUMN {name} TYPE {kind}")
        if wanted["default"] != found["default"]:
            default = f"SET DEFAULT {wanted['default']}" if wanted["default"] is not None else "DROP DEFAULT"
            changes.append(f"ALTER COLUMN {name} {default}")
        if wanted["nullable"] != found["nullable"]:
            changes.append(f"ALTER COLUMN {name} {'DROP' if wanted['nullable'] else 'SET'} NOT NULL")
        return f"ALTER TABLE {table} {', '.join(changes)};"

    def _index(self, difference: Difference) -> str:
        concurrently = "CONCURRENTLY " if self.on_postgresql else ""
        drop = f"DROP INDEX {concurrently}{difference.name};"
        if difference.kind == UNEXPECTED:
            return f"{drop} if nothing of yours needs it."
        create = re.sub(r"\bINDEX ", f"INDEX {concurrently}", difference.expected["definition"], count=1)
        return f"{create};" if difference.kind == MISSING else f"{drop} {create};"

    def _constraint(self, difference: Difference) -> str:
        table, name = difference.table, difference.name
        if not self.on_postgresql:
            return _REBUILD
        drop = f"ALTER TABLE {table} DROP CONSTRAINT {name};"
        validate = f"ALTER TABLE {table} VALIDATE CONSTRAINT {name};"
        if difference.kind == INVALID:
            return validate
        if difference.kind == UNEXPECTED:
            return f"{drop} if nothing of yours needs it."
        definition = difference.expected["definition"]
        add = f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}"
        # Only these two can be added first and verified without a lock afterwards.
        add = f"{add} NOT VALID; {validate}" if definition.startswith(("CHECK", "FOREIGN KEY")) else f"{add};"
        return add if difference.kind == MISSING else f"{drop} {add}"


# SQLite can neither change a column nor add a constraint.
_REBUILD = "SQLite cannot change it in place: restore a backup, or copy the rows into a newly migrated database."
