"""Imports the users of another service from a file of JSON lines, with one transaction for each batch."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import transaction
from rest_framework.exceptions import APIException, ValidationError

from accounts.services import provisioning
from core.database.transactions import unit_of_work

BATCH = 200
# The longest line: far above the longest valid one.
MAX_LINE = 20_000


@dataclass
class Counts:
    created: int = 0
    existing: int = 0
    refused: int = 0

    def add(self, other: "Counts") -> None:
        self.created += other.created
        self.existing += other.existing
        self.refused += other.refused


Validate = Callable[[Any], dict[str, Any]]


def import_lines(
    lines: Iterable[str],
    *,
    validate: Validate,
    on_refusal: Callable[[int, str], object],
    counts: Counts,
    dry_run: bool = False,
) -> None:
    """Creates a user for each line, and adds to `counts` after each batch. `validate` returns the arguments of
    `provisioning.create` for an object of JSON.

    An existing user is counted as such, so an interrupted import can start again from the beginning. With `dry_run` each
    batch is rolled back.
    """
    numbered = enumerate(lines, start=1)
    while batch := list(islice(numbered, BATCH)):
        done, refusals = Counts(), dict[int, str]()
        with transaction.atomic():
            with unit_of_work(savepoint=False):
                _import_batch(batch, validate, done, refusals)
            if dry_run:
                transaction.set_rollback(True)
        done.refused = len(refusals)
        counts.add(done)
        for number, reason in sorted(refusals.items()):
            on_refusal(number, reason)


def _import_batch(batch: list[tuple[int, str]], validate: Validate, counts: Counts, refusals: dict[int, str]) -> None:
    rows = {}
    for number, line in batch:
        if not line.strip():
            continue
        try:
            rows[number] = validate(_object(line))
        except ValidationError as error:
            refusals[number] = _sentence(error)
        except (ValueError, RecursionError):
            refusals[number] = "This is not a JSON object."
    known = provisioning.known_among(
        external_ids=[row["external_id"] for row in rows.values() if row.get("external_id")],
        emails=[row["email"] for row in rows.values() if not row.get("external_id")],
    )
    for number, row in rows.items():
        key = (row["external_id"],) if row.get("external_id") else row["email"]
        if key in known:
            counts.existing += 1
            continue
        try:
            with unit_of_work():
                provisioning.create(**row)
        except APIException as error:
            refusals[number] = _sentence(error)
        else:
            counts.created += 1
            known.add(key)


def _object(line: str) -> dict[str, Any]:
    if len(line) > MAX_LINE:
        raise ValueError("too long")
    value = json.loads(line)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _sentence(error: APIException) -> str:
    """The error without the values, because a line may contain a password."""
    if isinstance(error, ValidationError) and isinstance(error.detail, dict):
        return "; ".join(f"{name}: {' '.join(map(str, texts))}" for name, texts in error.detail.items())
    return f"{error.default_code}: {error.detail}"
