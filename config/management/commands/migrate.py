"""`manage.py migrate`: Django's command, one at a time, without limits of time, and with one sentence when the database
cannot be used."""

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError

from config import health
from core.exclusive import exclusive, without_time_limits
from core.operator import PlainCommand


class Command(PlainCommand, migrate.Command):
    def handle(self, *args: Any, **options: Any) -> Any:
        try:
            with exclusive("migrate", report_wait=self._report_wait), without_time_limits():
                return migrate.Command.handle(self, *args, **options)
        except OperationalError as error:
            if options.get("traceback"):
                raise
            raise CommandError(health.database_problem(error)) from error

    def _report_wait(self) -> None:
        self.report("Another process migrates this database; waiting for it to end.")
