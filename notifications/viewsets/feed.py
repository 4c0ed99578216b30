"""The feed, its badge, and reading it."""

from django.http import HttpResponseNotModified
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import person
from core.fields import parse_id
from core.pagination import decode_cursor, flag, page, page_size, whole_number
from notifications import selectors
from notifications.conf import conf
from notifications.exceptions import NotificationNotFound
from notifications.serializers.feed import (
    CountsOutput,
    FeedOutput,
    NotificationSerializer,
    ReadAllOutput,
    ReadOutput,
    RemovedOutput,
)
from notifications.services import feed

DEFAULT_LIMIT = 20
MAX_LIMIT = 50
# Further down, a client pages by cursor: an offset is counted row by row.
MAX_OFFSET = 1_000_000

_QUERY = [
    OpenApiParameter("limit", int, description=f"1 to {MAX_LIMIT}, 20 without; more counts as {MAX_LIMIT}."),
    OpenApiParameter("offset", int, description="Rows to leave out; unsteady while rows return to the top."),
    OpenApiParameter("cursor", str, description="`next_cursor` of the page before; then `offset` is ignored."),
    OpenApiParameter("unread", bool, description="Only unread rows."),
]


class FeedViewSet(ViewSet):
    @extend_schema(operation_id="notifications_list", parameters=_QUERY, responses=FeedOutput)
    def list(self, request: Request) -> Response:
        query = request.query_params
        cursor = decode_cursor(query.get("cursor"), largest=selectors.LAST_MICROSECOND)
        offset = min(whole_number(query, "offset", minimum=0) or 0, MAX_OFFSET)
        user_id = person(request).id
        rows, following = selectors.feed_page(
            viewer_id=user_id,
            limit=page_size(query, default=DEFAULT_LIMIT, maximum=MAX_LIMIT),
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

    @extend_schema(operation_id="notifications_unread_count", responses={200: CountsOutput, 304: None})
    def unread_count(self, request: Request) -> Response | HttpResponseNotModified:
        user_id = person(request).id
        counts = selectors.counts(user_id)
        etag = f'"{user_id}-{counts["unread_count"]}-{counts["message_unread_count"]}"'
        known = request.META.get("HTTP_IF_NONE_MATCH", "")
        headers = {
            "ETag": etag,
            "X-Poll-Interval": str(conf.POLL_SECONDS),
            "Cache-Control": "private, no-cache",
        }
        if _names(known, etag):
            return HttpResponseNotModified(headers=headers)
        return Response(counts, headers=headers)

    @extend_schema(operation_id="notifications_read_all", request=None, responses=ReadAllOutput)
    def read_all(self, request: Request) -> Response:
        user_id = person(request).id
        updated = feed.mark_all_read(user_id=user_id, until=timezone.now())
        return Response({"updated": updated, **selectors.counts(user_id)})

    @extend_schema(operation_id="notifications_read", request=None, responses=ReadOutput)
    def read(self, request: Request, notification_id: str) -> Response:
        user_id, row_id = person(request).id, _row_id(notification_id)
        feed.mark_read(user_id=user_id, notification_id=row_id)
        row = selectors.notifications_for(user_id, [row_id]).get(row_id)
        if row is None:
            raise NotificationNotFound
        return Response({"notification": row, **selectors.counts(user_id)})

    @extend_schema(operation_id="notifications_delete", request=None, responses=RemovedOutput)
    def remove(self, request: Request, notification_id: str) -> Response:
        user_id, row_id = person(request).id, _row_id(notification_id)
        feed.delete(user_id=user_id, notification_id=row_id)
        return Response({"notification_id": row_id, **selectors.counts(user_id)})


def _row_id(path_part: str) -> int:
    row_id = parse_id(path_part)
    if row_id is None:
        raise NotificationNotFound
    return row_id


def _names(if_none_match: str, etag: str) -> bool:
    """The header names this tag; a weak one counts, as HTTP has it for If-None-Match."""
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in tags or etag in tags
