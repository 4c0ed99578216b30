"""Liveness and readiness: /healthz and /readyz.

`/healthz` checks only that the process replies. `/readyz` checks its services: without the database or with
migrations missing it replies with 503; without Redis or with a slow delivery queue it is degraded and stays in
service, because every request still works.
"""

from __future__ import annotations

import hmac
import logging
from dataclasses import dataclass
from functools import cache
from typing import Any

import redis
from django.conf import settings
from django.db import Error as DatabaseProblem
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from core import redis_servers
from core.api import errors
from core.request_context import bearer_of
from core.version import VERSION
from integrations.services.webhooks import problems as webhook_problems
from notifications.selectors import delivery_lag_seconds

logger = logging.getLogger(__name__)

OK, DEGRADED, FAILED, UNKNOWN = "ok", "degraded", "failed", "unknown"
QUEUE_LAG_SECONDS = 120
WEBHOOK_LAG_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of one component and, unless it is ok, one sentence that says what to do."""

    state: str
    detail: str = ""


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"ok": True, "status": OK})


# Degraded is 200: docs/decisions/serving.md#0011
@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """The status, for everyone. Version, component and reason are for the holder of METRICS_TOKEN, the last two also in
    the log."""
    findings = examine_all()
    states = {finding.state for finding in findings.values()}
    status = FAILED if FAILED in states else DEGRADED if DEGRADED in states else OK
    _log_change(findings)
    details = may_read_details(request)
    body: dict[str, Any] = {"ok": status != FAILED, "status": status}
    if details:
        body["version"] = VERSION
        body["checks"] = {
            name: {"status": finding.state} | ({"detail": finding.detail} if finding.detail else {})
            for name, finding in findings.items()
        }
    if status == FAILED:
        broken = ", ".join(name for name, finding in findings.items() if finding.state == FAILED)
        message = f"Not ready: {broken}." if details else "Not ready."
        body |= errors.body_of("service_unavailable", message, retry_after=2)
        return JsonResponse(body, status=503, headers={"Retry-After": "2"})
    return JsonResponse(body)


def may_read_details(request: HttpRequest) -> bool:
    """Whether the request may read metrics and reasons: its bearer token is METRICS_TOKEN, which is set."""
    if not settings.METRICS_TOKEN:
        return False
    token = bearer_of(request.headers.get("Authorization", ""))
    return hmac.compare_digest(token.encode(), settings.METRICS_TOKEN.encode())


_logged: dict[str, Finding] = {}


def _log_change(findings: dict[str, Finding]) -> None:
    """Logs a component only when its state changes, because probes ask every few seconds."""
    for name, finding in findings.items():
        before = _logged.get(name, Finding(OK))
        if finding.state != before.state:
            _logged[name] = finding
            level = logging.INFO if finding.state == OK else logging.WARNING
            logger.log(level, "readyz: %s is %s. %s", name, finding.state, finding.detail)


def examine_all() -> dict[str, Finding]:
    """The state of every component; those that need the database are unknown while it is unavailable."""
    findings = {"database": database(), "channel_layer": channel_layer()}
    for name, examine in (("migrations", migrations), ("delivery_queue", delivery_queue), ("webhooks", webhooks)):
        try:
            usable = findings["database"].state == OK
            findings[name] = examine() if usable else Finding(UNKNOWN, "The database does not answer.")
        except DatabaseProblem as error:
            findings[name] = Finding(UNKNOWN, f"The database refused ({error.__class__.__name__}).")
    return findings


def database() -> Finding:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseProblem as error:
        return Finding(FAILED, database_problem(error))
    return Finding(OK)


# Message of the server or the driver → cause. PostgreSQL writes messages in the language of its settings, so the code
# in brackets comes first where there is one.
PROBLEMS = (
    ("does not exist", "The database does not exist. Create it, or correct DATABASE_URL."),
    ("password authentication failed", "The database refuses the user name or the password. Correct DATABASE_URL."),
    ("no pg_hba.conf entry", "The database does not let this machine in. Correct its pg_hba.conf."),
    ("Connection refused", "The database server does not answer: the connection was refused. Start it."),
    ("could not translate host name", "The host of the database is unknown. Correct DATABASE_URL."),
    ("failed to resolve host", "The host of the database is unknown. Correct DATABASE_URL."),
    ("Name or service not known", "The host of the database is unknown. Correct DATABASE_URL."),
    ("invalid connection option", "DATABASE_URL has an option that PostgreSQL does not know. Correct it."),
    ("invalid sslmode", "DATABASE_URL has an option that PostgreSQL does not know. Correct it."),
    ("lock timeout", "Another transaction has locked what is needed, for too long. Repeat the command."),
    ("database is locked", "Another process writes to the database file, for too long. Repeat the command."),
    ("timeout", "The database server does not answer in time."),
    ("starting up", "The database server is still starting."),
    ("No space left on device", "The disk of the database is full. Make room, then repeat the command."),
    ("database or disk is full", "The disk of the database is full. Make room, then repeat the command."),
    ("unable to open database file", "The database file cannot be opened."),
)


def database_problem(error: Exception) -> str:
    """One sentence that says why the database cannot be used, without user and password."""
    text = str(error)
    known = next((sentence for mark, sentence in PROBLEMS if mark in text), None)
    return known or f"The database does not answer ({error.__class__.__name__})."


def migrations() -> Finding:
    unapplied = unapplied_migrations()
    if unapplied:
        return Finding(FAILED, f"{len(unapplied)} to apply, first {'.'.join(unapplied[0])}. Run: manage.py migrate")
    return Finding(OK)


def unapplied_migrations() -> list[tuple[str, str]]:
    """App and name of the migrations on disk that are not applied."""
    return sorted(migrations_on_disk() - MigrationRecorder(connection).applied_migrations().keys())


def migrations_on_disk() -> frozenset[tuple[str, str]]:
    """Names of all migrations of this checkout; a replaced one counts as applied with its replacement."""
    return _migrations()[0]


def replaced_migrations() -> frozenset[tuple[str, str]]:
    """Names of the migrations that others have replaced. Older installations have their rows."""
    return _migrations()[1]


@cache
def _migrations() -> tuple[frozenset[tuple[str, str]], frozenset[tuple[str, str]]]:
    loader = MigrationLoader(None, ignore_no_migrations=True)
    replaced = {key for migration in loader.disk_migrations.values() for key in migration.replaces}
    return frozenset(loader.disk_migrations.keys() - replaced), frozenset(replaced)


def channel_layer() -> Finding:
    if not settings.REDIS_URL:
        return Finding(OK, "In memory: one process only.")
    try:
        for server in redis_servers.configured():
            with server.client(socket_connect_timeout=0.5, socket_timeout=0.5) as client:
                client.ping()
    except (redis.RedisError, OSError, ValueError) as error:
        return Finding(DEGRADED, f"Sockets catch up at their next heartbeat. {_redis_problem(error)}")
    return Finding(OK)


def _redis_problem(error: Exception) -> str:
    """One sentence that says why Redis cannot be used, and how to fix it."""
    if isinstance(error, redis.AuthenticationError):
        return "Redis refuses the user name or the password. Correct REDIS_URL."
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return "The certificate of Redis is not trusted. Add ?ssl_ca_certs=FILE, a file with the CA, to REDIS_URL."
    return f"Redis does not answer ({error.__class__.__name__}). Start it, or correct REDIS_URL."


def delivery_queue() -> Finding:
    lag = delivery_lag_seconds()
    if lag > QUEUE_LAG_SECONDS:
        return Finding(DEGRADED, f"The oldest due mail or push waits for {lag:.0f} s. Is `manage.py deliver` running?")
    return Finding(OK)


def webhooks() -> Finding:
    """Degraded while a target does not get its events: it is switched off, paused, or far behind."""
    problems = webhook_problems(late_seconds=WEBHOOK_LAG_SECONDS)
    return Finding(DEGRADED, " ".join(problems)) if problems else Finding(OK)
