"""Claims, releases and finishes deliveries: one statement each, for a whole batch.

A claim writes a lease into the row. The deliveries of a worker that died are claimed again when the lease has expired.
Invariant: every delivery is sent at least once; at most one batch per dead worker is sent twice.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any, cast

from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Greatest
from django.utils import timezone

from core.database.statements import as_parameter, is_any, moment, on_postgresql
from core.text import encodable
from notifications.conf import conf
from notifications.models import Delivery

State = Delivery.State

# Candidates per claimed delivery, and the fewest candidates: enough to take several recipients in turns.
_CANDIDATES_PER_ROW, _MIN_CANDIDATES = 4, 200
# The most deliveries that one sweep releases.
_SWEPT = 500


@dataclass(slots=True)
class DeliveryResult:
    """The new state of a leased delivery. Without `count_attempt` the attempt that the claim counted is taken back."""

    id: int
    lease_until: datetime
    state: str
    error: str = ""
    due_at: datetime | None = None
    count_attempt: bool = True
    provider_id: str = ""
    payload: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Claimed:
    """The columns of a leased delivery that its worker needs. It is not a model, because a worker claims thousands a
    second."""

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
    due_at: datetime
    expires_at: datetime
    lease_until: datetime

    def result(self, state: str, error: str = "", **more: Any) -> DeliveryResult:
        return DeliveryResult(id=self.id, lease_until=self.lease_until, state=state, error=error, **more)

    def unchanged(self, due_at: datetime | None = None) -> DeliveryResult:
        """Returns the delivery to the queue, as if it had not been claimed."""
        return self.result(State.PENDING, self.last_error, due_at=due_at, count_attempt=False)

    @property
    def recipient_key(self) -> int:
        """The recipient; a mail to an address without an account has a key of its own."""
        return self.recipient_id if self.recipient_id is not None else -self.id


_COLUMNS = ", ".join(column.name for column in fields(Claimed))

# PostgreSQL looks an array up in the index; with IN it may read the whole table to join it.
_FIRST = "SELECT id FROM ranked ORDER BY priority, turn, due_at, id LIMIT %s"


# docs/decisions/delivery.md#0025 explains the locks of a claim, and why its statement is not prepared.
def claim(*, channel: str, limit: int, busy: Collection[int] = ()) -> list[Claimed]:
    """Lease up to `limit` due deliveries, urgent ones first, in turns between their recipients.

    `busy` are recipients whose deliveries this worker already holds: only their calls and codes are claimed. Expired
    deliveries are claimed, too, and the worker finishes them; that needs no index of its own.
    """
    now = timezone.now()
    at = as_parameter(now)
    is_postgres = on_postgresql()
    # The statement is not prepared: the best plan depends on how many rows are due, which changes faster than the
    # statistics.
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
                WHERE state = 'pending' AND channel = %s AND due_at <= %s
                    AND (priority < {Delivery.Priority.MESSAGE:d} OR recipient_id IS NULL OR NOT {is_any("recipient_id")})
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
            WHERE id {f"= ANY(ARRAY({_FIRST}))" if is_postgres else f"IN ({_FIRST})"}
            RETURNING {_COLUMNS}
            """,
            [
                channel,
                at,
                as_parameter(set(busy)),
                max(limit * _CANDIDATES_PER_ROW, _MIN_CANDIDATES),
                as_parameter(now + timedelta(seconds=conf.LEASE_SECONDS)),
                limit,
            ],
        )
        claimed = [_claimed(*columns) for columns in cursor.fetchall()]
    return sorted(claimed, key=lambda row: (row.priority, row.due_at, row.id))


