"""`manage.py sdk LANGUAGE`: client code from the OpenAPI and AsyncAPI documents, by pinned generators, and the package of
the JavaScript SDK.

The versions and settings of the generators are in deploy/sdk; the result is written to var/sdk.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from core.commands import PlainCommand, output_path
from portal import packages
from portal.docs import generators, python_client
from portal.docs.openapi import collection, texts
from portal.packages import npm
from realtime import asyncapi

QUICKTYPE = {"kotlin": "Models.kt", "swift": "Models.swift", "dart": "models.dart"}
JACKSON_MAPPER = "val mapper = jacksonObjectMapper().apply {\n"
REFERENCE = "#/components/schemas/"
DOCUMENT = settings.BASE_DIR / "docs" / "openapi.json"


class Command(PlainCommand):
    help = (
        "Generate client code: typescript, python, kotlin, swift, dart, or collection (Postman and Bruno). javascript: the "
        "package of the SDK, into var/packages, where it is served after the next release, too."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("language", choices=["javascript", "typescript", "python", *QUICKTYPE, "collection"])
        parser.add_argument("--output", type=output_path, help="folder to write to (var/sdk)")

    def handle(self, *args: Any, **options: Any) -> None:
        language: str = options["language"]
        if language == "javascript":
            self.stdout.write(str(self.javascript(options["output"] or packages.FOLDER)))
            return
        folder: Path = (options["output"] or Path(settings.VAR_DIR) / "sdk").resolve() / language
        folder.mkdir(parents=True, exist_ok=True)
        makers = {"typescript": self.typescript, "python": self.python, "collection": self.collection}
        try:
            if language in makers:
                makers[language](folder)
            else:
                self.models(folder, language)
        except generators.GeneratorError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(str(folder))

    def javascript(self, folder: Path) -> Path:
        """The npm package of this version."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / npm.file_name()
        path.write_bytes(npm.archive())
        return path

    def typescript(self, folder: Path) -> None:
        """Types of the operations, and of the socket's frames as unions discriminated by `type`."""
        events = folder / "events.openapi.json"
        events.write_text(json.dumps(frames()))
        for source, name in ((DOCUMENT, "schema.d.ts"), (events, "events.d.ts")):
            self.run_tool("openapi-typescript", str(source), "-o", str(folder / name))
        events.unlink()

    def python(self, folder: Path) -> None:
        """A package with a function for each operation, typed events and a socket, and its wheel for `/sdk/`."""
        tools = generators.python_tools()
        shutil.rmtree(folder)
        source = folder.with_suffix(".openapi.json")
        source.write_text(json.dumps(python_client.document()))
        config = ["--config", str(generators.CONFIGURATION / "python.yaml")]
        generate = ["generate", "--path", str(source), *config, "--output-path", str(folder), "--overwrite"]
        generators.run([str(tools / "openapi-python-client"), *generate])
        source.unlink()
        python_client.complete(folder)
        wheels = packages.FOLDER.resolve()
        wheels.mkdir(parents=True, exist_ok=True)
        generators.run([str(tools / "python"), "-m", "flit_core.wheel", "--outdir", str(wheels)], cwd=folder)

    def models(self, folder: Path, language: str, *options: str) -> None:
        """The data classes of every request and reply. Options are those of quicktype."""
        text = json.dumps({"definitions": texts.document()["components"]["schemas"]})
        source = folder / "models.schema.json"
        source.write_text(text.replace(REFERENCE, "#/definitions/"))
        target = str(folder / QUICKTYPE[language])
        schema = ["--src-lang", "schema", "--lang", language, "--out", target, *options]
        self.run_tool("quicktype", *schema, f"{source.name}#/definitions/", cwd=folder)
        source.unlink()
        if language == "kotlin" and not options:
            ignore_unknown_fields(Path(target))

    def collection(self, folder: Path) -> None:
        """One file that Postman and Bruno import."""
        path = folder / "parley.postman_collection.json"
        path.write_text(json.dumps(collection.collection(texts.document()), indent=1, ensure_ascii=False))

    def run_tool(self, name: str, *arguments: str, cwd: Path | None = None) -> None:
        """A program of deploy/sdk/package.json."""
        program = generators.node_tools() / "node_modules" / ".bin" / name
        generators.run([str(program), *arguments], cwd=cwd)


def ignore_unknown_fields(models: Path) -> None:
    """Jackson refuses fields that a class does not have, unless its mapper is told otherwise. Replies may get new ones."""
    text = models.read_text()
    if text.count(JACKSON_MAPPER) != 1:
        raise CommandError(f"{models.name} has no mapper of Jackson")
    setting = "    configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false)\n"
    models.write_text(text.replace(JACKSON_MAPPER, JACKSON_MAPPER + setting))


def frames() -> dict[str, Any]:
    """The socket's frames as an OpenAPI document: one schema per message, and the unions of them."""
    components = asyncapi.document()["components"]
    schemas = dict(components["schemas"])
    groups: dict[str, list[str]] = {"Command": [], "Reply": [], "Event": []}
    for name, message in components["messages"].items():
        words = "".join(part.capitalize() for part in re.split(r"[._]", name))
        kind = words if words.startswith(("Command", "Reply")) else f"Event{words}"
        schemas[kind] = message["payload"]
        groups[next(group for group in groups if kind.startswith(group))].append(kind)
    for group, names in groups.items():
        schemas[group] = {"oneOf": [{"$ref": REFERENCE + name} for name in names]}
    schemas["ServerFrame"] = {"oneOf": [{"$ref": f"{REFERENCE}Event"}, {"$ref": f"{REFERENCE}Reply"}]}
    info = {
        "title": f"{settings.PRODUCT_NAME}, frames of the socket",
        "version": asyncapi.document()["info"]["version"],
    }
    return {"openapi": "3.1.0", "info": info, "paths": {}, "components": {"schemas": schemas}}
