"""Deletion in batches."""

from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.db.models import Model, QuerySet

from core.database.transactions import lock_in_order


def batches_to_delete(rows: QuerySet[Any, Any], batch: int) -> Iterator[list[int]]:
    """The ids of these rows in batches, lowest first, for a caller that deletes each batch before it takes the next.

    Each search begins where the last one ended: an index names deleted rows until it is vacuumed, so a search from the
    beginning would take longer with every batch.
    """
    last = 0
    while ids := list(rows.filter(id__gt=last).order_by("id").values_list("id", flat=True)[:batch]):
        yield ids
        last = ids[-1]


# For each kind of row an iterator. Each step deletes one batch in a short transaction and yields the number of rows.
DeletionJobs = dict[str, Iterator[int]]


def run_first_batches(jobs: DeletionJobs, rows: int = 1) -> dict[str, int]:
    """Runs the batches of each job until they have deleted that many rows. Returns the number of rows by kind."""
    deleted = dict.fromkeys(jobs, 0)
    for kind, job in jobs.items():
        for count in job:
            deleted[kind] += count
            if deleted[kind] >= rows:
                break
    return deleted


def delete_in_batches(expired: QuerySet[Any, Any], batch: int) -> Iterator[int]:
    """Deletes the rows of a query, lowest ids first. Yields the number of rows of each batch."""
    model: type[Model] = expired.model
    for ids in batches_to_delete(expired, batch):
        with transaction.atomic():
            # Only rows that still match: the row of a code, for example, may be in use again by now.
            old = lock_in_order(expired.filter(id__in=ids), no_key=False)
            _all, by_model = model._default_manager.filter(id__in=old).delete()
        yield by_model.get(model._meta.label, 0)
