"""Checks of `check --deploy` on what a deployment needs beside the settings that the apps check. No check opens a connection."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register


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
    if not settings.REALTIME_TURN_URLS or not settings.REALTIME_TURN_SECRET:
        yield Warning(
            "There is no TURN server: calls fail between networks that do not reach each other.",
            hint="Set TURN_URLS=turn:turn.example.com:3478 and TURN_SECRET.",
            id="parley.W003",
        )
    if "*" in settings.ALLOWED_HOSTS:
        yield Warning("ALLOWED_HOSTS accepts every host name.", hint="Name the hosts.", id="parley.W004")
    if not settings.DEBUG and not settings.HTTPS:
        yield Warning(
            "SITE_URL is not https: passwords and cookies are sent without encryption.",
            hint="Set SITE_URL=https://…",
            id="parley.W005",
        )
