"""The AsyncAPI 3 document of the socket, built from the tables that dispatch its frames."""

from email.utils import parseaddr
from functools import cache
from threading import Lock
from typing import Any, cast

from django.conf import settings
from django.urls import reverse
from django.utils import translation
from drf_spectacular.plumbing import ComponentRegistry
from rest_framework.fields import Field
from rest_framework.serializers import Serializer
from rest_framework.settings import api_settings
from rest_framework.views import APIView

from core.api.json_schema import apply_limits, is_nullable, parts, resolved, types
from core.api.open_values import ErrorCodeField
from core.api.serializers import OkReply
from core.conf import project
from core.version import VERSION
from realtime.close_codes import Close
from realtime.command_spec import CommandSpec
from realtime.conf import conf
from realtime.serializers import RenewedData
from realtime.socket_commands import COMMANDS, OWN_COMMANDS, OwnCommand
from realtime.socket_events import EPHEMERAL, EVENTS, EphemeralSpec, EventSpec

CHANNEL = "#/channels/realtime"
ALL_COMMANDS: dict[str, CommandSpec | OwnCommand] = {**COMMANDS, **OWN_COMMANDS}
ALL_EVENTS: dict[str, EventSpec | EphemeralSpec] = {**EVENTS, **EPHEMERAL}

MOMENT = "2026-11-20T08:01:00.000000Z"
CLOSING = "Close codes: " + "; ".join(f"{row} {row.meaning[0].lower()}{row.meaning[1:-1]}" for row in Close)
ABOUT = f"""The real-time channel. Open one WebSocket per device.

There are three kinds of frames. A *command* goes from the client to the server and carries a `ref`. A *reply* has the
same `ref`. An *event* has none. Events with a `seq` are durable: they are numbered without gaps, kept in a log, and
replayed after `resume`. Applying one twice changes nothing. Events without a `seq` are transient and are never replayed.

Sign in with a bearer token in the `Authorization` header, or with the command `auth` as the first frame within {conf.AUTH_SECONDS:g} seconds.
Tokens in the query string are refused. Frames are JSON text of at most {conf.FRAME_BYTES:,} bytes. Send `ping` every {conf.PING_SECONDS} seconds, and
`ack` for the events that you have stored: the server pauses after {conf.WINDOW_EVENTS} unacknowledged events, or {conf.WINDOW_BYTES >> 10} KiB of them.

A later server may send events, values of a list and fields that you do not know: ignore them. `x-extensible-enum` marks
such a list.

A network that opens too many sockets in a minute gets HTTP 429 with `Retry-After` instead of a socket."""

TAGS = {
    "commands": "Frames from the client. Each is answered by a reply with the same `ref`.",
    "durable events": "Events with a `seq`. They are kept in a log and replayed after `resume`.",
    "transient events": "Events without a `seq`. They are never replayed.",
}


def address() -> str:
    """The path of the socket, without the end of the path of this description."""
    return reverse("realtime:schema").removesuffix("/schema")


# drf-spectacular loads its parts when they are first used, and fails if another thread does so at the same time.
_building = Lock()


def document() -> dict[str, Any]:
    """The whole document without the server's address."""
    with _building:
        return _document()


