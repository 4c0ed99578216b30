"""Messages as one participant sees them: one statement for any number, reactions and previews included."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.db import connection

from accounts import sql
from core import images
from core.fields import MAX_ID, parse_id
from messaging.conf import conf
from messaging.exceptions import ConversationNotFound
from messaging.models import Message, Reaction
from messaging.selectors.access import watermark_for
from messaging.selectors.tables import (
    BETWEEN,
    MESSAGE,
    NEWEST_FIRST,
    NOT_DELETED,
    OLDEST_FIRST,
    PARTICIPANT,
    REACTION,
    between,
    moment,
    places,
    rows,
    visible,
)


class MessageRow(NamedTuple):
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
    # "id user emoji" joined by "|", in any order.
    reactions: str | None = None


def select(cleared: str = "%s", join: str = "") -> str:
    """SELECT … FROM for messages `m`; `cleared` is the SQL of the viewer's watermark."""
    aggregate = "string_agg" if connection.vendor == "postgresql" else "group_concat"
    return (
        "SELECT m.id, m.conversation_id, m.sender_id, m.kind, m.body, m.reply_to_id, m.edited_at, m.created_at,"
        " m.client_id, m.call_id, m.call_media, m.call_outcome, m.call_duration_s,"
        f" {sql.image('i')}, r.sender_id, r.kind, r.body, {sql.image_token('ri')},"
        f" (SELECT {aggregate}(x.id || ' ' || x.user_id || ' ' || x.emoji, '|')"
        f"  FROM {REACTION} x WHERE x.message_id = m.id)"
        f" FROM {MESSAGE} m{join}"
        f" LEFT JOIN {sql.IMAGES} i ON i.id = m.image_id"
        f" LEFT JOIN {MESSAGE} r ON r.id = m.reply_to_id AND r.conversation_id = m.conversation_id"
        f"  AND {visible('r', cleared)}"
        f" LEFT JOIN {sql.IMAGES} ri ON ri.id = r.image_id"
    )


_CLEARED = f"(SELECT cleared_up_to_id FROM {PARTICIPANT} WHERE conversation_id = %s AND user_id = %s)"


def render(row: MessageRow, viewer_id: int) -> dict[str, Any]:
    """Section 2.4 of the contract, with the fields that this service adds."""
    return {
        "id": row.id,
        "conversation_id": row.conversation_id,
        "sender_id": row.sender_id,
        "kind": row.kind,
        "body": row.body,
        "media_url": images.media_path(row.image_token) if row.image_token else None,
        "media": _media(row, row.image_token) if row.image_token else None,
        "reply_to_id": row.reply_to_id,
        "reply_to": _preview(row) if row.reply_sender_id is not None else None,
        "is_edited": row.edited_at is not None,
        "edited_at": moment(row.edited_at) if row.edited_at is not None else None,
        "reactions": _grouped(row.reactions) if row.reactions else [],
        "call": _call(row) if row.kind == Message.Kind.CALL else None,
        "client_id": row.client_id if row.sender_id == viewer_id else None,
        "created_at": moment(row.created_at),
    }


def message_page(
    *, user_id: int, conversation_id: object, limit: int, before: int | None = None, after: int | None = None
) -> tuple[list[dict[str, Any]], bool]:
    """Messages newest first, and whether more follow in that direction. ConversationNotFound.

    `before`: the newest below that id. `after`: the oldest above it, for catching up.
    """
    number = parse_id(conversation_id)
    if number is None:
        raise ConversationNotFound
    order = NEWEST_FIRST if after is None else OLDEST_FIRST
    # For a user who does not take part the watermark is NULL, and no id is above it. The limit is a literal:
    # a plan for any limit might read the whole conversation first.
    found = rows(
        f"{select(_CLEARED)} WHERE {NOT_DELETED} AND {BETWEEN} AND (m.id * -1) < -{_CLEARED}"
        f" {order} LIMIT {int(limit) + 1}",
        [number, user_id, *between(number, after or 0, before or MAX_ID), number, user_id],
    )
    if not found:
        watermark_for(user_id, number)
    page = found[:limit]
    if after is not None:
        page.reverse()
    return [render(MessageRow(*row), user_id) for row in page], len(found) > limit


def messages_for(viewer_id: int, ids: Iterable[int]) -> dict[int, dict[str, Any]]:
    """The messages of these ids as the viewer sees them now, in one query.

    Deleted and cleared messages and those of other users are missing.
    """
    wanted = list(set(ids))
    if not wanted:
        return {}
    side = f" JOIN {PARTICIPANT} p ON p.conversation_id = m.conversation_id AND p.user_id = %s"
    found = rows(
        f"{select('p.cleared_up_to_id', side)}"
        f" WHERE m.id IN ({places(wanted)}) AND {visible('m', 'p.cleared_up_to_id')}",
        [viewer_id, *wanted],
    )
    return {row[0]: render(MessageRow(*row), viewer_id) for row in found}


def reactions_of(ids: Iterable[int]) -> dict[int, list[dict[str, Any]]]:
    """Reactions by message id, each in order of first use, in one query. The caller checks permissions."""
    lists: dict[int, list[tuple[int, str]]] = {message_id: [] for message_id in ids}
    found = Reaction.objects.filter(message_id__in=lists).order_by("id")
    for message_id, user_id, emoji in found.values_list("message_id", "user_id", "emoji"):
        lists[message_id].append((user_id, emoji))
    return {message_id: _by_emoji(uses) for message_id, uses in lists.items()}


def _grouped(aggregate: str) -> list[dict[str, Any]]:
    uses = []
    for part in aggregate.split("|"):
        reaction_id, user_id, emoji = part.split(" ", 2)
        uses.append((int(reaction_id), int(user_id), emoji))
    uses.sort()
    return _by_emoji([(user_id, emoji) for _, user_id, emoji in uses])


def _by_emoji(uses: Sequence[tuple[int, str]]) -> list[dict[str, Any]]:
    people: dict[str, list[int]] = {}
    for user_id, emoji in uses:
        people.setdefault(emoji, []).append(user_id)
    return [{"emoji": emoji, "count": len(user_ids), "user_ids": user_ids} for emoji, user_ids in people.items()]


def _media(row: MessageRow, token: str) -> dict[str, Any]:
    return {
        "width": row.image_width,
        "height": row.image_height,
        "mime": row.image_mime,
        "size": row.image_size,
        "thumb_url": images.media_path(token, thumb=True),
        "blurhash": row.image_blurhash,
    }


def _preview(row: MessageRow) -> dict[str, Any]:
    body = row.reply_body
    return {
        "id": row.reply_to_id,
        "sender_id": row.reply_sender_id,
        "kind": row.reply_kind,
        "body": body[: conf.PREVIEW_LENGTH] if body is not None else None,
        "media_url": images.media_path(row.reply_image_token) if row.reply_image_token else None,
        "thumb_url": (images.media_path(row.reply_image_token, thumb=True) if row.reply_image_token else None),
    }


def _call(row: MessageRow) -> dict[str, Any]:
    return {
        "id": row.call_id,
        "media": row.call_media,
        "outcome": row.call_outcome,
        "duration_s": row.call_duration_s,
    }
