"""Messages as one participant sees them: one statement for any number, reactions and previews included."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import F, Max

from accounts import sql
from core.database.statements import as_parameter, is_any, on_postgresql, rows
from core.ids import MAX_ID, parse_id
from messaging.models import (
    BETWEEN,
    MESSAGE,
    NEWEST_FIRST,
    NOT_DELETED,
    OLDEST_FIRST,
    PARTICIPANT,
    REACTION,
    Message,
    Reaction,
    between,
    visible,
)
from messaging.selectors.conversations import watermark_for

if TYPE_CHECKING:
    from accounts.models import Image


class ReactionRow(NamedTuple):
    """One emoji under a message, and who has used it, in order of use."""

    emoji: str
    user_ids: list[int]


class MessageRow(NamedTuple):
    """A message as one participant sees it. `select` reads the fields in their order."""

    id: int
    conversation_id: int
    sender_id: int
    kind: str
    body: str | None
    reply_to_id: int | None
    edited_at: Any
    created_at: Any
    client_id: str | None
    call_id: int | None = None
    call_media: str = ""
    call_outcome: str = ""
    call_duration_s: int | None = None
    image_token: str | None = None
    image_width: int = 0
    image_height: int = 0
    image_mime: str = ""
    image_size: int = 0
    image_blurhash: str = ""
    # The message replied to, if the viewer can still see it.
    reply_sender_id: int | None = None
    reply_kind: str = ""
    reply_body: str | None = None
    reply_image_token: str | None = None
    # In the order of their first use.
    reactions: Sequence[ReactionRow] = ()


def row_of(message: Message, *, image: "Image | None" = None, replied: Message | None = None) -> MessageRow:
    """The MessageRow of a message without reactions, made without a query; `replied` is the message that it replies to."""
    fields = {name: getattr(message, name) for name in _OF_MESSAGE}
    if image is not None:
        fields |= {f"image_{name}": getattr(image, name) for name in sql.IMAGE_COLUMNS}
    if replied is not None:
        fields |= {f"reply_{name}": getattr(replied, name) for name in _OF_REPLY}
        fields["reply_image_token"] = replied.image.token if replied.image else None
    return MessageRow(**fields)


_OF_REPLY = ("sender_id", "kind", "body")
# Fields from other tables: the image, the message replied to, the reactions.
_JOINED = {
    **{f"image_{name}": f"i.{name}" for name in sql.IMAGE_COLUMNS},
    **{f"reply_{name}": f"r.{name}" for name in _OF_REPLY},
    "reply_image_token": sql.image_token("ri"),
    # "id user emoji" joined by "|", in any order.
    "reactions": (
        "(SELECT {aggregate}(x.id || ' ' || x.user_id || ' ' || x.emoji, '|')"
        f" FROM {REACTION} x WHERE x.message_id = m.id)"
    ),
}
_OF_MESSAGE = tuple(name for name in MessageRow._fields if name not in _JOINED)
_COLUMNS = ", ".join(_JOINED.get(name, f"m.{name}") for name in MessageRow._fields)


def select(cleared: str = "%s", join: str = "", source: str = MESSAGE, before: str = "") -> str:
    """SELECT … FROM for messages `m` of `source`; `cleared` is the SQL of the viewer's watermark, `before` names columns
    before those of a MessageRow.

    The join on the message replied to does not repeat the conversation: with statistics of a smaller table PostgreSQL
    would read the whole conversation for each reply.
    """
    columns = _COLUMNS.replace("{aggregate}", "string_agg" if on_postgresql() else "group_concat")
    return (
        f"SELECT {before}{columns} FROM {source} m{join}"
        f" LEFT JOIN {sql.IMAGES} i ON i.id = m.image_id"
        f" LEFT JOIN {MESSAGE} r ON r.id = m.reply_to_id AND {visible('r', cleared)}"
        f" LEFT JOIN {sql.IMAGES} ri ON ri.id = r.image_id"
    )


_CLEARED = f"(SELECT cleared_up_to_id FROM {PARTICIPANT} WHERE conversation_id = %s AND user_id = %s)"


def row_from(columns: Iterable[Any]) -> MessageRow:
    """The MessageRow of the columns of `select`."""
    values = list(columns)
    values[_REACTIONS] = _reactions(values[_REACTIONS])
    return MessageRow._make(values)


_REACTIONS = MessageRow._fields.index("reactions")


def _reactions(aggregate: Any) -> Sequence[ReactionRow]:
    if not aggregate:
        return ()
    uses = []
    for part in aggregate.split("|"):
        reaction_id, user_id, emoji = part.split(" ", 2)
        uses.append((int(reaction_id), int(user_id), emoji))
    return _by_emoji((user_id, emoji) for _, user_id, emoji in sorted(uses))


def _by_emoji(uses: Iterable[tuple[int, str]]) -> list[ReactionRow]:
    """The rows of (user, emoji), in order of use."""
    users: dict[str, list[int]] = {}
    for user_id, emoji in uses:
        users.setdefault(emoji, []).append(user_id)
    return [ReactionRow(emoji, user_ids) for emoji, user_ids in users.items()]


def message_page(
    *, user_id: int, conversation_id: object, limit: int, before: int | None = None, after: int | None = None
) -> tuple[list[MessageRow], bool]:
    """Messages newest first, and whether more follow in that direction. ConversationNotFound.

    `before`: the newest below that id. `after`: the oldest above it, for catching up.
    """
    number = parse_id(conversation_id) or 0
    order = NEWEST_FIRST if after is None else OLDEST_FIRST
    # For a user who does not take part the watermark is NULL, and no id is above it. The limit is a literal:
    # a plan for any limit might read the whole conversation first. So it might if it joined before the limit.
    page_rows = (
        f"(SELECT * FROM {MESSAGE} m WHERE {NOT_DELETED} AND {BETWEEN} AND (m.id * -1) < -{_CLEARED}"
        f" {order} LIMIT {int(limit) + 1})"
    )
    fetched = rows(
        f"{select(_CLEARED, source=page_rows)} {order}",
        [*between(number, after or 0, before or MAX_ID), number, user_id, number, user_id],
    )
    if not fetched:
        watermark_for(user_id, number)
    page = fetched[:limit]
    if after is not None:
        page.reverse()
    return [row_from(columns) for columns in page], len(fetched) > limit


class SeenMessage(NamedTuple):
    message: MessageRow
    # Takes the conversation, for the same participant.
    unread_count: int


def messages_for_each(viewer_ids: Iterable[int], ids: Iterable[int]) -> dict[tuple[int, int], SeenMessage]:
    """The messages of these ids as each of the viewers sees them now, by viewer and message, in one query.

    Deleted and cleared messages and those of other users are missing.
    """
    as_participant = f" JOIN {PARTICIPANT} p ON p.conversation_id = m.conversation_id AND {is_any('p.user_id')}"
    fetched = rows(
        f"{select('p.cleared_up_to_id', as_participant, before='p.user_id, p.unread_count, ')}"
        f" WHERE {is_any('m.id')} AND {visible('m', 'p.cleared_up_to_id')}",
        [as_parameter(set(viewer_ids)), as_parameter(set(ids))],
    )
    seen: dict[tuple[int, int], SeenMessage] = {}
    for viewer_id, unread_count, *columns in fetched:
        message = row_from(columns)
        seen[viewer_id, message.id] = SeenMessage(message, unread_count)
    return seen


def messages_for(viewer_id: int, ids: Iterable[int]) -> dict[int, MessageRow]:
    """The same for one viewer, by message."""
    return {message_id: seen.message for (_, message_id), seen in messages_for_each([viewer_id], ids).items()}


def stored_messages(ids: Iterable[int]) -> dict[int, Message]:
    """The messages of these ids as they are stored, hidden and deleted ones included. One query.

    For the team's own server, not for users.
    """
    return Message.objects.in_bulk(set(ids))


def reactions_of(message_id: int) -> list[ReactionRow]:
    """The reactions to a message, in order of use. The caller checks permissions."""
    return _by_emoji(Reaction.objects.filter(message_id=message_id).order_by("id").values_list("user_id", "emoji"))


def message_image_is_visible(image: "Image", viewer_id: int | None, signed: bool) -> bool:
    """A participant may see the image of a message while the message is visible to them."""
    messages = Message.objects.not_deleted() if signed else Message.objects.visible_to(viewer_id)
    return messages.filter(image=image).exists()


def first_id_since(start: datetime) -> int:
    """The first id of the messages sent at `start` or later: a bisection of the primary key.

    The table has no index on `created_at`; ids grow with time.
    """
    low, high = 0, (Message.objects.aggregate(id=Max("id"))["id"] or 0) + 1
    while low < high:
        middle = (low + high) // 2
        row = Message.objects.filter(id__gte=middle).order_by("id").values_list("id", "created_at").first()
        if row is None or row[1] >= start:
            high = middle
        else:
            low = row[0] + 1
    return low


SHOWN_ON_EACH_SIDE = 3


def messages_around(message: Message) -> list[Message]:
    """The message with the messages before and after it, oldest first, for staff."""
    # By the negative id, as BETWEEN: by the id, PostgreSQL might read the messages of all other conversations.
    conversation = Message.objects.filter(conversation_id=message.conversation_id).alias(backwards=F("id") * -1)
    rows = conversation.select_related("sender", "image")
    before = rows.filter(backwards__gt=-message.id).order_by("backwards")[:SHOWN_ON_EACH_SIDE]
    after = rows.filter(backwards__lt=-message.id).order_by("-backwards")[:SHOWN_ON_EACH_SIDE]
    return [*reversed(before), message, *after]
