"""The generated parts of the JavaScript SDK: its table of operations with the limits, its types and its version.

The first two come from docs/openapi.json and the AsyncAPI document, so a new endpoint becomes a new method. `manage.py
write_sdk` writes the files; a test compares the committed ones. openapi-typescript writes the types of the schemas.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from django.conf import settings

from core.api.json_schema import component_name, resolved
from core.api.open_values import OpenValues
from core.version import VERSION
from portal.docs import generators
from portal.docs.openapi import fields, texts
from realtime.asyncapi import document as asyncapi_document

FOLDER = settings.BASE_DIR / "static" / "sdk" / "parley"
OPERATIONS = "operations.js"
TYPES = "api.d.ts"
VERSION_FILE = "version.js"
# These operations do not become methods: images have signed addresses, events are sent by servers, the schema is a
# page.
EXCLUDED = {"media_get", "media_get_thumb", "notifications_events", "realtime_schema"}
# Operations with a server key, which a client must not have.
SERVER = "server_"
HEADERS = {"X-Action-Token": "action_token"}
# Headers that the SDK sends by itself.
OWN_HEADERS = {"X-Device-Name", "X-Device-Token"}
MULTIPART = "multipart/form-data"


class Operation(NamedTuple):
    id: str
    method: str
    path: str
    query: list[str]
    body: list[str]
    headers: list[str]
    multipart: bool
    bearer: str
    # The schema of all parameters together.
    parameters: dict[str, Any]
    # The name of the reply's schema; empty for a file.
    result: str
    summary: str

    @property
    def namespace(self) -> str:
        return self.id.partition("_")[0]

    @property
    def name(self) -> str:
        """The JavaScript form of a name such as `two_step_enable`."""
        first, *rest = self.id.partition("_")[2].split("_")
        return first + "".join(word.title() for word in rest)

    @property
    def params(self) -> str:
        """The name of the type of its parameters."""
        return "".join(word.title() for word in self.id.split("_")) + "Params"


def operations() -> Iterator[Operation]:
    for path, methods in texts.document()["paths"].items():
        for method, operation in methods.items():
            if not operation["operationId"].startswith(SERVER) and operation["operationId"] not in EXCLUDED:
                yield _operation(path, method, operation)


def _operation(path: str, method: str, operation: dict[str, Any]) -> Operation:
    content = operation.get("requestBody", {}).get("content", {})
    kind = next(iter(content), "")
    body = resolved(content[kind]["schema"], texts.document()["components"]["schemas"]) if kind else {}
    # A parameter that is in both query and body is sent in the body.
    rows = [
        row
        for row in operation.get("parameters", [])
        if row["name"] not in body.get("properties", {}) and row["name"] not in OWN_HEADERS
    ]
    described = {HEADERS.get(row["name"], row["name"]): row["schema"] | _description(row) for row in rows}
    required = [HEADERS.get(row["name"], row["name"]) for row in rows if row.get("required")]
    return Operation(
        id=operation["operationId"],
        method=method.upper(),
        path=path,
        query=[row["name"] for row in rows if row["in"] == "query"],
        body=list(body.get("properties", {})),
        headers=[row["name"] for row in rows if row["in"] == "header"],
        multipart=kind == MULTIPART,
        bearer=next((name for row in operation["security"] for name in row), ""),
        parameters={
            "type": "object",
            "properties": described | body.get("properties", {}),
            "required": required + body.get("required", []),
        },
        result=_result(operation),
        summary=operation["summary"],
    )


def _description(row: dict[str, Any]) -> dict[str, str]:
    return {"description": row["description"]} if "description" in row else {}


def _result(operation: dict[str, Any]) -> str:
    success = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
    schema = success.get("content", {}).get("application/json", {}).get("schema")
    return component_name(schema) if schema else ""


# --- JavaScript ------------------------------------------------------------------------------------


def table() -> str:
    """The text of operations.js."""
    lines = [
        "// Written by `manage.py write_sdk` from docs/openapi.json.",
        "// id: [method, path, query keys, body keys, {bearer, multipart, action}]",
        "export const OPERATIONS = {",
    ]
    for row in operations():
        options = [f'bearer: "{row.bearer}"'] if row.bearer else []
        options += ["multipart: true"] if row.multipart else []
        options += ["action: true"] if "X-Action-Token" in row.headers else []
        cells = [json.dumps(row.method), json.dumps(row.path), json.dumps(row.query), json.dumps(row.body)]
        lines.append(f"  {row.id}: [{', '.join(cells)}, {{{', '.join(options)}}}],")
    limits = texts.document()["x-limits"].items()
    lines += ["};", "export const LIMITS = Object.freeze({"]
    lines += [f"  {name}: {_frozen(value)}," for name, value in limits]
    return "\n".join([*lines, "});", ""])


def _frozen(value: Any) -> str:
    return f"Object.freeze({json.dumps(value)})" if isinstance(value, list) else json.dumps(value)


def version() -> str:
    """The text of version.js."""
    return f'// Written by `manage.py write_sdk` from core/version.py.\nexport const VERSION = "{VERSION}";\n'


# --- TypeScript ------------------------------------------------------------------------------------

OPEN_LISTS = """
// Compared with a text it is an error, so a misspelt value of an open list is one, too.
declare enum Newer {
  value = "a value that a newer server has added",
}

