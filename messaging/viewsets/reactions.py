"""Reactions to a message, and reports of one."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.permissions import IsVerified
from core.throttles import Throttle, throttles, user
from core.validation import checked
from messaging.serializers import inputs, outputs
from messaging.services import reactions, reports

REACT = Throttle("react", by=user)


class ReactionViewSet(ViewSet):
    permission_classes = [IsVerified]

    @throttles(REACT)
    @extend_schema(operation_id="messages_react", request=inputs.EmojiInput, responses=outputs.ReactionsReply)
    def create(self, request: Request, message_id: str) -> Response:
        """Adds a reaction; the same one again changes nothing."""
        emoji = checked(inputs.EmojiInput, request)["emoji"]
        found = reactions.add(user=request.user, message_id=message_id, emoji=emoji)
        return Response({"reactions": found})

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
        found = reactions.remove(user=request.user, message_id=message_id, emoji=emoji)
        return Response({"reactions": found})


class ReportViewSet(ViewSet):
    @extend_schema(operation_id="messages_report", request=inputs.ReportInput, responses={201: outputs.ReportReply})
    def create(self, request: Request, message_id: str) -> Response:
        """Reports a message to support."""
        given = checked(inputs.ReportInput, request)
        made = reports.report(
            reporter=request.user,
            message_id=message_id,
            reason=given["reason"],
            comment=given.get("comment") or "",
        )
        return Response({"report_id": made.id}, status=201)
