from typing import Any

from django.core.management.base import CommandError, CommandParser

from config import sdk
from core.operator import PlainCommand


class Command(PlainCommand):
    help = "Write the generated parts of the JavaScript SDK (static/sdk/parley) from the API's two schemas."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing, exit 1 when a file is out of date")

    def handle(self, *args: Any, **options: Any) -> None:
        texts = sdk.files()
        stale = [name for name, text in texts.items() if not sdk.is_current(name, text)]
        if options["check"] and stale:
            raise CommandError(f"out of date: {', '.join(stale)}; run manage.py write_sdk")
        for name in stale:
            (sdk.FOLDER / name).write_text(texts[name], encoding="utf-8")
            self.stdout.write(f"{sdk.FOLDER.name}/{name}")
