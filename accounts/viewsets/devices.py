"""The user's sessions and trusted devices."""

from typing import cast

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts import selectors
from accounts.authentication import person
from accounts.models import Session
from accounts.serializers.security import (
    DeviceSerializer,
    DevicesOutput,
    RevokedOutput,
    SessionSerializer,
    SessionsOutput,
)
from accounts.services import sessions, trusted_devices
from accounts.throttles import SIGN_OUT
from core.fields import parse_id
from core.serializers import OkReply
from core.throttles import throttles


class SessionListViewSet(ViewSet):
    @extend_schema(operation_id="auth_sessions_list", responses=SessionsOutput)
    def list(self, request: Request) -> Response:
        current = cast(Session, request.auth)
        rows = selectors.sessions_of(person(request).id)
        return Response({"sessions": [SessionSerializer.render(row, current=current) for row in rows]})

    @throttles(SIGN_OUT)
    @extend_schema(operation_id="auth_sessions_end", request=None, responses=OkReply)
    def end(self, request: Request, session_id: str) -> Response:
        sessions.end(user=person(request), session_id=parse_id(session_id))
        return Response()

    @throttles(SIGN_OUT)
    @extend_schema(operation_id="auth_sessions_end_others", request=None, responses=RevokedOutput)
    def end_others(self, request: Request) -> Response:
        revoked = sessions.revoke_all(user_id=person(request).id, reason="revoked", but=cast(Session, request.auth))
        return Response({"revoked": revoked})


class DeviceViewSet(ViewSet):
    @extend_schema(operation_id="auth_devices_list", responses=DevicesOutput)
    def list(self, request: Request) -> Response:
        rows = selectors.live_devices(person(request).id)
        return Response({"devices": [DeviceSerializer.render(row) for row in rows]})

    @throttles(SIGN_OUT)
    @extend_schema(operation_id="auth_devices_remove", request=None, responses=OkReply)
    def remove(self, request: Request, device_id: str) -> Response:
        trusted_devices.remove(user=person(request), device_id=parse_id(device_id))
        return Response()
