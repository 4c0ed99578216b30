"""The real-time channel over REST: the log for clients without a socket and after a push, and the description of the socket."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSet

from core.api.serializers import checked
from realtime import asyncapi, selectors, socket_events
from realtime.calls import services as calls
from realtime.devices import Device
from realtime.serializers import ChangesQuery
from realtime.services import event_log
from realtime.socket_events import ChangesReply


class ChangesViewSet(ViewSet):
    @extend_schema(operation_id="realtime_changes", parameters=[ChangesQuery], responses=ChangesReply)
    def list(self, request: Request) -> Response:
        return Response(_changes(request, **checked(ChangesQuery, request.query_params.dict())))


def _changes(request: Request, limit: int, since: int | None = None, epoch: str = "") -> dict[str, Any]:
    user_id = request.user.id
    calls.end_overdue_of(user_id=user_id)
    position = event_log.position(user_id)
    reply = {"epoch": position.epoch, "events": [], "seq": position.head_seq, "has_more": False, "reset": False}
    if since is None:
        return reply
    if position.reset_reason(since, epoch or None):
        return reply | {"reset": True}
    if since == position.head_seq:
        return reply
    events = selectors.events_after(user_id, since, limit)
    if not events or events[0].seq != since + 1:  # pruned meanwhile
        return reply | {"reset": True}
    [frames] = socket_events.render([selectors.UserEvents(Device(user_id, request.auth.id), events)])
    last = events[-1].seq
    return reply | {"events": frames, "seq": last, "has_more": last < position.head_seq}


class RealtimeSchemaView(APIView):
    authentication_classes = ()
    permission_classes = (AllowAny,)
    renderer_classes = (JSONRenderer,)

    @extend_schema(operation_id="realtime_schema", responses=OpenApiTypes.OBJECT, auth=[])
    def get(self, request: Request) -> Response:
        server = {"host": request.get_host(), "protocol": "wss" if request.is_secure() else "ws"}
        return Response(asyncapi.document() | {"servers": {"here": server}})
