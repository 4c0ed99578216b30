"""Announces changes of a call: to both users' logs, to the bound sockets, and by push."""

from functools import partial
from typing import Any

from django.db import transaction

from accounts.selectors import users_by_ids
from core.images import media_path
from core.text import json_time
from notifications.selectors import is_quiet
from notifications.services import delivery
from realtime import groups
from realtime.calls.models import Call, CallParty
from realtime.services import log


def announce(call: Call) -> None:
    """Appends `call.updated` to the logs of both users, as part of the open unit of work."""
    for user_id in sorted((call.caller_id, call.callee_id)):
        log.append(user_id=user_id, type="call.updated", conversation_id=call.conversation_id, object_id=call.id)


def send_to_socket(party: CallParty, type: str, data: dict[str, Any]) -> None:
    """Sends an ephemeral frame to the bound socket of one participant, after the unit of work is committed.

    It is not droppable: a call cannot connect without every candidate.
    """
    if not party.socket_id:
        return
    send = partial(
        groups.send_frame, party.user_id, {"type": type, "data": data}, only=party.socket_id, droppable=False
    )
    transaction.on_commit(send, robust=True)


def push_incoming(call: Call) -> None:
    """Sends a data-only push to the callee's devices without an open socket; every value is text."""
    caller = users_by_ids([call.caller_id])[call.caller_id]
    delivery.enqueue_call_push(
        recipient_id=call.callee_id,
        data={
            "type": "incoming_call",
            "call_id": str(call.id),
            "conversation_id": str(call.conversation_id),
            "caller_id": str(call.caller_id),
            "caller_name": caller.display_name,
            "caller_avatar_url": media_path(caller.avatar_token) if caller.avatar_token else "",
            "media": call.media,
            "expires_at": json_time(call.expires_at),
        }
        # The push is sent in any case; the app respects this flag and makes no sound.
        | ({"quiet": "1"} if is_quiet(call.callee_id) else {}),
        expires_at=call.expires_at,
    )


def push_ended(call: Call) -> None:
    """Sends the push that stops the ringing."""
    delivery.enqueue_call_push(
        recipient_id=call.callee_id,
        data={"type": "call_ended", "call_id": str(call.id), "outcome": call.outcome},
        expires_at=call.expires_at,
    )
