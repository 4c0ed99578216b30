"""The paths of the team's own server. Each method names the scope that its key needs."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.viewsets import ViewSet

from accounts.exceptions import UserNotFound
from accounts.permissions import IsVerified
from accounts.services import account_status, provisioning
from accounts.sign_in import sessions
from core.api.exceptions import ApiError
from core.api.pagination import CURSOR, Limit, decode_cursor, page, whole_number
from core.api.serializers import OkReply, checked
from core.api.throttles import Throttle, throttles
from core.ids import parse_id
from integrations import rendering, serializers, tokens
from integrations.authentication import HasScope, ServerKeyAuthentication, needs_scope, server_key
from integrations.conf import conf
from integrations.kinds import types_of
from integrations.models import Scope, ServerKey
from integrations.services import event_log, messages
from messaging.serializers import MessageOutput

USERS = Limit(conf.USERS_PAGE, conf.USERS_PAGE_MAX)
EVENTS = Limit(conf.EVENTS_PAGE, conf.EVENTS_PAGE_MAX)
BY_KEY = Throttle("server_key", by=server_key)


def _act(action: Callable[..., Any], body: type[Serializer[Any]], request: Request, user_id: str) -> Response:
    """Runs `action` of account_status on a user with the data of a body. UserNotFound, also for an account that was erased
    or became one of staff since it was read."""
    data = checked(body, request.data)
    user = provisioning.get(parse_id(user_id))
    try:
        action(user=user, actor=request.auth.actor, **data)
    except PermissionDenied as error:
        raise UserNotFound from error
    return Response()


class ServerViewSet(ViewSet):
    """Requests carry a server key, never a user's token."""

    authentication_classes = [ServerKeyAuthentication]
    permission_classes = [HasScope]


class ServerUserViewSet(ServerViewSet):
    @needs_scope(Scope.USERS_WRITE)
    @throttles(BY_KEY)
    @extend_schema(
        operation_id="server_users_create",
        request=serializers.CreateUserInput,
        responses={200: serializers.ServerUserReply, 201: serializers.ServerUserReply},
    )
    def create(self, request: Request) -> Response:
        data = checked(serializers.CreateUserInput, request.data)
        user, created = provisioning.create(**data, actor=request.auth.actor)
        return Response({"user": serializers.ServerUserOutput.render(user)}, status=201 if created else 200)

    @needs_scope(Scope.USERS_READ)
    @throttles(BY_KEY)
    @extend_schema(
        operation_id="server_users_find",
        parameters=[
            OpenApiParameter("email", str, description="Without regard to case."),
            OpenApiParameter("external_id", str),
            OpenApiParameter("username", str, description="Without regard to case."),
            USERS.parameter,
            CURSOR,
        ],
        responses=serializers.ServerUsersReply,
    )
    def list(self, request: Request) -> Response:
        query = request.query_params
        limit, cursor = USERS.of(query), decode_cursor(query.get("cursor"))
        wanted = {name: query.get(name) for name in ("email", "external_id", "username")}
        found = provisioning.find(**wanted)
        if cursor is not None:
            found = found.filter(id__gt=cursor[1])
        rows = list(found[: limit + 1])
        following = (0, rows[limit - 1].id) if len(rows) > limit else None
        return Response(page(following, users=[serializers.ServerUserOutput.render(user) for user in rows[:limit]]))

    @needs_scope(Scope.USERS_READ)
    @throttles(BY_KEY)
    @extend_schema(operation_id="server_users_get", responses=serializers.ServerUserReply)
    def retrieve(self, request: Request, user_id: str) -> Response:
        return Response({"user": serializers.ServerUserOutput.render(provisioning.get(parse_id(user_id)))})

    @needs_scope(Scope.USERS_WRITE)
    @throttles(BY_KEY)
    @extend_schema(
        operation_id="server_users_change",
        request=serializers.ChangeUserInput,
        responses=serializers.ServerUserReply,
    )
    def partial_update(self, request: Request, user_id: str) -> Response:
        changes = checked(serializers.ChangeUserInput, request.data)
        user = provisioning.get(parse_id(user_id))
        user = provisioning.change(user=user, changes=changes, actor=request.auth.actor)
        return Response({"user": serializers.ServerUserOutput.render(user)})

    @needs_scope(Scope.USERS_WRITE)
    @throttles(BY_KEY)
    @extend_schema(operation_id="server_users_erase", request=serializers.EraseUserInput, responses=OkReply)
    def destroy(self, request: Request, user_id: str) -> Response:
        return _act(account_status.erase, serializers.EraseUserInput, request, user_id)

    @needs_scope(Scope.USERS_WRITE)
    @throttles(BY_KEY)
    @extend_schema(operation_id="server_users_block", request=serializers.BlockUserByServerInput, responses=OkReply)
    def block(self, request: Request, user_id: str) -> Response:
        return _act(account_status.block, serializers.BlockUserByServerInput, request, user_id)

    @needs_scope(Scope.USERS_WRITE)
    @throttles(BY_KEY)
    @extend_schema(operation_id="server_users_unblock", request=serializers.OptionalReasonInput, responses=OkReply)
    def unblock(self, request: Request, user_id: str) -> Response:
        return _act(account_status.unblock, serializers.OptionalReasonInput, request, user_id)

    @needs_scope(Scope.USERS_WRITE)
    @throttles(BY_KEY)
    @extend_schema(operation_id="server_users_sign_out", request=serializers.OptionalReasonInput, responses=OkReply)
    def sign_out(self, request: Request, user_id: str) -> Response:
        return _act(account_status.sign_out_everywhere, serializers.OptionalReasonInput, request, user_id)

    @needs_scope(Scope.SESSIONS_CREATE)
    @throttles(BY_KEY)
    @extend_schema(
        operation_id="server_sessions_open",
        request=serializers.OpenSessionInput,
        responses={201: serializers.ServerSessionReply},
    )
    def open_session(self, request: Request, user_id: str) -> Response:
        data = checked(serializers.OpenSessionInput, request.data)
        key = cast(ServerKey, request.auth)
        user, token = provisioning.open_session(
            user=provisioning.get(parse_id(user_id)),
            device_name=data.get("device_name") or key.name,
            key_name=key.name,
            key_prefix=key.prefix,
            actor=key.actor,
        )
        user_data = serializers.ServerUserOutput.render(user)
        return Response(serializers.ServerSessionReply.of_token(token, user=user_data), status=201)


