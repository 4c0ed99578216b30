"""The commands of a call that is not answered yet: invite (permissions, busy users, two users who call each other),
ringing, accept, decline, cancel."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import IntegrityError
from django.utils import timezone

from accounts.exceptions import UserBlocked
from accounts.images.access import media_path
from accounts.selectors import blocked_either_way, users_by_ids
from core.api import ratelimits
from core.database.transactions import unit_of_work
from core.times import json_time
from messaging.exceptions import IdempotencyConflict
from messaging.selectors import check_can_contact, conversation_for, has_written
from messaging.services import conversations
from messaging.text import clean_client_id
from notifications.services import delivery
from realtime.calls.models import Call, CallParticipant
from realtime.calls.services import connections
from realtime.calls.services.state import (
    LockedCall,
    announce,
    bind,
    end,
    end_overdue_of,
    lock_call_for,
    locked_call,
    record,
)
from realtime.calls.signals import call_ended
from realtime.conf import conf
from realtime.devices import Device
from realtime.exceptions import CallConflict

if TYPE_CHECKING:
    from accounts.models import User

TRIES = 4


class _HasEnded(Exception):
    """The actor's live call has ended before it was locked."""


class _Invitation(NamedTuple):
    """The fields of the call that it becomes."""

    conversation_id: int
    caller_id: int
    callee_id: int
    media: str
    client_id: str | None


def invite(*, actor: "User", device: Device, conversation_id: object, media: str, client_id: str | None = None) -> Call:
    """Rings the other participant of a conversation and binds the inviting socket to the call.

    A repeated `client_id` returns the same call (IdempotencyConflict with other content). If the other
    user is in a call, the result is an ended call with the outcome `busy`. If the other user's invitation
    is ringing already, this one accepts it. ConversationNotFound, EmailNotVerified, UserBlocked,
    MessagePermissionDenied before anything is written; CallConflict while the actor is in another call;
    RateLimited.
    """
    conversation = conversation_for(actor, conversation_id)
    callee_id = conversation.other_id(actor.id)
    invitation = _Invitation(conversation.id, actor.id, callee_id, media, clean_client_id(client_id))
    if repeated := _find_repeated(invitation):
        return repeated
    check_can_contact(actor, conversation)
    ratelimits.check("call_invite", actor.id)
    if not has_written(user_id=callee_id, conversation_id=conversation.id):
        ratelimits.check("call_invite_unanswered", f"{actor.id} {callee_id}")
    for user_id in (actor.id, callee_id):
        end_overdue_of(user_id=user_id)
    for _ in range(TRIES):
        # Read again if a concurrent invitation takes one of the two users, or if a call of the actor ends.
        with suppress(IntegrityError, _HasEnded), unit_of_work():
            return _start_ringing(invitation, device, conversation)
    raise CallConflict


def _find_repeated(invitation: _Invitation) -> Call | None:
    """The call of an earlier invitation with this client_id: the actor's own, or the other user's that it accepted."""
    if invitation.client_id is None:
        return None
    user_id, client_id = invitation.caller_id, invitation.client_id
    own = Call.objects.filter(caller_id=user_id, client_id=client_id).first()
    call = own or Call.objects.filter(participants__user_id=user_id, participants__client_id=client_id).first()
    # An accepted call has the media of the other user's invitation.
    if call and (call.conversation_id != invitation.conversation_id or (own and own.media != invitation.media)):
        raise IdempotencyConflict
    return call


