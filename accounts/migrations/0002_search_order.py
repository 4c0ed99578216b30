"""Folded names compare byte by byte on PostgreSQL: one index then serves prefix and order, as on SQLite."""

from typing import Any

from django.db import migrations

COLUMNS = {"username_folded": 64, "first_name_folded": 200, "last_name_folded": 200}


def use_byte_order(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        for column, length in COLUMNS.items():
            schema_editor.execute(
                f'ALTER TABLE accounts_user ALTER COLUMN {column} TYPE varchar({length}) COLLATE "C"'
            )


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]
    operations = [migrations.RunPython(use_byte_order, migrations.RunPython.noop)]
