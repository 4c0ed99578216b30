"""The texts of the reference in docs/reference. It has a file per tag, with a section per operation.

# messages: Conversations and messages        ← the tag, its title
One-to-one conversations …                    ← its description

## messages_send: Send a text message         ← the operation, its summary
Sends a text message …                        ← its description
Errors: user_blocked, …                       ← codes of its own; those of every request are derived
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings

_SECTION = re.compile(r"^##? (\w+): (.+)$", re.MULTILINE)
_ERRORS = re.compile(r"^Errors: (.+)$", re.MULTILINE)
# The order of the tags in the document and on the pages.
TAGS = ("auth", "profile", "messages", "media", "notifications", "calls", "realtime", "server")


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a tag or an operation from docs/reference."""

    name: str
    title: str
    description: str
    errors: tuple[str, ...]


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document as committed in docs/openapi.json."""
    committed: dict[str, Any] = json.loads((settings.BASE_DIR / "docs" / "openapi.json").read_text(encoding="utf-8"))
    # The committed file has the default name.
    info = settings.SPECTACULAR_SETTINGS
    committed["info"] |= {"title": info["TITLE"], "contact": info["CONTACT"]}
    return committed


@cache
def tags() -> dict[str, Text]:
    """Tag → its text, in the order of the pages."""
    return {text.name: text for name in TAGS for text in _sections(name)[:1]}


@cache
def operations() -> dict[str, Text]:
    return {text.name: text for name in TAGS for text in _sections(name)[1:]}


@cache
def examples() -> dict[str, Any]:
    """Operation id → recorded examples: `request`, `parameters` and `responses` (by status, then by name)."""
    path = settings.BASE_DIR / "docs" / "reference" / "examples.json"
    recorded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return recorded


def _sections(tag: str) -> list[Text]:
    text = (settings.BASE_DIR / "docs" / "reference" / f"{tag}.md").read_text(encoding="utf-8")
    _, *parts = _SECTION.split(text)
    return [_text(name, title, body) for name, title, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True)]


def _text(name: str, title: str, body: str) -> Text:
    errors = [code.strip() for listed in _ERRORS.findall(body) for code in listed.split(",")]
    return Text(name, title.strip(), _ERRORS.sub("", body).strip(), tuple(errors))
