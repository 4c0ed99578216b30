from typing import Any

from core.commands import PlainCommand
from core.version import VERSION


class Command(PlainCommand):
    # manage.py answers by itself, because Django's `version` is Django's.
    help = "Print the version of this code."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(VERSION)
