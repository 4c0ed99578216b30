from typing import Any

from django.core.management.base import CommandError, CommandParser

from core.commands import PlainCommand
from portal.docs import sdk
from portal.docs.generators import GeneratorError


class Command(PlainCommand):
    help = "Write the generated parts of the JavaScript SDK (static/sdk/parley) from the API's two schemas. The types need Node."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing, exit 1 when a file is out of date")

    def handle(self, *args: Any, **options: Any) -> None:
        texts = {sdk.OPERATIONS: sdk.table(), sdk.VERSION_FILE: sdk.version()}
        try:
            texts[sdk.TYPES] = sdk.types()
        except GeneratorError as error:
            self.report(f"left out  {sdk.TYPES}: {error}")
        stale = [name for name, text in texts.items() if not is_current(name, text)]
        if options["check"] and stale:
            raise CommandError(f"out of date: {', '.join(stale)}; run manage.py write_sdk")
        for name in stale:
            (sdk.FOLDER / name).write_text(texts[name], encoding="utf-8")
            self.stdout.write(f"{sdk.FOLDER.name}/{name}")


def is_current(name: str, text: str) -> bool:
    path = sdk.FOLDER / name
    return path.exists() and path.read_text(encoding="utf-8") == text
