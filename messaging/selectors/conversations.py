"""Conversations as one participant sees them, in one statement for any number, and the rights to read, to write and to see
who is online. Each query includes its check.
"""

from collections.abc import Iterable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from django.contrib.auth import get_user_model
from django.db.models import Q, QuerySet

from accounts import sql
from accounts.exceptions import EmailNotVerified, UserBlocked
from accounts.sql import PersonRow
from core.api.exceptions import ApiError
from core.database.statements import as_parameter, is_any, row, rows, rows_unprepared
from core.ids import parse_id
from messaging.exceptions import ConversationNotFound, MessagePermissionDenied
from messaging.models import MESSAGE, PARTICIPANT, Conversation, Participant

if TYPE_CHECKING:
    from accounts.models import User


class ConversationRow(NamedTuple):
    """A conversation as one participant sees it, with its last message; `other_` is the other participant."""

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
    other_user_id: int
    other_user_username: str
    other_user_first_name: str
    other_user_last_name: str
    other_user_avatar_token: str

    @property
    def other_user(self) -> PersonRow:
        return PersonRow._make(_other_user(self))

    @property
    def read_receipt(self) -> int | None:
        """The last message that the other participant has read, across a block before it; None if either hides
        receipts."""
        shares = self.my_receipts and self.other_receipts
        return self.other_read_up_to_id if shares else None

    @property
    def delivery_receipt(self) -> int:
        """The last message that a device of the other participant has received, across a block before it."""
        return max(self.other_delivered_up_to_id, self.read_receipt or 0)


_other_user = attrgetter(*(f"other_user_{name}" for name in PersonRow._fields))
# Fields from other tables than the last message `m`.
_JOINED = {
    "id": "p.conversation_id",
    "activity_id": "p.activity_id",
    "unread_count": "p.unread_count",
    "last_read_id": "p.last_read_id",
    "other_read_up_to_id": "COALESCE(o.told_read_id, o.last_read_id)",
    "other_delivered_up_to_id": "o.delivered_id",
    # The viewer's own setting, read once: joined row by row, PostgreSQL may read all users for it.
    "my_receipts": f"(SELECT {sql.read_receipts('me')} FROM {sql.USERS} me WHERE me.id = %s)",
    "other_receipts": sql.read_receipts("u"),
    "is_blocked": sql.blocked_between("p.user_id", "o.user_id"),
    "message_id": "m.id",
    **{f"other_user_{name}": f"u.{name}" for name in PersonRow._fields},
}
_COLUMNS = f"SELECT {', '.join(_JOINED.get(name, f'm.{name}') for name in ConversationRow._fields)} FROM"
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
    page = [ConversationRow._make(columns) for columns in fetched[:limit]]
    following = (page[-1].activity_id, page[-1].id) if len(fetched) > limit else None
    return page, following


def conversations_for(viewer_id: int, ids: Iterable[int]) -> dict[int, ConversationRow]:
    """The viewer's conversations of these ids, in one query; those of other users are missing."""
    fetched = rows(
        f"{_COLUMNS} {PARTICIPANT} p{_JOINS} WHERE p.user_id = %s AND {is_any('p.conversation_id')}",
        [viewer_id, viewer_id, as_parameter(set(ids))],
    )
    return {conversation.id: conversation for conversation in map(ConversationRow._make, fetched)}


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


# --- The right to read and to write ------------------------------------------------------------------

WhoCanMessage = get_user_model().WhoCanMessage


def contact_columns(me: str) -> str:
    """The columns that decide whether the user `me` may contact the participant `o`, who is the user `u`."""
    return f"{sql.who_can_message('u')}, o.has_written, {sql.blocked_between('o.user_id', me)}"


_CONTACTS = (
    f"SELECT me.conversation_id, me.user_id, o.user_id, {contact_columns('me.user_id')}"
    f" FROM {PARTICIPANT} me"
    f" JOIN {PARTICIPANT} o ON o.conversation_id = me.conversation_id AND o.user_id <> me.user_id"
    f" JOIN {sql.USERS} u ON u.id = o.user_id"
    " WHERE (me.conversation_id, me.user_id) IN (VALUES {pairs})"
)


def conversation_for(user: "User", conversation_id: object) -> Conversation:
    """The conversation, for one of its participants. ConversationNotFound for any other user."""
    conversation = Conversation.objects.of(user.id).filter(id=parse_id(conversation_id)).first()
    if conversation is None:
        raise ConversationNotFound
    return conversation


