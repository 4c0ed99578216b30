"""Limits the bytes that a user stores: in a day (in UTC) and in all.

The originals of message images count, as they are stored. Thumbnails and avatars do not: a user has one avatar of 512 px.
An app counts a file in the unit of work that writes its row, as the last step that can fail: a rollback gives the bytes
back. Deleted files give their bytes back for the limit in all, not for the day.
"""

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from functools import partial

from django.db.models import F
from django.db.models.functions import Greatest
from django.utils import timezone

from accounts.conf import conf
from accounts.exceptions import StorageFull, StorageQuotaExceeded
from accounts.models import StorageUse
from core.database.statements import row
from core.database.transactions import before_commit

MEGABYTE = 1_048_576


def check(user_id: int) -> None:
    """Refuses a user who has used up a limit, before an upload is decoded. StorageFull, StorageQuotaExceeded."""
    _check(user_id, size=1)


_TABLE = StorageUse._meta.db_table
_TODAY_BYTES = f"CASE WHEN {_TABLE}.day < excluded.day THEN 0 ELSE {_TABLE}.day_bytes END + excluded.day_bytes"
# Of two uploads at once, the second one waits for the row and sees the bytes of the first.
_COUNT = (
    f"INSERT INTO {_TABLE} (user_id, total_bytes, day, day_bytes) VALUES (%s, %s, %s, %s) ON CONFLICT (user_id) DO UPDATE"
    f" SET total_bytes = {_TABLE}.total_bytes + excluded.total_bytes, day_bytes = {_TODAY_BYTES},"
    f" day = CASE WHEN {_TABLE}.day < excluded.day THEN excluded.day ELSE {_TABLE}.day END"
    f" WHERE {_TABLE}.total_bytes + excluded.total_bytes <= %s AND {_TODAY_BYTES} <= %s RETURNING user_id"
)


def count(*, user_id: int, size: int) -> None:
    """Counts a file of `size` bytes. Needs a unit of work. StorageFull, StorageQuotaExceeded."""
    today = _today().isoformat()
    if size > min(limits()) or row(_COUNT, [user_id, size, today, size, *limits()]) is None:
        _check(user_id, size=size)
        # A deletion gave bytes back between the two statements, but the limit had been reached.
        raise StorageFull


def give_back(sizes: Mapping[int, int]) -> None:
    """Gives back bytes by user before the unit of work commits, after all rows that other code locks first."""
    if sizes:
        before_commit(partial(_give_back, sizes))


def _give_back(sizes: Mapping[int, int]) -> None:
    for user_id, size in sorted(sizes.items()):
        StorageUse.objects.filter(user_id=user_id).update(total_bytes=Greatest(F("total_bytes") - size, 0))


def use_of(user_id: int) -> tuple[int, int]:
    """The bytes that a user stores, and those stored today."""
    use = StorageUse.objects.filter(user_id=user_id).first()
    if use is None:
        return 0, 0
    return use.total_bytes, use.day_bytes if use.day >= _today() else 0


def _check(user_id: int, *, size: int) -> None:
    total, today = use_of(user_id)
    if total + size > _total_limit():
        raise StorageFull
    if today + size > _day_limit():
        raise StorageQuotaExceeded(retry_after=_seconds_to_midnight())


def limits() -> tuple[int, int]:
    """The bytes that a user may store in all, and on one day."""
    return _total_limit(), _day_limit()


def _total_limit() -> int:
    return conf.STORAGE_QUOTA_TOTAL_MB * MEGABYTE


def _day_limit() -> int:
    return conf.STORAGE_QUOTA_DAY_MB * MEGABYTE


def _today() -> date:
    return timezone.now().date()


def _seconds_to_midnight() -> int:
    now = timezone.now()
    midnight = datetime.combine(now.date() + timedelta(days=1), time(), tzinfo=now.tzinfo)
    return int((midnight - now).total_seconds()) + 1
