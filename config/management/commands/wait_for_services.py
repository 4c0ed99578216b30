"""`manage.py wait_for_services`: wait until the database and Redis answer. For start scripts."""

from __future__ import annotations

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections

from config import health

PAUSE_SECONDS = 0.5


class Command(BaseCommand):
    help = "Wait until the database (and Redis, when REDIS_URL is set) answers."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--timeout", type=float, default=60, help="seconds to wait (60)")

    def handle(self, *args: Any, **options: Any) -> None:
        deadline = time.monotonic() + options["timeout"]
        while silent := [name for name, examine in SERVICES.items() if examine().state != health.OK]:
            if time.monotonic() >= deadline:
                raise CommandError(f"No answer within {options['timeout']:g} s from: {', '.join(silent)}.")
            # A connection that failed once would be kept as it is.
            connections.close_all()
            time.sleep(PAUSE_SECONDS)
        self.stderr.write("Everything answers.")


SERVICES = {"database": health.database, "redis": health.channel_layer}
