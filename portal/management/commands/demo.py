"""`manage.py demo`: creates demo users."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from core.commands import PlainCommand
from portal.development import demo


class Command(PlainCommand):
    help = "Create the demo users (Alice, Bob, an admin) and print their logins. Running it again changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEBUG:
            raise CommandError("Demo people have passwords that are shown on pages: only with DEBUG=1.")
        logins = demo.ensure(report=self.report)
        if options["json"]:
            self.stdout.write(json.dumps([asdict(login) for login in logins], indent=2))
            return
        for login in logins:
            self.stdout.write(f"{login.title:<8}{login.email:<22}{login.password:<16}{login.purpose}")
