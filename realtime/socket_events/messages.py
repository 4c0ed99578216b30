"""Events about conversations and messages."""

from typing import Any

from realtime.selectors import LoggedEvent
from realtime.socket_events.context import EventContext

Data = dict[str, Any]


def new(event: LoggedEvent, facts: EventContext) -> Data | tuple[str, Data]:
    """message.new and message.edited: the message in its current state."""
    message = facts.messages.get(event.object_id or 0)
    if message is None:
        return "message.deleted", deleted(event, facts)
    return {
        "conversation_id": event.conversation_id,
        "message": message,
        "unread_count": _unread_count(event, facts),
    }


def deleted(event: LoggedEvent, facts: EventContext) -> Data:
    """The message was deleted for both participants, or cleared by this user."""
    conversation = facts.conversations.get(event.conversation_id or 0, {})
    return {
        "conversation_id": event.conversation_id,
        "message_id": event.object_id,
        "unread_count": _unread_count(event, facts),
        "last_message": conversation.get("last_message"),
    }


def reactions(event: LoggedEvent, facts: EventContext) -> Data | tuple[str, Data]:
    message = facts.messages.get(event.object_id or 0)
    if message is None:
        return "message.deleted", deleted(event, facts)
    return {
        "conversation_id": event.conversation_id,
        "message_id": event.object_id,
        "reactions": message["reactions"],
    }


def created(event: LoggedEvent, facts: EventContext) -> Data:
    return {"conversation": facts.conversations.get(event.conversation_id or 0)}


def read(event: LoggedEvent, facts: EventContext) -> Data:
    """The user has read messages on another device, or the other participant has."""
    return {
        "conversation_id": event.conversation_id,
        "user_id": event.object_id,
        "last_read_id": (event.extra or {}).get("last_read_id", 0),
        "unread_count": _unread_count(event, facts),
    }


def cleared(event: LoggedEvent, facts: EventContext) -> Data:
    return {
        "conversation_id": event.conversation_id,
        "cleared_up_to_id": (event.extra or {}).get("cleared_up_to_id", 0),
    }


def _unread_count(event: LoggedEvent, facts: EventContext) -> int:
    """The current unread count of the log's owner in the conversation."""
    return facts.unread_counts.get(event.conversation_id or 0, 0)
