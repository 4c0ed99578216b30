"""Holds frames against the AsyncAPI document: every frame that any test sees goes through here."""

from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from realtime.asyncapi import document
from tests import schema
from tests.times import formats


def hold(frame: dict[str, Any], command: str | None = None) -> None:
    """AssertionError unless the document describes this frame; `command` is what a reply answers."""
    name = frame["type"]
    if name == "reply":
        name = "reply.error" if not frame["ok"] else f"reply.{command}"
    assert name in document()["components"]["messages"], f"no such message in the document: {frame}"
    errors = [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(frame)]
    assert errors == [], f"{name} is not as documented: {errors}\n{frame}"


@cache
def validator(name: str) -> Draft202012Validator:
    components = schema.closed(document()["components"])
    # Clients must live with additions; our own frames may hold only what is written down.
    close(components["schemas"])
    for message in components["messages"].values():
        message["payload"]["additionalProperties"] = False
    root = {"components": components, "$ref": f"#/components/messages/{name}/payload"}
    return Draft202012Validator(root, format_checker=formats)


def close(node: Any) -> None:
    if isinstance(node, dict):
        if "properties" in node and node.get("type") == "object":
            node.setdefault("additionalProperties", False)
        for inner in node.values():
            close(inner)
    elif isinstance(node, list):
        for inner in node:
            close(inner)
