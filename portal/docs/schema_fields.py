"""The fields of a JSON schema as rows of a table, for the pages of the API and of the socket."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from core.api.json_schema import Components, Schema, is_nullable, parts, resolved, types
from portal.docs import markdown

MAX_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a body: its path (`message.id`), type, and description. A parameter also has a place and an example."""

    name: str
    kind: str
    required: bool
    description: str
    location: str = "body"
    example: str = ""


def unwrapped(schema: Schema, components: Components) -> Schema:
    """The schema behind references and unions of one part."""
    while True:
        schema = resolved(schema, components)
        if len(alone := _shapes(schema)) != 1:
            return schema
        schema = {**alone[0], "description": schema.get("description", "")}


def _shapes(schema: Schema) -> list[Schema]:
    return [part for part in parts(schema) if part.get("type") != "null"]


def kind(schema: Schema, components: Components) -> str:
    """The type in one line, with its limits."""
    nullable = is_nullable(schema)
    schema = unwrapped(schema, components)
    kinds = types(schema, default="any")
    text = " or ".join(kinds + (["null"] if nullable and "null" not in kinds else []))
    if "array" in kinds:
        text = text.replace("array", f"array of {kind(schema.get('items', {}), components)}")
    if "enum" in schema:
        text += ": " + ", ".join(str(value) for value in schema["enum"])
    if "x-extensible-enum" in schema:
        text += ", open list: " + ", ".join(schema["x-extensible-enum"])
    if schema.get("format") not in (None, "int64", "binary"):
        text += f" ({schema['format']})"
    low, high = schema.get("minLength"), schema.get("maxLength")
    if high is not None:
        text += f", {low or 0} to {high} characters"
    if "default" in schema:
        text += f", default {json.dumps(schema['default'])}"
    return text


def fields(schema: Schema, components: Components, prefix: str = "", depth: int = 0) -> list[Field]:
    """The fields of an object and, below each, those of the objects in it."""
    choices = [unwrapped(part, components) for part in _shapes(schema)]
    if not schema.get("properties") and len(choices) > 1:
        # Of alternative shapes each field is listed once, as required if every shape requires it.
        every = [field for choice in choices for field in fields(choice, components, prefix, depth)]
        counts = Counter(field.name for field in every if field.required)
        merged: dict[str, Field] = {}
        for field in every:
            merged.setdefault(field.name, replace(field, required=counts[field.name] == len(choices)))
        return list(merged.values())
    rows: list[Field] = []
    required = set(schema.get("required", []))
    for name, inner in schema.get("properties", {}).items():
        behind = unwrapped(inner, components)
        description = inner.get("description") or behind.get("description") or ""
        rows.append(Field(prefix + name, kind(inner, components), name in required, description))
        if depth < MAX_DEPTH:
            items = unwrapped(behind.get("items", {}), components)
            deeper = f"{prefix}{name}[]." if items else f"{prefix}{name}."
            rows += fields(items or behind, components, deeper, depth + 1)
    return rows


def described(rows: Iterable[Field]) -> list[Field]:
    """The fields with their descriptions as HTML, for a page."""
    return [replace(row, description=markdown.inline(row.description)) for row in rows]
