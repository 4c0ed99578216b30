"""The REST entry points of messaging: search for users, conversations and messages."""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import permission_classes
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.permissions import IsVerified, MethodPermissions
from accounts.selectors import person_seen_by, search_people
from accounts.serializers import PersonProfileOutput, PersonSerializer
from core.api.pagination import CURSOR, Limit, decode_cursor, decode_numbers, page, whole_number
from core.api.parsers import PictureFormParser
from core.api.serializers import checked
from core.api.throttles import UPLOADS, Throttle, throttles, user
from core.ids import parse_id
from messaging import selectors, serializers
from messaging.conf import conf
from messaging.exceptions import ConversationNotFound
from messaging.services import conversations, messages, reactions, reports
from messaging.text import clean_query

PEOPLE = Limit(conf.PEOPLE_PAGE, conf.PEOPLE_PAGE_MAX)
CONVERSATIONS = Limit(conf.CONVERSATIONS_PAGE, conf.CONVERSATIONS_PAGE_MAX)
MESSAGES = Limit(conf.MESSAGES_PAGE, conf.MESSAGES_PAGE_MAX)
SEARCH_RESULTS = Limit(conf.SEARCH_PAGE, conf.SEARCH_PAGE_MAX)
QUERY = OpenApiParameter("q", {"type": "string", "maxLength": conf.SEARCH_QUERY_LENGTH}, required=True)
BEFORE = OpenApiParameter("before", int, description="Only messages with lower ids.")
AFTER = OpenApiParameter(
    "after", int, description="Only messages with higher ids, the lowest of them first picked. Not with `before`."
)


class PeopleViewSet(ViewSet):
    permission_classes = [IsVerified]

    @throttles(Throttle("search_people", by=user))
    @extend_schema(
        operation_id="messages_search_users",
        parameters=[QUERY, PEOPLE.parameter],
        responses=serializers.UsersReply,
    )
    def search(self, request: Request) -> Response:
        limit = PEOPLE.of(request.query_params)
        q = request.query_params.get("q")
        clean_query(q)
        people = search_people(request.user, q or "", limit)
        return Response({"users": [PersonSerializer.render(user) for user in people]})

    @throttles(Throttle("search_people", by=user))
    @extend_schema(operation_id="messages_get_user", responses=serializers.UserReply)
    def retrieve(self, request: Request, user_id: str) -> Response:
        person = person_seen_by(request.user, parse_id(user_id) or 0)
        return Response({"user": PersonProfileOutput.render(person)})


class ConversationViewSet(MethodPermissions, ViewSet):
    @extend_schema(
        operation_id="messages_list_conversations",
        parameters=[CONVERSATIONS.parameter, CURSOR],
        responses=serializers.ConversationsReply,
    )
    def list(self, request: Request) -> Response:
        query = request.query_params
        limit = CONVERSATIONS.of(query)
        listed, following = selectors.conversation_page(
            user_id=request.user.id, limit=limit, cursor=decode_cursor(query.get("cursor"))
        )
        return Response(page(following, conversations=[serializers.ConversationOutput.render(row) for row in listed]))

    @permission_classes([IsVerified])
    @extend_schema(
        operation_id="messages_start_conversation",
        request=serializers.StartConversationInput,
        responses={200: serializers.ConversationReply, 201: serializers.ConversationReply},
    )
    def start(self, request: Request) -> Response:
        user_id = checked(serializers.StartConversationInput, request.data)["user_id"]
        conversation, created = conversations.start(starter=request.user, user_id=user_id)
        return Response(
            {"conversation": serializers.ConversationOutput.render(conversation)}, status=201 if created else 200
        )

    @extend_schema(operation_id="messages_get_conversation", responses=serializers.ConversationReply)
    def retrieve(self, request: Request, conversation_id: str) -> Response:
        number = parse_id(conversation_id) or 0
        conversation = selectors.conversations_for(request.user.id, [number]).get(number)
        if conversation is None:
            raise ConversationNotFound
        return Response({"conversation": serializers.ConversationOutput.render(conversation)})

    @extend_schema(
        operation_id="messages_mark_read", request=serializers.UpToMessageInput, responses=serializers.ReadReply
    )
    def read(self, request: Request, conversation_id: str) -> Response:
        data = checked(serializers.UpToMessageInput, request.data) | {"session_id": request.auth.id}
        return Response(conversations.mark_read(reader_id=request.user.id, conversation_id=conversation_id, **data))

    @extend_schema(
        operation_id="messages_clear_conversation",
        request=serializers.UpToMessageInput,
        responses=serializers.ConversationClearedReply,
    )
    def clear(self, request: Request, conversation_id: str) -> Response:
        data = checked(serializers.UpToMessageInput, request.data) | {"session_id": request.auth.id}
        cleared = conversations.clear(user_id=request.user.id, conversation_id=conversation_id, **data)
        return Response({"cleared_up_to_id": cleared})


def _messages(rows: Iterable[selectors.MessageRow], request: Request) -> list[dict[str, Any]]:
    return [serializers.MessageOutput.render(row, request.user.id) for row in rows]


def _message(row: selectors.MessageRow, request: Request, *, created: bool = False) -> Response:
    message = serializers.MessageOutput.render(row, request.user.id)
    return Response({"message": message}, status=201 if created else 200)


