"""The usual stack: the ORM, serializers and generic views of the REST framework, SimpleJWT, Django's own middleware.

With a message it stores what most services store: the message, its conversation, the unread counter of the other
participant and a row of the feed. Nothing is pushed to anyone.
"""

import os
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.urls import path

if os.environ.get("USUAL_SERVER"):
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("DATABASE_CONNECTIONS", "kept")  # as config.wsgi does
    settings.ROOT_URLCONF = "benchmarks.usual"
    settings.MIDDLEWARE = [
        "django.middleware.security.SecurityMiddleware",
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
        "django.middleware.clickjacking.XFrameOptionsMiddleware",
    ]
    application = get_wsgi_application()

from django.contrib.auth import get_user_model
from django.db import models, transaction
from django.db.models import F
from rest_framework import generics, serializers
from rest_framework.pagination import CursorPagination
from rest_framework.parsers import JSONParser
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework_simplejwt.authentication import JWTAuthentication
from rest_framework_simplejwt.tokens import AccessToken

from benchmarks.bare import health

TOKEN_LIFETIME = timedelta(hours=1)  # SimpleJWT's default of five minutes can be shorter than a run

TABLES = """
DROP TABLE IF EXISTS usual_participant; DROP TABLE IF EXISTS usual_notification;
CREATE TABLE usual_participant (id bigserial PRIMARY KEY, conversation_id bigint, user_id bigint, unread int,
  UNIQUE (conversation_id, user_id));
CREATE TABLE usual_notification (id bigserial PRIMARY KEY, recipient_id bigint, conversation_id bigint, count int,
  is_read boolean, created_at timestamptz, UNIQUE (recipient_id, conversation_id));
"""


class Conversation(models.Model):
    last_message_id = models.BigIntegerField(null=True)

    class Meta:
        app_label, db_table, managed = "usual", "bare_conversation", False


def _to_user() -> models.ForeignKey[Any, Any]:
    return models.ForeignKey(settings.AUTH_USER_MODEL, models.DO_NOTHING, related_name="+")


class Participant(models.Model):
    conversation = models.ForeignKey(Conversation, models.DO_NOTHING)
    user = _to_user()
    unread = models.IntegerField(default=0)

    class Meta:
        app_label, db_table, managed = "usual", "usual_participant", False


class Message(models.Model):
    conversation = models.ForeignKey(Conversation, models.DO_NOTHING)
    sender = _to_user()
    body = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        app_label, db_table, managed = "usual", "bare_message", False


class Notification(models.Model):
    recipient = _to_user()
    conversation = models.ForeignKey(Conversation, models.DO_NOTHING)
    count = models.IntegerField(default=0)
    is_read = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now=True)

    class Meta:
        app_label, db_table, managed = "usual", "usual_notification", False


def prepare(pairs: list[tuple[Any, Any]]) -> list[str]:
    """Makes each pair of users the participants of a conversation; the tokens of the first of each."""
    Participant.objects.bulk_create(
        Participant(conversation_id=number, user=user) for number, pair in enumerate(pairs, 1) for user in pair
    )
    tokens = [AccessToken.for_user(one) for one, _ in pairs]
    for token in tokens:
        token.set_exp(lifetime=TOKEN_LIFETIME)
    return [str(token) for token in tokens]


class UserSerializer(serializers.ModelSerializer[Any]):
    class Meta:
        model = get_user_model()
        fields = ("id", "username", "first_name", "last_name")


class MessageSerializer(serializers.ModelSerializer[Message]):
    sender = UserSerializer(read_only=True)

    class Meta:
        model = Message
        fields = ("id", "sender", "body", "created_at")


class IsParticipant(BasePermission):
    def has_permission(self, request: Request, view: Any) -> bool:
        return Participant.objects.filter(conversation_id=view.kwargs["conversation_id"], user=request.user.id).exists()


class Newest(CursorPagination):
    page_size = 50
    ordering = "-id"


class AccessTokenAuthentication(JWTAuthentication):
    """As simplejwt comes; the project's settings name its own class of token."""

    def get_validated_token(self, raw_token: bytes) -> AccessToken:
        return AccessToken(raw_token)  # type: ignore[arg-type]


class Usual:
    authentication_classes = (AccessTokenAuthentication,)
    permission_classes: Any = (IsAuthenticated,)
    renderer_classes = (JSONRenderer,)
    parser_classes = (JSONParser,)
    throttle_classes = ()


class Messages(Usual, generics.ListCreateAPIView[Message]):
    permission_classes = (IsAuthenticated, IsParticipant)
    serializer_class = MessageSerializer
    pagination_class = Newest

    def get_queryset(self) -> Any:
        return Message.objects.filter(conversation_id=self.kwargs["conversation_id"]).select_related("sender")

    @transaction.atomic
    def perform_create(self, serializer: Any) -> None:
        conversation = Conversation.objects.select_for_update().get(id=self.kwargs["conversation_id"])
        message = serializer.save(conversation=conversation, sender=self.request.user)
        conversation.last_message_id = message.id
        conversation.save(update_fields=["last_message_id"])
        for other in Participant.objects.filter(conversation=conversation).exclude(user=self.request.user.id):
            Participant.objects.filter(id=other.id).update(unread=F("unread") + 1)
            notification, _ = Notification.objects.get_or_create(recipient_id=other.user_id, conversation=conversation)
            notification.count += 1
            notification.save()


class Me(Usual, generics.RetrieveAPIView[Any]):
    serializer_class = UserSerializer

    def get_object(self) -> Any:
        return self.request.user


class Unread(Usual, APIView):
    def get(self, request: Request) -> Response:
        return Response({"count": Notification.objects.filter(recipient=request.user.id, is_read=False).count()})


urlpatterns = [
    path("c/<int:conversation_id>/send", Messages.as_view()),
    path("c/<int:conversation_id>/messages", Messages.as_view()),
    path("me", Me.as_view()),
    path("unread", Unread.as_view()),
    path("healthz", health),
]
