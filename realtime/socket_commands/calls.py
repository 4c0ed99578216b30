"""Commands for calls, signaling included."""

from typing import Any

from rest_framework import serializers

from core.fields import IdField, TextField
from realtime import selectors
from realtime.models import Call
from realtime.serializers import events
from realtime.serializers.calls import DeclineInput, OneOf
from realtime.services import calls
from realtime.socket_commands.table import CommandContext, CommandSpec

Data = dict[str, Any]


class InviteInput(serializers.Serializer):
    conversation_id = IdField()
    media = OneOf(Call.Media.values)
    client_id = TextField(
        required=False, allow_null=True, help_text="[A-Za-z0-9_-]{1,64}; the same one finds the same call again."
    )


class CallInput(serializers.Serializer):
    call_id = IdField()


class CallDeclineInput(DeclineInput):
    call_id = IdField()


class SignalInput(CallInput):
    kind = OneOf(calls.SIGNAL_KINDS)
    payload = serializers.DictField(help_text="Passed on unread; SDP up to 48 KiB, a candidate up to 2 KiB.")


def invite(caller: CommandContext, data: Data) -> Data:
    call = calls.invite(actor=caller.user, device=caller.device, **data)
    return _shown(caller, call) | calls.ice_for(actor=caller.user, call=call)


def ringing(caller: CommandContext, data: Data) -> Data:
    return _shown(caller, calls.ringing(user_id=caller.user.id, **data))


def accept(caller: CommandContext, data: Data) -> Data:
    call = calls.accept(user_id=caller.user.id, device=caller.device, **data)
    return _shown(caller, call) | calls.ice_for(actor=caller.user, call=call)


def decline(caller: CommandContext, data: Data) -> Data:
    return _shown(caller, calls.decline(user_id=caller.user.id, **data))


def cancel(caller: CommandContext, data: Data) -> Data:
    return _shown(caller, calls.cancel(user_id=caller.user.id, **data))


def signal(caller: CommandContext, data: Data) -> Data:
    return _shown(caller, calls.signal(user_id=caller.user.id, device=caller.device, **data))


def connected(caller: CommandContext, data: Data) -> Data:
    return _shown(caller, calls.connected(user_id=caller.user.id, device=caller.device, **data))


def hangup(caller: CommandContext, data: Data) -> Data:
    return _shown(caller, calls.hangup(user_id=caller.user.id, device=caller.device, **data))


def _shown(caller: CommandContext, call: Call) -> Data:
    return {"call": selectors.call_for(caller.user.id, call.id, caller.device)}


COMMANDS = {
    "call.invite": CommandSpec(InviteInput, invite, events.CallRouteReplyData),
    "call.ringing": CommandSpec(CallInput, ringing, events.CallReplyData),
    "call.accept": CommandSpec(CallInput, accept, events.CallRouteReplyData),
    "call.decline": CommandSpec(CallDeclineInput, decline, events.CallReplyData),
    "call.cancel": CommandSpec(CallInput, cancel, events.CallReplyData),
    "call.signal": CommandSpec(SignalInput, signal, events.CallReplyData),
    "call.connected": CommandSpec(CallInput, connected, events.CallReplyData),
    "call.hangup": CommandSpec(CallInput, hangup, events.CallReplyData),
}
