"""Reads JSON schemas as OpenAPI and AsyncAPI documents hold them, with their components by name."""

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]
Components = Mapping[str, Schema]


def referred(node: Schema) -> str:
    """The name of the component that a reference leads to."""
    return str(node["$ref"].rpartition("/")[2])


def resolved(schema: Schema, components: Components) -> Schema:
    """The schema behind references."""
    while "$ref" in schema:
        schema = components[referred(schema)]
    return schema


def parts(schema: Schema) -> list[Schema]:
    """The schemas that this one is put together from, or chosen from."""
    return schema.get("allOf") or schema.get("oneOf") or schema.get("anyOf") or []


def types(schema: Schema, *, default: str = "object") -> list[str]:
    """The types by name, `null` among them; `default` where none is named."""
    named = schema.get("type", default)
    return [named] if isinstance(named, str) else list(named)


def is_nullable(schema: Schema) -> bool:
    return "null" in types(schema) or any(part.get("type") == "null" for part in parts(schema))
