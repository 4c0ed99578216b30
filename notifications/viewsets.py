"""The REST entry points of notifications: the feed, preferences, push devices, and events of other services."""

from django.http import HttpResponseNotModified
from django.utils import timezone
from django.utils.http import parse_etags
from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer, extend_schema
from rest_framework.decorators import permission_classes
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.permissions import IsVerified, MethodPermissions
from core.api.pagination import Limit, decode_cursor, flag, page, whole_number
from core.api.serializers import OkReply, checked
from core.api.throttles import Throttle, network, throttles, user
from core.ids import parse_id
from notifications import selectors
from notifications.conf import conf
from notifications.exceptions import NotificationNotFound
from notifications.models import Preferences
from notifications.serializers import (
    EventBatchInput,
    EventInput,
    EventsReply,
    NotificationDeletedReply,
    NotificationReadReply,
    NotificationSerializer,
    NotificationsReadReply,
    NotificationsReply,
    PreferencesInput,
    PreferencesReply,
    PushTokenInput,
    RemovePushTokenInput,
    TestPushReply,
    UnreadCountsReply,
    events_of,
)
from notifications.services import delivery, devices, feed, ingestion

NOTIFICATIONS = Limit(conf.FEED_PAGE, conf.FEED_PAGE_MAX)
# Further down a client pages by cursor, because the database counts an offset row by row.
MAX_OFFSET = 1_000_000

_FEED_QUERY = [
    NOTIFICATIONS.parameter,
    OpenApiParameter("offset", int, description="Rows to leave out; unsteady while rows return to the top."),
    OpenApiParameter("cursor", str, description="`next_cursor` of the page before; then `offset` is ignored."),
    OpenApiParameter("unread", bool, description="Only unread rows."),
]


class FeedViewSet(ViewSet):
    @extend_schema(operation_id="notifications_list", parameters=_FEED_QUERY, responses=NotificationsReply)
    def list(self, request: Request) -> Response:
        query = request.query_params
        cursor = decode_cursor(query.get("cursor"), largest=selectors.LAST_MICROSECOND)
        offset = min(whole_number(query, "offset", minimum=0) or 0, MAX_OFFSET)
        user_id = request.user.id
        rows, following = selectors.feed_page(
            viewer_id=user_id,
            limit=NOTIFICATIONS.of(query),
            offset=0 if cursor else offset,
            after=cursor,
            unread_only=flag(query, "unread"),
        )
        return Response(
            page(
                following,
                notifications=[NotificationSerializer.render(row) for row in rows],
                unread_count=selectors.unread_count(user_id),
            )
        )

    @extend_schema(operation_id="notifications_unread_count", responses={200: UnreadCountsReply, 304: None})
    def unread_count(self, request: Request) -> Response | HttpResponseNotModified:
        user_id = request.user.id
        counts = selectors.counts(user_id)
        etag = f'"{user_id}-{counts["unread_count"]}-{counts["message_unread_count"]}"'
        # As HTTP defines it for If-None-Match, a weak tag matches.
        known = [tag.removeprefix("W/") for tag in parse_etags(request.META.get("HTTP_IF_NONE_MATCH", ""))]
        headers = {"ETag": etag, "X-Poll-Interval": str(conf.POLL_SECONDS), "Cache-Control": "private, no-cache"}
        if etag in known or "*" in known:
            return HttpResponseNotModified(headers=headers)
        return Response(counts, headers=headers)

    @extend_schema(operation_id="notifications_read_all", request=None, responses=NotificationsReadReply)
    def read_all(self, request: Request) -> Response:
        user_id = request.user.id
        updated = feed.mark_all_read(user_id=user_id, until=timezone.now(), session_id=request.auth.id)
        return Response({"updated": updated, **selectors.counts(user_id)})

    @extend_schema(operation_id="notifications_read", request=None, responses=NotificationReadReply)
    def read(self, request: Request, notification_id: str) -> Response:
        user_id, row_id = request.user.id, parse_id(notification_id) or 0
        feed.mark_read(user_id=user_id, notification_id=row_id, session_id=request.auth.id)
        row = selectors.notifications_for(user_id, [row_id]).get(row_id)
        if row is None:
            raise NotificationNotFound
        return Response({"notification": NotificationSerializer.render(row), **selectors.counts(user_id)})

    @extend_schema(operation_id="notifications_delete", request=None, responses=NotificationDeletedReply)
    def remove(self, request: Request, notification_id: str) -> Response:
        user_id, row_id = request.user.id, parse_id(notification_id) or 0
        feed.delete(user_id=user_id, notification_id=row_id, session_id=request.auth.id)
        return Response({"notification_id": row_id, **selectors.counts(user_id)})


