"""Search inside a conversation: newest first, substring of the folded text, bounded work.

The newest rows are read in key order first: that finds common words at once, on any database. What
is rare among them is looked up in PostgreSQL's text index; a query too short for that index, and
SQLite, go on reading. One request reads a bounded number of rows; the reply says where it stopped.
"""

import re
from typing import Any

from django.db import connection

from messaging.conf import conf
from messaging.selectors.access import watermark_for
from messaging.selectors.messages import MessageRow, render, select
from messaging.selectors.tables import MESSAGE, places, row, rows

# A text index of three-letter pieces helps from three letters in a row.
_INDEXABLE = re.compile(r"[^\W_]{3}")


def search_page(
    *, user_id: int, conversation_id: object, folded: str, limit: int, before: int | None = None
) -> tuple[list[dict[str, Any]], int | None]:
    """Messages that contain the folded text, newest first, and the `before` of the next page (None: the end).

    ConversationNotFound for a stranger.
    """
    number, cleared = watermark_for(user_id, conversation_id)
    ids, go_on = _ids(number, folded, limit, cleared, before)
    if not ids:
        return [], go_on
    found = rows(
        f"{select()} WHERE m.id IN ({places(ids)}) AND m.deleted_at IS NULL ORDER BY m.id DESC",
        [cleared, *ids],
    )
    return [render(MessageRow(*found_row), user_id) for found_row in found], go_on


def _ids(
    conversation_id: int, folded: str, limit: int, cleared: int, before: int | None
) -> tuple[list[int], int | None]:
    indexable = _INDEXABLE.search(folded) is not None
    ids: list[int] = []
    read = 0
    while True:
        chunk, lowest = _scan(conversation_id, folded, cleared, before, limit + 1 - len(ids))
        ids += chunk
        if len(ids) > limit:
            return ids[:limit], ids[limit - 1]
        if lowest is None:
            return ids, None
        before = lowest
        read += conf.SEARCH_SCAN
        if indexable and connection.vendor == "postgresql":
            ids += _look_up(conversation_id, folded, cleared, before, limit + 1 - len(ids))
            return ids[:limit], ids[limit - 1] if len(ids) > limit else None
        if not indexable and read >= conf.SEARCH_SCAN_MAX:
            return ids, before


def _scan(
    conversation_id: int, folded: str, cleared: int, before: int | None, wanted: int
) -> tuple[list[int], int | None]:
    """Hits among the newest rows below `before`, and the lowest id read when more rows may follow."""
    below = "" if before is None else " AND id < %s"
    place = "strpos(body_folded, %s)" if connection.vendor == "postgresql" else "instr(body_folded, %s)"
    newest = (
        f"SELECT id, body_folded, deleted_at FROM {MESSAGE}"
        f" WHERE conversation_id = %s AND id > %s{below} ORDER BY id DESC LIMIT %s"
    )
    params: list[Any] = [conversation_id, cleared, *([] if before is None else [before])]
    hits = rows(
        f"SELECT id FROM ({newest}) newest WHERE deleted_at IS NULL AND {place} > 0 ORDER BY id DESC LIMIT %s",
        [*params, conf.SEARCH_SCAN, folded, wanted],
    )
    ids = [found_row[0] for found_row in hits]
    if len(ids) >= wanted:
        return ids, ids[-1]
    last = row(
        f"SELECT id FROM {MESSAGE} WHERE conversation_id = %s AND id > %s{below} ORDER BY id DESC LIMIT 1 OFFSET %s",
        [*params, conf.SEARCH_SCAN - 1],
    )
    return ids, last[0] if last else None


def _look_up(conversation_id: int, folded: str, cleared: int, before: int, wanted: int) -> list[int]:
    escaped = re.sub(r"([\\%_])", r"\\\1", folded)
    hits = rows(
        f"SELECT id FROM {MESSAGE} WHERE conversation_id = %s AND id > %s AND id < %s"
        " AND deleted_at IS NULL AND body_folded LIKE %s ORDER BY id DESC LIMIT %s",
        [conversation_id, cleared, before, f"%{escaped}%", wanted],
    )
    return [found_row[0] for found_row in hits]
