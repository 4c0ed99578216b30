"""Prepares the database of a benchmark run like a database in use."""

from django.db import connection


def settle() -> None:
    """VACUUM ANALYZE, as autovacuum does within a minute: fresh statistics, and no dead rows."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
