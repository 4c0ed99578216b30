"""Messages of a conversation, reactions to them, and reports of them."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.permissions import IsVerified
from core.fields import checked
from core.pagination import page_size, whole_number
from core.throttles import UPLOADS, Throttle, throttles, user
from core.uploads import PictureFormParser
from messaging import selectors
from messaging.conf import conf
from messaging.serializers import inputs, outputs
from messaging.services import messages, reactions, reports
from messaging.text import clean_query

LIMIT = OpenApiParameter("limit", int, description="Larger values are clamped to 100.")
BEFORE = OpenApiParameter("before", int, description="Only messages with lower ids.")


class MessageViewSet(ViewSet):
    def get_permissions(self) -> Sequence[Any]:
        if self.action in ("create", "partial_update"):
            return [IsVerified()]
        return super().get_permissions()

    @extend_schema(
        operation_id="messages_list",
        parameters=[
            LIMIT,
            BEFORE,
            OpenApiParameter(
                "after",
                int,
                description="Only messages with higher ids, the lowest of them first picked. Not with `before`.",
            ),
        ],
        responses=outputs.MessagesReply,
    )
    def list(self, request: Request, conversation_id: str) -> Response:
        """Messages, newest first. The last id of a page is the next `before`, the first the next `after`."""
        query = request.query_params
        limit = page_size(query, default=conf.MESSAGES_PAGE, maximum=conf.MESSAGES_PAGE_MAX)
        before, after = whole_number(query, "before"), whole_number(query, "after", minimum=0)
        if before is not None and after is not None:
            raise ValidationError({"after": [_("Use either before or after.")]})
        page, has_more = selectors.message_page(
            user_id=request.user.id,
            conversation_id=conversation_id,
            limit=limit,
            before=before,
            after=after,
        )
        return Response({"messages": page, "has_more": has_more})

    @throttles(Throttle("send", by=user))
    @extend_schema(
        operation_id="messages_send",
        request=inputs.SendMessageInput,
        responses={200: outputs.MessageReply, 201: outputs.MessageReply},
    )
    def create(self, request: Request, conversation_id: str) -> Response:
        """Sends a text. A repeated `client_id` gives the first message again, with 200."""
        data = checked(inputs.SendMessageInput, request)
        message, created = messages.send(sender=request.user, conversation_id=conversation_id, **data)
        return Response({"message": message}, status=201 if created else 200)

    @throttles(Throttle("edit", by=user))
    @extend_schema(operation_id="messages_edit", request=inputs.EditMessageInput, responses=outputs.MessageReply)
    def partial_update(self, request: Request, message_id: str) -> Response:
        """Changes the text of one's own message."""
        body = checked(inputs.EditMessageInput, request)["body"]
        return Response({"message": messages.edit(editor=request.user, message_id=message_id, body=body)})

    @extend_schema(operation_id="messages_delete", request=None, responses=outputs.DeletedReply)
    def destroy(self, request: Request, message_id: str) -> Response:
        """Deletes one's own message for both participants and erases its content."""
        return Response({"message_id": messages.delete(user=request.user, message_id=message_id)})

    @throttles(Throttle("search_inside", by=user))
    @extend_schema(
        operation_id="messages_search_inside",
        parameters=[OpenApiParameter("q", str, required=True), LIMIT, BEFORE],
        responses=outputs.SearchReply,
    )
    def search(self, request: Request, conversation_id: str) -> Response:
        """Messages that contain `q`, without regard to case and accents, newest first."""
        query = request.query_params
        hits, next_before = selectors.search_page(
            user_id=request.user.id,
            conversation_id=conversation_id,
            folded=clean_query(query.get("q")),
            limit=page_size(query, default=conf.SEARCH_PAGE, maximum=conf.SEARCH_PAGE_MAX),
            before=whole_number(query, "before"),
        )
        return Response({"messages": hits, "has_more": next_before is not None, "next_before": next_before})


class ImageMessageViewSet(ViewSet):
    permission_classes = [IsVerified]
    parser_classes = [PictureFormParser]

    @throttles(UPLOADS)
    @extend_schema(
        operation_id="messages_send_image",
        request={"multipart/form-data": inputs.SendImageInput},
        responses={200: outputs.MessageReply, 201: outputs.MessageReply},
    )
    def create(self, request: Request, conversation_id: str) -> Response:
        """Sends an image (JPEG, PNG, WebP or GIF, at most 5 MB), with or without text."""
        data = checked(inputs.SendImageInput, request)
        message, created = messages.send_image(
            sender=request.user, conversation_id=conversation_id, upload=data.pop("file"), **data
        )
        return Response({"message": message}, status=201 if created else 200)


REACT = Throttle("react", by=user)


class ReactionViewSet(ViewSet):
    permission_classes = [IsVerified]

    @throttles(REACT)
    @extend_schema(operation_id="messages_react", request=inputs.EmojiInput, responses=outputs.ReactionsReply)
    def create(self, request: Request, message_id: str) -> Response:
        """Adds a reaction; the same one again changes nothing."""
        emoji = checked(inputs.EmojiInput, request)["emoji"]
        result = reactions.add(user=request.user, message_id=message_id, emoji=emoji)
        return Response({"reactions": result})

    @throttles(REACT)
    @extend_schema(
        operation_id="messages_unreact",
        request=inputs.EmojiInput,
        parameters=[OpenApiParameter("emoji", str, description="Instead of a body.")],
        responses=outputs.ReactionsReply,
    )
    def destroy(self, request: Request, message_id: str) -> Response:
        """Takes a reaction back."""
        emoji: Any = request.query_params.get("emoji")
        if emoji is None:
            emoji = checked(inputs.EmojiInput, request)["emoji"]
        result = reactions.remove(user=request.user, message_id=message_id, emoji=emoji)
        return Response({"reactions": result})


class ReportViewSet(ViewSet):
    @extend_schema(operation_id="messages_report", request=inputs.ReportInput, responses={201: outputs.ReportReply})
    def create(self, request: Request, message_id: str) -> Response:
        """Reports a message to support."""
        data = checked(inputs.ReportInput, request)
        made = reports.report(
            reporter=request.user,
            message_id=message_id,
            reason=data["reason"],
            comment=data.get("comment") or "",
        )
        return Response({"report_id": made.id}, status=201)
