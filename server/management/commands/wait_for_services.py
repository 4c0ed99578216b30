"""`manage.py wait_for_services`: waits until the database and Redis answer. For start scripts."""

from __future__ import annotations

import time
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import connections

from core.commands import PlainCommand, seconds
from server import health

PAUSE_SECONDS = 0.5
NOTE_SECONDS = 3


class Command(PlainCommand):
    help = "Wait until the database (and Redis, when REDIS_URL is set) answers."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--timeout", type=seconds, default=60, help="seconds to wait (60)")

    def handle(self, *args: Any, **options: Any) -> None:
        started_at = noted_at = time.monotonic()
        while unavailable := unavailable_services():
            now = time.monotonic()
            if now - started_at >= options["timeout"]:
                reasons = " ".join(f"{name}: {detail}" for name, detail in unavailable.items())
                raise CommandError(
                    f"No answer within {options['timeout']:g} s from: {', '.join(unavailable)}. {reasons}"
                )
            if noted_at == started_at or now - noted_at >= NOTE_SECONDS:
                self.report("; ".join(f"Waiting for the {name}: {detail}" for name, detail in unavailable.items()))
                noted_at = now
            # Close it, because Django would keep a failed connection.
            connections.close_all()
            time.sleep(PAUSE_SECONDS)
        self.report("Everything answers.")


def unavailable_services() -> dict[str, str]:
    """The services that do not answer yet, each with the reason."""
    findings = {"database": health.database(), "redis": health.channel_layer()}
    return {name: finding.detail for name, finding in findings.items() if finding.state != health.OK}
