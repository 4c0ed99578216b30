"""How workers take rows, give them back and finish them: a statement each, for a whole batch.

Taking writes a lease into the row. A worker that dies leaves its rows leased, and they are taken
again when the lease is over: everything is sent at least once, and twice at most one batch a death.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Greatest
from django.utils import timezone

from notifications.conf import conf
from notifications.models import Delivery

State = Delivery.State

# Rows that a claim looks at, per row that it takes and at least, to serve many people and not one.
_LOOK_AHEAD, _LOOK_AT_LEAST = 4, 200


@dataclass(slots=True)
class Claimed:
    """A leased row: what its lane needs of it, and no model, for thousands pass a second."""

    id: int
    kind: str
    group_key: str
    priority: int
    recipient_id: int | None
    device_id: int | None
    notification_id: int | None
    payload: dict[str, Any]
    tries: int
    last_error: str
    touched_at: datetime
    expires_at: datetime
    lease_until: datetime


@dataclass(slots=True)
class Ending:
    """What becomes of a leased row. `charge` keeps the try that the claim counted."""

    id: int
    lease_until: datetime
    state: str
    error: str = ""
    due_at: datetime | None = None
    charge: bool = True
    provider_id: str = ""
    payload: dict[str, Any] = field(default_factory=dict)


_COLUMNS = tuple(column.name for column in fields(Claimed))


def claim(*, channel: str, limit: int, busy: Collection[int] = ()) -> list[Claimed]:
    """Lease up to `limit` due rows, the urgent ones first, in turns between their recipients.

    `busy` are recipients whose rows this worker already holds.
    """
    if limit < 1:
        return []
    now = timezone.now()
    at = _moment(now)
    others, own = "", []
    if busy:
        own = list(busy)
        # A call or a code does not wait until the person's earlier pushes are through.
        others = f"AND (priority < 2 OR recipient_id IS NULL OR recipient_id NOT IN ({', '.join(['%s'] * len(own))}))"
    is_postgres = connection.vendor == "postgresql"
    with connection.cursor() as cursor:
        if not is_postgres:
            # An idle worker must not queue for the one write lock of the file.
            cursor.execute(
                "SELECT 1 FROM notifications_delivery"
                " WHERE state = 'pending' AND channel = %s AND due_at <= %s LIMIT 1",
                [channel, at],
            )
            if cursor.fetchone() is None:
                return []
        cursor.execute(
            f"""
            WITH candidate AS MATERIALIZED (
                SELECT id, recipient_id, priority, due_at FROM notifications_delivery
                WHERE state = 'pending' AND channel = %s AND due_at <= %s AND expires_at > %s {others}
                ORDER BY priority, due_at LIMIT %s
                {"FOR UPDATE SKIP LOCKED" if is_postgres else ""}
            ), ranked AS (
                SELECT id, priority, due_at, row_number() OVER (
                    PARTITION BY coalesce(recipient_id, -id) ORDER BY priority, due_at, id
                ) AS turn FROM candidate
            )
            UPDATE notifications_delivery
            SET state = 'leased', lease_until = %s, tries = tries + 1,
                dedupe_key = CASE WHEN dedupe_key LIKE '%%:open'
                    THEN substr(dedupe_key, 1, length(dedupe_key) - 4) || id ELSE dedupe_key END
            WHERE id IN (SELECT id FROM ranked ORDER BY priority, turn, due_at, id LIMIT %s)
            RETURNING id
            """,
            [
                channel,
                at,
                at,
                *own,
                max(limit * _LOOK_AHEAD, _LOOK_AT_LEAST),
                _moment(now + timedelta(seconds=conf.LEASE_SECONDS)),
                limit,
            ],
        )
        ids = [row[0] for row in cursor.fetchall()]
    rows = Delivery.objects.filter(id__in=ids).order_by("priority", "due_at", "id")
    return [Claimed(*values) for values in rows.values_list(*_COLUMNS)]


def finish(endings: Sequence[Ending]) -> None:
    """Write what became of leased rows, in one statement.

    A row that was sent is sent, whoever holds it by now. Everything else counts only while the
    lease is still the one that was given.
    """
    if not endings:
        return
    now = _moment(timezone.now())
    rows = [
        {
            "id": ending.id,
            "lease": _text(ending.lease_until),
            "state": str(ending.state),
            "error": _storable(ending.error)[:300],
            "due_at": _text(ending.due_at) if ending.due_at else None,
            "back": 0 if ending.charge else 1,
            "provider_id": _storable(ending.provider_id)[:200],
            "payload": json.dumps(ending.payload),
        }
        for ending in endings
    ]
    if connection.vendor == "postgresql":
        source = (
            "SELECT * FROM jsonb_to_recordset(%s::jsonb) AS x(id bigint, lease timestamptz, state text,"
            " error text, due_at timestamptz, back int, provider_id text, payload jsonb)"
        )
    else:
        names = ("id", "lease", "state", "error", "due_at", "back", "provider_id", "payload")
        columns = ", ".join(f"json_extract(value, '$.{name}') AS {name}" for name in names)
        source = f"SELECT {columns} FROM json_each(%s)"
    if connection.vendor == "postgresql":
        for row in rows:
            row["payload"] = json.loads(row["payload"])  # type: ignore[arg-type]
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            UPDATE notifications_delivery AS d
            SET state = v.state, lease_until = NULL, last_error = v.error, provider_id = v.provider_id,
                due_at = coalesce(v.due_at, d.due_at), tries = d.tries - v.back,
                payload = CASE WHEN v.state = 'pending' THEN d.payload ELSE v.payload END,
                finished_at = CASE WHEN v.state = 'pending' THEN NULL ELSE %s END
            FROM ({source}) AS v
            WHERE d.id = v.id AND (
                (v.state = 'sent' AND d.state IN ('leased', 'pending'))
                OR (d.state = 'leased' AND d.lease_until = v.lease)
            )
            """,
            [now, json.dumps(rows)],
        )


def sweep() -> None:
    """Take over the rows of dead workers and retire what is no longer worth sending."""
    now = timezone.now()
    abandoned = Delivery.objects.filter(state=State.LEASED, lease_until__lte=now)
    if abandoned.exists():
        with transaction.atomic():
            _give_back(Delivery.objects.filter(id__in=_locked(abandoned)))
    late = Delivery.objects.filter(state=State.PENDING, expires_at__lte=now)
    if late.exists():
        with transaction.atomic():
            Delivery.objects.filter(id__in=_locked(late)).update(state=State.EXPIRED, finished_at=now, payload={})


def release_all_leases() -> int:
    """Return every leased row at once: for the one worker of a database, when it starts."""
    return _give_back(Delivery.objects.filter(state=State.LEASED))


def _give_back(rows: QuerySet[Delivery]) -> int:
    """The death of a worker is not the rows' failure: it costs them no try, or a bad day would lose them."""
    return rows.update(state=State.PENDING, lease_until=None, tries=Greatest(F("tries") - 1, 0))


def _storable(text: object) -> str:
    """Without what PostgreSQL refuses: it may come from a service that answers garbage."""
    return str(text).encode("utf-8", "replace").decode().replace("\x00", "")


def _locked(rows: QuerySet[Delivery], limit: int = 500) -> list[int]:
    locked = rows.order_by("id").select_for_update(skip_locked=True)
    return list(locked.values_list("id", flat=True)[:limit])


def _moment(value: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(value)


def _text(value: datetime) -> str:
    return str(_moment(value))