@cache
def _document() -> dict[str, Any]:
    with translation.override("en"):
        shapes = _Shapes()
        messages = _messages(shapes)
        schemas = shapes.components()
        for name, message in messages.items():
            message["examples"] = [{"name": name, "payload": _frame(name, message["payload"], schemas)}]
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": f"{project.PRODUCT_NAME}, real time",
            "version": VERSION,
            "description": ABOUT,
            "contact": _contact(),
            "license": {"name": settings.SPECTACULAR_SETTINGS["LICENSE"]["name"]},
            "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        },
        "defaultContentType": "application/json",
        "channels": {
            "realtime": {
                "address": address(),
                "description": CLOSING,
                "x-close-codes": [
                    {"code": row.value, "reason": row.reason, "meaning": row.meaning, "remedy": row.remedy}
                    for row in Close
                ],
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
        # A serializer without fields does not become a component.
        return component.ref if component.name else {"type": "object"}

    def field(self, field: Field[Any, Any, Any, Any]) -> dict[str, Any]:
        described: dict[str, Any] = self._reader._map_serializer_field(field, "response")
        return described

    def components(self) -> dict[str, Any]:
        built = self._reader.registry.build({})["schemas"]
        return {name: _without_description(_plain(schema)) for name, schema in built.items()}


def _plain(schema: Any) -> Any:
    """The schema with its limits and without internal keys of drf-spectacular."""
    if isinstance(schema, dict):
        apply_limits(schema)
        return {key: _plain(value) for key, value in schema.items() if key != "x-spec-enum-id"}
    if isinstance(schema, list):
        return [_plain(value) for value in schema]
    return schema


def _without_description(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "description" or "x-extensible-enum" in schema}


def _frame(name: str, payload: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """An example of a message: a frame as it is sent."""
    if name == "reply.error":
        return FAILURE
    frame: dict[str, Any] = _example("", payload, schemas)
    return frame | {"data": DATA[name]} if name in DATA else frame


def _example(name: str, schema: dict[str, Any], schemas: dict[str, Any]) -> Any:
    """A value that the schema allows, chosen by the name of the field, then by its type."""
    schema = resolved(schema, schemas)
    if "const" in schema:
        return schema["const"]
    choices, kinds = parts(schema), types(schema)
    example = VALUES.get(name, ...)
    if example is not ... and (example is not None or is_nullable(schema)) and "enum" not in schema:
        return example
    if choices:
        return _example(name, choices[0], schemas)
    if values := schema.get("enum") or schema.get("x-extensible-enum"):
        return values[0]
    if "object" in kinds:
        return {key: _example(key, inner, schemas) for key, inner in schema.get("properties", {}).items()}
    if "array" in kinds:
        return [_example(name, schema["items"], schemas)]
    if schema.get("format") == "date-time":
        return MOMENT
    return {"integer": 12, "boolean": True, "string": "text", "null": None}[kinds[0]]


# Values of the examples by the name of their field. Others follow from the type.
VALUES: dict[str, Any] = {
    "conversation_id": 9, "message_id": 118, "last_read_id": 118, "delivered_id": 118, "cleared_up_to_id": 118,
    "other_last_read_id": 117, "other_delivered_id": 118, "reply_to_id": 117, "user_id": 7, "sender_id": 7, "caller_id": 7,
    "notification_id": 41, "user_ids": [7], "seq": 1018, "min_seq": 1, "unread_count": 1, "count": 1,
    "message_unread_count": 3, "body": "Hello Bob!", "client_id": "a1b2c3", "emoji": "👍", "username": "alice_k7m2p",
    "first_name": "Alice", "last_name": "Archer", "title": "Alice Archer", "avatar_url": None, "epoch": "7d1f3c5a9b2e4068",
    "token": "eyJhbGciOiJIUzI1NiIsImtpZCI6ImsxIn0.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "ping_s": conf.PING_SECONDS, "window": conf.WINDOW_EVENTS,
    "retry_ms": 1500, "reason": "too_old", "media_url": None, "media": None, "reply_to": None, "edited_at": None,
    "call": None, "answered_at": None, "ended_at": None, "duration_s": None, "silent": False,
    "is_edited": False, "is_read": False, "is_blocked": False, "urls": ["turn:turn.example.com:3478"],
    "credential": "q8Zr2mV5xT0c", "calls": [], "ref": "1", "payload": {"sdp": "v=0"},
}  # fmt: skip
FAILURE = {
    "type": "reply",
    "ref": "1",
    "ok": False,
    "error": "user_blocked",
    "message": "You can't contact this person.",
}
# Examples for fields whose name alone would give the wrong one.
DATA: dict[str, dict[str, Any]] = {
    "command.call.invite": {"conversation_id": 9, "media": "video", "client_id": "call-1"},
    "command.call.decline": {"call_id": 12, "reason": "busy"},
    "command.message.send": {"conversation_id": 9, "body": "Hello Bob!", "client_id": "a1b2c3"},
    "command.auth": {"token": VALUES["token"], "resume": {"epoch": VALUES["epoch"], "seq": 1018}},
}

REF = {"type": ["string", "integer", "null"], "description": "Chosen by the client; the reply carries it back."}


def _messages(shapes: _Shapes) -> dict[str, Any]:
    messages = {
        f"command.{name}": _command(name, command.summary, shapes.ref(command.input, "request"))
        for name, command in ALL_COMMANDS.items()
    }
    replies = {name: _data_of(command.reply) for name, command in COMMANDS.items()}
    replies |= {"auth": RenewedData, "ack": _data_of(OkReply)}
    messages |= {f"reply.{name}": _reply(name, shapes.ref(data)) for name, data in replies.items()}
    messages["reply.error"] = _failure(shapes)
    return messages | {name: _event(name, event, shapes.ref(event.data)) for name, event in ALL_EVENTS.items()}


@cache
def _data_of(reply: type[Serializer[Any]]) -> type[Serializer[Any]]:
    """A REST reply without `ok`, which the frame itself has."""
    return type(f"{reply.__name__}Data", (reply,), {"ok": None}) if issubclass(reply, OkReply) else reply


def _command(name: str, summary: str, data: dict[str, Any]) -> dict[str, Any]:
    properties = {"type": {"const": name}, "ref": REF, "data": data}
    return _message(name, f"Command {name}", summary, properties, ["type"])


def _reply(name: str, data: dict[str, Any]) -> dict[str, Any]:
    properties = {"type": {"const": "reply"}, "ref": REF, "ok": {"const": True}, "data": data}
    return _message("reply", f"Reply to {name}", f"The reply to `{name}`.", properties, list(properties))


def _event(name: str, event: EventSpec | EphemeralSpec, data: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {"type": {"const": name}}
    if isinstance(event, EventSpec):
        properties["seq"] = {"type": "integer", "minimum": 1}
        properties["at"] = {"type": "string", "format": "date-time"}
    required = [*properties, "data"]
    if name == "ready":
        properties["ref"] = REF
    kind = "Durable event" if isinstance(event, EventSpec) else "Event"
    return _message(name, f"{kind} {name}", event.summary, properties | {"data": data}, required)


def _message(name: str, title: str, summary: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    payload = {"type": "object", "required": required, "properties": properties}
    return {"name": name, "title": title, "summary": summary, "contentType": "application/json", "payload": payload}


def _failure(shapes: _Shapes) -> dict[str, Any]:
    return _message(
        "reply",
        "Reply to a command that failed",
        "The command failed. The codes are those of the HTTP operations.",
        {
            "type": {"const": "reply"},
            "ref": REF,
            "ok": {"const": False},
            "error": shapes.field(
                ErrorCodeField(help_text="The code that REST gives. Branch on it, never on the text.")
            ),
            "message": {"type": "string"},
            "fields": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}},
            "retry_after": {"type": "integer", "minimum": 0},
        },
        ["type", "ref", "ok", "error", "message"],
    )


def _operations() -> dict[str, Any]:
    """The operations from the view of the server: it receives commands and sends events."""
    operations: dict[str, Any] = {}
    for name, command in ALL_COMMANDS.items():
        operation = _operation("receive", command.summary, "commands", f"command.{name}")
        replies = command.replies if isinstance(command, OwnCommand) else (f"reply.{name}",)
        messages = [_in_channel(message) for message in (*replies, "reply.error")]
        operations[f"receive.{name}"] = operation | {"reply": {"channel": {"$ref": CHANNEL}, "messages": messages}}
    for name, event in ALL_EVENTS.items():
        tag = "durable events" if name in EVENTS else "transient events"
        operations[f"send.{name}"] = _operation("send", event.summary, tag, name)
    return operations


def _operation(action: str, description: str, tag: str, message: str) -> dict[str, Any]:
    return {
        "action": action,
        "channel": {"$ref": CHANNEL},
        "description": description,
        "tags": [{"name": tag}],
        "messages": [_in_channel(message)],
    }


def _in_channel(message: str) -> dict[str, str]:
    return {"$ref": f"{CHANNEL}/messages/{message}"}
