"""The unique index of the address leaves out what is never there, on PostgreSQL.

With a plain one the address is a key that a foreign key could refer to, so that changing it waits for every transaction
that has just inserted a row of the user, and those wait for it: at the commit, where they already hold other locks.

The new index is built before the old one is dropped, without a lock that keeps users from signing in or changing. After
an interruption the migration can run again.
"""

from typing import Any

from django.db import migrations

PLAIN, PARTIAL = "accounts_user_email_key", "accounts_user_email_unique"


def make_partial(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"DROP INDEX IF EXISTS {PARTIAL}")
        schema_editor.execute(
            f"CREATE UNIQUE INDEX CONCURRENTLY {PARTIAL} ON accounts_user (email) WHERE email IS NOT NULL"
        )
        schema_editor.execute(f"ALTER TABLE accounts_user DROP CONSTRAINT IF EXISTS {PLAIN}")


def make_plain(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"ALTER TABLE accounts_user DROP CONSTRAINT IF EXISTS {PLAIN}")
        schema_editor.execute(f"DROP INDEX IF EXISTS {PLAIN}")
        schema_editor.execute(f"CREATE UNIQUE INDEX CONCURRENTLY {PLAIN} ON accounts_user (email)")
        schema_editor.execute(f"ALTER TABLE accounts_user ADD CONSTRAINT {PLAIN} UNIQUE USING INDEX {PLAIN}")
        schema_editor.execute(f"DROP INDEX IF EXISTS {PARTIAL}")


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("accounts", "0002_search_order")]
    operations = [migrations.RunPython(make_partial, make_plain)]
