"""Signals of messaging become events in the logs of both participants.

Signals are sent inside the transaction of the change, so event and change are committed together.
"""

from typing import Any

from django.dispatch import receiver

from messaging import signals as facts
from messaging.selectors import conversations_for
from realtime.services import log, receipts


@receiver(facts.conversation_started)
def conversation_started(conversation: Any, starter_id: int, **kwargs: Any) -> None:
    log.append(user_id=starter_id, type="conversation.created", conversation_id=conversation.id)


@receiver(facts.conversation_shown)
def conversation_shown(conversation: Any, user_id: int, **kwargs: Any) -> None:
    log.append(user_id=user_id, type="conversation.created", conversation_id=conversation.id)


@receiver(facts.message_sent)
def message_sent(message: Any, conversation: Any, **kwargs: Any) -> None:
    _for_both(conversation, "message.new", object_id=message.id)


@receiver(facts.message_edited)
def message_edited(message: Any, conversation: Any, **kwargs: Any) -> None:
    _for_both(conversation, "message.edited", object_id=message.id)


@receiver(facts.message_deleted)
def message_deleted(message: Any, conversation: Any, **kwargs: Any) -> None:
    _for_both(conversation, "message.deleted", object_id=message.id)


@receiver(facts.reactions_changed)
def reactions_changed(message_id: int, conversation: Any, **kwargs: Any) -> None:
    _for_both(conversation, "message.reactions", object_id=message_id)


@receiver(facts.conversation_read)
def conversation_read(conversation: Any, reader_id: int, last_read_id: int, **kwargs: Any) -> None:
    people = [reader_id]
    peer_id = conversation.other_id(reader_id)
    as_the_peer_sees_it = conversations_for(peer_id, [conversation.id]).get(conversation.id, {})
    if as_the_peer_sees_it.get("other_last_read_id") is not None:
        people.append(peer_id)
    for user_id in people:
        log.append(
            user_id=user_id,
            type="conversation.read",
            conversation_id=conversation.id,
            object_id=reader_id,
            extra={"last_read_id": last_read_id},
        )


@receiver(facts.conversation_cleared)
def conversation_cleared(conversation: Any, user_id: int, cleared_up_to_id: int, **kwargs: Any) -> None:
    log.append(
        user_id=user_id,
        type="conversation.cleared",
        conversation_id=conversation.id,
        extra={"cleared_up_to_id": cleared_up_to_id},
    )


@receiver(facts.conversation_delivered)
def conversation_delivered(conversation: Any, user_id: int, delivered_id: int, **kwargs: Any) -> None:
    receipts.send_delivered(
        conversation_id=conversation.id,
        user_id=user_id,
        peer_id=conversation.other_id(user_id),
        delivered_id=delivered_id,
    )


def _for_both(conversation: Any, type: str, object_id: int | None = None) -> None:
    for user_id in (conversation.user_low_id, conversation.user_high_id):
        log.append(user_id=user_id, type=type, conversation_id=conversation.id, object_id=object_id)
