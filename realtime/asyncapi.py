"""The AsyncAPI 3 document of the socket, built from the tables that dispatch its frames."""

from email.utils import parseaddr
from functools import cache
from typing import Any, cast

from django.conf import settings
from django.urls import reverse
from django.utils import translation
from drf_spectacular.plumbing import ComponentRegistry
from rest_framework.serializers import Serializer
from rest_framework.settings import api_settings
from rest_framework.views import APIView

from core.conf import project
from core.json_schema import is_nullable, parts, resolved, types
from core.serializers import OkReply
from realtime import asyncapi_texts, socket_commands
from realtime.serializers import RenewedData
from realtime.socket_events import EPHEMERAL, EVENTS

CHANNEL = "#/channels/realtime"

MOMENT = "2026-11-20T08:01:00Z"
CLOSING = "Close codes: " + "; ".join(
    f"{row.code} {row.meaning[0].lower()}{row.meaning[1:-1]}" for row in asyncapi_texts.CLOSE_CODES
)
# The replies to the commands that the connection itself handles.
OWN_REPLIES = {"auth": ["ready", "reply.auth"], "resume": ["synced", "resync"], "ack": ["reply.ack"], "ping": ["pong"]}


def address() -> str:
    """The path of the socket, which is above that of this description."""
    return reverse("realtime:schema").removesuffix("/schema")


@cache
def document() -> dict[str, Any]:
    """The whole document without the server's address."""
    with translation.override("en"):
        shapes = _Shapes()
        messages = _messages(shapes)
        schemas = shapes.components()
        for name, message in messages.items():
            message["summary"] = _summary(name)
            message["examples"] = [{"name": name, "payload": _frame(name, message["payload"], schemas)}]
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": f"{project.PRODUCT_NAME}, real time",
            "version": "1.0.0",
            "description": asyncapi_texts.ABOUT,
            "contact": _contact(),
            "license": {"name": settings.SPECTACULAR_SETTINGS["LICENSE"]["name"]},
            "tags": [{"name": name, "description": text} for name, text in asyncapi_texts.TAGS.items()],
        },
        "defaultContentType": "application/json",
        "channels": {
            "realtime": {
                "address": address(),
                "description": CLOSING,
                "x-close-codes": [row._asdict() for row in asyncapi_texts.CLOSE_CODES],
                "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
            }
        },
        "operations": _operations(),
        "components": {
            "messages": messages,
            "schemas": schemas,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
    }


def _contact() -> dict[str, str]:
    """The operator of this installation: its website, and the sender address of its mails."""
    address = parseaddr(settings.DEFAULT_FROM_EMAIL)[1]
    name: str = settings.SPECTACULAR_SETTINGS["CONTACT"]["name"]
    return {"name": name, "url": f"{settings.SITE_URL}/", "email": address}


class _Shapes:
    """Serializers as JSON schemas, converted in the same way as for the OpenAPI document."""

    def __init__(self) -> None:
        reader: Any = api_settings.DEFAULT_SCHEMA_CLASS
        self._reader = reader()
        self._reader.registry = ComponentRegistry()
        self._reader.method, self._reader.path = "POST", address()
        view = APIView()
        cast(Any, view).request = None
        self._reader.view = view

    def ref(self, serializer: type[Serializer[Any]], direction: str = "response") -> dict[str, Any]:
        component = self._reader.resolve_serializer(serializer(), direction)
        # A serializer without fields is no component.
        return component.ref if component.name else {"type": "object"}

    def components(self) -> dict[str, Any]:
        built = self._reader.registry.build({})["schemas"]
        return {name: _without_description(_plain(schema)) for name, schema in built.items()}


def _plain(schema: Any) -> Any:
    """The schema without internal keys of drf-spectacular."""
    if isinstance(schema, dict):
        return {key: _plain(value) for key, value in schema.items() if key != "x-spec-enum-id"}
    if isinstance(schema, list):
        return [_plain(value) for value in schema]
    return schema


def _without_description(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "description"}


def _summary(name: str) -> str:
    if name in asyncapi_texts.SUMMARIES:
        return asyncapi_texts.SUMMARIES[name]
    return f"The reply to `{name.removeprefix('reply.')}`."


