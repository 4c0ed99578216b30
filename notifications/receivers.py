"""Receivers that turn signals of messaging and accounts into notifications. AppConfig.ready() connects them."""

from functools import partial
from typing import Any

from django.dispatch import receiver

from accounts import signals as accounts
from core.database.transactions import before_commit
from messaging import signals as messaging
from messaging.selectors import unread_counts_for
from notifications.services import devices, feed, social
from notifications.signals import social_event_happened


@receiver(messaging.message_sent)
def message_sent(*, message: Any, conversation: Any, recipient_id: int, **_: Any) -> None:
    if message.counts_as_unread:
        feed.message_arrived(
            recipient_id=recipient_id,
            sender_id=message.sender_id,
            conversation_id=conversation.id,
            message_id=message.id,
            at=message.created_at,
        )


@receiver(messaging.message_deleted)
def message_deleted(*, message: Any, conversation: Any, was_unread: bool, **_: Any) -> None:
    if was_unread:
        feed.message_withdrawn(
            recipient_id=conversation.other_id(message.sender_id),
            conversation_id=conversation.id,
            message_id=message.id,
        )


@receiver(messaging.conversation_read)
def conversation_read(
    *, conversation: Any, reader_id: int, unread_count: int, session_id: int | None = None, **_: Any
) -> None:
    feed.conversation_read(
        reader_id=reader_id, conversation_id=conversation.id, unread_count=unread_count, session_id=session_id
    )


@receiver(messaging.conversation_cleared)
def conversation_cleared(*, conversation: Any, user_id: int, session_id: int | None = None, **_: Any) -> None:
    # A conversation that was cleared up to an older message may still hold unread ones.
    unread = unread_counts_for(user_id, [conversation.id]).get(conversation.id, 0)
    feed.conversation_read(
        reader_id=user_id, conversation_id=conversation.id, unread_count=unread, session_id=session_id
    )


@receiver(accounts.block_changed)
def block_changed(*, blocker_id: int, blocked_id: int, blocked: bool, **_: Any) -> None:
    if blocked:
        feed.remove_users_from_each_others_feed(a_id=blocker_id, b_id=blocked_id)


# Removed at the end of the unit of work: conversations are locked before the feed and the devices, as when a message is
# sent.


@receiver(accounts.session_revoked)
def session_revoked(*, user_id: int, session_ids: list[int], reason: str, **_: Any) -> None:
    # The devices of a deleted account are removed after its feed.
    if reason != "account_erased":
        before_commit(partial(devices.remove_of_sessions, session_ids=session_ids))


@receiver(accounts.settings_reset)
def settings_reset(*, user_id: int, **_: Any) -> None:
    feed.forget_preferences(user_id=user_id)


@receiver(accounts.account_erased)
def account_erased(*, user_id: int, **_: Any) -> None:
    before_commit(partial(feed.remove_user, user_id=user_id))


@receiver(social_event_happened)
def on_social_event(*, signal: Any, sender: Any, **event: Any) -> None:
    social.apply_event(**event)
