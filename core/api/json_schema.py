"""Reads JSON schemas as OpenAPI and AsyncAPI documents hold them, with their components by name."""

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]
Components = Mapping[str, Schema]


# Where the limits of a field (core.api.serializers.StrictCharField) stand until drf-spectacular has read all fields: it
# would rewrite a schema that has them.
_LIMITS = "x-limits"


def set_limits(schema: Schema, limits: Schema) -> None:
    if limits:
        schema[_LIMITS] = limits


def apply_limits(schema: Schema) -> None:
    schema |= schema.pop(_LIMITS, {})


def component_name(node: Schema) -> str:
    """The name of the component that a reference leads to."""
    return str(node["$ref"].rpartition("/")[2])


def resolved(schema: Schema, components: Components) -> Schema:
    """The schema behind references."""
    while "$ref" in schema:
        schema = components[component_name(schema)]
    return schema


def parts(schema: Schema) -> list[Schema]:
    """The schemas under `allOf`, `anyOf` and `oneOf`."""
    return schema.get("allOf") or schema.get("oneOf") or schema.get("anyOf") or []


def types(schema: Schema, *, default: str = "object") -> list[str]:
    """The types by name, `null` among them; `default` where none is named."""
    names = schema.get("type", default)
    return [names] if isinstance(names, str) else list(names)


def is_nullable(schema: Schema) -> bool:
    return "null" in types(schema) or any(part.get("type") == "null" for part in parts(schema))
