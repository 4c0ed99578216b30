"""Acknowledgements of sockets: they mark messages as delivered for their senders."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.db import transaction

from messaging.selectors import conversations_for
from messaging.services import conversations
from notifications.services.delivery import SocketStatusQuery
from realtime import groups
from realtime.models import Event, Socket

UNIT_OF_WORK_TAKES = timedelta(seconds=0.5)


def acknowledged(*, socket_id: str, user_id: int, seq: int, delivered: Mapping[int, int]) -> None:
    """A device of this user has the log up to `seq`, with the messages of these conversations up to these
    ids: no push is needed for it, and the senders see the messages as delivered."""
    Socket.objects.filter(id=socket_id, acked_seq__lt=seq).update(acked_seq=seq)
    if delivered:
        conversations.mark_delivered(user_id=user_id, delivered=delivered)


def socket_statuses(questions: Sequence[SocketStatusQuery]) -> list[str]:
    """For the delivery of pushes: has a socket of the session acknowledged what was written at that time?"""
    sessions = {question.session_id for question in questions}
    rows = Socket.objects.alive().filter(session_id__any=sessions).values_list("session_id", "acked_seq")
    acked: dict[int, int] = {}
    for session_id, seq in rows:
        acked[session_id] = max(seq, acked.get(session_id, 0))
    newest = {
        (question.user_id, question.since): _newest_seq(question.user_id, question.since)
        for question in questions
        if question.session_id in acked
    }
    return [
        "absent"
        if question.session_id not in acked
        else "seen"
        if acked[question.session_id] >= newest[question.user_id, question.since]
        else "connected"
        for question in questions
    ]


def _newest_seq(user_id: int, since: datetime) -> int:
    """The last event of the unit of work that wrote something at `since`: events come last in it."""
    upto = since + UNIT_OF_WORK_TAKES
    rows = Event.objects.filter(user_id=user_id, created_at__lte=upto).order_by("-seq").values_list("seq", flat=True)
    return next(iter(rows[:1]), 0)


def send_delivered(*, conversation_id: int, user_id: int, peer_id: int, delivered_id: int) -> None:
    """Shows the sender that messages are delivered, after the commit and unless there is a block."""
    seen = conversations_for(peer_id, [conversation_id]).get(conversation_id, {})
    if seen.get("other_delivered_id") is None:
        return
    frame = {
        "type": "conversation.delivered",
        "data": {"conversation_id": conversation_id, "user_id": user_id, "delivered_id": delivered_id},
    }
    transaction.on_commit(lambda: groups.send_frame(peer_id, frame), robust=True)
