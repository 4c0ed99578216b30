"""Search inside a conversation and in all of a user: newest first, substring of the folded text, bounded work.

The newest messages are read in key order first, which finds common words on any database. Rare words are
then looked up in PostgreSQL's trigram index. SQLite, and a query too short for that index, continue
reading messages. One request reads a bounded number of messages; the reply says where it stopped.
"""

import re
from typing import NamedTuple

from core.database.statements import as_parameter, is_any, on_postgresql, rows, rows_unprepared
from core.ids import MAX_ID
from messaging.conf import conf
from messaging.models import BETWEEN, MESSAGE, NEWEST_FIRST, NOT_DELETED, PARTICIPANT, between
from messaging.selectors.conversations import watermark_for
from messaging.selectors.messages import MessageRow, messages_for, row_from, select

# A trigram index is usable from three letters in a row.
_INDEXABLE = re.compile(r"[^\W_]{3}")


# The newest messages of a conversation between two ids, and whether each of them is a hit.
_NEWEST = f"SELECT m.id, {NOT_DELETED} AND {{contains}} > 0 AS is_hit FROM {MESSAGE} m WHERE {BETWEEN} {NEWEST_FIRST} LIMIT %s"


def _contains() -> str:
    return "strpos(m.body_folded, %s)" if on_postgresql() else "instr(m.body_folded, %s)"


def _pattern(folded: str) -> str:
    return "%" + re.sub(r"([\\%_])", r"\\\1", folded) + "%"


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
    newest = rows_unprepared(
        _NEWEST.replace("{contains}", _contains()),
        [folded, *between(conversation_id, cleared, before or MAX_ID), conf.SEARCH_SCAN],
    )
    hits = [message_id for message_id, is_hit in newest if is_hit]
    return hits, newest[-1][0] if len(newest) == conf.SEARCH_SCAN else None


def _look_up(conversation_id: int, folded: str, cleared: int, before: int, limit: int) -> list[int]:
    hits = rows_unprepared(
        f"SELECT m.id FROM {MESSAGE} m WHERE {NOT_DELETED} AND m.body_folded LIKE %s"
        f" AND {BETWEEN} {NEWEST_FIRST} LIMIT %s",
        [_pattern(folded), *between(conversation_id, cleared, before), limit],
    )
    return [columns[0] for columns in hits]


# --- All conversations ---------------------------------------------------------------------------------


class Place(NamedTuple):
    """Where a search in all conversations goes on: in this one below `before`, then in those below it in the list."""

    activity_id: int
    conversation_id: int
    before: int


class _Part(NamedTuple):
    """A conversation of a request: what is to be searched of it."""

    place: Place
    cleared: int

    def at(self, before: int) -> Place:
        return self.place._replace(before=before)


# Conversations in the order of the list; messages as in a search of each: docs/decisions/messaging.md#0138
def search_everywhere(
    *, user_id: int, folded: str, limit: int, place: Place | None = None
) -> tuple[list[MessageRow], Place | None]:
    """Messages of all conversations that contain the folded text, and the place of the next page (None: the end)."""
    parts, following = _parts(user_id, place)
    hits, goes_on = _hits(parts, folded, limit) if parts else ([], None)
    if len(hits) > limit:
        hits, goes_on = hits[:limit], hits[limit - 1]
    found = messages_for(user_id, [hit.before for hit in hits])
    return [found[hit.before] for hit in hits if hit.before in found], goes_on or following


