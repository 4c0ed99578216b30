"""The log of events: written with their cause, numbered after the commit, read in the order of their numbers.

A number is given under a lock, to committed rows alone, and is never given twice: so a reader who has seen a number has
seen all below it. Numbers follow the clock (microseconds since 1970), so a database that was restored from a backup gives
no number again, and a reader continues from the last one it has.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.utils import timezone

from core.database.deletion import DeletionJobs
from core.database.statements import as_parameter, is_any
from core.database.transactions import collect
from integrations.conf import conf
from integrations.exceptions import EventsExpired
from integrations.models import ErasedAccount, Event, EventLog, WebhookTarget
from integrations.targets import targets, wanted
from notifications.services import delivery

_TABLE = Event._meta.db_table
# The types that tell of a new or confirmed account: a change of the profile in the same transaction is part of it.
_TELL_ALL = {"account.created", "account.verified"}


class NewEvent(NamedTuple):
    type: str
    data: dict[str, Any]


def is_wanted(type_: str) -> bool:
    """Whether a target wants events of this type. Without one nothing is written."""
    return type_ in wanted()


def write(type_: str, **data: Any) -> None:
    """Writes an event at the end of the open unit of work, if a target wants it."""
    if is_wanted(type_):
        collect(_write_all, NewEvent(type_, data))


def _write_all(events: list[NewEvent]) -> None:
    told = {event.data.get("user_id") for event in events if event.type in _TELL_ALL}
    kept: list[NewEvent] = []
    for event in events:
        is_part = event.type == "account.updated" and event.data["user_id"] in told
        if not is_part and event not in kept:  # one change may be announced by two services
            kept.append(event)
    now = timezone.now()
    Event.objects.bulk_create(Event(type=event.type, data=event.data, created_at=now) for event in kept)
    delivery.wake_on_commit()


def remember_erased(*, user_id: int, external_id: str | None) -> bool:
    """Keeps the external id of an account that is being erased. False if it was kept before."""
    _row, is_new = ErasedAccount.objects.get_or_create(user_id=user_id, defaults={"external_id": external_id})
    return is_new


# --- Numbers --------------------------------------------------------------------------------------------


def give_numbers() -> int:
    """Gives committed events their numbers, and queues them for the targets that want them. Returns how many; 0 also while
    another process does it."""
    if not Event.objects.unnumbered().exists():
        return 0
    EventLog.objects.get_or_create(id=1)
    with transaction.atomic():
        log = EventLog.objects.select_for_update(skip_locked=True).filter(id=1).first()
        if log is None:
            return 0
        # The ids of one conversation, or of one account, are in the order of their commits, because each change locks it.
        rows = list(Event.objects.unnumbered().order_by("id").values_list("id", "type")[: conf.NUMBERED_AT_ONCE])
        if not rows:
            return 0
        first = max(log.last_number + 1, int(timezone.now().timestamp() * 1_000_000))
        with connection.cursor() as cursor:
            cursor.execute(
                f"""
                UPDATE {_TABLE} AS e SET number = %s + v.position FROM (
                    SELECT id, row_number() OVER (ORDER BY id) - 1 AS position FROM {_TABLE} WHERE {is_any("id")}
                ) AS v WHERE e.id = v.id
                """,
                [first, as_parameter({row_id for row_id, _type in rows})],
            )
        log.last_number = first + len(rows) - 1
        log.save(update_fields=["last_number"])
        wanting = open_targets()
        delivery.enqueue_webhooks(
            (row_id, type_, first + position, target.name)
            for position, (row_id, type_) in enumerate(rows)
            for target in wanting
            if type_ in target.types
        )
    return len(rows)


def give_number(event: Event) -> int:
    """The number of an event that the caller has written and queues itself. Part of the caller's transaction."""
    EventLog.objects.get_or_create(id=1)
    log = EventLog.objects.select_for_update().get(id=1)
    number = max(log.last_number + 1, int(timezone.now().timestamp() * 1_000_000))
    log.last_number = number
    event.number = number
    log.save(update_fields=["last_number"])
    event.save(update_fields=["number"])
    return number


def open_targets() -> list[Any]:
    """The configured targets that are not switched off."""
    off = set(WebhookTarget.objects.exclude(switched_off_at=None).values_list("name", flat=True))
    return [target for target in targets() if target.name not in off]


# --- Reading --------------------------------------------------------------------------------------------


def page(*, after: int | None, types: Iterable[str] | None, limit: int) -> tuple[list[Event], bool]:
    """Events above a number, the lowest first, and whether there are more. EventsExpired when some of them were deleted."""
    while give_numbers() == conf.NUMBERED_AT_ONCE:
        pass
    numbered = Event.objects.exclude(number=None).order_by("number")
    log = EventLog.objects.filter(id=1).first()
    if after is not None and log is not None and after < log.expired_number:
        raise EventsExpired(oldest_id=numbered.values_list("number", flat=True).first())
    if after is not None:
        numbered = numbered.filter(number__gt=after)
    if types is not None:
        numbered = numbered.filter(type__in=types)
    rows = list(numbered[: limit + 1])
    return rows[:limit], len(rows) > limit


# --- Deletion -------------------------------------------------------------------------------------------


def jobs(now: datetime, batch: int) -> DeletionJobs:
    """What to delete by now. Two callers at once delete nothing twice."""
    before = now - timedelta(days=conf.KEEP_EVENT_DAYS)
    return {
        "events": _purge(before, batch),
        "erased_accounts": iter(lambda: _purge_erased(before - timedelta(days=1), batch), 0),
    }


def _purge(before: datetime, batch: int) -> Iterator[int]:
    while give_numbers():
        pass
    limit = int(before.timestamp() * 1_000_000)
    while True:
        with transaction.atomic():
            log = EventLog.objects.select_for_update().filter(id=1).first()
            old = Event.objects.filter(number__lt=limit).order_by("number")
            numbers = [int(number) for number in old.values_list("number", flat=True)[:batch] if number is not None]
            if log is None or not numbers:
                return
            log.expired_number = max(log.expired_number, numbers[-1])
            log.save(update_fields=["expired_number"])
            Event.objects.filter(number__lte=numbers[-1]).delete()
        yield len(numbers)


def _purge_erased(before: datetime, batch: int) -> int:
    old = list(ErasedAccount.objects.filter(erased_at__lt=before).values_list("user_id", flat=True)[:batch])
    return ErasedAccount.objects.filter(user_id__in=old).delete()[0]
