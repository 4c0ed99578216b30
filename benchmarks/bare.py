"""The baseline: a bare Django project whose views do a token check and hand-written SQL, nothing else.

It reads and writes tables of its own (`bare_*`) in the database of the run.
"""

import json
import os
from functools import cache
from typing import Any

import django
import jwt
import redis
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse
from django.urls import path

KEY = "bare" * 10

TABLES = """
DROP TABLE IF EXISTS bare_message; DROP TABLE IF EXISTS bare_conversation; DROP TABLE IF EXISTS bare_session;
CREATE TABLE bare_session (sid text PRIMARY KEY, user_id bigint, ended_at timestamptz);
CREATE TABLE bare_conversation (id bigint PRIMARY KEY, last_message_id bigint);
CREATE TABLE bare_message (id bigserial PRIMARY KEY, conversation_id bigint, sender_id bigint, body text,
  created_at timestamptz DEFAULT now());
CREATE INDEX bare_message_list ON bare_message (conversation_id, id DESC);
DROP TABLE IF EXISTS bare_listed;
CREATE TABLE bare_listed (user_id bigint, conversation_id bigint, other_id bigint, unread int, last_message_id bigint,
  PRIMARY KEY (user_id, last_message_id));
INSERT INTO bare_session VALUES ('s', 1, NULL);
INSERT INTO bare_conversation SELECT n, NULL FROM generate_series(1, 64) n;
"""


def token() -> str:
    return jwt.encode({"sid": "s", "sub": "1"}, KEY, "HS256")


def _configure() -> None:
    import environ

    env = environ.Env()
    settings.configure(
        DEBUG=False,
        SECRET_KEY=KEY,
        ALLOWED_HOSTS=["*"],
        ROOT_URLCONF="benchmarks.bare",
        DATABASES={"default": env.db_url("DATABASE_URL") | {"CONN_MAX_AGE": None}},
        LOGGING_CONFIG=None,
        USE_TZ=True,
    )
    django.setup()


def _json(body: dict, status: int = 200) -> HttpResponse:
    content = json.dumps(body).encode()
    return HttpResponse(
        content, content_type="application/json", status=status, headers={"Content-Length": str(len(content))}
    )


def _user_id(request: HttpRequest) -> int:
    claims = jwt.decode(request.META["HTTP_AUTHORIZATION"][7:], KEY, ["HS256"])
    with connection.cursor() as cursor:
        cursor.execute("SELECT user_id FROM bare_session WHERE sid = %s AND ended_at IS NULL", [claims["sid"]])
        return int(cursor.fetchone()[0])


def store(conversation_id: int, user_id: int, body: str) -> dict[str, Any]:
    """Stores a message and moves its conversation, in one commit."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT id FROM bare_conversation WHERE id = %s FOR UPDATE", [conversation_id])
        cursor.execute(
            "INSERT INTO bare_message (conversation_id, sender_id, body) VALUES (%s, %s, %s) RETURNING id, created_at",
            [conversation_id, user_id, body],
        )
        message_id, created_at = cursor.fetchone()
        cursor.execute("UPDATE bare_conversation SET last_message_id = %s WHERE id = %s", [message_id, conversation_id])
    message = {"id": message_id, "sender_id": user_id, "body": body, "created_at": created_at.isoformat()}
    return {"ok": True, "message": message}


def newest(conversation_id: int) -> dict[str, Any]:
    """The newest 50 messages."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, sender_id, body, created_at FROM bare_message WHERE conversation_id = %s"
            " ORDER BY id DESC LIMIT 51",
            [conversation_id],
        )
        fetched = cursor.fetchall()
    rows = [
        {"id": row[0], "sender_id": row[1], "body": row[2], "created_at": row[3].isoformat()} for row in fetched[:50]
    ]
    return {"ok": True, "messages": rows, "has_more": len(fetched) > 50}


def listed(user_id: int) -> dict[str, Any]:
    """The newest 50 conversations, each with the other participant and the last message."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT p.conversation_id, p.unread, u.id, u.username, u.first_name, u.last_name,"
            " m.id, m.sender_id, m.body, m.created_at"
            " FROM (SELECT * FROM bare_listed WHERE user_id = %s ORDER BY last_message_id DESC LIMIT 51) p"
            " JOIN accounts_user u ON u.id = p.other_id LEFT JOIN bare_message m ON m.id = p.last_message_id"
            " ORDER BY p.last_message_id DESC",
            [user_id],
        )
        fetched = cursor.fetchall()
    rows = [
        {
            "id": row[0],
            "unread_count": row[1],
            "other_user": {"id": row[2], "username": row[3], "first_name": row[4], "last_name": row[5]},
            "last_message": {"id": row[6], "sender_id": row[7], "body": row[8], "created_at": row[9].isoformat()},
        }
        for row in fetched[:50]
    ]
    return {"ok": True, "conversations": rows, "has_more": len(fetched) > 50}


def send(request: HttpRequest, conversation_id: int) -> HttpResponse:
    return _json(store(conversation_id, _user_id(request), json.loads(request.body)["body"]), status=201)


def send_and_publish(request: HttpRequest, conversation_id: int) -> HttpResponse:
    """A send that also publishes the message to Redis."""
    message = store(conversation_id, _user_id(request), json.loads(request.body)["body"])
    _redis().publish(channel(conversation_id), json.dumps(message))
    return _json(message, status=201)


def channel(conversation_id: int) -> str:
    return f"bare.{conversation_id}"


@cache
def _redis() -> redis.Redis:
    return redis.Redis.from_url(os.environ["REDIS_URL"])


def messages(request: HttpRequest, conversation_id: int) -> HttpResponse:
    _user_id(request)
    return _json(newest(conversation_id))


def conversations(request: HttpRequest, user_id: int) -> HttpResponse:
    _user_id(request)
    return _json(listed(user_id))


def me(request: HttpRequest) -> HttpResponse:
    return _json({"ok": True, "id": _user_id(request)})


def health(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok")


urlpatterns = [
    path("c/<int:conversation_id>/send", send),
    path("c/<int:conversation_id>/publish", send_and_publish),
    path("c/<int:conversation_id>/messages", messages),
    path("u/<int:user_id>/conversations", conversations),
    path("me", me),
    path("unread", me),
    path("healthz", health),
]

if os.environ.get("BARE_SERVER"):
    _configure()
    application = get_wsgi_application()
