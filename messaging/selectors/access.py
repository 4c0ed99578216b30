"""Who may see a conversation, and who may speak in it. Fetching and checking are one step."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.db.models import Q, QuerySet

from accounts.exceptions import ApiError, EmailNotVerified, MessagePermissionDenied, UserBlocked
from accounts.fields import parse_id
from messaging.exceptions import ConversationNotFound, MessageNotFound
from messaging.models import Conversation, Message, Participant
from messaging.selectors.tables import (
    PARTICIPANT,
    USER,
    WHO_CAN_MESSAGE,
    User,
    blocked_either_way,
    row,
    rows_planned_anew,
)

if TYPE_CHECKING:
    from accounts.models import User as Person


def conversation_for(user: "Person", conversation_id: object) -> Conversation:
    """The conversation, for one of its two people. ConversationNotFound for anybody else."""
    return _conversation_of(user.id, conversation_id)


def _conversation_of(user_id: int, conversation_id: object) -> Conversation:
    number = parse_id(conversation_id)
    mine = Q(user_low_id=user_id) | Q(user_high_id=user_id)
    conversation = Conversation.objects.filter(mine, id=number).first() if number else None
    if conversation is None:
        raise ConversationNotFound
    return conversation


def watermark_for(user_id: int, conversation_id: object) -> tuple[int, int]:
    """The conversation's id, and up to which message this side has cleared it. ConversationNotFound for a stranger."""
    number = parse_id(conversation_id)
    found = number and row(
        f"SELECT cleared_up_to_id FROM {PARTICIPANT} WHERE conversation_id = %s AND user_id = %s",
        [number, user_id],
    )
    if not number or not found:
        raise ConversationNotFound
    return number, found[0]


def message_for(user_id: int, message_id: object) -> Message:
    """A message that this person can see. MessageNotFound: deleted, cleared, foreign or never there."""
    number = parse_id(message_id)
    message = number and Message.objects.filter(id=number, deleted_at=None).first()
    side = message and Participant.objects.filter(
        conversation_id=message.conversation_id, user_id=user_id, cleared_up_to_id__lt=message.id
    )
    if not message or not side or not side.exists():
        raise MessageNotFound
    return message


def contact_permission(actor: "Person", conversation: Conversation) -> None:
    """Returns when `actor` may reach the other one now.

    EmailNotVerified, UserBlocked (whoever of the two blocked), or MessagePermissionDenied by the
    other one's privacy. The only place that knows these rules: sending, editing, reacting, calling.
    """
    other_id = conversation.other_id(actor.id)
    found = row(
        f"SELECT {WHO_CAN_MESSAGE}, o.has_written, {blocked_either_way('o.user_id', '%s')}"
        f" FROM {PARTICIPANT} o JOIN {USER} u ON u.id = o.user_id"
        " WHERE o.conversation_id = %s AND o.user_id = %s",
        [actor.id, actor.id, conversation.id, other_id],
    )
    if found is None:
        raise ConversationNotFound
    refuse_contact(actor, who_can_message=found[0], has_written=found[1], blocked=found[2])


def refuse_contact(actor: "Person", *, who_can_message: str, has_written: Any, blocked: Any) -> None:
    """The rules of `contact_permission`, for facts about the other one that are at hand."""
    if not actor.is_verified:
        raise EmailNotVerified
    refusal = _refusal(who_can_message, has_written, blocked)
    if refusal is not None:
        raise refusal


def _refusal(who_can_message: str, has_written: Any, blocked: Any) -> type[ApiError] | None:
    if blocked:
        return UserBlocked
    if who_can_message == User.WhoCanMessage.NOBODY:
        return MessagePermissionDenied
    if who_can_message == User.WhoCanMessage.CONTACTS and not has_written:
        return MessagePermissionDenied
    return None


def reachable_peers(pairs: Iterable[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """The other one, by (conversation, person), wherever `contact_permission` lets a confirmed person through.

    One query for any number of pairs; foreign conversations are missing.
    """
    wanted = list(set(pairs))
    if not wanted:
        return {}
    found = rows_planned_anew(
        f"SELECT me.conversation_id, me.user_id, o.user_id, {WHO_CAN_MESSAGE}, o.has_written,"
        f" {blocked_either_way('o.user_id', 'me.user_id')}"
        f" FROM {PARTICIPANT} me JOIN {PARTICIPANT} o"
        " ON o.conversation_id = me.conversation_id AND o.user_id <> me.user_id"
        f" JOIN {USER} u ON u.id = o.user_id"
        f" WHERE (me.conversation_id, me.user_id) IN (VALUES {', '.join(['(%s, %s)'] * len(wanted))})",
        [number for pair in wanted for number in pair],
    )
    return {(talk_id, me_id): other_id for talk_id, me_id, other_id, *facts in found if _refusal(*facts) is None}


def peer_ids_sharing(user_id: int, among: Iterable[int]) -> set[int]:
    """Those of `among` who have a conversation with this person."""
    others = set(among)
    pairs = Conversation.objects.filter(
        Q(user_low_id=user_id, user_high_id__in=others) | Q(user_high_id=user_id, user_low_id__in=others)
    ).values_list("user_low_id", "user_high_id")
    return {other for pair in pairs for other in pair if other != user_id}


def peers_of(user_id: int) -> tuple[QuerySet[Any, Any], QuerySet[Any, Any]]:
    """Everybody who has a conversation with this person: two sets of ids, for `id__in` of a query."""
    below = Conversation.objects.filter(user_high_id=user_id).values("user_low_id")
    above = Conversation.objects.filter(user_low_id=user_id).values("user_high_id")
    return below, above
