"""Somebody writes: said to the other one's sockets, never stored, never to one's own devices."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from accounts.selectors import fit_to_speak
from messaging.selectors import contact_permission, conversation_for, reachable_peers
from realtime import groups

if TYPE_CHECKING:
    from accounts.models import User


def typing(*, actor: "User", conversation_id: object, is_typing: bool) -> None:
    """Clients repeat it at least every 4 s while it lasts, and let it expire after 6 s.

    ConversationNotFound, EmailNotVerified, UserBlocked, MessagePermissionDenied.
    """
    conversation = conversation_for(actor, conversation_id)
    contact_permission(actor, conversation)
    groups.tell(conversation.other_id(actor.id), _frame(conversation.id, actor.id, is_typing))


class Note(NamedTuple):
    """That a person types, on the socket of a session."""

    session_id: int
    user_id: int
    conversation_id: int
    is_typing: bool


def typing_of_many(notes: Sequence[Note]) -> list[bool]:
    """Passes on, in two queries and one PUBLISH, all that nothing speaks against; which ones that were.

    The others are for `typing`, which says what is wrong.
    """
    owners = fit_to_speak(note.session_id for note in notes)
    peers = reachable_peers((note.conversation_id, note.user_id) for note in notes)
    passed = [
        owners.get(note.session_id) == note.user_id and (note.conversation_id, note.user_id) in peers for note in notes
    ]
    groups.publish(
        groups.frame_message(
            peers[note.conversation_id, note.user_id], _frame(note.conversation_id, note.user_id, note.is_typing)
        )
        for note, is_passed in zip(notes, passed, strict=True)
        if is_passed
    )
    return passed


def _frame(conversation_id: int, user_id: int, is_typing: bool) -> dict[str, Any]:
    data = {"conversation_id": conversation_id, "user_id": user_id, "is_typing": is_typing}
    return {"type": "typing", "data": data}
