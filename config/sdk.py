"""The generated parts of the JavaScript SDK: its table of operations, and its types.

Both come from docs/openapi.json and the AsyncAPI document, so that a new endpoint is a new method. A test
compares the committed files with this module; `manage.py write_sdk` writes them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from django.conf import settings

from config.openapi import texts
from core.json_schema import component_name, resolved, types
from realtime.asyncapi import document as asyncapi_document

FOLDER = settings.BASE_DIR / "static" / "sdk" / "parley"
# Not methods of the SDK: images have signed addresses, events are sent by servers, the schema is a page.
EXCLUDED = {"media_get", "media_get_thumb", "notifications_events", "realtime_schema"}
HEADERS = {"X-Action-Token": "action_token"}
# Headers that the SDK sends by itself.
OWN_HEADERS = {"X-Device-Name", "X-Device-Token"}
MULTIPART = "multipart/form-data"
IS_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Operation(NamedTuple):
    id: str
    method: str
    path: str
    query: list[str]
    body: list[str]
    headers: list[str]
    multipart: bool
    bearer: str
    # TypeScript: what goes in (with a question mark where it may be missing), and what comes out.
    parameters: list[str]
    result: str

    @property
    def namespace(self) -> str:
        return self.id.partition("_")[0]

    @property
    def name(self) -> str:
        """`two_step_enable` as JavaScript writes it."""
        first, *rest = self.id.partition("_")[2].split("_")
        return first + "".join(word.title() for word in rest)


def files() -> dict[str, str]:
    """File name in static/sdk/parley -> text."""
    rows = list(operations())
    return {"operations.js": _table(rows), "api.d.ts": _types(rows)}


def is_current(name: str, text: str) -> bool:
    path = FOLDER / name
    return bool(path.exists()) and path.read_text(encoding="utf-8") == text


def operations() -> Iterator[Operation]:
    for path, methods in texts.document()["paths"].items():
        for method, operation in methods.items():
            if operation["operationId"] not in EXCLUDED:
                yield _operation(path, method, operation)


def _operation(path: str, method: str, operation: dict[str, Any]) -> Operation:
    content = operation.get("requestBody", {}).get("content", {})
    kind = next(iter(content), "")
    body = resolved(content[kind]["schema"], texts.document()["components"]["schemas"]) if kind else {}
    # A parameter of both the query and the body is sent in the body.
    rows = [
        row
        for row in operation.get("parameters", [])
        if row["name"] not in body.get("properties", {}) and row["name"] not in OWN_HEADERS
    ]
    required = body.get("required", [])
    parameters = [_parameter(row["name"], row["schema"], bool(row.get("required"))) for row in rows]
    for name, schema in body.get("properties", {}).items():
        parameters.append(_parameter(name, schema, name in required, is_file=kind == MULTIPART and name == "file"))
    return Operation(
        id=operation["operationId"],
        method=method.upper(),
        path=path,
        query=[row["name"] for row in rows if row["in"] == "query"],
        body=list(body.get("properties", {})),
        headers=[row["name"] for row in rows if row["in"] == "header"],
        multipart=kind == MULTIPART,
        bearer=next((name for row in operation["security"] for name in row), ""),
        parameters=parameters,
        result=_result(operation),
    )


def _parameter(name: str, schema: dict[str, Any], required: bool, *, is_file: bool = False) -> str:
    kind = "Blob" if is_file else typescript(schema)
    return f"{HEADERS.get(name, name)}{'' if required else '?'}: {kind}"


def _result(operation: dict[str, Any]) -> str:
    success = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
    schema = success.get("content", {}).get("application/json", {}).get("schema")
    return typescript(schema) if schema else "Blob"


# --- JavaScript ------------------------------------------------------------------------------------


def _table(rows: list[Operation]) -> str:
    lines = [
        "// Written by `manage.py write_sdk` from docs/openapi.json.",
        "// id: [method, path, query keys, body keys, {bearer, multipart, action}]",
        "export const OPERATIONS = {",
    ]
    for row in rows:
        options = [f'bearer: "{row.bearer}"'] if row.bearer else []
        options += ["multipart: true"] if row.multipart else []
        options += ["action: true"] if "X-Action-Token" in row.headers else []
        cells = [json.dumps(row.method), json.dumps(row.path), json.dumps(row.query), json.dumps(row.body)]
        lines.append(f"  {row.id}: [{', '.join(cells)}, {{{', '.join(options)}}}],")
    return "\n".join([*lines, "};", ""])


# --- TypeScript ------------------------------------------------------------------------------------

CALL_OPTIONS = """
export interface CallOptions {
  signal?: AbortSignal;
  /** How far an upload is, in bytes. */
  onProgress?: (loaded: number, total: number) => void;
  /** Tries of a call that may be repeated: 2 for reads unless said otherwise. */
  retry?: number;
  /** Another bearer token than that of the session. */
  token?: string;
  /** For a short request that should arrive although the page is being left. */
  keepalive?: boolean;
}
"""


def _types(rows: list[Operation]) -> str:
    asyncapi = asyncapi_document()
    schemas = texts.document()["components"]["schemas"] | asyncapi["components"]["schemas"]
    parts = ["// Written by `manage.py write_sdk` from docs/openapi.json and the AsyncAPI document.", ""]
    parts += [f"export type {name} = {typescript(schema)};" for name, schema in sorted(schemas.items())]
    messages = {name: row for name, row in asyncapi["components"]["messages"].items() if name != "reply.error"}
    events = {name: row for name, row in messages.items() if not name.startswith(("command.", "reply."))}
    parts += ["", *_interface("Events", events)]
    parts += ["", *_interface("Commands", messages, prefix="command.")]
    parts += ["", *_interface("Replies", messages, prefix="reply.")]
    for namespace in sorted({row.namespace for row in rows}):
        operations_of_namespace = [row for row in rows if row.namespace == namespace]
        parts += ["", f"export interface {namespace.title()}Api {{", *map(_method, operations_of_namespace), "}"]
    return "\n".join([*parts, CALL_OPTIONS])


def _interface(name: str, messages: dict[str, Any], prefix: str = "") -> list[str]:
    """The type of `data` in each message with this prefix."""
    rows = [
        f'  "{key.removeprefix(prefix)}": {typescript(message["payload"]["properties"]["data"])};'
        for key, message in messages.items()
        if key.startswith(prefix)
    ]
    return [f"export interface {name} {{", *rows, "}"]


def _method(row: Operation) -> str:
    params = f"{{ {'; '.join(row.parameters)} }}" if row.parameters else "{}"
    optional = "?" if all("?:" in parameter for parameter in row.parameters) else ""
    return f"  {row.name}(params{optional}: {params}, options?: CallOptions): Promise<{row.result}>;"


def typescript(schema: dict[str, Any] | bool) -> str:
    """A JSON schema as a TypeScript type."""
    if isinstance(schema, bool):
        return "unknown"
    if "$ref" in schema:
        return component_name(schema)
    for keyword, separator in (("oneOf", " | "), ("anyOf", " | "), ("allOf", " & ")):
        if keyword in schema:
            return separator.join(dict.fromkeys(typescript(part) for part in schema[keyword]))
    if "enum" in schema:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    return " | ".join(_kind(kind, schema) for kind in types(schema))


def _kind(kind: str, schema: dict[str, Any]) -> str:
    if kind == "array":
        return f"Array<{typescript(schema.get('items', True))}>"
    if kind != "object":
        return "number" if kind == "integer" else kind
    properties = schema.get("properties")
    if not properties:
        return f"Record<string, {typescript(schema.get('additionalProperties') or True)}>"
    required = schema.get("required", [])
    fields = [f"{_key(key)}{'' if key in required else '?'}: {typescript(row)}" for key, row in properties.items()]
    return "{ " + "; ".join(fields) + " }"


def _key(name: str) -> str:
    return name if IS_NAME.fullmatch(name) else json.dumps(name)
