"""The AsyncAPI document as rows of a page: what may be said on the socket, and what is heard."""

import json
from functools import cache
from typing import Any, NamedTuple

from realtime.viewsets.asyncapi import document


class Entry(NamedTuple):
    anchor: str
    type: str
    sends: list["Field"]
    answers: list[str]
    example: str


class Field(NamedTuple):
    name: str
    kind: str
    required: bool
    note: str


class Reference(NamedTuple):
    about: list[str]
    commands: list[Entry]
    durable: list[Entry]
    passing: list[Entry]


@cache
def reference() -> Reference:
    described = document()
    messages = described["components"]["messages"]
    commands, durable, passing = [], [], []
    for operation in described["operations"].values():
        name = operation["messages"][0]["$ref"].rpartition("/")[2]
        payload = messages[name]["payload"]
        if operation["action"] == "receive":
            answers = [ref["$ref"].rpartition("/")[2] for ref in operation["reply"]["messages"]]
            commands.append(_entry(name, payload, [_word(answer, messages) for answer in answers[:-1]]))
        elif "seq" in payload["properties"]:
            durable.append(_entry(name, payload))
        else:
            passing.append(_entry(name, payload))
    about = [" ".join(part.split()) for part in described["info"]["description"].split("\n\n")]
    return Reference(about, commands, durable, passing)


def _entry(name: str, payload: dict[str, Any], answers: list[str] | None = None) -> Entry:
    type_ = payload["properties"]["type"]["const"]
    data = _resolve(payload["properties"]["data"])
    frame: dict[str, Any] = {"type": type_}
    if name.startswith("command."):
        frame["ref"] = "1"
    if "seq" in payload["properties"]:
        frame |= {"seq": 1018, "at": "2026-11-20T08:01:00Z"}
    frame["data"] = _example(data)
    return Entry(name, type_, _fields(data), answers or [], json.dumps(frame, indent=2, ensure_ascii=False))


def _fields(schema: dict[str, Any]) -> list[Field]:
    required = set(schema.get("required", ()))
    return [
        Field(name, _kind(inner), name in required, inner.get("description", "") if "enum" not in inner else "")
        for name, inner in schema.get("properties", {}).items()
    ]


def _word(answer: str, messages: dict[str, Any]) -> str:
    """How a reply reads in one line: its keys, or the event that answers."""
    if not answer.startswith("reply."):
        return answer
    data = _resolve(messages[answer]["payload"]["properties"]["data"])
    return "{" + ", ".join(data.get("properties", ())) + "}"


def _kind(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join("null" if value is None else str(value) for value in schema["enum"])
    for choice in ("oneOf", "allOf"):
        if choice in schema:
            return " or ".join(_kind(inner) for inner in schema[choice])
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2]).removesuffix("Output").removesuffix("Request")
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {_kind(schema['items'])}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _example(schema: dict[str, Any]) -> Any:
    schema = _resolve(schema)
    if "enum" in schema:
        return schema["enum"][0]
    for choice in ("oneOf", "allOf"):
        if choice in schema:
            return _example(schema[choice][0])
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: _example(inner) for name, inner in schema.get("properties", {}).items()}
    if kind == "array":
        return [_example(schema["items"])]
    if schema.get("format") == "date-time":
        return "2026-11-20T08:01:00Z"
    return {"integer": 7, "boolean": True, "string": "…", "null": None}.get(kind)


def _resolve(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        schema = document()["components"]["schemas"][name]
    return schema
