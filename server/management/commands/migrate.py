"""`manage.py migrate`: Django's command, which runs once at a time, without time limits, and says in one sentence why
the database cannot be used. A history that this code does not know is refused before anything is changed."""

import time
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError

from core.commands import PlainCommand
from core.database.connections import refuse_bouncer
from core.database.exclusive import exclusive, without_time_limits
from server import health, history

# SQLSTATE of a statement that waited too long for a lock, and of one that ended a deadlock.
IN_USE = frozenset({"55P03", "40P01"})
TRIES, PAUSE_SECONDS = 30, 3.0


class Command(PlainCommand, migrate.Command):
    def handle(self, *args: Any, **options: Any) -> Any:
        try:
            refuse_bouncer("migrate")
            with exclusive("migrate", report_wait=self._report_wait), without_time_limits():
                # With --fake an operator repairs the history itself.
                if not options["fake"] and (refusal := history.refusal()):
                    raise CommandError(refusal)
                return self._tried(*args, **options)
        except OperationalError as error:
            if options.get("traceback"):
                raise
            raise CommandError(health.database_problem(error)) from error

    def _tried(self, *args: Any, **options: Any) -> Any:
        """Begins again where a table was in use for longer than users may wait behind a migration.

        A migration that is atomic was rolled back, and any other one may be started again (core.database.online).
        """
        left = TRIES
        while True:
            left -= 1
            try:
                return migrate.Command.handle(self, *args, **options)
            except OperationalError as error:
                if not left or getattr(error.__cause__, "sqlstate", "") not in IN_USE:
                    raise
                self.report(f"A table is in use. Tried again in {PAUSE_SECONDS:g} s, {left} times at most.")
                time.sleep(PAUSE_SECONDS)

    def _report_wait(self) -> None:
        self.report("Another process migrates this database; waiting for it to end.")