class PreferencesViewSet(ViewSet):
    @extend_schema(operation_id="notifications_preferences", responses=PreferencesReply)
    def show(self, request: Request) -> Response:
        return _reply(selectors.preferences_of(request.user.id))

    @extend_schema(operation_id="notifications_preferences_set", request=PreferencesInput, responses=PreferencesReply)
    def replace(self, request: Request) -> Response:
        return self._change(request, partial=False)

    @extend_schema(
        operation_id="notifications_preferences_change",
        request=PreferencesInput(partial=True),
        responses=PreferencesReply,
    )
    def change(self, request: Request) -> Response:
        return self._change(request, partial=True)

    def _change(self, request: Request, *, partial: bool) -> Response:
        serializer = PreferencesInput(data=request.data, partial=partial)
        serializer.is_valid(raise_exception=True)
        return _reply(feed.change_preferences(user_id=request.user.id, choices=serializer.validated_data))


def _reply(choice: Preferences) -> Response:
    return Response({"preferences": PreferencesInput.render(choice)})


class PushTokenViewSet(MethodPermissions, ViewSet):
    # A token may move here from another account, so the user needs a verified address.
    @permission_classes([IsVerified])
    @extend_schema(operation_id="profile_push_token_set", request=PushTokenInput, responses=OkReply)
    def register(self, request: Request) -> Response:
        data = checked(PushTokenInput, request.data)
        devices.register(user_id=request.user.id, session_id=request.auth.id, **data)
        return Response()

    @extend_schema(operation_id="profile_push_token_remove", request=RemovePushTokenInput, responses=OkReply)
    def remove(self, request: Request) -> Response:
        data = checked(RemovePushTokenInput, request.data)
        devices.remove(user_id=request.user.id, token=data["token"])
        return Response()


class TestPushViewSet(ViewSet):
    permission_classes = [IsVerified]

    @throttles(Throttle("test_push", by=user))
    @extend_schema(operation_id="notifications_test_push", request=None, responses=TestPushReply)
    def send(self, request: Request) -> Response:
        return Response({"devices": delivery.enqueue_test_push(recipient_id=request.user.id)})


_SIGNATURE_HEADERS = [
    OpenApiParameter(name, str, OpenApiParameter.HEADER, required=True, description=description)
    for name, description in (
        ("webhook-id", ""),
        ("webhook-timestamp", "Seconds since 1970."),
        ("webhook-signature", "`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; several split by spaces."),
    )
]


class EventViewSet(ViewSet):
    """For other services: requests are signed, without a session."""

    authentication_classes = []
    permission_classes = [AllowAny]

    @throttles(Throttle("events", by=network))
    @extend_schema(
        operation_id="notifications_events",
        parameters=_SIGNATURE_HEADERS,
        request=PolymorphicProxySerializer(
            component_name="Events", serializers=[EventInput, EventBatchInput], resource_type_field_name=None
        ),
        responses={202: EventsReply},
    )
    def post(self, request: Request) -> Response:
        source = ingestion.source_of(
            message_id=request.META.get("HTTP_WEBHOOK_ID", ""),
            timestamp=request.META.get("HTTP_WEBHOOK_TIMESTAMP", ""),
            signature=request.META.get("HTTP_WEBHOOK_SIGNATURE", ""),
            body=request.body,
        )
        results = ingestion.ingest(source=source, events=events_of(request.data))
        return Response({"results": results}, status=202)