def claim_webhooks(*, target: str, limit: int) -> list[Claimed]:
    """Lease up to `limit` due webhooks of a target, in the order of their events, even when a retry has delayed one."""
    now = timezone.now()
    at = as_parameter(now)
    due = "SELECT id FROM notifications_delivery WHERE state = 'pending' AND channel = 'webhook' AND target = %s AND due_at <= %s"
    with connection.cursor() as cursor:
        if not on_postgresql():
            cursor.execute(f"{due} LIMIT 1", [target, at])
            if cursor.fetchone() is None:
                return []
        first = f"{due} ORDER BY id LIMIT %s {'FOR UPDATE SKIP LOCKED' if on_postgresql() else ''}"
        cursor.execute(
            f"""
            WITH candidate AS {"MATERIALIZED" if on_postgresql() else ""} ({first})
            UPDATE notifications_delivery SET state = 'leased', lease_until = %s, tries = tries + 1
            WHERE id IN (SELECT id FROM candidate) RETURNING {_COLUMNS}
            """,
            [target, at, limit, as_parameter(now + timedelta(seconds=conf.LEASE_SECONDS))],
        )
        claimed = [_claimed(*columns) for columns in cursor.fetchall()]
    return sorted(claimed, key=lambda row: row.id)


def release_webhooks(*, target: str, kept: Collection[int]) -> int:
    """Return the webhooks of a target that another process has leased, when this one begins to serve the target. `kept`
    are this process's own."""
    leased = Delivery.objects.filter(channel=Delivery.Channel.WEBHOOK, target=target, state=State.LEASED)
    return _release(leased.exclude(id__in=kept))


def _claimed(*columns: Any) -> Claimed:
    """Reads a row as the database returns it: JSON as text, and on SQLite times without a zone."""
    row = Claimed(*columns)
    # Most pushes have none.
    payload = cast(str, row.payload)
    row.payload = json.loads(payload) if payload != "{}" else {}
    row.touched_at, row.due_at = moment(row.touched_at), moment(row.due_at)
    row.expires_at, row.lease_until = moment(row.expires_at), moment(row.lease_until)
    return row


def finish(results: Sequence[DeliveryResult]) -> None:
    """Write the results of leased deliveries in one statement, which locks them in the order of their ids
    (`lock_in_order`).

    A sent delivery is recorded as sent even if another worker holds it now. Any other result is recorded only while the
    lease is still the worker's own.
    """
    if not results:
        return
    now = as_parameter(timezone.now())
    rows = [
        {
            "id": result.id,
            "lease": str(as_parameter(result.lease_until)),
            "state": str(result.state),
            "error": _storable(result.error)[:300],
            "due_at": str(as_parameter(result.due_at)) if result.due_at else None,
            "back": 0 if result.count_attempt else 1,
            "provider_id": _storable(result.provider_id)[:200],
            "payload": result.payload,
        }
        for result in results
    ]
    values: list[Any] = [now, json.dumps(rows)]
    if on_postgresql():
        source = (
            "SELECT * FROM jsonb_to_recordset(%s::jsonb) AS x(id bigint, lease timestamptz, state text,"
            " error text, due_at timestamptz, back int, provider_id text, payload jsonb)"
            " JOIN (SELECT id FROM notifications_delivery WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE) AS locked"
            " USING (id)"
        )
        values.append([result.id for result in results])
    else:
        columns = ", ".join(f"json_extract(value, '$.{name}') AS {name}" for name in rows[0])
        source = f"SELECT {columns} FROM json_each(%s)"
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
            values,
        )


def sweep() -> None:
    """Release the deliveries of dead workers, whose leases have expired."""
    now = timezone.now()
    abandoned = Delivery.objects.filter(state=State.LEASED, lease_until__lte=now)
    if abandoned.exists():
        with transaction.atomic():
            locked = abandoned.order_by("id").select_for_update(skip_locked=True).values_list("id", flat=True)
            _release(Delivery.objects.filter(id__in=list(locked[:_SWEPT])))


def release_all_leases() -> int:
    """Return every leased delivery at once, when the only worker of a database starts."""
    return _release(Delivery.objects.filter(state=State.LEASED))


def _release(rows: QuerySet[Delivery]) -> int:
    """Release deliveries without counting the attempt: the worker failed, not the delivery."""
    return rows.update(state=State.PENDING, lease_until=None, tries=Greatest(F("tries") - 1, 0))


def _storable(text: object) -> str:
    """Remove characters that PostgreSQL refuses, because the text may come from a faulty service."""
    return encodable(str(text)).replace("\x00", "")
