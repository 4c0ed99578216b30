"""`manage.py translations`: compile the translations, collect new texts, and list missing ones."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from core.commands import PlainCommand
from portal.client import translations


class Command(PlainCommand):
    help = "Compile the translations (.po → .mo). Needs no GNU gettext."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--update", action="store_true", help="first collect new texts from the sources")
        parser.add_argument("--check", action="store_true", help="change nothing; fail when a catalog is out of date")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["check"]:
            self.check_all()
            return
        if options["update"]:
            self.report(f"{translations.update()} .po files changed.")
        self.report(f"{translations.compile_catalogs()} .mo files changed.")
        for state in translations.states():
            if state.untranslated:
                name = state.path.relative_to(settings.BASE_DIR)
                self.stdout.write(f"{name}: {len(state.untranslated)} texts are not translated")

    def check_all(self) -> None:
        problems = []
        for state in translations.states():
            name = state.path.relative_to(settings.BASE_DIR)
            if not state.up_to_date:
                problems.append(f"{name}: the .mo file is not what it compiles to")
            problems += [f"{name}: not translated: {text!r}" for text in state.untranslated]
        if problems:
            raise CommandError("\n".join([*problems, "Fix it with: python3 dev.py translations"]))
