"""Completes the document that drf-spectacular has built from the views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.api.json_schema import apply_limits
from portal.docs.openapi import errors, fields, texts
from portal.docs.openapi.limits import limits

JSON = "application/json"
ERROR = {"$ref": "#/components/schemas/Error"}
# drf-spectacular's enum of null alone.
NULL_ENUM = {"$ref": "#/components/schemas/NullEnum"}
STATUS_TEXTS = {
    "200": "Success.",
    "201": "Created.",
    "202": "Accepted.",
    "304": "Nothing has changed since the `ETag` in `If-None-Match`.",
}
# The security scheme of `notifications_events`, which does not have an authentication class.
WEBHOOK = {
    "type": "apiKey",
    "in": "header",
    "name": "webhook-signature",
    "description": "Standard Webhooks: `v1,` and the base64 of HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`.",
}
# The views take ids as text, so that an invalid one gets the same reply as an unknown one.
ID = {"type": "integer", "format": "int64", "minimum": 1}


# The shape of every error.
ERROR_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "Every error has this shape. Branch on `error`, never on `message`.",
    "required": ["ok", "error", "message", "request_id"],
    "properties": {
        "ok": {"type": "boolean", "const": False},
        "error": {"$ref": "#/components/schemas/ErrorCode"},
        "message": {"type": "string", "description": "One sentence in the language of the reader."},
        "fields": {
            "type": "object",
            "description": "With `validation_error` only: the problems of each field.",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        },
        "oldest_id": {
            "type": ["integer", "null"],
            "description": "With `events_expired` only: the first event that is kept.",
        },
        "scope": {"type": "string", "description": "With `scope_missing` only: what the server key lacks."},
        "retry_after": {
            "type": "integer",
            "minimum": 0,
            "description": "Seconds to wait, with 429 and 503. Also in the `Retry-After` header.",
        },
        "request_id": {"type": "string", "description": "Also in the `X-Request-Id` header."},
    },
}

# --- The document -----------------------------------------------------------------------------------


def complete(result: dict[str, Any], generator: Any, **kwargs: Any) -> dict[str, Any]:
    """drf-spectacular's POSTPROCESSING_HOOK: everything below, in order."""
    components = result["components"]
    schemas = components["schemas"]
    describe_schemas(schemas)
    describe_fields(schemas)
    schemas["Error"] = ERROR_SCHEMA
    schemas["ErrorCode"] = errors.codes().schema()
    components.setdefault("securitySchemes", {})["webhook"] = WEBHOOK
    result["tags"] = [
        {"name": name, "description": text.description, "x-displayName": text.title}
        for name, text in texts.tags().items()
    ]
    for path in result["paths"].values():
        for operation in path.values():
            describe_operation(operation)
    fields.describe(schemas)
    components["schemas"] = dict(sorted(schemas.items()))
    result["x-limits"] = limits()
    return result


def describe_schemas(schemas: dict[str, Any]) -> None:
    """Makes `ok` a constant and ids 64 bits wide, and removes the docstrings of classes."""
    schemas.pop("NullEnum", None)
    for schema in schemas.values():
        if "x-extensible-enum" not in schema:
            schema.pop("description", None)
        properties = schema.get("properties", {})
        for field, inner in properties.items():
            if field in ("ok", "two_step_required"):
                properties[field] = {"type": "boolean", "const": True}
            elif inner.get("type") == "integer" and (field == "id" or field.endswith("_id")):
                inner.setdefault("format", "int64")
            elif NULL_ENUM in inner.get("oneOf", []):
                inner["oneOf"] = [{"type": "null"} if part == NULL_ENUM else part for part in inner["oneOf"]]


def describe_fields(schemas: dict[str, Any]) -> None:
    """Adds the limits of fields, and the type of a file in OpenAPI 3.1."""
    for schema in schemas.values():
        for inner in schema.get("properties", {}).values():
            apply_limits(inner)
            if inner.get("format") == "binary":
                inner["contentMediaType"] = "application/octet-stream"


def describe_operation(operation: dict[str, Any]) -> None:
    """Security, limits of parameters, error replies and examples of one operation."""
    name = operation["operationId"]
    # An empty scheme is drf-spectacular's way to say that the view is open to everyone.
    operation["security"] = [scheme for scheme in operation.get("security", []) if scheme]
    if "requestBody" in operation and name != "messages_unreact":
        operation["requestBody"]["required"] = True
    recorded = texts.examples().get(name, {})
    for status, response in operation["responses"].items():
        response["description"] = STATUS_TEXTS[status]
        _add_examples(response, recorded.get("responses", {}).get(status))
    _add_examples(operation.get("requestBody", {}), recorded.get("request"))
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "path" and parameter["name"].endswith("_id"):
            parameter["schema"] = dict(ID)
        if parameter["name"] in fields.PARAMETERS:
            parameter.setdefault("description", fields.PARAMETERS[parameter["name"]])
        if parameter["name"] in recorded.get("parameters", {}):
            value = recorded["parameters"][parameter["name"]]
            parameter["example"] = str(value) if parameter["schema"].get("type") == "string" else value
    operation["responses"] |= error_responses(operation["x-error-codes"])


def _add_examples(part: dict[str, Any], examples: dict[str, Any] | None) -> None:
    """Recorded examples, by name, on the JSON or form content of a request or response."""
    if not examples:
        return
    for content_type, content in part.get("content", {}).items():
        if content_type == JSON or content_type.startswith("multipart/"):
            content["examples"] = {key: {"value": value} for key, value in examples.items()}


def error_responses(error_codes: list[str]) -> dict[str, Any]:
    """Status → response with an example per code; `default` describes the errors of every request."""
    statuses = errors.statuses()
    responses: dict[str, Any] = {}
    for status in sorted({statuses[code] for code in error_codes}):
        codes_of_status = [code for code in error_codes if statuses[code] == status]
        responses[str(status)] = _error_response(codes_of_status, codes_of_status)
    return responses | {"default": _error_response(errors.ANYWHERE, ["server_error"])}


def _error_response(codes: Sequence[str], shown: Sequence[str]) -> dict[str, Any]:
    examples = {code: {"value": errors.example(code)} for code in shown}
    return {
        "description": ", ".join(f"`{code}`" for code in codes),
        "content": {JSON: {"schema": ERROR, "examples": examples}},
    }
