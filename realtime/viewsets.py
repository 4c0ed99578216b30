"""The real-time channel over REST: the log for clients without a socket and after a push, the description of the socket, and
calls for lock screens, for the history and for fresh TURN credentials.
"""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSet

from core.fields import checked
from core.pagination import LIMIT, page_size, whole_number
from realtime import asyncapi, selectors, socket_events
from realtime.conf import conf
from realtime.models import SocketRef
from realtime.serializers import CallReply, CallsReply, ChangesQuery, ChangesReply, DeclineInput, IceServersReply
from realtime.services import calls, log
from realtime.socket_events import UserEvents

CALL_ID = OpenApiParameter("call_id", int, OpenApiParameter.PATH)


class ChangesViewSet(ViewSet):
    @extend_schema(operation_id="realtime_changes", parameters=[ChangesQuery], responses=ChangesReply)
    def list(self, request: Request) -> Response:
        return Response(_changes(request, **checked(ChangesQuery, request.query_params.dict())))


def _changes(request: Request, limit: int, since: int | None = None, epoch: str = "") -> dict[str, Any]:
    user_id = request.user.id
    position = log.position(user_id)
    reply = {"epoch": position.epoch, "events": [], "seq": position.head_seq, "has_more": False, "reset": False}
    if since is None:
        return reply
    is_other_epoch = epoch not in ("", position.epoch)
    if is_other_epoch or since < position.min_seq or since > position.head_seq:
        return reply | {"reset": True}
    if since == position.head_seq:
        return reply
    events = selectors.events_after(user_id, since, limit)
    if not events or events[0].seq != since + 1:  # pruned meanwhile
        return reply | {"reset": True}
    [frames] = socket_events.render([UserEvents(user_id, events, _device(request))])
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


class CallViewSet(ViewSet):
    @extend_schema(
        operation_id="calls_list",
        parameters=[LIMIT, OpenApiParameter("before", int, description="Only calls with a smaller id.")],
        responses=CallsReply,
    )
    def list(self, request: Request) -> Response:
        limit = page_size(request.query_params, default=conf.CALLS_LIMIT, maximum=conf.CALLS_MAX)
        before = whole_number(request.query_params, "before")
        calls.end_overdue_of(user_id=request.user.id)
        rows, has_more = selectors.call_history(request.user.id, limit=limit, before=before, device=_device(request))
        return Response({"calls": rows, "has_more": has_more})

    @extend_schema(operation_id="calls_get", parameters=[CALL_ID], responses=CallReply)
    def retrieve(self, request: Request, call_id: str) -> Response:
        calls.end_overdue_of(user_id=request.user.id)
        return Response({"call": selectors.call_for(request.user.id, call_id, _device(request))})

    @extend_schema(operation_id="calls_decline", parameters=[CALL_ID], request=DeclineInput, responses=CallReply)
    def decline(self, request: Request, call_id: str) -> Response:
        data = checked(DeclineInput, request.data)
        calls.decline(user_id=request.user.id, call_id=call_id, reason=data["reason"])
        return Response({"call": selectors.call_for(request.user.id, call_id, _device(request))})

    @extend_schema(operation_id="calls_ice_servers", parameters=[CALL_ID], responses=IceServersReply)
    def ice_servers(self, request: Request, call_id: str) -> Response:
        return Response(calls.ice_servers(actor=request.user, call_id=call_id))


def _device(request: Request) -> SocketRef:
    return SocketRef(session_id=request.auth.id)