/**
 * What a newer server may send in place of the values that this version of the SDK knows: in `default` of a `switch` a
 * value has this type. It is a string at run time.
 */
export type NewerValue = Newer;

/** The values of an open list that this version knows, without `NewerValue`. */
export type Known<List> = Exclude<List, NewerValue>;
"""

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


def types() -> str:
    """The text of api.d.ts. GeneratorError without Node."""
    rows = list(operations())
    script = generators.CONFIGURATION / "types.mjs"
    document = {
        "openapi": "3.1.0",
        "info": {"title": settings.PRODUCT_NAME, "version": texts.document()["info"]["version"]},
        "paths": {},
        "components": {"schemas": _schemas(rows)},
    }
    made = generators.run(["node", str(script), str(generators.node_tools())], text=json.dumps(document))
    parts = [
        "// Written by `manage.py write_sdk` from docs/openapi.json and the AsyncAPI document.",
        'import type { AbortSignal, Blob } from "./platform.js";',
        OPEN_LISTS,
        made.rstrip(),
    ]
    for namespace in sorted({row.namespace for row in rows}):
        methods = [line for row in rows if row.namespace == namespace for line in _method(row)]
        parts += ["", f"export interface {namespace.title()}Api {{", *methods, "}"]
    return "\n".join([*parts, CALL_OPTIONS])


def _schemas(rows: Iterable[Operation]) -> dict[str, Any]:
    """Those of both documents, of the parameters of each operation, and of the socket's frames."""
    asyncapi = asyncapi_document()
    messages = {name: row for name, row in asyncapi["components"]["messages"].items() if name != "reply.error"}
    events = {name: row for name, row in messages.items() if not name.startswith(("command.", "reply."))}
    of_socket = copy.deepcopy(asyncapi["components"]["schemas"])
    fields.describe(of_socket)
    schemas = of_socket | texts.document()["components"]["schemas"]
    params = {row.params: row.parameters for row in rows if row.parameters["properties"]}
    frames = {
        "Events": _frames(events),
        "Commands": _frames(messages, prefix="command."),
        "Replies": _frames(messages, prefix="reply."),
    }
    schemas["CloseReason"] = _close_reasons().schema()
    return {name: _with_meanings(schema) for name, schema in sorted(schemas.items())} | params | frames


def _close_reasons() -> OpenValues:
    """What the close codes of the socket are called."""
    rows = asyncapi_document()["channels"]["realtime"]["x-close-codes"]
    return OpenValues("CloseReason", {row["reason"]: row["meaning"] for row in rows if row["reason"]})


def _with_meanings(schema: dict[str, Any]) -> dict[str, Any]:
    """An open list whose description has a line for each value."""
    meanings = schema.get("x-enumDescriptions", {})
    lines = [f'- `"{value}"`: {meaning}' for value, meaning in meanings.items()]
    return schema | {"description": "\n".join([schema["description"], *lines])} if lines else schema


def _frames(messages: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """An object with the `data` of each message with this prefix."""
    rows = {
        name.removeprefix(prefix): message["payload"]["properties"]["data"] | {"description": message["summary"]}
        for name, message in messages.items()
        if name.startswith(prefix)
    }
    return {"type": "object", "properties": rows, "required": list(rows)}


def _method(row: Operation) -> list[str]:
    properties = row.parameters["properties"]
    optional = "" if row.parameters["required"] else "?"
    params = row.params if properties else "Record<string, never>"
    return [
        f"  /** {row.summary} */",
        f"  {row.name}(params{optional}: {params}, options?: CallOptions): Promise<{row.result or 'Blob'}>;",
    ]
