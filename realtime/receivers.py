"""Receivers that turn signals of other apps into events of the log, close sockets or end calls. They only write to the
database.

Signals are sent inside the transaction of the change, so event and change are committed together.
"""

from collections.abc import Mapping
from typing import Any

from django.dispatch import receiver

from accounts import signals as account_signals
from accounts.exceptions import AccountBlocked, TokenRevoked
from messaging import signals as messaging_signals
from messaging.selectors import SeenMessage, conversations_for
from notifications import signals as notification_signals
from realtime.calls import services as calls
from realtime.services import event_log, presence, sockets
from realtime.socket_events import MessageData

# The most characters of a message that is sent with a wake-up, which stays below 8 KiB.
INLINE_CHARACTERS = 1_400


@receiver(account_signals.block_changed)
def block_changed(blocker_id: int, blocked_id: int, blocked: bool, **kwargs: Any) -> None:
    event_log.append(user_id=blocker_id, type="block.changed", object_id=blocked_id, extra={"blocked": blocked})
    if blocked:
        calls.end_between(user_id=blocker_id, other_id=blocked_id)


@receiver(account_signals.profile_changed)
def profile_changed(user_id: int, **kwargs: Any) -> None:
    event_log.append(user_id=user_id, type="profile.updated")


@receiver(account_signals.presence_visibility_changed)
def presence_visibility_changed(user: Any, **kwargs: Any) -> None:
    presence.visibility_changed(person=user)


@receiver(account_signals.session_revoked)
def session_revoked(user_id: int, session_ids: list[int], reason: str, **kwargs: Any) -> None:
    code = AccountBlocked.default_code if reason == "blocked" else TokenRevoked.default_code
    sockets.end_sessions(user_id=user_id, session_ids=session_ids, code=code)
    calls.end_of_sessions(user_id=user_id, session_ids=session_ids)


# A new token of a session closes the sockets that were opened with an earlier one; those with the new token stay open.
@receiver(account_signals.session_tokens_replaced)
def session_tokens_replaced(user_id: int, **kwargs: Any) -> None:
    sockets.recheck(user_id=user_id)


@receiver(account_signals.account_erased)
def account_erased(user_id: int, **kwargs: Any) -> None:
    event_log.forget(user_id=user_id)
    sockets.recheck(user_id=user_id)
    calls.erase_of(user_id=user_id)


@receiver(messaging_signals.conversation_started)
def conversation_started(conversation: Any, starter_id: int, **kwargs: Any) -> None:
    event_log.append(user_id=starter_id, type="conversation.created", conversation_id=conversation.id)


@receiver(messaging_signals.conversation_shown)
def conversation_shown(conversation: Any, user_id: int, **kwargs: Any) -> None:
    event_log.append(user_id=user_id, type="conversation.created", conversation_id=conversation.id)


@receiver(messaging_signals.message_sent)
def message_sent(message: Any, conversation: Any, seen_by: Mapping[int, SeenMessage], **kwargs: Any) -> None:
    is_short = len(message.body or "") <= INLINE_CHARACTERS
    for user_id in (conversation.user_low_id, conversation.user_high_id):
        event_log.append(
            user_id=user_id,
            type="message.new",
            conversation_id=conversation.id,
            object_id=message.id,
            data=MessageData.render(seen_by[user_id], user_id) if is_short and user_id in seen_by else None,
        )


@receiver(messaging_signals.message_edited)
def message_edited(message: Any, conversation: Any, **kwargs: Any) -> None:
    _for_both(conversation, "message.edited", object_id=message.id)


@receiver(messaging_signals.message_deleted)
def message_deleted(message: Any, conversation: Any, **kwargs: Any) -> None:
    _for_both(conversation, "message.deleted", object_id=message.id)


@receiver(messaging_signals.reactions_changed)
def reactions_changed(message_id: int, conversation: Any, **kwargs: Any) -> None:
    _for_both(conversation, "message.reactions", object_id=message_id)


@receiver(messaging_signals.conversation_read)
def conversation_read(conversation: Any, reader_id: int, last_read_id: int, **kwargs: Any) -> None:
    user_ids = [reader_id]
    peer_id = conversation.other_id(reader_id)
    peer_conversation = conversations_for(peer_id, [conversation.id]).get(conversation.id)
    # Not if one of them hides receipts, or has blocked the other.
    if peer_conversation is not None and peer_conversation.read_receipt == last_read_id:
        user_ids.append(peer_id)
    for user_id in user_ids:
        event_log.append(
            user_id=user_id,
            type="conversation.read",
            conversation_id=conversation.id,
            object_id=reader_id,
            extra={"last_read_id": last_read_id},
        )


@receiver(messaging_signals.conversation_cleared)
def conversation_cleared(conversation: Any, user_id: int, cleared_up_to_id: int, **kwargs: Any) -> None:
    event_log.append(
        user_id=user_id,
        type="conversation.cleared",
        conversation_id=conversation.id,
        extra={"cleared_up_to_id": cleared_up_to_id},
    )


@receiver(messaging_signals.conversation_delivered)
def conversation_delivered(conversation: Any, user_id: int, delivered_id: int, **kwargs: Any) -> None:
    sockets.send_delivered(conversation=conversation, user_id=user_id, delivered_id=delivered_id)


def _for_both(conversation: Any, type: str, object_id: int) -> None:
    for user_id in (conversation.user_low_id, conversation.user_high_id):
        event_log.append(user_id=user_id, type=type, conversation_id=conversation.id, object_id=object_id)


@receiver(notification_signals.notification_changed)
def notification_changed(recipient_id: int, notification_id: int, silent: bool = False, **kwargs: Any) -> None:
    event_log.append(
        user_id=recipient_id,
        type="notification.new",
        object_id=notification_id,
        extra={"silent": True} if silent else None,
    )


@receiver(notification_signals.notifications_read_all)
def notifications_read_all(recipient_id: int, **kwargs: Any) -> None:
    event_log.append(user_id=recipient_id, type="notification.read_all")
