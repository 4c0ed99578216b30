"""`manage.py doctor`: reports what is present and what is missing, with the command that fixes it."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandParser
from django.db import DatabaseError, connection
from django.utils import timezone

from core.commands import PlainCommand
from core.version import VERSION
from integrations.services.webhooks import problems as webhook_problems
from integrations.targets import targets as webhook_targets
from portal.client import translations
from server import backups, drift, health, history

OK, WARNING, ERROR = "ok", "warning", "error"
# The order of severity. A note is an "ok" in JSON: it asks for nothing.
NOTE = "note"
SEVERITY = (NOTE, OK, WARNING, ERROR)
MARKS = {NOTE: "-", OK: "ok", WARNING: "WARNING", ERROR: "ERROR"}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One result of a check. `fix` is the command or setting that fixes it."""

    name: str
    status: str
    what: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.what} → {self.fix}" if self.fix else self.what


class Command(PlainCommand):
    help = "Report what is missing or wrong, with the command that fixes it. Exit code 1 for an error."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        lines = list(examine())
        failed = any(line.status == ERROR for line in lines)
        if options["json"]:
            self.stdout.write(json.dumps({"ok": not failed, "checks": list(by_name(lines))}, indent=2))
        else:
            for line in lines:
                self.stdout.write(f"{MARKS[line.status]:8}{line.what}")
                if line.fix:
                    self.stdout.write(f"        → {line.fix}")
        if failed:
            sys.exit(1)


def by_name(lines: Iterable[CheckResult]) -> Iterator[dict[str, str]]:
    """An object for each check: its worst status, and a line of detail for each result."""
    checked: dict[str, list[CheckResult]] = {}
    for line in lines:
        checked.setdefault(line.name, []).append(line)
    for name, results in checked.items():
        worst = max((result.status for result in results), key=SEVERITY.index)
        status = OK if worst == NOTE else worst
        yield {"name": name, "status": status, "detail": "\n".join(map(str, results))}


def examine() -> Iterator[CheckResult]:
    yield CheckResult("version", NOTE, f"{settings.PRODUCT_NAME} {VERSION}")
    yield from _settings()
    yield from _database()
    yield from _redis()
    yield from _mail_and_push()
    yield from _calls()
    stale = [str(state.path.relative_to(settings.BASE_DIR)) for state in translations.states() if not state.up_to_date]
    yield _line("translations", not stale, "translations are compiled", "python3 dev.py translations")


def _line(name: str, good: bool, what: str, fix: str) -> CheckResult:
    return CheckResult(name, OK, what) if good else CheckResult(name, ERROR, what, fix)


def _settings() -> Iterator[CheckResult]:
    yield _line(
        "folders",
        os.access(settings.VAR_DIR, os.W_OK),
        f"{settings.VAR_DIR} is writable",
        f"chown -R $USER '{settings.VAR_DIR}'",
    )
    open_to_others = readable_by_others(
        settings.VAR_DIR, apart=[settings.MEDIA_ROOT] if settings.MEDIA_SENDFILE else []
    )
    names = f" ({', '.join(open_to_others[:5])})" if open_to_others else ""
    yield _line(
        "folders",
        not open_to_others,
        f"other users of this machine can read nothing in {settings.VAR_DIR}{names}",
        f"chmod -R go= {' '.join(repr(str(settings.VAR_DIR / name)) for name in open_to_others)}",
    )
    mode = "DEBUG=1: for a developer's machine" if settings.DEBUG else "DEBUG is off: production"
    yield CheckResult("settings", NOTE, mode)
    deploy = not settings.DEBUG
    for message in checks.run_checks(include_deployment_checks=deploy):
        # The schema has a check of its own here.
        if message.is_silenced() or message.id in drift.CHECK_IDS:
            continue
        if message.level >= (checks.WARNING if deploy else checks.ERROR):
            yield CheckResult("settings", ERROR, f"{message.id}: {message.msg}", message.hint or "")


def readable_by_others(folder: Path, *, apart: Iterable[Path]) -> list[str]:
    """The names in a folder that every user of the machine can read, if they can enter the folder."""
    if not folder.stat().st_mode & stat.S_IXOTH:
        return []
    excepted = {path.resolve() for path in apart}
    return sorted(
        path.name
        for path in folder.iterdir()
        if path.resolve() not in excepted and not path.is_symlink() and path.stat().st_mode & stat.S_IROTH
    )


