"""Conversations as one participant sees them: one statement for any number."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from accounts import sql
from accounts.sql import PersonRow
from core.database import as_parameter, is_any, rows
from messaging.models import MESSAGE, PARTICIPANT


class ConversationRow(NamedTuple):
    """A conversation as one participant sees it, in the order of the columns; `other_` is the other participant."""

    id: int
    activity_id: int
    unread_count: int
    last_read_id: int
    other_read_up_to_id: int
    other_delivered_up_to_id: int
    my_receipts: Any
    other_receipts: Any
    is_blocked: Any
    message_id: int | None
    kind: str
    body: str | None
    sender_id: int
    created_at: Any
    call_id: int | None
    call_media: str
    call_outcome: str
    call_duration_s: int | None
    other_user: PersonRow

    @property
    def read_receipt(self) -> int | None:
        """The last message that the other participant has read; None if either hides receipts or has blocked the other."""
        shares = self.my_receipts and self.other_receipts and not self.is_blocked
        return self.other_read_up_to_id if shares else None

    @property
    def delivery_receipt(self) -> int | None:
        """The last message that a device of the other participant has received; None after a block."""
        return None if self.is_blocked else max(self.other_delivered_up_to_id, self.read_receipt or 0)


_COLUMNS = (
    "SELECT p.conversation_id, p.activity_id, p.unread_count, p.last_read_id, o.last_read_id, o.delivered_id,"
    # The viewer's own setting, read once: joined row by row, PostgreSQL may read all users for it.
    f" (SELECT {sql.read_receipts('me')} FROM {sql.USERS} me WHERE me.id = %s), {sql.read_receipts('u')},"
    f" {sql.blocked_between('p.user_id', 'o.user_id')},"
    " m.id, m.kind, m.body, m.sender_id, m.created_at,"
    " m.call_id, m.call_media, m.call_outcome, m.call_duration_s,"
    f" {sql.card('u')}"
    " FROM"
)
_JOINS = (
    f" JOIN {PARTICIPANT} o ON o.conversation_id = p.conversation_id AND o.user_id <> p.user_id"
    f" JOIN {sql.USERS} u ON u.id = o.user_id"
    f" LEFT JOIN {MESSAGE} m ON m.id = p.last_message_id"
)

# SQL, for the statement that reads both numbers of the badge; takes a user id.
MESSAGE_UNREAD_COUNT = (
    f"SELECT COALESCE(SUM(unread_count), 0) FROM {PARTICIPANT} WHERE user_id = %s AND unread_count > 0"
)


def conversation_page(
    *, user_id: int, limit: int, cursor: tuple[int, int] | None = None
) -> tuple[list[ConversationRow], tuple[int, int] | None]:
    """Conversations with the newest activity first, and the position of the next page (None: the end)."""
    conditions = "user_id = %s AND is_shown"
    params: list[Any] = [user_id, user_id]
    if cursor is not None:
        conditions += " AND (activity_id, conversation_id) < (%s, %s)"
        params += cursor
    # The user's participant rows are sorted first, so that only those of the page are joined.
    newest = "ORDER BY p.activity_id DESC, p.conversation_id DESC"
    fetched = rows(
        f"{_COLUMNS} (SELECT * FROM {PARTICIPANT} p WHERE {conditions} {newest} LIMIT {int(limit) + 1}) p"
        f"{_JOINS} {newest}",
        params,
    )
    page = [_row(columns) for columns in fetched[:limit]]
    following = (page[-1].activity_id, page[-1].id) if len(fetched) > limit else None
    return page, following


def conversations_for(viewer_id: int, ids: Iterable[int]) -> dict[int, ConversationRow]:
    """The viewer's conversations of these ids, in one query; those of other users are missing."""
    fetched = rows(
        f"{_COLUMNS} {PARTICIPANT} p{_JOINS} WHERE p.user_id = %s AND {is_any('p.conversation_id')}",
        [viewer_id, viewer_id, as_parameter(set(ids))],
    )
    return {columns[0]: _row(columns) for columns in fetched}


def unread_counts_for(viewer_id: int, ids: Iterable[int]) -> dict[int, int]:
    """The viewer's unread counts of these conversations, in one query; those of other users are missing."""
    fetched = rows(
        f"SELECT conversation_id, unread_count FROM {PARTICIPANT} WHERE user_id = %s AND {is_any('conversation_id')}",
        [viewer_id, as_parameter(set(ids))],
    )
    return dict(fetched)


def message_unread_count(user_id: int) -> int:
    """Unread messages of a user in all conversations."""
    [(total,)] = rows(MESSAGE_UNREAD_COUNT, [user_id])
    return int(total)


def _row(columns: tuple[Any, ...]) -> ConversationRow:
    return ConversationRow._make((*columns[:-5], PersonRow._make(columns[-5:])))
