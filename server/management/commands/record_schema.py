"""`manage.py record_schema`: describes the schema that the migrations make, for `doctor` and `check --deploy`."""

import json
import secrets
from typing import Any

from django.db import connection

from core.commands import PlainCommand
from core.database.inspection import read_schema
from core.database.statements import on_postgresql
from server import drift


class Command(PlainCommand):
    help = (
        "Migrate a scratch database and write its schema into server/schema/. For developers, after a new migration: "
        "once on SQLite and once with the DATABASE_URL of a PostgreSQL server."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        name = connection.settings_dict["NAME"]
        # None: in memory, on SQLite.
        connection.settings_dict["TEST"]["NAME"] = f"schema_{secrets.token_hex(4)}" if on_postgresql() else None
        connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        try:
            schema = read_schema()
        finally:
            connection.creation.destroy_test_db(name, verbosity=0)
        path = drift.record_of(connection.vendor)
        path.parent.mkdir(exist_ok=True)
        path.write_text(as_lines(schema) + "\n", encoding="utf-8")
        self.report(f"Wrote {path.name}.")


def as_lines(value: Any, indent: str = "") -> str:
    """JSON with a line for each column, index and constraint, so that a change shows as one."""
    if not isinstance(value, dict) or not any(isinstance(part, dict) for part in value.values()):
        return json.dumps(value, sort_keys=True)
    inner = indent + " "
    lines = [f"{inner}{json.dumps(name)}: {as_lines(part, inner)}" for name, part in sorted(value.items())]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
