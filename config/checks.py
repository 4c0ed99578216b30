"""Checks of `check --deploy` on the environment of a deployment. No check opens a connection."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register

FILE_BACKENDS = ("filebased", "console", "locmem", "dummy")


@register(Tags.security, deploy=True)
def deployment(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    return list(_findings())


def _findings() -> Iterator[CheckMessage]:
    if settings.EMBEDDED:
        yield Warning(
            "The database is SQLite: one process on one machine, and no delivery workers.",
            hint="Set DATABASE_URL=postgres://…",
            id="parley.W001",
        )
    if not settings.REDIS_URL:
        yield Warning(
            "There is no REDIS_URL: sockets of one process get no events from another process.",
            hint="Set REDIS_URL=redis://…",
            id="parley.W002",
        )
    transport = settings.NOTIFICATIONS_MAIL_TRANSPORT["BACKEND"]
    if any(name in transport for name in FILE_BACKENDS):
        yield Warning(
            "Mail goes into a file or to the console: codes are not delivered.",
            hint="Set EMAIL_URL=smtp://user:password@host:587 (or smtps://).",
            id="parley.W003",
        )
    if settings.NOTIFICATIONS_PUSH_BACKEND in ("console", "outbox"):
        yield Warning(
            f"Pushes go to '{settings.NOTIFICATIONS_PUSH_BACKEND}', not to phones.",
            hint="Set PUSH_BACKEND=fcm and PUSH_FCM_CREDENTIALS, or PUSH_BACKEND=off.",
            id="parley.W004",
        )
    if settings.NOTIFICATIONS_PUSH_BACKEND == "fcm" and not settings.NOTIFICATIONS_FCM_CREDENTIALS:
        yield Warning(
            "PUSH_BACKEND is fcm and there are no credentials.",
            hint="Set PUSH_FCM_CREDENTIALS to the path of the service-account file.",
            id="parley.W005",
        )
    if not settings.REALTIME_TURN_URLS or not settings.REALTIME_TURN_SECRET:
        yield Warning(
            "There is no TURN server: calls fail between networks that do not reach each other.",
            hint="Set TURN_URLS=turn:turn.example.com:3478 and TURN_SECRET.",
            id="parley.W006",
        )
    if "*" in settings.ALLOWED_HOSTS:
        yield Warning("ALLOWED_HOSTS accepts every host name.", hint="Name the hosts.", id="parley.W007")
    if settings.SECRET_KEY in settings.ACCOUNTS_TOKEN_KEYS:
        yield Warning(
            "SECRET_KEY is also a token key: one leak would open both.",
            hint="Give TOKEN_KEYS a secret of its own.",
            id="parley.W008",
        )
