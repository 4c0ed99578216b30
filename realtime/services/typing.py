"""Typing notices: sent to the other participant's sockets only, never stored."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from accounts.selectors import active_verified_sessions
from messaging.selectors import check_can_contact, conversation_for, reachable_peers
from realtime import groups

if TYPE_CHECKING:
    from accounts.models import User


def typing(*, actor: "User", conversation_id: object, is_typing: bool) -> None:
    """Relays a typing notice. Clients repeat it at least every 4 s while the user types, and expire it after 6 s.

    ConversationNotFound, EmailNotVerified, UserBlocked, MessagePermissionDenied.
    """
    conversation = conversation_for(actor, conversation_id)
    check_can_contact(actor, conversation)
    groups.send_frame(conversation.other_id(actor.id), _frame(conversation.id, actor.id, is_typing))


class TypingNotice(NamedTuple):
    """A user types, or has stopped, on the socket of a session."""

    session_id: int
    user_id: int
    conversation_id: int
    is_typing: bool


def relay_typing_batch(notices: Sequence[TypingNotice]) -> list[bool]:
    """Relays all permitted notices in two queries and one PUBLISH; returns for each whether it was relayed.

    The caller passes the others to `typing`, which raises their error.
    """
    owners = active_verified_sessions(notice.session_id for notice in notices)
    peers = reachable_peers((notice.conversation_id, notice.user_id) for notice in notices)
    passed = [
        owners.get(notice.session_id) == notice.user_id and (notice.conversation_id, notice.user_id) in peers
        for notice in notices
    ]
    groups.publish(
        groups.frame_message(
            peers[notice.conversation_id, notice.user_id],
            _frame(notice.conversation_id, notice.user_id, notice.is_typing),
        )
        for notice, is_passed in zip(notices, passed, strict=True)
        if is_passed
    )
    return passed


def _frame(conversation_id: int, user_id: int, is_typing: bool) -> dict[str, Any]:
    data = {"conversation_id": conversation_id, "user_id": user_id, "is_typing": is_typing}
    return {"type": "typing", "data": data}
