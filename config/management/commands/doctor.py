"""`manage.py doctor`: reports what is present and what is missing, with the command that fixes it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.management.base import CommandParser
from django.db import connection

from config import health, translations
from core.operator import PlainCommand

MISSING, NOTE = "missing", "note"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check. `fix` is the command or setting that fixes it."""

    state: str
    what: str
    fix: str = ""


class Command(PlainCommand):
    help = "Report what is missing, with the command that fixes it. Exit code 1 when something is missing."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        lines = list(examine())
        if options["json"]:
            self.stdout.write(json.dumps([asdict(line) for line in lines], indent=2))
        else:
            for line in lines:
                mark = {health.OK: "ok", MISSING: "MISSING", NOTE: "-"}[line.state]
                self.stdout.write(f"{mark:8}{line.what}")
                if line.fix:
                    self.stdout.write(f"        → {line.fix}")
        if any(line.state == MISSING for line in lines):
            sys.exit(1)


def examine() -> Iterator[CheckResult]:
    yield from _settings()
    yield from _database()
    yield from _redis()
    yield from _mail_and_push()
    yield from _calls()
    stale = [str(state.path.relative_to(settings.BASE_DIR)) for state in translations.states() if not state.up_to_date]
    yield _line(not stale, "translations are compiled", "python3 dev.py translations")


def _line(good: bool, what: str, fix: str) -> CheckResult:
    return CheckResult(health.OK, what) if good else CheckResult(MISSING, what, fix)


def _settings() -> Iterator[CheckResult]:
    yield _line(
        os.access(settings.VAR_DIR, os.W_OK), f"{settings.VAR_DIR} is writable", f"chown -R $USER '{settings.VAR_DIR}'"
    )
    mode = "DEBUG=1: for a developer's machine" if settings.DEBUG else "DEBUG is off: production"
    yield CheckResult(NOTE, mode)
    deploy = not settings.DEBUG
    for message in checks.run_checks(include_deployment_checks=deploy):
        if message.level >= (checks.WARNING if deploy else checks.ERROR) and not message.is_silenced():
            yield CheckResult(MISSING, f"{message.id}: {message.msg}", message.hint or "")


def _database() -> Iterator[CheckResult]:
    finding = health.database()
    kind = "SQLite" if settings.EMBEDDED else "PostgreSQL"
    name = connection.settings_dict["NAME"]
    if finding.state != health.OK:
        yield CheckResult(MISSING, f"{kind} {name}: {finding.detail}", "manage.py wait_for_services")
        return
    yield CheckResult(health.OK, f"{kind} {name} answers")
    unapplied = health.unapplied_migrations()
    yield _line(not unapplied, f"migrations are applied ({len(unapplied)} wait)", "manage.py migrate")
    if not settings.EMBEDDED:
        yield from _autovacuum()


def _autovacuum() -> Iterator[CheckResult]:
    """Every message updates existing rows: without autovacuum, dead rows make lists and `typing` slow."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW autovacuum")
        is_on = cursor.fetchone() == ("on",)
    fix = "ALTER SYSTEM SET autovacuum = on; SELECT pg_reload_conf();"
    if is_on or not settings.DEBUG:
        yield _line(is_on, "autovacuum is on", fix)
    else:
        yield CheckResult(NOTE, "autovacuum is off: do not measure here", fix)


def _redis() -> Iterator[CheckResult]:
    if not settings.REDIS_URL:
        yield CheckResult(NOTE, "no REDIS_URL: wake-ups stay in memory, one server process only")
        return
    finding = health.channel_layer()
    yield _line(finding.state == health.OK, "Redis answers", finding.detail)


def _mail_and_push() -> Iterator[CheckResult]:
    transport = settings.NOTIFICATIONS_MAIL_TRANSPORT
    backend = transport["BACKEND"].rsplit(".", 2)[-2]
    folder = transport["OPTIONS"].get("file_path")
    yield CheckResult(NOTE, f"mail leaves through {backend}" + (f" into {folder}" if folder else ""))
    yield CheckResult(NOTE, f"push leaves through {settings.NOTIFICATIONS_PUSH_BACKEND}")
    if not settings.EMBEDDED:
        yield CheckResult(NOTE, "on PostgreSQL mail and push leave from `manage.py deliver` (or `serve --deliver`)")


def _calls() -> Iterator[CheckResult]:
    if not settings.REALTIME_TURN_URLS:
        yield CheckResult(NOTE, "no TURN_URLS: calls work where the two devices reach each other directly")
    else:
        yield _line(
            bool(settings.REALTIME_TURN_SECRET), "TURN_SECRET is set", "TURN_SECRET=<static-auth-secret of coturn>"
        )
    if settings.DEBUG and not shutil.which("turnserver"):
        yield CheckResult(NOTE, "no turnserver here; tests of relayed calls need it: apt-get install coturn")
