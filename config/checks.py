"""Checks for `check --deploy`, in addition to those of the apps. Only that of the schema opens a connection."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, Tags, Warning, register
from django.db import Error as DatabaseProblem

from server import drift, health


@register(Tags.security, deploy=True)
def deployment(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    return list(_findings())


@register("schema", deploy=True)
def schema(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Drift: what differs between the database and the schema of this version. Nothing is compared without a database."""
    try:
        faults = drift.faults()
    except DatabaseProblem as error:
        what = f"The schema was not compared. {health.database_problem(error)}"
        return [Info(what, id=drift.UNKNOWN_ID)]
    levels = {drift.ERROR: (Error, drift.ERROR_ID), drift.WARNING: (Info, drift.OTHERS_ID)}
    return [levels[fault.level][0](fault.what, hint=fault.fix, id=levels[fault.level][1]) for fault in faults]


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
