"""`call.invite`: who may ring whom, who is busy, and what two invitations at once become."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import IntegrityError
from django.utils import timezone

from accounts import ratelimits
from accounts.exceptions import EmailNotVerified
from accounts.unit_of_work import unit_of_work
from messaging.exceptions import IdempotencyConflict
from messaging.selectors import contact_permission, conversation_for
from messaging.text import clean_client_id
from realtime.conf import conf
from realtime.exceptions import CallConflict
from realtime.kinds import Device
from realtime.models import Call, CallParty
from realtime.services.calls.announcing import announce, push_incoming
from realtime.services.calls.answering import answer
from realtime.services.calls.ending import record, settle_due_of
from realtime.services.calls.seats import seat_for

if TYPE_CHECKING:
    from accounts.models import User

TRIES = 4


class _Wish(NamedTuple):
    actor_id: int
    callee_id: int
    device: Device
    conversation_id: int
    media: str
    client_id: str | None


def invite(*, actor: "User", device: Device, conversation_id: object, media: str, client_id: str | None = None) -> Call:
    """Rings the other person of a conversation; the inviting socket is bound to the call.

    The same `client_id` finds the same call again (IdempotencyConflict with other content). Somebody
    who is in a call gives a call that has already ended, with the outcome `busy`. When the other
    person's invitation is ringing here, this one accepts it. ConversationNotFound, EmailNotVerified,
    UserBlocked, MessagePermissionDenied before anything is written; CallConflict while the actor
    is in another call; RateLimited.
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
    ratelimits.check("call_invite", str(actor.id))
    for user_id in (wish.actor_id, wish.callee_id):
        settle_due_of(user_id=user_id)
    for _ in range(TRIES):
        try:
            with unit_of_work():
                return _ring(wish)
        except IntegrityError:
            # Another invitation took one of the two at this very moment: look again.
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
    # After the look at live calls: a twin of this invitation that has committed since is found here.
    repeated = _repeated(wish)
    if repeated is not None:
        return repeated
    if wish.actor_id in live:
        return _answer_instead(wish, live[wish.actor_id])
    if wish.callee_id in live:
        return _busy(wish)
    now = timezone.now()
    call = _create(wish, expires_at=now + timedelta(seconds=conf.CALL_RING_SECONDS), created_at=now)
    # One insert per row, ascending: two invitations meet at the unique index and never wait in a circle.
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
    """Both called each other: the second invitation is the answer to the first."""
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