def _frame(name: str, payload: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """An example of a message: a frame as it is sent."""
    frame: dict[str, Any] = {"type": payload["properties"]["type"]["const"]}
    if name.startswith(("command.", "reply.")) or name == "ready":
        frame["ref"] = "1"
    if name == "reply.error":
        return frame | {"ok": False, "error": "user_blocked", "message": "One of you has blocked the other."}
    if "ok" in payload["properties"]:
        frame["ok"] = True
    if "seq" in payload["properties"]:
        frame |= {"seq": 1018, "at": MOMENT}
    data = asyncapi_texts.DATA.get(name)
    return frame | {"data": _example("", payload["properties"]["data"], schemas) if data is None else data}


def _example(name: str, schema: dict[str, Any], schemas: dict[str, Any]) -> Any:
    """A value that the schema allows, chosen by the name of the field, then by its type."""
    schema = resolved(schema, schemas)
    choices, kinds = parts(schema), types(schema)
    example = asyncapi_texts.VALUES.get(name, ...)
    if example is not ... and (example is not None or is_nullable(schema)) and "enum" not in schema:
        return example
    if choices:
        return _example(name, choices[0], schemas)
    if "enum" in schema:
        return schema["enum"][0]
    if "object" in kinds:
        return {key: _example(key, inner, schemas) for key, inner in schema.get("properties", {}).items()}
    if "array" in kinds:
        return [_example(name, schema["items"], schemas)]
    if schema.get("format") == "date-time":
        return MOMENT
    return {"integer": 12, "boolean": True, "string": "text", "null": None}[kinds[0]]


REF = {"type": ["string", "integer", "null"], "description": "Chosen by the client; the reply carries it back."}


def _messages(shapes: _Shapes) -> dict[str, Any]:
    commands = {name: row.input for name, row in socket_commands.COMMANDS.items()} | socket_commands.OWN_COMMANDS
    replies = {name: _data_of(row.reply) for name, row in socket_commands.COMMANDS.items()} | {
        "auth": RenewedData,
        "ack": _data_of(OkReply),
    }
    messages = {f"command.{name}": _command(name, shapes.ref(data, "request")) for name, data in commands.items()}
    messages |= {f"reply.{name}": _reply(name, shapes.ref(data)) for name, data in replies.items()}
    messages["reply.error"] = ERROR
    messages |= {name: _event(name, shapes.ref(event.data), durable=True) for name, event in EVENTS.items()}
    messages |= {name: _event(name, shapes.ref(data), durable=False) for name, data in EPHEMERAL.items()}
    return messages


@cache
def _data_of(reply: type[Serializer[Any]]) -> type[Serializer[Any]]:
    """A REST reply without `ok`, which the frame itself has."""
    return type(f"{reply.__name__}Data", (reply,), {"ok": None}) if issubclass(reply, OkReply) else reply


def _command(name: str, data: dict[str, Any]) -> dict[str, Any]:
    properties = {"type": {"const": name}, "ref": REF, "data": data}
    return _message(name, f"Command {name}", properties, ["type"])


def _reply(name: str, data: dict[str, Any]) -> dict[str, Any]:
    properties = {"type": {"const": "reply"}, "ref": REF, "ok": {"const": True}, "data": data}
    return _message("reply", f"Reply to {name}", properties, ["type", "ref", "ok", "data"])


def _event(name: str, data: dict[str, Any], *, durable: bool) -> dict[str, Any]:
    properties: dict[str, Any] = {"type": {"const": name}}
    required = ["type", "data"]
    if durable:
        properties["seq"] = {"type": "integer", "minimum": 1}
        properties["at"] = {"type": "string", "format": "date-time"}
        required = ["type", "seq", "at", "data"]
    elif name == "ready":
        properties["ref"] = REF
    kind = "Durable event" if durable else "Event"
    return _message(name, f"{kind} {name}", properties | {"data": data}, required)


def _message(name: str, title: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    payload = {"type": "object", "required": required, "properties": properties}
    return {"name": name, "title": title, "contentType": "application/json", "payload": payload}


ERROR = _message(
    "reply",
    "Reply to a command that failed",
    {
        "type": {"const": "reply"},
        "ref": REF,
        "ok": {"const": False},
        "error": {"type": "string", "description": "The code that REST gives. Branch on it, never on the text."},
        "message": {"type": "string"},
        "fields": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}},
        "retry_after": {"type": "integer", "minimum": 0},
    },
    ["type", "ref", "ok", "error", "message"],
)


def _operations() -> dict[str, Any]:
    """The operations from the view of the server: it receives commands and sends events."""
    replies = {name: [f"reply.{name}"] for name in socket_commands.COMMANDS} | OWN_REPLIES
    operations: dict[str, Any] = {}
    for name, messages in replies.items():
        operation = {
            "action": "receive",
            "channel": {"$ref": CHANNEL},
            "description": _summary(f"command.{name}"),
            "tags": [{"name": "commands"}],
            "messages": [_in_channel(f"command.{name}")],
            "reply": {
                "channel": {"$ref": CHANNEL},
                "messages": [_in_channel(message) for message in [*messages, "reply.error"]],
            },
        }
        operations[f"receive.{name}"] = operation
    for name in (*EVENTS, *EPHEMERAL):
        operations[f"send.{name}"] = {
            "action": "send",
            "channel": {"$ref": CHANNEL},
            "description": _summary(name),
            "tags": [{"name": "durable events" if name in EVENTS else "transient events"}],
            "messages": [_in_channel(name)],
        }
    return operations


def _in_channel(message: str) -> dict[str, str]:
    return {"$ref": f"{CHANNEL}/messages/{message}"}