class ServerMessageViewSet(ServerViewSet):
    @needs_scope(Scope.MESSAGES_WRITE)
    @throttles(BY_KEY)
    @extend_schema(
        operation_id="server_messages_send",
        request=serializers.ServerMessageInput,
        responses={200: serializers.ServerMessageReply, 201: serializers.ServerMessageReply},
    )
    def create(self, request: Request) -> Response:
        data = checked(serializers.ServerMessageInput, request.data)
        message, created = messages.send(**data, actor=request.auth.actor)
        body = {
            "message": MessageOutput.render(message, data["sender_id"]),
            "conversation_id": message.conversation_id,
        }
        return Response(body, status=201 if created else 200)


class EventViewSet(ServerViewSet):
    @needs_scope(Scope.EVENTS_READ)
    @throttles(BY_KEY)
    @extend_schema(
        operation_id="server_events_list",
        parameters=[
            OpenApiParameter(
                "after", int, description="`id` of the last event that was read. Without it, from the oldest."
            ),
            OpenApiParameter(
                "types", str, description="`*`, `account.*` or `message.created`, several split by commas."
            ),
            EVENTS.parameter,
        ],
        responses=serializers.ServerEventsReply,
    )
    def list(self, request: Request) -> Response:
        query = request.query_params
        limit, after = EVENTS.of(query), whole_number(query, "after", minimum=0)
        types = None
        if "types" in query:
            try:
                types = types_of(query["types"].split(","))
            except ValueError as error:
                raise ValidationError({"types": [_("There is no such type of event.")]}) from error
        rows, has_more = event_log.page(after=after, types=types, limit=limit)
        events = [
            serializers.ServerEventOutput.render(event, data)
            for event, data in zip(rows, rendering.render(rows), strict=True)
        ]
        return Response({"events": events, "has_more": has_more})


class IntrospectViewSet(ServerViewSet):
    @needs_scope(Scope.USERS_READ)
    @throttles(BY_KEY)
    @extend_schema(
        operation_id="server_introspect", request=serializers.IntrospectInput, responses=serializers.IntrospectReply
    )
    def introspect(self, request: Request) -> Response:
        token = checked(serializers.IntrospectInput, request.data)["token"]
        try:
            user, session, expires_at = sessions.inspect(token)
        except ApiError:
            return Response({"active": False})
        if user.is_staff or user.is_superuser:
            return Response({"active": False})
        return Response(
            {
                "active": True,
                "user": serializers.ServerUserOutput.render(user),
                "session_id": session.id,
                "expires_at": expires_at,
            }
        )


class IdentityTokenViewSet(ViewSet):
    """For a signed-in user, not for a server key."""

    permission_classes = [IsVerified]

    @extend_schema(
        operation_id="auth_identity_token",
        request=serializers.IdentityTokenInput,
        responses=serializers.IdentityTokenReply,
    )
    def create(self, request: Request) -> Response:
        audience = checked(serializers.IdentityTokenInput, request.data)["audience"]
        if audience not in conf.IDENTITY_AUDIENCES:
            raise ValidationError({"audience": [_("No token is given for this audience.")]})
        user, now = request.user, timezone.now().replace(microsecond=0)
        token = tokens.issue(
            user_id=user.id,
            username=user.username,
            external_id=user.external_id,
            sid=str(request.auth.sid),
            audience=audience,
            now=now,
        )
        lifetime = timedelta(seconds=tokens.LIFETIME_SECONDS)
        return Response({"token": token, "expires_in": tokens.LIFETIME_SECONDS, "expires_at": now + lifetime})


@require_safe
def jwks(request: HttpRequest) -> JsonResponse:
    """The public keys of identity tokens; other services keep them for a while."""
    return JsonResponse(tokens.public_keys(), headers={"Cache-Control": "public, max-age=300"})
