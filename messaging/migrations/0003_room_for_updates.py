"""On PostgreSQL, space in each page for the next version of a row that every message changes (HOT)."""

from typing import Any

from django.db import migrations


def leave_room(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("ALTER TABLE messaging_participant SET (fillfactor = 80)")


class Migration(migrations.Migration):
    dependencies = [("messaging", "0002_search_index")]
    operations = [migrations.RunPython(leave_room, migrations.RunPython.noop)]
