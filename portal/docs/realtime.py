"""The AsyncAPI document as rows of a page: commands, events and close codes."""

import json
from functools import cache
from typing import Any, NamedTuple, cast

from django.utils.safestring import SafeString

from core.api.json_schema import component_name, resolved
from portal.docs import markdown
from portal.docs.schema_fields import Field, described, fields
from realtime.asyncapi import document

# The parts of the page: anchor and title.
HEADINGS = (
    ("watch", "Connect and watch"),
    ("commands", "Commands"),
    ("durable", "Durable events"),
    ("transient", "Transient events"),
    ("close-codes", "Close codes"),
)


class Entry(NamedTuple):
    anchor: str
    type: str
    about: SafeString
    sends: list[Field]
    answers: list[str]
    example: str


@cache
def reference() -> dict[str, Any]:
    """The context of the page: the text about the protocol, its commands, durable and transient events, and close
    codes."""
    described = document()
    messages = described["components"]["messages"]
    commands, durable, transient = [], [], []
    for operation in described["operations"].values():
        name = component_name(operation["messages"][0])
        message = messages[name]
        if operation["action"] == "receive":
            answers = [component_name(ref) for ref in operation["reply"]["messages"]]
            commands.append(_entry(name, message, [_word(answer, messages) for answer in answers[:-1]]))
        elif "seq" in message["payload"]["properties"]:
            durable.append(_entry(name, message))
        else:
            transient.append(_entry(name, message))
    return {
        "about": markdown.render(described["info"]["description"]),
        "commands": commands,
        "durable": durable,
        "transient": transient,
        "close_codes": described["channels"]["realtime"]["x-close-codes"],
    }


def _entry(name: str, message: dict[str, Any], answers: list[str] | None = None) -> Entry:
    payload = message["payload"]
    example = json.dumps(message["examples"][0]["payload"], indent=2, ensure_ascii=False)
    sends = described(fields(_data(message), _schemas()))
    type_ = payload["properties"]["type"]["const"]
    return Entry(name, type_, markdown.inline(message["summary"]), sends, answers or [], example)


def _word(answer: str, messages: dict[str, Any]) -> str:
    """A reply in one line: its keys, or the name of the event."""
    if not answer.startswith("reply."):
        return answer
    return "{" + ", ".join(_data(messages[answer]).get("properties", ())) + "}"


def _data(message: dict[str, Any]) -> dict[str, Any]:
    return resolved(message["payload"]["properties"]["data"], _schemas())


def _schemas() -> dict[str, Any]:
    return cast(dict[str, Any], document()["components"]["schemas"])
