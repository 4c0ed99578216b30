"""The entry point for other services: requests are signed, without a session."""

from typing import Any, cast

from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from core.throttles import Throttle, network, throttles
from notifications.serializers.events import EventInput, EventsInput, EventsOutput, events_of
from notifications.services import ingestion
from notifications.tokens import source_of

_HEADERS = [
    OpenApiParameter("webhook-id", str, OpenApiParameter.HEADER, required=True),
    OpenApiParameter(
        "webhook-timestamp", str, OpenApiParameter.HEADER, required=True, description="Seconds since 1970."
    ),
    OpenApiParameter(
        "webhook-signature",
        str,
        OpenApiParameter.HEADER,
        required=True,
        description="`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; several split by spaces.",
    ),
]


class EventViewSet(ViewSet):
    authentication_classes = []
    permission_classes = [AllowAny]

    @throttles(Throttle("events", by=network))
    @extend_schema(
        operation_id="notifications_events",
        parameters=_HEADERS,
        request=PolymorphicProxySerializer(
            component_name="Events", serializers=[EventInput, EventsInput], resource_type_field_name=None
        ),
        responses={202: EventsOutput},
    )
    def post(self, request: Request) -> Response:
        source = source_of(
            message_id=request.META.get("HTTP_WEBHOOK_ID", ""),
            timestamp=request.META.get("HTTP_WEBHOOK_TIMESTAMP", ""),
            signature=request.META.get("HTTP_WEBHOOK_SIGNATURE", ""),
            body=request._request.body,
        )
        results = ingestion.ingest(source=source, events=events_of(cast("dict[str, Any]", request.data)))
        return Response({"results": results}, status=202)
