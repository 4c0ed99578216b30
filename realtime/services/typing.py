"""Somebody writes: said to the other one's sockets, never stored, never to one's own devices."""

from typing import TYPE_CHECKING

from messaging.selectors import contact_permission, conversation_for
from realtime import groups

if TYPE_CHECKING:
    from accounts.models import User


def typing(*, actor: "User", conversation_id: object, is_typing: bool) -> None:
    """Clients repeat it at least every 4 s while it lasts, and let it expire after 6 s.

    ConversationNotFound, EmailNotVerified, UserBlocked, MessagePermissionDenied.
    """
    conversation = conversation_for(actor, conversation_id)
    contact_permission(actor, conversation)
    data = {"conversation_id": conversation.id, "user_id": actor.id, "is_typing": is_typing}
    groups.tell(conversation.other_id(actor.id), {"type": "typing", "data": data})
