"""`manage.py sdk LANGUAGE`: client code from the OpenAPI and AsyncAPI documents, by pinned generators.

The versions and settings of the generators are in deploy/sdk; the result is written to var/sdk.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import venv
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from config.openapi import collection, texts
from core.operator import PlainCommand, output_path
from realtime import asyncapi

QUICKTYPE = {"kotlin": "Models.kt", "swift": "Models.swift", "dart": "models.dart"}
REFERENCE = "#/components/schemas/"
DOCUMENT = settings.BASE_DIR / "docs" / "openapi.json"
CONFIGURATION = settings.BASE_DIR / "deploy" / "sdk"
# The generators are installed here.
TOOLS = Path(settings.VAR_DIR).resolve() / "sdk-tools"


class Command(PlainCommand):
    help = "Generate client code: typescript, python, kotlin, swift, dart, or collection (Postman and Bruno)."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("language", choices=["typescript", "python", *QUICKTYPE, "collection"])
        parser.add_argument("--output", type=output_path, help="folder to write to (var/sdk)")

    def handle(self, *args: Any, **options: Any) -> None:
        language: str = options["language"]
        folder: Path = (options["output"] or Path(settings.VAR_DIR) / "sdk").resolve() / language
        folder.mkdir(parents=True, exist_ok=True)
        makers = {"typescript": self.typescript, "python": self.python, "collection": self.collection}
        if language in makers:
            makers[language](folder)
        else:
            self.models(folder, language)
        self.stdout.write(str(folder))

    def typescript(self, folder: Path) -> None:
        """Types of the operations, and of the socket's frames as unions discriminated by `type`."""
        events = folder / "events.openapi.json"
        events.write_text(json.dumps(frames()))
        for source, name in ((DOCUMENT, "schema.d.ts"), (events, "events.d.ts")):
            self.run_tool("openapi-typescript", str(source), "-o", str(folder / name))
        events.unlink()

    def python(self, folder: Path) -> None:
        """A package with a function for each operation."""
        folder_path = TOOLS / "python"
        program = folder_path / "bin" / "openapi-python-client"
        if not program.exists():
            self.report("Installing openapi-python-client …")
            venv.create(folder_path, with_pip=True)
            pip = [str(program.with_name("python")), "-m", "pip", "install", "--quiet"]
            self.run([*pip, "-r", str(CONFIGURATION / "requirements.txt")])
        shutil.rmtree(folder)
        config = str(CONFIGURATION / "python.yaml")
        source = ["--path", str(DOCUMENT), "--config", config, "--output-path", str(folder)]
        self.run([str(program), "generate", *source, "--overwrite"])

    def models(self, folder: Path, language: str, *options: str) -> None:
        """The data classes of every request and reply. Options are those of quicktype."""
        text = json.dumps({"definitions": texts.document()["components"]["schemas"]})
        source = folder / "models.schema.json"
        source.write_text(text.replace(REFERENCE, "#/definitions/"))
        target = str(folder / QUICKTYPE[language])
        schema = ["--src-lang", "schema", "--lang", language, "--out", target, *options]
        self.run_tool("quicktype", *schema, f"{source.name}#/definitions/", cwd=folder)
        source.unlink()

    def collection(self, folder: Path) -> None:
        """One file that Postman and Bruno import."""
        path = folder / "parley.postman_collection.json"
        path.write_text(json.dumps(collection.collection(texts.document()), indent=1, ensure_ascii=False))

    def run_tool(self, name: str, *arguments: str, cwd: Path | None = None) -> None:
        """A program of deploy/sdk/package.json, installed first when it is missing."""
        folder = TOOLS / "node"
        program = folder / "node_modules" / ".bin" / name
        if not program.exists():
            npm = shutil.which("npm")
            if npm is None:
                raise CommandError("npm is needed for this language: apt-get install npm")
            self.report("Installing the generators from npm …")
            folder.mkdir(parents=True, exist_ok=True)
            for file in ("package.json", "package-lock.json"):
                shutil.copy(CONFIGURATION / file, folder / file)
            self.run([npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder)])
        self.run([str(program), *arguments], cwd=cwd)

    def run(self, command: list[str], cwd: Path | None = None) -> None:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CommandError(f"{Path(command[0]).name} failed:\n{(done.stdout + done.stderr)[-2000:]}")


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
    info = {"title": "Parley, frames of the socket", "version": asyncapi.document()["info"]["version"]}
    return {"openapi": "3.1.0", "info": info, "paths": {}, "components": {"schemas": schemas}}
