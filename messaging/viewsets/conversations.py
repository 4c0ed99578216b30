"""Search for users, and conversations with them."""

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.permissions import IsVerified
from accounts.selectors import search_people
from accounts.serializers import PersonSerializer
from core.fields import checked
from core.pagination import decode_cursor, page, page_size
from core.throttles import Throttle, throttles, user
from messaging import selectors
from messaging.conf import conf
from messaging.exceptions import ConversationNotFound
from messaging.serializers import inputs, outputs
from messaging.services import conversations
from messaging.text import clean_query

LIMIT = OpenApiParameter("limit", int, description="Larger values are clamped to the maximum.")


class PeopleViewSet(ViewSet):
    permission_classes = [IsVerified]

    @throttles(Throttle("search_people", by=user))
    @extend_schema(
        operation_id="messages_search_users",
        parameters=[OpenApiParameter("q", str, required=True), LIMIT],
        responses=outputs.PeopleReply,
    )
    def search(self, request: Request) -> Response:
        """People whose username, first or last name starts with `q`."""
        limit = page_size(request.query_params, default=conf.PEOPLE_PAGE, maximum=conf.PEOPLE_PAGE_MAX)
        q = request.query_params.get("q")
        clean_query(q)
        people = search_people(request.user, q or "", limit)
        return Response({"users": [PersonSerializer.render(user) for user in people]})


class ConversationViewSet(ViewSet):
    def get_permissions(self) -> Sequence[Any]:
        if self.action == "start":
            return [IsVerified()]
        return super().get_permissions()

    @extend_schema(
        operation_id="messages_list_conversations",
        parameters=[LIMIT, OpenApiParameter("cursor", str, description="`next_cursor` of the page before.")],
        responses=outputs.ConversationsReply,
    )
    def list(self, request: Request) -> Response:
        """Conversations, newest activity first."""
        query = request.query_params
        limit = page_size(query, default=conf.CONVERSATIONS_PAGE, maximum=conf.CONVERSATIONS_PAGE_MAX)
        rows, following = selectors.conversation_page(
            user_id=request.user.id, limit=limit, cursor=decode_cursor(query.get("cursor"))
        )
        return Response(page(following, conversations=rows))

    @extend_schema(
        operation_id="messages_start_conversation",
        request=inputs.StartConversationInput,
        responses={200: outputs.ConversationReply, 201: outputs.ConversationReply},
    )
    def start(self, request: Request) -> Response:
        """The conversation with a person: 201 when it is new, 200 when it existed."""
        user_id = checked(inputs.StartConversationInput, request)["user_id"]
        conversation, created = conversations.start(starter=request.user, user_id=user_id)
        return Response({"conversation": conversation}, status=201 if created else 200)

    @extend_schema(operation_id="messages_get_conversation", responses=outputs.ConversationReply)
    def retrieve(self, request: Request, conversation_id: str) -> Response:
        """One conversation."""
        number = selectors.conversation_for(request.user, conversation_id).id
        by_id = selectors.conversations_for(request.user.id, [number])
        if number not in by_id:
            raise ConversationNotFound
        return Response({"conversation": by_id[number]})

    @extend_schema(operation_id="messages_mark_read", request=inputs.UpToMessageInput, responses=outputs.ReadReply)
    def read(self, request: Request, conversation_id: str) -> Response:
        """Marks messages read up to one, without one up to the newest; never moves back."""
        message_id = checked(inputs.UpToMessageInput, request).get("message_id")
        return Response(
            conversations.mark_read(reader_id=request.user.id, conversation_id=conversation_id, message_id=message_id)
        )

    @extend_schema(
        operation_id="messages_clear_conversation",
        request=inputs.UpToMessageInput,
        responses=outputs.ClearedReply,
    )
    def clear(self, request: Request, conversation_id: str) -> Response:
        """Clears the conversation for the caller only: up to the given message, or completely if none is given."""
        message_id = checked(inputs.UpToMessageInput, request).get("message_id")
        cleared = conversations.clear(user_id=request.user.id, conversation_id=conversation_id, message_id=message_id)
        return Response({"cleared_up_to_id": cleared})
