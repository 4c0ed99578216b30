"""The committed OpenAPI file as pages: one per operation, readable without JavaScript."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from portal.docs import snippets
from portal.docs.openapi import texts
from portal.docs.schema_fields import Field, described, fields, kind, unwrapped

JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Response:
    """A response of one or more statuses, such as "200 or 201": its fields, and a recorded body of each status."""

    status: str
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
    responses: list[Response]
    errors: list[tuple[str, str]]
    rates: list[str]
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


def beside(operation_id: str) -> tuple[Operation | None, Operation | None]:
    """The operations before and after one."""
    listed = list(operations().values())
    at = next(at for at, operation in enumerate(listed) if operation.id == operation_id)
    return listed[at - 1] if at else None, listed[at + 1] if at + 1 < len(listed) else None


def of_tag(name: str) -> list[Operation]:
    return [operation for operation in operations().values() if operation.tag == name]


def by_tag() -> list[tuple[texts.Text, list[Operation]]]:
    """Each tag with its operations."""
    return [(tag, of_tag(tag.name)) for tag in texts.tags().values()]


def _operation(path: str, method: str, raw: dict[str, Any]) -> Operation:
    body = raw.get("requestBody", {})
    scheme = next((name for choice in raw["security"] for name in choice), "")
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
        parameters=described([_parameter(parameter) for parameter in raw.get("parameters", [])]),
        content_type=_content(body)[0],
        request=_fields(body),
        request_examples=_examples(body),
        responses=_responses(raw["responses"]),
        errors=errors,
        rates=[_rate(rate) for rate in raw.get("x-rate-limits", [])],
        snippets=snippets.snippets(_call(path, method, raw, scheme)),
    )


PERIODS = {1: "a second", 60: "a minute", 3600: "an hour", 86_400: "a day"}


def _rate(raw: dict[str, Any]) -> str:
    """A rate in words, such as "60 a minute per user"."""
    seconds = raw["seconds"]
    return f"{raw['requests']:,} {PERIODS.get(seconds, f'in {seconds} seconds')} per {raw['per']}"


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


def _responses(by_status: dict[str, Any]) -> list[Response]:
    """The successful responses; statuses with the same fields are one."""
    responses: list[Response] = []
    for status, raw in by_status.items():
        if not status.isdigit() or int(status) >= 400:
            continue
        fields, examples = _fields(raw), [(status, body) for _, body in _examples(raw)[:1]]
        if responses and responses[-1].fields == fields:
            before = responses.pop()
            status, examples = f"{before.status} or {status}", before.examples + examples
        responses.append(Response(status, fields, examples))
    return responses


def _examples(part: dict[str, Any]) -> list[tuple[str, str]]:
    """Recorded bodies by name, as text."""
    content = _content(part)[1]
    return [
        (name, json.dumps(_in_order(row["value"], content.get("schema", {})), indent=2, ensure_ascii=False))
        for name, row in content.get("examples", {}).items()
    ]


def _in_order(value: Any, schema: dict[str, Any]) -> Any:
    """A recorded value with its keys in the order of the schema, which is the order of real bodies."""
    schema = unwrapped(schema, _schemas())
    if isinstance(value, list):
        return [_in_order(inner, schema.get("items", {})) for inner in value]
    if not isinstance(value, dict):
        return value
    known = schema.get("properties", {})
    names = [name for name in known if name in value] + [name for name in value if name not in known]
    return {name: _in_order(value[name], known.get(name, {})) for name in names}


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
    return described(fields(unwrapped(_content(part)[1].get("schema", {}), _schemas()), _schemas()))


def _schemas() -> dict[str, Any]:
    return cast(dict[str, Any], texts.document()["components"]["schemas"])