def watermark_for(user_id: int, conversation_id: object) -> tuple[int, int]:
    """The conversation's id and the user's clear watermark. ConversationNotFound unless the user takes part."""
    number = parse_id(conversation_id) or 0
    columns = row(
        f"SELECT cleared_up_to_id FROM {PARTICIPANT} WHERE conversation_id = %s AND user_id = %s",
        [number, user_id],
    )
    if columns is None:
        raise ConversationNotFound
    return number, columns[0]


def check_can_contact(actor: "User", conversation: Conversation) -> None:
    """Returns if `actor` may contact the other participant now.

    Raises EmailNotVerified, UserBlocked (a block in either direction), or MessagePermissionDenied by the
    other user's privacy setting. Sending, editing, reacting and calling all use these rules.
    """
    contact = _contacts({(conversation.id, actor.id)})
    if not contact:
        raise ConversationNotFound
    [(_, refusal)] = contact.values()
    raise_if_refused(actor, refusal)


def has_written(*, user_id: int, conversation_id: int) -> bool:
    """Whether this participant has ever sent a message in the conversation."""
    return Participant.objects.filter(conversation_id=conversation_id, user_id=user_id, has_written=True).exists()


def raise_if_refused(actor: "User", refusal: type[ApiError] | None) -> None:
    """The rules of `check_can_contact`, with the `contact_refusal` of columns that have already been read."""
    if not actor.has_verified_email:
        raise EmailNotVerified
    if refusal is not None:
        raise refusal


def contact_refusal(who_can_message: str, has_written: Any, blocked: Any) -> type[ApiError] | None:
    """Why a verified user may not contact the other one, by the values of `contact_columns`; None: allowed."""
    if blocked:
        return UserBlocked
    if who_can_message == WhoCanMessage.NOBODY:
        return MessagePermissionDenied
    if who_can_message == WhoCanMessage.CONTACTS and not has_written:
        return MessagePermissionDenied
    return None


def reachable_peers(pairs: Iterable[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """The other participant's id by (conversation, user), where `check_can_contact` allows a verified user.

    One query for any number of pairs; conversations of other users are missing.
    """
    return {pair: other_id for pair, (other_id, refusal) in _contacts(set(pairs)).items() if refusal is None}


def _contacts(pairs: set[tuple[int, int]]) -> dict[tuple[int, int], tuple[int, type[ApiError] | None]]:
    """By (conversation, user) the other participant, and why the user may not contact them."""
    read = rows if len(pairs) == 1 else rows_unprepared
    pairs_sql = ", ".join(["(%s, %s)"] * len(pairs))
    fetched = read(_CONTACTS.replace("{pairs}", pairs_sql), [number for pair in pairs for number in pair])
    return {
        (conversation_id, user_id): (other_id, contact_refusal(*permissions))
        for conversation_id, user_id, other_id, *permissions in fetched
    }


# --- Who sees who is online ----------------------------------------------------------------------------

_OTHER = "conversation__participants__"


def _presence_is_visible(watched: str, viewer: str) -> Q:
    """Whether the conversation has a message, and the watched user has written or accepts messages from everyone.

    A user who has written accepts replies, unless their privacy setting is NOBODY; then having written is enough.
    """
    # One of them must still see the message: a user who deletes it at once must not see the presence.
    has_message = Q()
    for prefix in (watched, viewer):
        has_message |= Q(**{f"{prefix}last_message_id__isnull": False})
    everyone = Q(**{f"{watched}user__who_can_message": WhoCanMessage.EVERYONE})
    return has_message & (Q(**{f"{watched}has_written": True}) | everyone)


def presence_visible_to(viewer_id: int, among: Iterable[int]) -> set[int]:
    """Those of `among` whose presence this user may see. The caller checks blocks."""
    others = Participant.objects.exclude(user_id=viewer_id).filter(
        _presence_is_visible("", _OTHER), user_id__in=set(among), **{f"{_OTHER}user_id": viewer_id}
    )
    return set(others.values_list("user_id", flat=True))


def presence_viewers_of(user_id: int) -> QuerySet[Any, Any]:
    """Ids of the users who may see this user's presence, for `id__in` of a query. The caller checks blocks."""
    others = Participant.objects.exclude(user_id=user_id).filter(
        _presence_is_visible(_OTHER, ""), **{f"{_OTHER}user_id": user_id}
    )
    return others.values("user_id")