def _database() -> Iterator[CheckResult]:
    finding = health.database()
    kind = "SQLite" if settings.EMBEDDED else "PostgreSQL"
    name = connection.settings_dict["NAME"]
    if finding.state != health.OK:
        yield CheckResult("database", ERROR, f"{kind} {name}: {finding.detail}", "manage.py wait_for_services")
        return
    yield CheckResult("database", OK, f"{kind} {name} answers")
    if foreign := history.foreign():
        yield CheckResult("schema", ERROR, foreign, "docs/upgrading.md")
        return
    unapplied = health.unapplied_migrations()
    yield _line("migrations", not unapplied, f"migrations are applied ({len(unapplied)} wait)", "manage.py migrate")
    yield from _schema(is_migrated=not unapplied)
    if not unapplied:
        yield _backup()
    if not settings.EMBEDDED:
        yield from _autovacuum()


def _schema(*, is_migrated: bool) -> Iterator[CheckResult]:
    """Drift: what differs between the database and the schema of this version."""
    faults = drift.faults()
    for fault in faults:
        yield CheckResult("schema", fault.level, fault.what, fault.fix)
    if not faults and is_migrated:
        yield CheckResult("schema", OK, "tables, indexes and constraints are those of this version")
    elif not faults:
        yield CheckResult("schema", NOTE, "tables are compared once all migrations are applied")


def _backup() -> CheckResult:
    """A backup that another tool makes is not recorded here, so an old one is a warning."""
    made_at = backups.last_made_at()
    if made_at is None:
        what, is_new = "no backup has been made with `manage.py backup`", False
    else:
        hours = (timezone.now() - made_at) // timedelta(hours=1)
        what, is_new = f"the newest backup is {hours} hours old", hours < backups.OLD_HOURS
    if is_new:
        return CheckResult("backup", OK, what)
    return CheckResult("backup", NOTE if settings.DEBUG else WARNING, what, "manage.py backup FOLDER --keep 14")


def _autovacuum() -> Iterator[CheckResult]:
    """Every message updates existing rows. Without autovacuum, dead rows make lists and `typing` slow."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW autovacuum")
        is_on = cursor.fetchone() == ("on",)
    fix = "ALTER SYSTEM SET autovacuum = on; SELECT pg_reload_conf();"
    if is_on or not settings.DEBUG:
        yield _line("autovacuum", is_on, "autovacuum is on", fix)
    else:
        yield CheckResult("autovacuum", NOTE, "autovacuum is off: do not measure here", fix)


def _redis() -> Iterator[CheckResult]:
    if not settings.REDIS_URL:
        yield CheckResult("redis", NOTE, "no REDIS_URL: wake-ups stay in memory, one server process only")
        return
    finding = health.channel_layer()
    yield _line("redis", finding.state == health.OK, "Redis answers", finding.detail)


def _mail_and_push() -> Iterator[CheckResult]:
    transport = settings.NOTIFICATIONS_MAIL_TRANSPORT
    backend = transport["BACKEND"].rsplit(".", 2)[-2]
    folder = transport["OPTIONS"].get("file_path")
    yield CheckResult("mail", NOTE, f"mail leaves through {backend}" + (f" into {folder}" if folder else ""))
    yield CheckResult("push", NOTE, f"push leaves through {settings.NOTIFICATIONS_PUSH_BACKEND}")
    yield from _webhooks()
    if not settings.EMBEDDED:
        yield CheckResult(
            "delivery", NOTE, "on PostgreSQL mail and push leave from `manage.py deliver` (or `serve --deliver`)"
        )


def _webhooks() -> Iterator[CheckResult]:
    """Nothing without targets, or while the database or its tables are missing, which is reported separately."""
    try:
        names = [target.name for target in webhook_targets()]
        problems = webhook_problems(late_seconds=health.WEBHOOK_LAG_SECONDS) if names else []
    except (ImproperlyConfigured, DatabaseError):
        return
    if names and not problems:
        yield CheckResult("webhooks", OK, f"events leave to {', '.join(names)}")
    for problem in problems:
        yield CheckResult("webhooks", ERROR, problem, "see docs/operations.md, Events do not reach your server")


def _calls() -> Iterator[CheckResult]:
    if not settings.REALTIME_TURN_URLS:
        yield CheckResult("calls", NOTE, "no TURN_URLS: calls work where the two devices reach each other directly")
    else:
        yield _line(
            "calls",
            bool(settings.REALTIME_TURN_SECRET),
            "TURN_SECRET is set",
            "TURN_SECRET=<static-auth-secret of coturn>",
        )
    if settings.DEBUG and not shutil.which("turnserver"):
        yield CheckResult("calls", NOTE, "no turnserver here; tests of relayed calls need it: apt-get install coturn")
