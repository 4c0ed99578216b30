"""The database of a run, in the state that a living one has."""

from django.db import connection


def settle() -> None:
    """What autovacuum does within a minute, if it is on: fresh statistics, and no rows that nobody sees any more."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
