"""The unique index of the address leaves out what is never there, on PostgreSQL.

With a plain one the address is a key that a foreign key could refer to, so that changing it waits for every transaction
that has just inserted a row of the user, and those wait for it: at the commit, where they already hold other locks.
"""

from typing import Any

from django.db import migrations


def make_partial(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("ALTER TABLE accounts_user DROP CONSTRAINT accounts_user_email_key")
        schema_editor.execute(
            "CREATE UNIQUE INDEX accounts_user_email_unique ON accounts_user (email) WHERE email IS NOT NULL"
        )


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_search_order")]
    operations = [migrations.RunPython(make_partial, migrations.RunPython.noop)]
