"""Commands for typing notices and presence."""

from typing import Any

from rest_framework import serializers

from core.fields import IdField, StrictBooleanField
from realtime.kinds import CommandContext, CommandSpec
from realtime.serializers import events
from realtime.services import presence
from realtime.services import typing as typing_service

Data = dict[str, Any]


class TypingInput(serializers.Serializer):
    conversation_id = IdField()
    is_typing = StrictBooleanField()


class WatchInput(serializers.Serializer):
    user_ids = serializers.ListField(
        child=IdField(), max_length=presence.WATCHED, help_text="Replaces what this socket watched before."
    )


def typing(caller: CommandContext, data: Data) -> Data:
    typing_service.typing(actor=caller.user, **data)
    return {}


def watch(caller: CommandContext, data: Data) -> Data:
    return {"presence": presence.watch(viewer=caller.user, device=caller.device, **data)}


COMMANDS = {
    "typing": CommandSpec(TypingInput, typing, events.NothingData),
    "presence.watch": CommandSpec(WatchInput, watch, events.PresenceReplyData, for_verified=False),
}
