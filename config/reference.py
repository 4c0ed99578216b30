"""The committed OpenAPI file as plain pages: one per operation, readable without JavaScript."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings

METHODS = ("get", "post", "put", "patch", "delete")
JSON = "application/json"
MAX_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a body: its path (`message.id`), type, and what the schema says about it."""

    name: str
    kind: str
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class Operation:
    id: str
    tag: str
    method: str
    path: str
    description: str
    needs_token: bool
    parameters: list[Field]
    content_type: str
    request: list[Field]
    responses: list[tuple[str, str, list[Field]]]
    curl: str


@cache
def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((settings.BASE_DIR / "docs" / "openapi.json").read_text(encoding="utf-8"))
    return found


@cache
def operations() -> dict[str, Operation]:
    """Operation id → operation, in the order of the paths."""
    found = {}
    for path, methods in document()["paths"].items():
        for method in METHODS:
            if method in methods:
                operation = _operation(path, method, methods[method])
                found[operation.id] = operation
    return found


def _operation(path: str, method: str, raw: dict[str, Any]) -> Operation:
    content_type, body = _content(raw.get("requestBody", {}))
    needs_token = bool(raw.get("security")) and {} not in raw["security"]
    responses = []
    for status, response in raw["responses"].items():
        _, schema = _content(response)
        if status != "default":
            responses.append((status, response.get("description", ""), _fields(schema)))
    return Operation(
        id=raw["operationId"],
        tag=raw["tags"][0],
        method=method.upper(),
        path=path,
        description=raw.get("description", ""),
        needs_token=needs_token,
        parameters=[
            Field(one["name"], _kind(one["schema"]), one.get("required", False), one.get("description", ""))
            for one in raw.get("parameters", [])
        ],
        content_type=content_type,
        request=_fields(body),
        responses=responses,
        curl=_curl(path, method, needs_token, content_type, body),
    )


def _content(part: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    for content_type, described in part.get("content", {}).items():
        return content_type, _resolved(described.get("schema", {}))
    return "", {}


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema behind references and single-part unions."""
    while True:
        if "$ref" in schema:
            schema = document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        elif len(parts := [part for part in _parts(schema) if part.get("type") != "null"]) == 1:
            schema = {**parts[0], "description": schema.get("description", "")}
        else:
            return schema


def _parts(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return schema.get("allOf") or schema.get("oneOf") or schema.get("anyOf") or []


def _kind(schema: dict[str, Any]) -> str:
    nullable = any(part.get("type") == "null" for part in _parts(schema))
    schema = _resolved(schema)
    kinds = schema.get("type", "any")
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    text = " or ".join(kinds + (["null"] if nullable and "null" not in kinds else []))
    if "array" in kinds:
        text = text.replace("array", f"array of {_kind(schema.get('items', {}))}")
    if "enum" in schema:
        text += ": " + ", ".join(str(value) for value in schema["enum"])
    if "maxLength" in schema:
        text += f", at most {schema['maxLength']} characters"
    return text


def _fields(schema: dict[str, Any], prefix: str = "", depth: int = 0) -> list[Field]:
    found = []
    required = set(schema.get("required", []))
    for name, inner in schema.get("properties", {}).items():
        resolved = _resolved(inner)
        description = inner.get("description") or resolved.get("description") or ""
        found.append(Field(prefix + name, _kind(inner), name in required, description))
        if depth < MAX_DEPTH:
            items = _resolved(resolved.get("items", {}))
            deeper = f"{prefix}{name}[]." if items else f"{prefix}{name}."
            found += _fields(items or resolved, deeper, depth + 1)
    return found


def _curl(path: str, method: str, needs_token: bool, content_type: str, body: dict[str, Any]) -> str:
    shown = "/".join(f"${part[1:-1].upper()}" if part.startswith("{") else part for part in path.split("/"))
    words = ["curl -s"] + ([] if method == "get" else [f"-X {method.upper()}"]) + [f'"$BASE{shown}"']
    if needs_token:
        words.append('-H "Authorization: Bearer $TOKEN"')
    if content_type == JSON and body.get("properties"):
        words.append(f"-H 'Content-Type: {JSON}'")
        words.append(f"-d '{json.dumps({name: _example(inner) for name, inner in body['properties'].items()})}'")
    elif content_type.startswith("multipart/"):
        words.append("-F file=@picture.jpg")
    return " \\\n  ".join(words)


def _example(schema: dict[str, Any]) -> Any:
    schema = _resolved(schema)
    if "enum" in schema:
        return schema["enum"][0]
    kinds = schema.get("type", "string")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    examples: dict[str, Any] = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
    return examples.get(kind, "…")
