"""Events about conversations and what is said in them."""

from typing import Any

from realtime.outbound.facts import Facts
from realtime.selectors import LoggedEvent

Data = dict[str, Any]


def new(event: LoggedEvent, facts: Facts) -> Data | tuple[str, Data]:
    """message.new and message.edited: the message as it reads now."""
    message = facts.messages.get(event.object_id or 0)
    if message is None:
        return "message.deleted", deleted(event, facts)
    return {
        "conversation_id": event.conversation_id,
        "message": message,
        "unread_count": _unread_count(event, facts),
    }


def deleted(event: LoggedEvent, facts: Facts) -> Data:
    """Gone for both sides, or cleared by this one."""
    conversation = facts.conversations.get(event.conversation_id or 0, {})
    return {
        "conversation_id": event.conversation_id,
        "message_id": event.object_id,
        "unread_count": _unread_count(event, facts),
        "last_message": conversation.get("last_message"),
    }


def reactions(event: LoggedEvent, facts: Facts) -> Data | tuple[str, Data]:
    message = facts.messages.get(event.object_id or 0)
    if message is None:
        return "message.deleted", deleted(event, facts)
    return {
        "conversation_id": event.conversation_id,
        "message_id": event.object_id,
        "reactions": message["reactions"],
    }


def created(event: LoggedEvent, facts: Facts) -> Data:
    return {"conversation": facts.conversations.get(event.conversation_id or 0)}


def read(event: LoggedEvent, facts: Facts) -> Data:
    """One's own reading on another device, or the other's."""
    return {
        "conversation_id": event.conversation_id,
        "user_id": event.object_id,
        "last_read_id": (event.extra or {}).get("last_read_id", 0),
        "unread_count": _unread_count(event, facts),
    }


def cleared(event: LoggedEvent, facts: Facts) -> Data:
    return {
        "conversation_id": event.conversation_id,
        "cleared_up_to_id": (event.extra or {}).get("cleared_up_to_id", 0),
    }


def _unread_count(event: LoggedEvent, facts: Facts) -> int:
    """What the person whose log this is has left unread in the conversation, now."""
    return facts.unread_counts.get(event.conversation_id or 0, 0)