def _parts(user_id: int, place: Place | None) -> tuple[list[_Part], Place | None]:
    """The conversations of a request in the order of the list, and the beginning of the one that follows."""
    condition, order = "p.user_id = %s AND p.is_shown", "p.activity_id DESC, p.conversation_id DESC"
    params = [user_id]
    if place is not None:
        # The first one may have risen in the list since the page before.
        condition += " AND (p.conversation_id = %s OR (p.activity_id, p.conversation_id) < (%s, %s))"
        order = f"p.conversation_id <> %s, {order}"
        params += [place.conversation_id, place.activity_id, place.conversation_id, place.conversation_id]
    parts = [
        _Part(Place(activity_id, conversation_id, MAX_ID), cleared)
        for activity_id, conversation_id, cleared in rows(
            f"SELECT p.activity_id, p.conversation_id, p.cleared_up_to_id FROM {PARTICIPANT} p"
            f" WHERE {condition} ORDER BY {order} LIMIT {int(conf.SEARCH_CONVERSATIONS) + 1}",
            params,
        )
    ]
    if place is not None and parts and parts[0].place.conversation_id == place.conversation_id:
        parts[0] = parts[0]._replace(place=place)
    following = parts[conf.SEARCH_CONVERSATIONS :]
    return parts[: conf.SEARCH_CONVERSATIONS], following[0].place if following else None


def _hits(parts: list[_Part], folded: str, limit: int) -> tuple[list[Place], Place | None]:
    """The hits of these conversations in their order, more than `limit` if there are so many, and where their search
    goes on."""
    newest = list(zip(parts, _scan_each(parts, folded), strict=True))
    older = _look_up_each(newest, folded, limit) if _INDEXABLE.search(folded) and on_postgresql() else None
    hits: list[Place] = []
    for part, (ids, lowest) in newest:
        hits += map(part.at, ids)
        if lowest is not None and len(hits) <= limit:
            if older is None:
                return hits, part.at(lowest)
            hits += map(part.at, older.get(part.place.conversation_id, ()))
        if len(hits) > limit:
            break
    return hits, None


_Scanned = tuple[list[int], int | None]


def _scan_each(parts: list[_Part], folded: str) -> list[_Scanned]:
    """As `_scan` for each of these conversations; the first one may be a long one of which only a part has been read."""
    aggregate = "string_agg({}::text, ',')" if on_postgresql() else "group_concat({})"
    ids = aggregate.format("(CASE WHEN is_hit THEN id END)")
    newest = _NEWEST.replace("{contains}", _contains())
    statements, params = [], []
    most = [conf.SEARCH_SCAN_MAX, *[conf.SEARCH_SCAN_EACH] * (len(parts) - 1)]
    for number, ((_, conversation_id, before), cleared) in enumerate(parts):
        statements.append(f"SELECT {number}, COUNT(*), MIN(id), {ids} FROM ({newest}) s{number}")
        params += [folded, *between(conversation_id, cleared, before), most[number]]
    scanned: list[_Scanned] = []
    for number, count, lowest, found in sorted(rows_unprepared(" UNION ALL ".join(statements), params)):
        hits = sorted(map(int, found.split(",")), reverse=True) if found else []
        scanned.append((hits, lowest if count == most[number] else None))
    return scanned


def _look_up_each(newest: list[tuple[_Part, _Scanned]], folded: str, limit: int) -> dict[int, list[int]]:
    """By conversation the hits below those that were scanned, as far as they may be shown."""
    long: list[list[int]] = []
    count = 0
    for part, (ids, lowest) in newest:
        count += len(ids)
        if count > limit:
            break
        if lowest is not None:
            long.append(between(part.place.conversation_id, part.cleared, lowest))
    if not long:
        return {}
    found: dict[int, list[int]] = {}
    # One after the other in their order, the hits of each newest first.
    hits = rows_unprepared(
        f"SELECT m.conversation_id, m.id FROM {MESSAGE} m WHERE {NOT_DELETED} AND m.body_folded LIKE %s"
        f" AND ({' OR '.join([f'({BETWEEN})'] * len(long))})"
        " ORDER BY array_position(%s::bigint[], m.conversation_id), m.id DESC LIMIT %s",
        [
            _pattern(folded),
            *(value for values in long for value in values),
            [conversation_id for conversation_id, *_ in long],
            limit + 1,
        ],
    )
    for conversation_id, message_id in hits:
        found.setdefault(conversation_id, []).append(message_id)
    return found
