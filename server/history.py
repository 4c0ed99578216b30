"""Whether the database's history of migrations is one that this code can go on with.

A migration that a release has published never changes again (docs/guides/versioning.md), so a database that applied it has
what it makes. Any other database would be half changed by `migrate`, and answered with errors by the service.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.migrations.exceptions import InconsistentMigrationHistory
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from core.database.inspection import read_schema
from server.drift import own_apps

Key = tuple[str, str]

# Every database from before 1.0.0 has applied this one, and no later version has a migration of this name.
BEFORE_1_0_0: Key = ("accounts", "0002_search_order")
# Names of migrations begin with a number of so many digits.
NUMBER = 4
START_ANEW = (
    "Take a dump of it, export what you need with the code that made it (`manage.py export_user`), and give this"
    " version an empty database"
)
ON_A_LAPTOP = " (`python3 dev.py reset` on a developer's machine)"
RESTORE = "Restore a backup, or give this version an empty database"


def refusal() -> str:
    """One or two sentences: why `migrate` must not touch the database, and the way out. Empty when it may."""
    history = _History()
    return history.foreign() or history.newer() or history.incomplete()


def foreign() -> str:
    """As `refusal`, for code that only uses the database: a later release may have migrated it.

    The migrations of a release work with the code of the release before it, which goes on serving during an upgrade and
    after a step back.
    """
    return _History().foreign()


class _History:
    def __init__(self) -> None:
        self.loader = MigrationLoader(None, ignore_no_migrations=True)
        applied = MigrationRecorder(connection).applied_migrations().keys()
        self.own = {key for key in applied if key[0] in own_apps()}
        on_disk = {key for key in self.loader.disk_migrations if key[0] in own_apps()}
        replaced = {key for migration in self.loader.disk_migrations.values() for key in migration.replaces}
        self.unknown = self.own - on_disk - replaced
        self.known = self.own & on_disk
        self.waiting = on_disk - self.own

    def foreign(self) -> str:
        if BEFORE_1_0_0 in self.unknown:
            return f"This database is from a version before 1.0.0, which cannot be upgraded. {_start_anew()}."
        if self.unknown and not self._are_newer():
            names = _named(self.unknown)
            return f"This database has applied migrations that this code does not know ({names}). {_start_anew()}."
        try:
            self.loader.check_consistent_history(connection)
        except InconsistentMigrationHistory as error:
            return f"The history of this database has a gap: {str(error).rstrip('.')}. {RESTORE}."
        tables = set(connection.introspection.table_names()) if self.waiting else set()
        if early := sorted(tables & _columns(apps).keys() - self._made().keys()):
            return (
                f"The table {early[0]} exists, but the migration that makes it is not recorded as applied:"
                f" something else has made or restored a part of this database. {RESTORE}."
            )
        return ""

    def newer(self) -> str:
        if not self.unknown:
            return ""
        return (
            f"This database is from a newer version ({_named(self.unknown)}). Run the code of that version, or restore"
            " the backup from before the upgrade."
        )

    def incomplete(self) -> str:
        """Tables and columns of applied migrations that are missing; `doctor` names everything else that differs."""
        found = read_schema()["tables"] if self.known else {}
        for table, columns in sorted(self._made().items()):
            absent = sorted(columns - found[table]["columns"].keys()) if table in found else []
            if table not in found or absent:
                missing = f"column {table}.{absent[0]}" if absent else f"table {table}"
                return f"The {missing} is missing, which an applied migration has made. `manage.py doctor` names the repair."
        return ""

    def _are_newer(self) -> bool:
        """Whether each unknown migration has a higher number than all that this code has for its app, and those are
        applied."""
        return not any(
            (app, known) in self.waiting or name[:NUMBER] <= known[:NUMBER]
            for app, name in self.unknown
            for other, known in self.known | self.waiting
            if other == app
        )

    def _made(self) -> dict[str, set[str]]:
        """The columns of the tables that the applied migrations make."""
        return _columns(self.loader.project_state(sorted(self.known)).apps) if self.known else {}


def _start_anew() -> str:
    return START_ANEW + (ON_A_LAPTOP if settings.DEBUG and settings.EMBEDDED else "")


def _named(keys: Iterable[Key]) -> str:
    names = [".".join(key) for key in sorted(keys)]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _columns(registry: Any) -> dict[str, set[str]]:
    """Table → its columns, for the own models of a registry."""
    return {
        model._meta.db_table: {field.column for field in model._meta.local_concrete_fields}
        for model in registry.get_models(include_auto_created=True)
        if model._meta.app_label in own_apps() and model._meta.managed and not model._meta.proxy
    }
