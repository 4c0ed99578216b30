"""The user's push devices, and a test push."""

from typing import Any, cast

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import person
from core.serializers import OkReply
from core.throttles import Throttle, throttles, user
from core.validation import checked
from notifications.serializers.devices import (
    PushTokenInput,
    PushTokenRemoval,
    TestPushOutput,
)
from notifications.services import delivery, devices


class PushTokenViewSet(ViewSet):
    @extend_schema(operation_id="profile_push_token_set", request=PushTokenInput, responses=OkReply)
    def register(self, request: Request) -> Response:
        user_id = person(request).id
        named = checked(PushTokenInput, request)
        devices.register(
            user_id=user_id,
            session_id=cast(Any, request.auth).id,
            token=named["token"],
            platform=named["platform"],
            device_id=named["device_id"] or None,
            locale=named["locale"] or "",
            app_version=named["app_version"] or "",
        )
        return Response({})

    @extend_schema(operation_id="profile_push_token_remove", request=PushTokenRemoval, responses=OkReply)
    def remove(self, request: Request) -> Response:
        form = checked(PushTokenRemoval, request)
        devices.remove(user_id=person(request).id, token=form["token"])
        return Response({})


class TestPushViewSet(ViewSet):
    @throttles(Throttle("test_push", by=user))
    @extend_schema(operation_id="notifications_test_push", request=None, responses=TestPushOutput)
    def send(self, request: Request) -> Response:
        return Response({"devices": delivery.enqueue_test_push(recipient_id=person(request).id)})
