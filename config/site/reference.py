"""The committed OpenAPI file as pages: one per operation, readable without JavaScript."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from config.openapi import texts
from config.site import snippets
from config.site.schema_fields import Field, fields, kind, unwrapped

JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply of one status: its fields, and recorded bodies by name."""

    status: str
    description: str
    fields: list[Field]
    examples: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Operation:
    id: str
    tag: str
    method: str
    path: str
    summary: str
    description: str
    needs: str
    parameters: list[Field]
    content_type: str
    request: list[Field]
    request_examples: list[tuple[str, str]]
    replies: list[Reply]
    errors: list[tuple[str, str]]
    snippets: list[tuple[str, str]]

    @property
    def has_file(self) -> bool:
        return self.content_type.startswith("multipart/")


@cache
def operations() -> dict[str, Operation]:
    """Operation id → operation, in the order of docs/reference."""
    made = {
        raw["operationId"]: _operation(path, method, raw)
        for path, methods in texts.document()["paths"].items()
        for method, raw in methods.items()
    }
    return {name: made[name] for name in texts.operations()}


def of_tag(name: str) -> list[Operation]:
    return [operation for operation in operations().values() if operation.tag == name]


def by_tag() -> list[tuple[texts.Text, list[Operation]]]:
    """Each tag with its operations."""
    return [(tag, of_tag(tag.name)) for tag in texts.tags().values()]


def _operation(path: str, method: str, raw: dict[str, Any]) -> Operation:
    body = raw.get("requestBody", {})
    scheme = next((name for choice in raw["security"] for name in choice), "")
    replies = [
        Reply(status, response["description"], _fields(response), _examples(response))
        for status, response in raw["responses"].items()
        if status.isdigit() and int(status) < 400
    ]
    errors = [
        (status, code)
        for status, response in raw["responses"].items()
        if status.startswith("4")
        for code in next(iter(response["content"].values()))["examples"]
    ]
    return Operation(
        id=raw["operationId"],
        tag=raw["tags"][0],
        method=method.upper(),
        path=path,
        summary=raw["summary"],
        description=raw["description"],
        needs=scheme,
        parameters=[_parameter(parameter) for parameter in raw.get("parameters", [])],
        content_type=_content(body)[0],
        request=_fields(body),
        request_examples=_examples(body),
        replies=replies,
        errors=errors,
        snippets=snippets.snippets(_call(path, method, raw, scheme)),
    )


def _parameter(raw: dict[str, Any]) -> Field:
    example = raw.get("example", "")
    return Field(
        raw["name"],
        kind(raw["schema"], _schemas()),
        raw.get("required", False),
        raw.get("description", ""),
        location=raw["in"],
        example="" if example is True else str(example),
    )


def _examples(part: dict[str, Any]) -> list[tuple[str, str]]:
    """Recorded bodies by name, as text."""
    examples = _content(part)[1].get("examples", {})
    return [(name, json.dumps(row["value"], indent=2, ensure_ascii=False)) for name, row in examples.items()]


def _call(path: str, method: str, raw: dict[str, Any], scheme: str) -> snippets.Call:
    """The request of the first recorded example."""
    query, headers = {}, {}
    for parameter in raw.get("parameters", []):
        if parameter["in"] == "path":
            path = path.replace("{" + parameter["name"] + "}", str(parameter.get("example", 1)))
        elif parameter["in"] == "query" and "example" in parameter:
            query[parameter["name"]] = parameter["example"]
        elif parameter["in"] == "header" and parameter.get("required"):
            headers[parameter["name"]] = "$" + parameter["name"].removeprefix("X-").replace("-", "_").upper()
    content_type, described = _content(raw.get("requestBody", {}))
    value = next((example["value"] for example in described.get("examples", {}).values()), None)
    is_form = content_type.startswith("multipart/")
    replied = raw["responses"].get("200", {}).get("content", {})
    return snippets.Call(
        method.upper(),
        path,
        query,
        headers,
        token={"bearer": "TOKEN", "two_step": "TWO_STEP_TOKEN"}.get(scheme, ""),
        body=None if is_form else value,
        form=value if is_form else None,
        binary=bool(replied) and JSON not in replied,
    )


def _content(part: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The first content type of a request or reply, and what the document says about it."""
    return next(iter(part.get("content", {}).items()), ("", {}))


def _fields(part: dict[str, Any]) -> list[Field]:
    return fields(unwrapped(_content(part)[1].get("schema", {}), _schemas()), _schemas())


def _schemas() -> dict[str, Any]:
    return cast(dict[str, Any], texts.document()["components"]["schemas"])
