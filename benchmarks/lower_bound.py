"""The lower bound: views of the REST framework behind Parley's sign-in that do the work of the bare views, a send that
writes as many rows as Parley's, and a login of as many statements.

The same settings and the same authentication, next to no middleware, no rules, no wake-ups. What Parley takes beyond it
is its own work; what this takes beyond the bare view is the price of the framework, of a session that can be revoked,
and of what has to be stored with a message.
"""

import os
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.core.wsgi import get_wsgi_application
from django.db import connection, transaction
from django.urls import path

if os.environ.get("LOWER_BOUND_SERVER"):
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("DATABASE_CONNECTIONS", "kept")  # as config.wsgi does
    settings.ROOT_URLCONF = "benchmarks.lower_bound"
    settings.MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]  # for Content-Length
    application = get_wsgi_application()

from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from benchmarks import bare


class Me(APIView):
    def get(self, request: Request) -> Response:
        return Response({"ok": True, "id": request.user.id})


class Unread(APIView):
    """One more statement: it counts rows of one table."""

    def get(self, request: Request) -> Response:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM notifications_notification WHERE recipient_id = %s AND read_at IS NULL",
                [request.user.id],
            )
            count = cursor.fetchone()[0]
        return Response({"ok": True, "count": count})


class Conversations(APIView):
    def get(self, request: Request, user_id: int) -> Response:
        return Response(bare.listed(user_id))


class Messages(APIView):
    def get(self, request: Request, conversation_id: int) -> Response:
        return Response(bare.newest(conversation_id))

    def post(self, request: Request, conversation_id: int) -> Response:
        return Response(_store(conversation_id, request.user.id, request.data["body"]), status=201)


TABLES = """
DROP TABLE IF EXISTS bare_participant; DROP TABLE IF EXISTS bare_notification;
DROP TABLE IF EXISTS bare_stream; DROP TABLE IF EXISTS bare_event; DROP TABLE IF EXISTS bare_signed_in;
CREATE TABLE bare_participant (conversation_id bigint, user_id bigint, unread int, PRIMARY KEY (conversation_id, user_id));
CREATE TABLE bare_notification (id bigserial PRIMARY KEY, recipient_id bigint, conversation_id bigint, count int,
  created_at timestamptz, UNIQUE (recipient_id, conversation_id));
CREATE TABLE bare_stream (user_id bigint PRIMARY KEY, head bigint);
CREATE TABLE bare_event (id bigserial PRIMARY KEY, user_id bigint, seq bigint, type text, conversation_id bigint,
  object_id bigint, created_at timestamptz, UNIQUE (user_id, seq));
CREATE TABLE bare_signed_in (id bigserial PRIMARY KEY, sid uuid UNIQUE, user_id bigint REFERENCES accounts_user,
  ip inet, user_agent text, created_at timestamptz);
CREATE INDEX ON bare_signed_in (user_id, created_at);
INSERT INTO bare_participant SELECT n, 2 * n + side, 0 FROM generate_series(1, 64) n, generate_series(0, 1) side;
INSERT INTO bare_stream SELECT n, 0 FROM generate_series(1, 130) n;
"""


def _store(conversation_id: int, user_id: int, body: str) -> dict[str, Any]:
    """The message, its conversation and participants, a row of the feed, and an event for each participant."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.id FROM bare_conversation c JOIN bare_participant p ON p.conversation_id = c.id"
            " WHERE c.id = %s FOR UPDATE",
            [conversation_id],
        )
        cursor.execute(
            "INSERT INTO bare_message (conversation_id, sender_id, body) VALUES (%s, %s, %s) RETURNING id, created_at",
            [conversation_id, user_id, body],
        )
        message_id, created_at = cursor.fetchone()
        cursor.execute("UPDATE bare_conversation SET last_message_id = %s WHERE id = %s", [message_id, conversation_id])
        cursor.execute("UPDATE bare_participant SET unread = unread + 1 WHERE conversation_id = %s", [conversation_id])
        cursor.execute(
            "INSERT INTO bare_notification (recipient_id, conversation_id, count, created_at) VALUES (%s, %s, 1, now())"
            " ON CONFLICT (recipient_id, conversation_id)"
            " DO UPDATE SET count = bare_notification.count + 1, created_at = now()",
            [2 * conversation_id, conversation_id],
        )
        cursor.execute(
            "WITH grown AS (UPDATE bare_stream SET head = head + 1 WHERE user_id IN (%s, %s) RETURNING user_id, head)"
            " INSERT INTO bare_event (user_id, seq, type, conversation_id, object_id, created_at)"
            " SELECT user_id, head, 'message.new', %s, %s, now() FROM grown",
            [2 * conversation_id, 2 * conversation_id + 1, conversation_id, message_id],
        )
    message = {"id": message_id, "sender_id": user_id, "body": body, "created_at": created_at.isoformat()}
    return {"ok": True, "message": message}


LOCKOUT = "SELECT locked_until FROM accounts_networklock WHERE user_id = %s"


class Credentials(serializers.Serializer[Any]):
    email = serializers.EmailField()
    password = serializers.CharField()


class Login(APIView):
    """The statements of Parley's: reads the account and its lockout, checks the password, locks the account, reads the
    lockout again and the latest sign-ins, and writes a session."""

    authentication_classes = []
    permission_classes = [AllowAny]

    def post(self, request: Request) -> Response:
        given = Credentials(data=request.data)
        given.is_valid(raise_exception=True)
        email = given.validated_data["email"]
        with connection.cursor() as cursor:
            cursor.execute("SELECT id, password FROM accounts_user WHERE email = %s", [email])
            user_id, encoded = cursor.fetchone()
            cursor.execute(LOCKOUT, [user_id])
        if not check_password(given.validated_data["password"], encoded):
            return Response(status=401)
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT password FROM accounts_user WHERE id = %s FOR NO KEY UPDATE", [user_id])
            cursor.execute(LOCKOUT, [user_id])
            cursor.execute(
                "SELECT ip, user_agent FROM bare_signed_in WHERE user_id = %s ORDER BY created_at DESC LIMIT 50",
                [user_id],
            )
            cursor.execute(
                "INSERT INTO bare_signed_in (sid, user_id, ip, user_agent, created_at) VALUES (%s, %s, %s, %s, now())",
                [uuid4(), user_id, "127.0.0.1", "benchmark"],
            )
        return Response({"ok": True})


urlpatterns = [
    path("me", Me.as_view()),
    path("unread", Unread.as_view()),
    path("u/<int:user_id>/conversations", Conversations.as_view()),
    path("c/<int:conversation_id>/send", Messages.as_view()),
    path("c/<int:conversation_id>/messages", Messages.as_view()),
    path("login", Login.as_view()),
    path("healthz", bare.health),
]
