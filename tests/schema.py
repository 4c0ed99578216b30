"""Holds every reply that a test sees against the OpenAPI schema of the views."""

import json
import re
from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from portal.docs.openapi import errors
from tests.times import formats

JSON = "application/json"


@cache
def document() -> dict[str, Any]:
    return SchemaGenerator().get_schema(request=None, public=True)


@cache
def routes() -> list[tuple[re.Pattern[str], str]]:
    """Path patterns, those with the fewest parameters first."""
    paths = sorted(document()["paths"], key=lambda path: path.count("{"))
    return [(re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), path) for path in paths]


@cache
def validator(path: str, method: str, status: int) -> Draft202012Validator | None:
    """What the schema says about that reply; None where the schema knows no such operation."""
    operation = document()["paths"][path].get(method.lower())
    if operation is None:
        return None
    responses = operation["responses"]
    described = responses.get(str(status)) or (responses.get("default") if status >= 400 else None)
    assert described is not None, f"{method} {path} answered {status}; the schema knows {sorted(responses)}"
    schema = described.get("content", {}).get(JSON, {}).get("schema")
    if schema is None:
        return None
    resource = Resource(contents=closed(document()), specification=DRAFT202012)
    registry = Registry().with_resource("urn:openapi", resource)
    text = re.sub(r'"#/', '"urn:openapi#/', json.dumps(schema))
    return Draft202012Validator(json.loads(text), registry=registry, format_checker=formats)


def closed(node: Any) -> Any:
    """A document whose open lists are closed: clients must live with additions, our own replies hold known values only."""
    if isinstance(node, dict):
        known = {"enum": node["x-extensible-enum"]} if "x-extensible-enum" in node else {}
        return {key: closed(value) for key, value in node.items()} | known
    return [closed(inner) for inner in node] if isinstance(node, list) else node


def hold(method: str, path: str, status: int, body: Any) -> None:
    """AssertionError when a reply is not what the schema says."""
    plain = path.partition("?")[0]
    route = next((name for pattern, name in routes() if pattern.fullmatch(plain)), None)
    if route is None:
        return
    check = validator(route, method, status)
    if check is None:
        return
    errors = [
        f"{'/'.join(map(str, error.absolute_path)) or 'body'}: {error.message[:300]}"
        for error in check.iter_errors(body)
    ]
    if status >= 400:
        hold_code(route, method, body["error"])
    assert not errors, f"{method} {plain} → {status} is not what the schema says: " + "; ".join(errors[:5])


def hold_code(path: str, method: str, code: str) -> None:
    """AssertionError when an operation gives an error code that its part of the document does not name."""
    error_codes = document()["paths"][path][method.lower()]["x-error-codes"]
    assert code in error_codes or code in errors.ANYWHERE, (
        f"{method} {path} gave {code}: name it in the Errors line of the operation in docs/reference"
    )


@cache
def operation(operation_id: str) -> tuple[str, str]:
    """(path, METHOD) of an operation."""
    return next(
        (path, method.upper())
        for path, methods in document()["paths"].items()
        for method, described in methods.items()
        if described.get("operationId") == operation_id
    )


def pattern(path: str) -> re.Pattern[str]:
    """What an address of this path looks like."""
    return re.compile(re.sub(r"\{\w+\}", "[^/]+", path))
