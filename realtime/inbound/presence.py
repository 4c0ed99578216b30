"""Who writes, and who is there."""

from typing import Any

from rest_framework import serializers

from accounts.fields import IdField, StrictBooleanField
from realtime.inbound.table import Caller, Command
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


def typing(caller: Caller, data: Data) -> Data:
    typing_service.typing(actor=caller.user, **data)
    return {}


def watch(caller: Caller, data: Data) -> Data:
    return {"presence": presence.watch(viewer=caller.user, device=caller.device, **data)}


COMMANDS = {
    "typing": Command(TypingInput, typing, events.NothingData),
    "presence.watch": Command(WatchInput, watch, events.PresenceReplyData, for_verified=False),
}
