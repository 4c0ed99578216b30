"""The AsyncAPI document as rows of a page: commands, events and close codes."""

import json
from functools import cache
from typing import Any, NamedTuple

from django.utils.safestring import SafeString

from config.site import markdown
from realtime.viewsets.asyncapi import document


class Entry(NamedTuple):
    anchor: str
    type: str
    about: SafeString
    sends: list["Field"]
    answers: list[str]
    example: str


class Field(NamedTuple):
    name: str
    kind: str
    required: bool
    note: str


class Reference(NamedTuple):
    about: SafeString
    commands: list[Entry]
    durable: list[Entry]
    transient: list[Entry]
    close_codes: list[dict[str, Any]]


@cache
def reference() -> Reference:
    described = document()
    messages = described["components"]["messages"]
    commands, durable, transient = [], [], []
    for operation in described["operations"].values():
        name = operation["messages"][0]["$ref"].rpartition("/")[2]
        message = messages[name]
        if operation["action"] == "receive":
            answers = [ref["$ref"].rpartition("/")[2] for ref in operation["reply"]["messages"]]
            commands.append(_entry(name, message, [_word(answer, messages) for answer in answers[:-1]]))
        elif "seq" in message["payload"]["properties"]:
            durable.append(_entry(name, message))
        else:
            transient.append(_entry(name, message))
    close_codes = described["channels"]["realtime"]["x-close-codes"]
    return Reference(markdown.render(described["info"]["description"]), commands, durable, transient, close_codes)


def _entry(name: str, message: dict[str, Any], answers: list[str] | None = None) -> Entry:
    payload = message["payload"]
    example = json.dumps(message["examples"][0]["payload"], indent=2, ensure_ascii=False)
    fields = _fields(_resolve(payload["properties"]["data"]))
    type_ = payload["properties"]["type"]["const"]
    return Entry(name, type_, markdown.inline(message["summary"]), fields, answers or [], example)


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
        return str(schema["$ref"].rpartition("/")[2]).removesuffix("Request")
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {_kind(schema['items'])}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _resolve(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        schema = document()["components"]["schemas"][name]
    return schema
