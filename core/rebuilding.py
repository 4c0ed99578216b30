"""Computes columns of existing rows from their other columns."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db import connections, transaction

BATCH = 1_000


def rebuild_columns(
    model: Any,
    *,
    read: Sequence[str],
    write: Sequence[str],
    build: Callable[..., dict[str, str]],
    database: str,
    batch: int = BATCH,
) -> int:
    """Computes the columns in `write` of all rows of a model from those in `read`, where none of these is null. Writes the rows
    that differ; returns how many.

    For a migration that is not atomic. Each batch is a transaction of its own; after an interruption, finished batches
    are only read again. A row that changes between reading and writing is left as it is.
    """
    connection = connections[database]
    name = connection.ops.quote_name
    set_columns = ", ".join(f"{name(column)} = %s" for column in write)
    unchanged = " ".join(f"AND {name(column)} = %s" for column in read)
    statement = f"UPDATE {name(model._meta.db_table)} SET {set_columns} WHERE id = %s {unchanged}"
    written = last_id = 0
    while True:
        with transaction.atomic(using=database), connection.cursor() as cursor:
            rows = (
                model.objects.using(database).filter(id__gt=last_id).order_by("id").values("id", *read, *write)[:batch]
            )
            changes: list[list[Any]] = []
            count = 0
            for row in rows:
                count, last_id = count + 1, row["id"]
                sources = [row[column] for column in read]
                if None in sources:
                    continue
                values = build(*sources)
                if any(row[column] != values[column] for column in write):
                    changes.append([*(values[column] for column in write), last_id, *sources])
            cursor.executemany(statement, changes)
            written += len(changes)
        if count < batch:
            return written
