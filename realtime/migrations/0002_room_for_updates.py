"""On PostgreSQL, space in each page for the next version of a row that every message changes (HOT)."""

from typing import Any

from django.db import migrations


def leave_room(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("ALTER TABLE realtime_stream SET (fillfactor = 70)")


class Migration(migrations.Migration):
    dependencies = [("realtime", "0001_initial")]
    operations = [migrations.RunPython(leave_room, migrations.RunPython.noop)]