def _start_ringing(invitation: _Invitation, device: Device, conversation: Any) -> Call:
    both = sorted((invitation.caller_id, invitation.callee_id))
    live = dict(CallParticipant.objects.filter(user_id__in=both, live=True).values_list("user_id", "call_id"))
    # After reading the live calls: this finds a concurrent repeat that has committed since.
    if repeated := _find_repeated(invitation):
        return repeated
    if invitation.caller_id in live:
        return _accept_crossed_invite(invitation, device, live[invitation.caller_id])
    now = timezone.now()
    if invitation.callee_id in live:
        busy = {"state": Call.State.ENDED, "outcome": Call.Outcome.BUSY}
        call = Call.objects.create(**invitation._asdict(), **busy, created_at=now, expires_at=now, ended_at=now)
        CallParticipant.objects.bulk_create(CallParticipant(call=call, user_id=user_id, live=False) for user_id in both)
        record(call)
        announce(call)
        call_ended.send(Call, call=call)
        return call
    expires_at = now + timedelta(seconds=conf.CALL_RING_SECONDS)
    call = Call.objects.create(**invitation._asdict(), created_at=now, expires_at=expires_at)
    # One insert per row, in ascending order, so that two invitations wait at the unique index without a deadlock.
    for user_id in both:
        bound = {"session_id": device.session_id, "socket_id": device.socket_id} if user_id == device.user_id else {}
        CallParticipant.objects.create(call=call, user_id=user_id, **bound)
    conversations.reveal_conversation(user_id=invitation.callee_id, conversation=conversation)
    _push_incoming(call)
    announce(call)
    return call


def _push_incoming(call: Call) -> None:
    """Sends a data-only push to the callee's devices without an open socket; every value is text.

    In quiet mode the delivery adds `quiet`, and the app makes no sound.
    """
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
        },
        expires_at=call.expires_at,
    )


def _accept_crossed_invite(invitation: _Invitation, device: Device, call_id: int) -> Call:
    """Both users called each other: the second invitation accepts the first."""
    locked = lock_call_for(user_id=invitation.caller_id, call_id=call_id)
    # Read under the lock of the call, to find a concurrent repeat.
    if repeated := _find_repeated(invitation):
        return repeated
    if locked.call.state == Call.State.ENDED:
        raise _HasEnded
    is_ringing_here = locked.call.state == Call.State.RINGING and not locked.is_caller
    if not is_ringing_here or locked.other.user_id != invitation.callee_id:
        raise CallConflict
    locked.mine.client_id = invitation.client_id
    _answer(locked, device)
    return locked.call


def ringing(*, user_id: int, call_id: object) -> Call:
    """A device of the callee rings: notifies the caller's device. Changes no state."""
    with _ringing_call(user_id, call_id, as_caller=False) as locked:
        connections.send(locked.other, "call.ringing", {"call_id": locked.call.id})
    return locked.call


def accept(*, device: Device, call_id: object) -> Call:
    """Binds the callee's device that answers first. UserBlocked after a block."""
    with _ringing_call(device.user_id, call_id, as_caller=False) as locked:
        _answer(locked, device)
    return locked.call


def decline(*, user_id: int, call_id: object, reason: str = "declined") -> Call:
    """The callee declines from any device while the call rings. CallConflict later."""
    with _ringing_call(user_id, call_id, as_caller=False) as locked:
        end(locked.call, Call.Outcome(reason))
    return locked.call


def cancel(*, user_id: int, call_id: object) -> Call:
    """The caller cancels from any device before the call is answered."""
    with _ringing_call(user_id, call_id, as_caller=True) as locked:
        end(locked.call, Call.Outcome.CANCELED)
    return locked.call


def _answer(locked: LockedCall, device: Device) -> None:
    """Changes the state from ringing to connecting, inside the open unit of work. UserBlocked after a block."""
    # Checked under the lock of the call: a concurrent block is either seen here, or ends the call.
    if blocked_either_way(locked.mine.user_id, locked.other.user_id):
        raise UserBlocked
    bind(locked.mine, device)
    now = timezone.now()
    locked.call.state = Call.State.CONNECTING
    locked.call.answered_at = now
    locked.call.expires_at = now + timedelta(seconds=conf.CALL_CONNECT_SECONDS)
    locked.call.save(update_fields=["state", "answered_at", "expires_at"])
    delivery.cancel_call_push(recipient_id=locked.call.callee_id, call_id=locked.call.id)
    announce(locked.call)


@contextmanager
def _ringing_call(user_id: int, call_id: object, *, as_caller: bool) -> Iterator[LockedCall]:
    """The locked call in a unit of work. CallConflict unless it rings and the user has this role in it."""
    with locked_call(Call.State.RINGING, user_id=user_id, call_id=call_id) as locked:
        if locked.is_caller is not as_caller:
            raise CallConflict
        yield locked
