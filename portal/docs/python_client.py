"""The Python client: what openapi-python-client does not make, the typed events and the files of the distribution."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from core.api.json_schema import component_name
from core.version import VERSION
from portal.docs import generators
from portal.docs.openapi import texts
from realtime.asyncapi import document as asyncapi_document

SOURCES = generators.CONFIGURATION / "python"
MODULE = "parley_client"
# What the client deals with itself.
CONTROL = ("ready", "synced", "resync", "pong", "auth.expiring", "goaway")

HEAD = '''"""The events of the socket, with the types of their data. Written by `manage.py sdk python` from the AsyncAPI document."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .models import (
{models}
)


@dataclass(frozen=True, slots=True)
class Reload:
    """Read the state over REST now: at the first start (`start`), and when events were missed for good."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """An event that a newer server has added. Ignore it."""

    type: str
    data: dict[str, Any]
    seq: int | None
'''
EVENT = '''
@dataclass(frozen=True, slots=True)
class {name}:
    """{summary}"""

    data: {data}
'''
NUMBERED = """    seq: int
    at: datetime
"""
TAIL = '''
Event = {union}
CONTROL = frozenset({control})


def parse(frame: dict[str, Any]) -> Event:
    """A frame of the socket, which is neither a reply nor one of CONTROL, as an event."""
    data = frame.get("data", {{}})
    match frame["type"]:
{cases}
        case other:
            return Unknown(other, data, frame.get("seq"))
'''


def document() -> dict[str, Any]:
    """The OpenAPI document with the schemas of the socket, so that their classes are generated, too."""
    described = dict(texts.document())
    schemas = asyncapi_document()["components"]["schemas"] | described["components"]["schemas"]
    return described | {"components": described["components"] | {"schemas": schemas}}


def events() -> str:
    """The text of events.py."""
    rows = {
        name: message
        for name, message in asyncapi_document()["components"]["messages"].items()
        if not name.startswith(("command.", "reply.")) and name not in CONTROL
    }
    parts, cases = [], []
    for name, message in rows.items():
        properties = message["payload"]["properties"]
        row = {"name": _class(name), "summary": message["summary"], "data": component_name(properties["data"])}
        is_numbered = "seq" in properties
        parts.append(EVENT.format(**row) + (NUMBERED if is_numbered else ""))
        arguments = f"{row['data']}.from_dict(data)" + (
            ', frame["seq"], datetime.fromisoformat(frame["at"])' if is_numbered else ""
        )
        cases.append(f'        case "{name}":\n            return {row["name"]}({arguments})')
    models = sorted({component_name(row["payload"]["properties"]["data"]) for row in rows.values()})
    union = " | ".join(["Reload", *map(_class, rows), "Unknown"])
    control = "{" + ", ".join(json.dumps(name) for name in CONTROL) + "}"
    return (
        HEAD.replace("{models}", "\n".join(f"    {name}," for name in models))
        + "\n".join(["", *parts, ""])
        + TAIL.format(union=union, control=control, cases="\n".join(cases))
    )


def _class(event: str) -> str:
    """`MessageNew` of `message.new`."""
    return "".join(word.title() for word in event.replace("_", ".").split("."))


def complete(folder: Path) -> None:
    """Adds the events, the hand-written module and the files of the distribution to a generated package."""
    package = folder / MODULE
    (package / "events.py").write_text(events(), encoding="utf-8")
    for source, target in (("live.py", package), ("README.md", folder)):
        (target / source).write_bytes((SOURCES / source).read_bytes())
    project = (SOURCES / "pyproject.toml").read_text(encoding="utf-8")
    (folder / "pyproject.toml").write_text(project.replace('version = "0"', f'version = "{VERSION}"'), encoding="utf-8")
    (package / "__init__.py").write_text(EXPORTS, encoding="utf-8")


EXPORTS = '''"""Client of the service. `Parley` is a signed-in user; `parley_client.api` has a function for each operation."""

from .client import AuthenticatedClient, Client
from .live import Parley, ParleyError

__all__ = ("AuthenticatedClient", "Client", "Parley", "ParleyError")
'''
