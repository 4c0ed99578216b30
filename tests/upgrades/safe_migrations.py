"""Whether the migrations after the first release are safe while users write and the release before serves (CONTRIBUTING.md).

Each operation must be one that is known to be safe: on a table that grows, and for code that does not know what it adds.
A migration that is safe for a reason of its own has the attribute `safe_because`, a sentence.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.db.migrations import Migration, operations
from django.db.migrations.state import ProjectState
from django.db.models import NOT_PROVIDED, CheckConstraint, Field, GeneratedField, Value

from devtools.environment import ROOT, say
from devtools.records import MIGRATIONS, released

ONLINE = "core.database.online"
# Operations that change nothing in the database, or its catalogs alone.
HARMLESS = (
    operations.AlterModelManagers,
    operations.AlterModelOptions,
    operations.AlterModelTableComment,
    operations.CreateModel,
    operations.RenameIndex,
)


def unsafe(migrations: Iterable[Migration]) -> list[str]:
    """A sentence for each operation of these migrations that is not known to be safe. They are in their order."""
    problems = []
    # Its tables were new.
    first = json.loads((ROOT / "releases" / released()[0] / MIGRATIONS).read_text(encoding="utf-8"))
    state = ProjectState()
    for migration in migrations:
        path = f"{migration.app_label}/migrations/{migration.name}.py"
        is_ours = (ROOT / migration.app_label / "migrations").is_dir()
        if is_ours and path not in first and not getattr(migration, "safe_because", ""):
            problems += [f"{path}: {problem}" for problem in _of_migration(migration, state)]
        migration.mutate_state(state, preserve=False)
    return problems


def _of_migration(migration: Migration, before: ProjectState) -> Iterator[str]:
    state = before.clone()
    # Without rows, and unknown to the release before.
    new: set[str] = set()
    for operation in migration.operations:
        name = operation.__class__.__name__
        if isinstance(operation, operations.CreateModel):
            new.add(operation.name_lower)
        is_online = operation.__class__.__module__ == ONLINE
        if is_online and migration.atomic:
            yield f"{name} needs atomic = False."
        elif not is_online and not migration.atomic:
            yield f"{name} may not be done twice after a kill: a migration of its own in a transaction, or `safe_because`."
        elif not is_online and (problem := _of_operation(operation, migration.app_label, state, new)):
            yield f"{name}: {problem}"
        operation.state_forwards(migration.app_label, state)


def _of_operation(operation: Any, app: str, state: ProjectState, new: set[str]) -> str:
    if isinstance(operation, operations.SeparateDatabaseAndState):
        found = [_of_operation(each, app, state, new) for each in operation.database_operations]
        return next(filter(None, found), "")
    model = getattr(operation, "model_name_lower", "") or getattr(operation, "model_name", "").lower()
    if isinstance(operation, HARMLESS) or model in new:
        return ""
    judge = JUDGES.get(operation.__class__)
    if judge is None:
        return "not known to be safe; `safe_because` of the migration is the place of a reason."
    return judge(operation, (app, model), state)


Key = tuple[str, str]


def _added_field(operation: Any, key: Key, state: ProjectState) -> str:
    field: Any = operation.field
    if field.many_to_many:
        return ""
    if isinstance(field, GeneratedField):
        return "a generated column writes the whole table anew."
    if field.unique or field.db_index:
        return "its index keeps users from writing: db_index=False, then AddIndexOnline."
    if field.null and field.db_default is NOT_PROVIDED:
        return ""
    if field.db_default is NOT_PROVIDED:
        return "the release before leaves it out of its rows: null=True, or a db_default."
    if hasattr(field.db_default, "resolve_expression") and not isinstance(field.db_default, Value):
        return "an expression may write the whole table anew: a constant, or null=True and Backfill."
    return ""


def _altered_field(operation: Any, key: Key, state: ProjectState) -> str:
    old, new = state.models[key].fields[operation.name], operation.field
    (_, old_path, _, was), (_, new_path, _, becomes) = old.deconstruct(), new.deconstruct()
    ignored = {*Field.non_db_attrs, "default"} - {"db_column"}
    changed = {name for name in was.keys() | becomes.keys() if was.get(name) != becomes.get(name)} - ignored
    if old_path != new_path:
        return "another type writes the table anew, and the release before reads the old one: a new column."
    if "null" in changed and not new.null:
        return "the release before writes NULL: AddCheckOnline a release later."
    if "max_length" in changed and (new.max_length or 0) < (old.max_length or 0):
        return "the release before writes longer values."
    if left := changed - {"null", "max_length", "db_default"}:
        return f"{', '.join(sorted(left))} changes: a new column, or `safe_because`."
    return ""


def _removed_constraint(operation: Any, key: Key, state: ProjectState) -> str:
    constraint = state.models[key].get_constraint_by_name(operation.name)
    return "" if isinstance(constraint, CheckConstraint) else "the release before may rely on it (ON CONFLICT)."


def _refused(sentence: str) -> Callable[[Any, Key, ProjectState], str]:
    return lambda operation, key, state: sentence


_REMOVED = (
    "the release before uses it: first remove the code, a release later `safe_because` says which release that was."
)
_RENAMED = "the release before uses the old name."
_ROWS = "rows are changed in batches: Backfill."
JUDGES: dict[type, Callable[[Any, Key, ProjectState], str]] = {
    operations.AddField: _added_field,
    operations.AlterField: _altered_field,
    operations.RemoveConstraint: _removed_constraint,
    operations.RemoveField: _refused(_REMOVED),
    operations.DeleteModel: _refused(_REMOVED),
    operations.RenameField: _refused(_RENAMED),
    operations.RenameModel: _refused(_RENAMED),
    operations.AlterModelTable: _refused(_RENAMED),
    operations.AddIndex: _refused("it keeps users from writing while it is built: AddIndexOnline."),
    operations.RemoveIndex: _refused("it waits for everybody who reads: RemoveIndexOnline."),
    operations.AddConstraint: _refused("it keeps users from writing while it looks at the rows: AddCheckOnline."),
    operations.RunPython: _refused(_ROWS),
    operations.RunSQL: _refused(_ROWS),
}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django
    from django.db.migrations.loader import MigrationLoader

    django.setup()
    graph = MigrationLoader(None, ignore_no_migrations=True).graph
    keys = dict.fromkeys(key for leaf in graph.leaf_nodes() for key in graph.forwards_plan(leaf))
    problems = unsafe(graph.nodes[key] for key in keys)
    for problem in problems:
        say(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
