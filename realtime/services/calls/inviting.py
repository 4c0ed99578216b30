"""`call.invite`: permissions, busy users, and two users who call each other at the same time."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import IntegrityError
from django.utils import timezone

from accounts.exceptions import EmailNotVerified
from core import ratelimits
from core.transactions import unit_of_work
from messaging.exceptions import IdempotencyConflict
from messaging.selectors import contact_permission, conversation_for, has_written
from messaging.services import conversations
from messaging.text import clean_client_id
from realtime.conf import conf
from realtime.exceptions import CallConflict
from realtime.kinds import SocketRef
from realtime.models import Call, CallParty
from realtime.services.calls.announcing import announce, push_incoming
from realtime.services.calls.answering import answer
from realtime.services.calls.ending import record, settle_due_of
from realtime.services.calls.participants import seat_for

if TYPE_CHECKING:
    from accounts.models import User

TRIES = 4


class _Wish(NamedTuple):
    actor_id: int
    callee_id: int
    device: SocketRef
    conversation_id: int
    media: str
    client_id: str | None


def invite(
    *, actor: "User", device: SocketRef, conversation_id: object, media: str, client_id: str | None = None
) -> Call:
    """Rings the other participant of a conversation and binds the inviting socket to the call.

    A repeated `client_id` returns the same call (IdempotencyConflict with other content). If the other
    user is in a call, the result is an ended call with the outcome `busy`. If the other user's invitation
    is ringing already, this one accepts it. ConversationNotFound, EmailNotVerified, UserBlocked,
    MessagePermissionDenied before anything is written; CallConflict while the actor is in another call;
    RateLimited.
    """
    if not actor.is_verified:
        raise EmailNotVerified
    conversation = conversation_for(actor, conversation_id)
    wish = _Wish(
        actor_id=actor.id,
        callee_id=conversation.other_id(actor.id),
        device=device,
        conversation_id=conversation.id,
        media=media,
        client_id=clean_client_id(client_id),
    )
    repeated = _repeated(wish)
    if repeated is not None:
        return repeated
    contact_permission(actor, conversation)
    ratelimits.check("call_invite", actor.id)
    if not has_written(user_id=wish.callee_id, conversation_id=conversation.id):
        ratelimits.check("call_invite_unanswered", f"{wish.actor_id} {wish.callee_id}")
    for user_id in (wish.actor_id, wish.callee_id):
        settle_due_of(user_id=user_id)
    for _ in range(TRIES):
        try:
            with unit_of_work():
                conversations.show_to(user_id=wish.callee_id, conversation=conversation)
                return _ring(wish)
        except IntegrityError:
            # A concurrent invitation took one of the two users: read again.
            continue
    raise CallConflict


def _repeated(wish: _Wish) -> Call | None:
    if wish.client_id is None:
        return None
    call = Call.objects.filter(caller_id=wish.actor_id, client_id=wish.client_id).first()
    if call is None:
        return None
    if (call.conversation_id, call.media) != (wish.conversation_id, wish.media):
        raise IdempotencyConflict
    return call


def _ring(wish: _Wish) -> Call:
    both = (wish.actor_id, wish.callee_id)
    live = dict(CallParty.objects.filter(user_id__in=both, live=True).values_list("user_id", "call_id"))
    # After reading the live calls: this finds a concurrent repeat that has committed since.
    repeated = _repeated(wish)
    if repeated is not None:
        return repeated
    if wish.actor_id in live:
        return _answer_instead(wish, live[wish.actor_id])
    if wish.callee_id in live:
        return _busy(wish)
    now = timezone.now()
    call = _create(wish, expires_at=now + timedelta(seconds=conf.CALL_RING_SECONDS), created_at=now)
    # One insert per row, in ascending order: two invitations wait at the unique index without a deadlock.
    for user_id in sorted(both):
        CallParty.objects.create(
            call=call,
            user_id=user_id,
            session_id=wish.device.session_id if user_id == wish.actor_id else None,
            socket_id=wish.device.socket_id if user_id == wish.actor_id else "",
        )
    push_incoming(call)
    announce(call)
    return call


def _answer_instead(wish: _Wish, call_id: int) -> Call:
    """Both users called each other: the second invitation accepts the first."""
    seat = seat_for(user_id=wish.actor_id, call_id=call_id)
    rings_here = seat.call.state == Call.State.RINGING and not seat.is_caller
    if not rings_here or seat.other.user_id != wish.callee_id:
        raise CallConflict
    answer(seat, wish.device)
    return seat.call


def _busy(wish: _Wish) -> Call:
    now = timezone.now()
    call = _create(
        wish,
        state=Call.State.ENDED,
        outcome=Call.Outcome.BUSY,
        created_at=now,
        expires_at=now,
        ended_at=now,
    )
    for user_id in sorted((wish.actor_id, wish.callee_id)):
        CallParty.objects.create(call=call, user_id=user_id, live=False)
    record(call)
    announce(call)
    return call


def _create(wish: _Wish, **fields: Any) -> Call:
    return Call.objects.create(
        conversation_id=wish.conversation_id,
        caller_id=wish.actor_id,
        callee_id=wish.callee_id,
        media=wish.media,
        client_id=wish.client_id,
        **fields,
    )
