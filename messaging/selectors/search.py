"""Search inside a conversation: newest first, substring of the folded text, bounded work.

The newest messages are read in key order first, which finds common words on any database. Rare words are
then looked up in PostgreSQL's trigram index. SQLite, and a query too short for that index, continue
reading messages. One request reads a bounded number of messages; the reply says where it stopped.
"""

import re

from core.database.statements import as_parameter, is_any, on_postgresql, rows, rows_unprepared
from core.ids import MAX_ID
from messaging.conf import conf
from messaging.models import BETWEEN, MESSAGE, NEWEST_FIRST, NOT_DELETED, between
from messaging.selectors.conversations import watermark_for
from messaging.selectors.messages import MessageRow, row_from, select

# A trigram index is usable from three letters in a row.
_INDEXABLE = re.compile(r"[^\W_]{3}")


# One request reads a bounded number of messages: docs/decisions/messaging.md#0035
def search_page(
    *, user_id: int, conversation_id: object, folded: str, limit: int, before: int | None = None
) -> tuple[list[MessageRow], int | None]:
    """Messages that contain the folded text, newest first, and the `before` of the next page (None: the end).

    ConversationNotFound unless the user takes part.
    """
    number, cleared = watermark_for(user_id, conversation_id)
    ids, next_before = _ids(number, folded, limit, cleared, before)
    if not ids:
        return [], next_before
    fetched = rows(
        f"{select()} WHERE {is_any('m.id')} AND {NOT_DELETED} ORDER BY m.id DESC",
        [cleared, as_parameter(ids)],
    )
    return [row_from(columns) for columns in fetched], next_before


def _ids(
    conversation_id: int, folded: str, limit: int, cleared: int, before: int | None
) -> tuple[list[int], int | None]:
    indexable = _INDEXABLE.search(folded) is not None
    ids: list[int] = []
    read = 0
    while True:
        hits, lowest = _scan(conversation_id, folded, cleared, before)
        ids += hits
        read += conf.SEARCH_SCAN
        if lowest is not None and len(ids) <= limit and indexable and on_postgresql():
            ids += _look_up(conversation_id, folded, cleared, lowest, limit + 1 - len(ids))
            lowest = None
        if len(ids) > limit:
            return ids[:limit], ids[limit - 1]
        if lowest is None or (not indexable and read >= conf.SEARCH_SCAN_MAX):
            return ids, lowest
        before = lowest


def _scan(conversation_id: int, folded: str, cleared: int, before: int | None) -> tuple[list[int], int | None]:
    """Hits among the newest messages below `before`, and the lowest id read when more may follow."""
    position = "strpos(m.body_folded, %s)" if on_postgresql() else "instr(m.body_folded, %s)"
    newest = rows_unprepared(
        f"SELECT m.id, {NOT_DELETED} AND {position} > 0 FROM {MESSAGE} m WHERE {BETWEEN} {NEWEST_FIRST} LIMIT %s",
        [folded, *between(conversation_id, cleared, before or MAX_ID), conf.SEARCH_SCAN],
    )
    hits = [message_id for message_id, is_hit in newest if is_hit]
    return hits, newest[-1][0] if len(newest) == conf.SEARCH_SCAN else None


def _look_up(conversation_id: int, folded: str, cleared: int, before: int, limit: int) -> list[int]:
    escaped = re.sub(r"([\\%_])", r"\\\1", folded)
    hits = rows_unprepared(
        f"SELECT m.id FROM {MESSAGE} m WHERE {NOT_DELETED} AND m.body_folded LIKE %s"
        f" AND {BETWEEN} {NEWEST_FIRST} LIMIT %s",
        [f"%{escaped}%", *between(conversation_id, cleared, before), limit],
    )
    return [columns[0] for columns in hits]
