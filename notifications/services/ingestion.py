"""Verifies and ingests events of other services; each event id counts once."""

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import connection, transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from accounts.exceptions import TokenInvalid
from accounts.selectors import existing_user_ids
from core.characters import clean_name
from core.database.statements import as_parameter
from core.database.transactions import unit_of_work
from core.ids import parse_id
from core.text import is_encodable
from notifications.conf import conf
from notifications.kinds import ACTIONS, EVENT_ID_LENGTH, EVENT_KINDS, KINDS, SWITCHES, TITLE_LENGTH
from notifications.models import IngestedEvent
from notifications.services import social

EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)

# INSERT … ON CONFLICT: a concurrent second insert waits for the first, and then finds the conflict.
# An id is free again when its time is over, even if its row still exists.
_INSERT_EVENT_ID = f"""
INSERT INTO {IngestedEvent._meta.db_table} AS stored (source, event_id, digest, created_at) VALUES (%s, %s, %s, %s)
ON CONFLICT (source, event_id) DO UPDATE SET digest = excluded.digest, created_at = excluded.created_at
WHERE stored.created_at < %s
"""


@dataclass(frozen=True, slots=True)
class Source:
    """A service that may post events of some kinds."""

    name: str
    key: str
    kinds: frozenset[str]


# The operator at the command line.
LOCAL = Source(name="manage.py", key="", kinds=EVENT_KINDS)


def sources() -> list[Source]:
    """The configured services. ImproperlyConfigured for a setting that cannot be parsed."""
    entries: list[str] = []
    for word in re.split(r"[\s,;]+", conf.EVENT_SOURCES.strip()):
        # `name:key:post_like,comment` continues its types after a comma; another entry has a colon.
        if ":" in word or not entries:
            entries.append(word)
        elif word:
            entries[-1] += f"|{word}"
    return [_source(entry) for entry in entries if entry]


def sent_switches() -> list[str]:
    """The preferences of the kinds that are sent here: of messages, and of what the configured services may post."""
    kinds = {"message"}.union(*(source.kinds for source in sources()))
    return [name for name in SWITCHES if any(KINDS[kind].switch == name for kind in kinds)]


def source_keys() -> list[str]:
    """The keys of the services; none for a setting that cannot be parsed."""
    try:
        return [source.key for source in sources()]
    except ImproperlyConfigured:
        return []


def _source(entry: str) -> Source:
    name, _, rest = entry.partition(":")
    key, separator, types = rest.rpartition(":")
    if not separator:
        key, types = rest, "*"
    allowed = frozenset(filter(None, re.split(r"[|+]", types)))
    if not name or not key or not allowed <= {*KINDS, "*"}:
        raise ImproperlyConfigured(
            f"EVENT_SOURCES is name:key:type,type[;name:key:type…]; the entry {name!r} is not. "
            f"Types are {', '.join(sorted(EVENT_KINDS))}."
        )
    # Only messaging sends messages, even if the setting allows their type.
    kinds = EVENT_KINDS if allowed <= {"*"} else allowed & EVENT_KINDS
    return Source(name=name[:60], key=key, kinds=kinds)


def source_of(*, message_id: str, timestamp: str, signature: str, body: bytes) -> Source:
    """The source that signed this, as Standard Webhooks describes it. TokenInvalid for any failure.

    The signature is HMAC-SHA256 over id, timestamp (seconds, at most EVENT_TOLERANCE_SECONDS away) and
    body, keyed by the UTF-8 bytes of the key; there may be several, and a source may have several keys.
    """
    if not message_id or not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise TokenInvalid
    if abs(timezone.now().timestamp() - int(timestamp)) > conf.EVENT_TOLERANCE_SECONDS:
        raise TokenInvalid
    signed = f"{message_id}.{timestamp}.".encode("latin-1", "replace") + body
    signatures = [
        part.removeprefix("v1,").encode("latin-1", "replace") for part in signature.split() if part.startswith("v1,")
    ]
    for source in sources():
        expected = base64.b64encode(hmac.digest(source.key.encode(), signed, "sha256"))
        if any(hmac.compare_digest(expected, candidate) for candidate in signatures):
            return source
    raise TokenInvalid


