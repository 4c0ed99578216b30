"""The AsyncAPI 3 document of the socket, built from the tables that dispatch its frames."""

from functools import cache
from typing import Any

from django.utils import translation
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ComponentRegistry
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from realtime import inbound
from realtime.serializers import events
from realtime.serializers.socket import OWN_COMMANDS

ADDRESS = "/api/v1/realtime"
CHANNEL = "#/channels/realtime"

ABOUT = """The live wire of the service: one socket a device.

Three shapes only. A *command* goes from the client to the server and carries a `ref`. A *reply* has the
same `ref`. An *event* has none. Events with `seq` are durable: +1 each, kept in a log, sent again after
`resume`; applying one twice changes nothing. Events without are passing.

Sign in with a bearer token in the `Authorization` header, or with `auth` as the first frame within 5 s;
tokens in the query string are refused. Frames are JSON text of at most 65,536 bytes. Send `ping` every
25 s and `ack` the events you have kept; the server stops at 200 events or 512 KiB beyond your last `ack`.

Close codes: 4400 bad frame, 4401 token missing, expired or revoked, 4403 forbidden, 4408 too slow or no
sign-in in time, 4409 too many sockets (10 a person), 4429 flooding, 4503 restart: come back with jitter."""

# What answers the commands that the socket itself understands.
OWN_ANSWERS = {"auth": ["ready", "reply.auth"], "resume": ["synced", "resync"], "ack": [], "ping": ["pong"]}


class RealtimeSchemaView(APIView):
    authentication_classes = ()
    permission_classes = (AllowAny,)
    renderer_classes = (JSONRenderer,)

    @extend_schema(operation_id="realtime_schema", responses=OpenApiTypes.OBJECT, auth=[])
    def get(self, request: Request) -> Response:
        """The AsyncAPI 3 document of the socket: every command, reply and event with its schema."""
        server = {"host": request.get_host(), "protocol": "wss" if request.is_secure() else "ws"}
        return Response(document() | {"servers": {"here": server}})


@cache
def document() -> dict[str, Any]:
    """The whole document but for the server's address."""
    with translation.override("en"):
        shapes = _Shapes()
        messages = _messages(shapes)
        schemas = shapes.components()
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "Parley, the live wire", "version": "1.0.0", "description": ABOUT},
        "defaultContentType": "application/json",
        "channels": {
            "realtime": {
                "address": ADDRESS,
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


class _Shapes:
    """Serializers as JSON schemas, by the same reading that makes the OpenAPI document."""

    def __init__(self) -> None:
        self._reader = AutoSchema()
        self._reader.registry = ComponentRegistry()
        self._reader.method, self._reader.path = "POST", ADDRESS
        view = APIView()
        view.request = None  # type: ignore[assignment]
        self._reader.view = view

    def ref(self, serializer: type[Serializer[Any]], direction: str = "response") -> dict[str, Any]:
        component = self._reader.resolve_serializer(serializer(), direction)
        # A serializer without fields is no component.
        return component.ref if component.name else {"type": "object"}

    def components(self) -> dict[str, Any]:
        built = self._reader.registry.build({})["schemas"]
        return {name: _plain(schema) for name, schema in built.items()}


def _plain(schema: Any) -> Any:
    """Without the marks that drf-spectacular leaves for itself."""
    if isinstance(schema, dict):
        return {key: _plain(value) for key, value in schema.items() if key != "x-spec-enum-id"}
    if isinstance(schema, list):
        return [_plain(value) for value in schema]
    return schema


REF = {"type": ["string", "integer", "null"], "description": "Chosen by the client; the reply carries it back."}


def _messages(shapes: _Shapes) -> dict[str, Any]:
    commands = {name: row.input for name, row in inbound.COMMANDS.items()} | OWN_COMMANDS
    replies = {name: row.reply for name, row in inbound.COMMANDS.items()} | {"auth": events.RenewedData}
    messages = {f"command.{name}": _command(name, shapes.ref(data, "request")) for name, data in commands.items()}
    messages |= {f"reply.{name}": _reply(name, shapes.ref(data)) for name, data in replies.items()}
    messages["reply.error"] = ERROR
    messages |= {name: _event(name, shapes.ref(data), durable=True) for name, data in events.DURABLE.items()}
    messages |= {name: _event(name, shapes.ref(data), durable=False) for name, data in events.EPHEMERAL.items()}
    return messages


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
    """AsyncAPI's words are the server's: it receives commands and sends events."""
    answers = {name: [f"reply.{name}"] for name in inbound.COMMANDS} | OWN_ANSWERS
    operations: dict[str, Any] = {}
    for name, messages in answers.items():
        operation = {
            "action": "receive",
            "channel": {"$ref": CHANNEL},
            "messages": [_in_channel(f"command.{name}")],
            "reply": {
                "channel": {"$ref": CHANNEL},
                "messages": [_in_channel(message) for message in [*messages, "reply.error"]],
            },
        }
        operations[f"receive.{name}"] = operation
    for name in (*events.DURABLE, *events.EPHEMERAL):
        operations[f"send.{name}"] = {
            "action": "send",
            "channel": {"$ref": CHANNEL},
            "messages": [_in_channel(name)],
        }
    return operations


def _in_channel(message: str) -> dict[str, str]:
    return {"$ref": f"{CHANNEL}/messages/{message}"}
