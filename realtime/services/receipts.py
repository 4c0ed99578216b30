"""What an acknowledgement on a socket means to the people who wrote."""

from collections.abc import Mapping
from functools import partial

from django.db import transaction

from messaging.selectors import conversations_for
from messaging.services import conversations
from realtime import groups


def delivered(*, user_id: int, up_to: Mapping[int, int]) -> None:
    """A device of this person has the messages of these conversations up to these ids."""
    conversations.mark_delivered(user_id=user_id, delivered=up_to)


def tell_delivered(*, conversation_id: int, user_id: int, peer_id: int, delivered_id: int) -> None:
    """Shows the writer the second tick, once it is committed and unless a block hides it."""
    seen = conversations_for(peer_id, [conversation_id]).get(conversation_id, {})
    if seen.get("other_delivered_id") is None:
        return
    frame = {
        "type": "conversation.delivered",
        "data": {"conversation_id": conversation_id, "user_id": user_id, "delivered_id": delivered_id},
    }
    transaction.on_commit(partial(groups.tell, peer_id, frame), robust=True)
