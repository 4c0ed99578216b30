"""The data of an event, rendered when it is sent or read: ids and public fields of users and messages as they are now."""

from collections.abc import Sequence
from typing import Any

from accounts.serializers import PersonSerializer
from core.times import json_time
from integrations.models import Event
from integrations.selectors import people_in
from messaging.selectors import stored_messages

# The ids of users in an event, and the name of the field that shows the user.
_USERS = {
    "user_id": "user",
    "sender_id": "sender",
    "recipient_id": "recipient",
    "reporter_id": "reporter",
    "reported_id": "reported",
    "caller_id": "caller",
    "callee_id": "callee",
    "blocker_id": "blocker",
    "blocked_id": "blocked",
}


def render(events: Sequence[Event], *, with_text: bool = False) -> list[dict[str, Any]]:
    """The `data` of each event; three queries for all of them. It has the text of a message only `with_text`."""
    ids = [event.data.get(name) for event in events for name in _USERS]
    users, erased = people_in(ids)
    of_messages = [event.data["message_id"] for event in events if event.type.startswith("message.")]
    messages = stored_messages(of_messages) if of_messages else {}
    rendered = []
    for event in events:
        data = dict(event.data)
        for name, shown in _USERS.items():
            if (user_id := data.get(name)) is not None:
                data[shown] = _person(user_id, users, erased)
        if event.type.startswith("account.") and (user := users.get(data["user_id"])) is not None:
            data |= _account(event.type, user)
        if event.type.startswith("message."):
            data["message"] = _message(event, messages.get(data["message_id"]), with_text=with_text)
        rendered.append(data)
    return rendered


def _person(user_id: int, users: dict[int, Any], erased: dict[int, str | None]) -> dict[str, Any]:
    user = users.get(user_id)
    if user is None:
        return {"id": user_id, "external_id": erased.get(user_id)}
    return PersonSerializer.render(user) | {"external_id": user.external_id}


def _account(type_: str, user: Any) -> dict[str, Any]:
    if type_ == "account.blocked":
        return {"until": json_time(user.blocked_until) if user.blocked_until else None}
    return {"is_verified": user.has_verified_email}


def _message(event: Event, message: Any, *, with_text: bool) -> dict[str, Any]:
    """A deleted message keeps its ids and has no content."""
    shown: dict[str, Any] = {
        "id": event.data["message_id"],
        "conversation_id": event.data["conversation_id"],
        "sender_id": event.data["sender_id"],
        "is_deleted": message is None or message.deleted_at is not None,
    }
    if message is None:
        return shown
    shown |= {
        "kind": message.kind,
        "reply_to_id": message.reply_to_id,
        "is_edited": message.edited_at is not None,
        "created_at": json_time(message.created_at),
    }
    return shown | {"body": message.body} if with_text else shown
