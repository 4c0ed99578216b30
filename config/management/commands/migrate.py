"""`manage.py migrate`: Django's command, with one sentence when the database cannot be used."""

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError

from config import health
from core.operator import PlainCommand


class Command(PlainCommand, migrate.Command):
    def handle(self, *args: Any, **options: Any) -> Any:
        try:
            return migrate.Command.handle(self, *args, **options)
        except OperationalError as error:
            if options.get("traceback"):
                raise
            raise CommandError(health.database_problem(error)) from error