def ingest(*, source: Source, events: Sequence[object]) -> list[dict[str, str | None]]:
    """Ingests the events one by one, each in its own transaction; returns a result for each, in their order.

    created, aggregated, retracted, duplicate, suppressed:self|blocked|preference, or rejected:<code>
    with validation_error, type_not_allowed, user_not_found, not_found (nothing to retract), conflict
    (the same event_id with other content).
    """
    parsed = [_parse(event, source) for event in events]
    valid = [event for event in parsed if not isinstance(event, str)]
    known_ids = existing_user_ids({event[name] for event in valid for name in ("recipient_id", "actor_id")})
    results = []
    for raw, event in zip(events, parsed, strict=True):
        if isinstance(event, str):
            result = f"rejected:{event}"
        elif event["recipient_id"] not in known_ids or event["actor_id"] not in known_ids:
            result = "rejected:user_not_found"
        else:
            result = _ingest_event(source, **event)
        results.append({"event_id": _event_id(raw), "result": result})
    return results


def _ingest_event(source: Source, event_id: str, **content: Any) -> str:
    # Equal for a repeat, different for a conflict.
    digest = hashlib.sha256(json.dumps(list(content.values()), default=datetime.isoformat).encode()).hexdigest()
    now = timezone.now()
    forgotten = now - timedelta(days=conf.KEEP_EVENT_DAYS)
    values = [source.name, event_id, digest, as_parameter(now), as_parameter(forgotten)]
    with unit_of_work():
        with connection.cursor() as cursor:
            cursor.execute(_INSERT_EVENT_ID, values)
            is_new = cursor.rowcount == 1
        if not is_new:
            stored = IngestedEvent.objects.filter(source=source.name, event_id=event_id).first()
            return "duplicate" if stored is None or stored.digest == digest else "rejected:conflict"
        result = social.apply_event(**content)
        if result is social.EventResult.NOT_FOUND:
            # The retraction may have overtaken its event. It is not recorded, so that it counts when it is sent again.
            transaction.set_rollback(True)
    return f"rejected:{result}" if result is social.EventResult.NOT_FOUND else str(result)


def _parse(raw: object, source: Source) -> dict[str, Any] | str:
    """The event's id and what `social.apply_event` takes, or the code it is rejected with.

    The stored digest is of these values, in this order.
    """
    try:
        event = _validated(raw)
    except (ValueError, OverflowError):
        return "validation_error"
    return event if event["kind"] in source.kinds else "type_not_allowed"


def _validated(raw: object) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise ValueError
    event_id, kind, action = _event_id(raw), raw.get("type"), raw.get("action", "create")
    if event_id is None or not isinstance(kind, str) or kind not in KINDS or action not in ACTIONS:
        raise ValueError
    has_target = KINDS[kind].has_target
    target = raw.get("target") if has_target else {}
    if not isinstance(target, dict):
        raise ValueError
    return {
        "event_id": event_id,
        "kind": kind,
        "action": action,
        "recipient_id": _id(raw.get("recipient_id")),
        "actor_id": _id(raw.get("actor_id")),
        "target_id": _id(target.get("id")) if has_target else None,
        "title": _title(target.get("title")),
        "comment_id": None if raw.get("comment_id") is None else _id(raw["comment_id"]),
        "occurred_at": _moment(raw.get("occurred_at")),
    }


def _event_id(raw: object) -> str | None:
    """The event's id, if it is valid: 1 to 128 printable characters."""
    event_id = raw.get("event_id") if isinstance(raw, dict) else None
    if isinstance(event_id, str) and 1 <= len(event_id) <= EVENT_ID_LENGTH and event_id.isprintable():
        return event_id
    return None


def _id(value: object) -> int:
    number = parse_id(value) if isinstance(value, int) else None
    if number is None:
        raise ValueError
    return number


def _title(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or "\0" in value or not is_encodable(value):
        raise ValueError
    return clean_name(value)[:TITLE_LENGTH]


def _moment(value: object) -> datetime | None:
    if value is None:
        return None
    moment = parse_datetime(value) if isinstance(value, str) else None
    if moment is None or moment.tzinfo is None or moment < EARLIEST:
        raise ValueError
    return moment.astimezone(UTC)