class MessageViewSet(MethodPermissions, ViewSet):
    @extend_schema(
        operation_id="messages_list",
        parameters=[MESSAGES.parameter, BEFORE, AFTER],
        responses=serializers.MessagesReply,
    )
    def list(self, request: Request, conversation_id: str) -> Response:
        query = request.query_params
        limit = MESSAGES.of(query)
        before, after = whole_number(query, "before"), whole_number(query, "after", minimum=0)
        if before is not None and after is not None:
            raise ValidationError({"after": [_("Use either before or after.")]})
        listed, has_more = selectors.message_page(
            user_id=request.user.id, conversation_id=conversation_id, limit=limit, before=before, after=after
        )
        return Response({"messages": _messages(listed, request), "has_more": has_more})

    @permission_classes([IsVerified])
    @throttles(Throttle("send", by=user))
    @extend_schema(
        operation_id="messages_send",
        request=serializers.SendMessageInput,
        responses={200: serializers.MessageReply, 201: serializers.MessageReply},
    )
    def create(self, request: Request, conversation_id: str) -> Response:
        data = checked(serializers.SendMessageInput, request.data)
        message, created = messages.send(sender=request.user, conversation_id=conversation_id, **data)
        return _message(message, request, created=created)

    @permission_classes([IsVerified])
    @throttles(Throttle("edit", by=user))
    @extend_schema(
        operation_id="messages_edit", request=serializers.EditMessageInput, responses=serializers.MessageReply
    )
    def partial_update(self, request: Request, message_id: str) -> Response:
        data = checked(serializers.EditMessageInput, request.data)
        return _message(messages.edit(editor=request.user, message_id=message_id, **data), request)

    @extend_schema(operation_id="messages_delete", request=None, responses=serializers.DeletedReply)
    def destroy(self, request: Request, message_id: str) -> Response:
        return Response({"message_id": messages.delete(user=request.user, message_id=message_id)})

    @throttles(Throttle("search_inside", by=user))
    @extend_schema(
        operation_id="messages_search_inside",
        parameters=[QUERY, SEARCH_RESULTS.parameter, BEFORE],
        responses=serializers.SearchReply,
    )
    def search(self, request: Request, conversation_id: str) -> Response:
        query = request.query_params
        hits, next_before = selectors.search_page(
            user_id=request.user.id,
            conversation_id=conversation_id,
            folded=clean_query(query.get("q")),
            limit=SEARCH_RESULTS.of(query),
            before=whole_number(query, "before"),
        )
        return Response(
            {"messages": _messages(hits, request), "has_more": next_before is not None, "next_before": next_before}
        )

    @throttles(Throttle("search_everywhere", by=user))
    @extend_schema(
        operation_id="messages_search_everywhere",
        parameters=[QUERY, SEARCH_RESULTS.parameter, CURSOR],
        responses=serializers.SearchEverywhereReply,
    )
    def search_everywhere(self, request: Request) -> Response:
        query = request.query_params
        position = decode_numbers(query.get("cursor"), len(selectors.Place._fields))
        hits, following = selectors.search_everywhere(
            user_id=request.user.id,
            folded=clean_query(query.get("q")),
            limit=SEARCH_RESULTS.of(query),
            place=selectors.Place(*position) if position else None,
        )
        return Response(page(following, messages=_messages(hits, request)))


class ImageMessageViewSet(ViewSet):
    permission_classes = [IsVerified]
    parser_classes = [PictureFormParser]

    @throttles(UPLOADS)
    @extend_schema(
        operation_id="messages_send_image",
        request={"multipart/form-data": serializers.SendImageInput},
        responses={200: serializers.MessageReply, 201: serializers.MessageReply},
    )
    def create(self, request: Request, conversation_id: str) -> Response:
        data = checked(serializers.SendImageInput, request.data)
        message, created = messages.send_image(
            sender=request.user, conversation_id=conversation_id, upload=data.pop("file"), **data
        )
        return _message(message, request, created=created)


REACT = Throttle("react", by=user)


class ReactionViewSet(ViewSet):
    permission_classes = [IsVerified]

    @throttles(REACT)
    @extend_schema(
        operation_id="messages_react", request=serializers.ReactionInput, responses=serializers.ReactionsReply
    )
    def create(self, request: Request, message_id: str) -> Response:
        data = checked(serializers.ReactionInput, request.data)
        rows = reactions.add(user=request.user, message_id=message_id, **data)
        return Response(serializers.ReactionsReply.render(rows))

    @throttles(REACT)
    @extend_schema(
        operation_id="messages_unreact",
        request=serializers.ReactionInput,
        parameters=[OpenApiParameter("emoji", str, description="Instead of a body.")],
        responses=serializers.ReactionsReply,
    )
    def destroy(self, request: Request, message_id: str) -> Response:
        emoji = request.query_params.get("emoji")
        data = checked(serializers.ReactionInput, request.data) if emoji is None else {"emoji": emoji}
        rows = reactions.remove(user=request.user, message_id=message_id, **data)
        return Response(serializers.ReactionsReply.render(rows))


class ReportViewSet(ViewSet):
    @throttles(Throttle("report", by=user))
    @extend_schema(
        operation_id="messages_report", request=serializers.ReportInput, responses={201: serializers.ReportReply}
    )
    def create(self, request: Request, message_id: str) -> Response:
        data = checked(serializers.ReportInput, request.data)
        made = reports.report(reporter=request.user, message_id=message_id, **data)
        return Response({"report_id": made.id, "reason": made.reason, "is_repeated": made.is_repeated}, status=201)
