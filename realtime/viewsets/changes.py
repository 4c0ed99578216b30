"""The log for clients without a socket, and after a push."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from realtime import selectors, socket_events
from realtime.kinds import SocketRef
from realtime.serializers import ChangesQuery, ChangesReply
from realtime.services import log


class ChangesViewSet(ViewSet):
    @extend_schema(operation_id="realtime_changes", parameters=[ChangesQuery], responses=ChangesReply)
    def list(self, request: Request) -> Response:
        """What happened after `since`: the same envelopes as on the socket.

        Without `since` only the position. `reset` says that `since` cannot be continued from: reload,
        then go on from `seq`.
        """
        query = ChangesQuery(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        return Response(_changes(request, **query.validated_data))


def _changes(request: Request, limit: int, since: int | None = None, epoch: str = "") -> dict[str, Any]:
    user_id = request.user.id
    position = log.position(user_id)
    answer = {"epoch": position.epoch, "events": [], "seq": position.head_seq, "has_more": False, "reset": False}
    if since is None:
        return answer
    foreign = epoch not in ("", position.epoch)
    if foreign or since < position.min_seq or since > position.head_seq:
        return answer | {"reset": True}
    events = selectors.events_after(user_id, since, limit)
    if events and events[0].seq != since + 1:  # pruned while we looked
        return answer | {"reset": True}
    if not events:
        return answer
    frames = socket_events.render(user_id, events, SocketRef(request.auth.id))
    last = events[-1].seq
    return answer | {"events": frames, "seq": last, "has_more": last < position.head_seq}
