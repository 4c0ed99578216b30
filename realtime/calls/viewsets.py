"""Calls over REST: for lock screens, for the history, and for fresh TURN credentials."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import permission_classes
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.permissions import IsVerified, MethodPermissions
from core.api.pagination import Limit, whole_number
from core.api.serializers import checked
from core.api.throttles import Throttle, throttles, user
from realtime.calls import selectors, services
from realtime.calls.models import Call
from realtime.calls.serializers import CallReply, CallSerializer, CallsReply, DeclineInput, IceServersReply
from realtime.conf import conf
from realtime.devices import Device

CALLS = Limit(conf.CALLS_LIMIT, conf.CALLS_MAX)
ICE_SERVERS = Throttle("ice_servers", by=user)
CALL_ID = OpenApiParameter("call_id", int, OpenApiParameter.PATH)


class CallViewSet(MethodPermissions, ViewSet):
    @extend_schema(
        operation_id="calls_list",
        parameters=[CALLS.parameter, OpenApiParameter("before", int, description="Only calls with a smaller id.")],
        responses=CallsReply,
    )
    def list(self, request: Request) -> Response:
        query = request.query_params
        limit, before = CALLS.of(query), whole_number(query, "before")
        services.end_overdue_of(user_id=request.user.id)
        rows, has_more = selectors.call_history(request.user.id, limit=limit, before=before)
        return Response({"calls": [_render(row, request) for row in rows], "has_more": has_more})

    @extend_schema(operation_id="calls_get", parameters=[CALL_ID], responses=CallReply)
    def retrieve(self, request: Request, call_id: str) -> Response:
        services.end_overdue_of(user_id=request.user.id)
        return Response({"call": _render(selectors.call_for(request.user.id, call_id), request)})

    @permission_classes([IsVerified])
    @extend_schema(operation_id="calls_decline", parameters=[CALL_ID], request=DeclineInput, responses=CallReply)
    def decline(self, request: Request, call_id: str) -> Response:
        data = checked(DeclineInput, request.data)
        call = services.decline(user_id=request.user.id, call_id=call_id, reason=data["reason"])
        return Response({"call": _render(call, request)})

    @permission_classes([IsVerified])
    @throttles(ICE_SERVERS)
    @extend_schema(operation_id="calls_ice_servers", parameters=[CALL_ID], responses=IceServersReply)
    def ice_servers(self, request: Request, call_id: str) -> Response:
        return Response(services.ice_servers(actor=request.user, call_id=call_id))


def _render(call: Call, request: Request) -> dict[str, Any]:
    return CallSerializer.render(call, device=Device(request.user.id, request.auth.id))
