"""Commands for calls, signaling included."""

from typing import Any

from rest_framework import serializers

from core.fields import IdField, TextField
from realtime.calls import selectors, services
from realtime.calls.models import Call
from realtime.calls.serializers import CallReply, CallRouteReply, DeclineInput, OneOf
from realtime.kinds import CommandContext, CommandSpec

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
    kind = OneOf(services.SIGNAL_KINDS)
    payload = serializers.DictField(help_text="Passed on unread; SDP up to 48 KiB, a candidate up to 2 KiB.")


def invite(caller: CommandContext, data: Data) -> Data:
    call = services.invite(actor=caller.user, device=caller.device, **data)
    return _render_call(caller, call) | services.ice_for(actor=caller.user, call=call)


def ringing(caller: CommandContext, data: Data) -> Data:
    return _render_call(caller, services.ringing(user_id=caller.user.id, **data))


def accept(caller: CommandContext, data: Data) -> Data:
    call = services.accept(user_id=caller.user.id, device=caller.device, **data)
    return _render_call(caller, call) | services.ice_for(actor=caller.user, call=call)


def decline(caller: CommandContext, data: Data) -> Data:
    return _render_call(caller, services.decline(user_id=caller.user.id, **data))


def cancel(caller: CommandContext, data: Data) -> Data:
    return _render_call(caller, services.cancel(user_id=caller.user.id, **data))


def signal(caller: CommandContext, data: Data) -> Data:
    return _render_call(caller, services.signal(user_id=caller.user.id, device=caller.device, **data))


def connected(caller: CommandContext, data: Data) -> Data:
    return _render_call(caller, services.connected(user_id=caller.user.id, device=caller.device, **data))


def hangup(caller: CommandContext, data: Data) -> Data:
    return _render_call(caller, services.hangup(user_id=caller.user.id, device=caller.device, **data))


def _render_call(caller: CommandContext, call: Call) -> Data:
    return {"call": selectors.call_for(caller.user.id, call.id, caller.device)}


COMMANDS = {
    "call.invite": CommandSpec(InviteInput, invite, CallRouteReply),
    "call.ringing": CommandSpec(CallInput, ringing, CallReply),
    "call.accept": CommandSpec(CallInput, accept, CallRouteReply),
    "call.decline": CommandSpec(CallDeclineInput, decline, CallReply),
    "call.cancel": CommandSpec(CallInput, cancel, CallReply),
    "call.signal": CommandSpec(SignalInput, signal, CallReply),
    "call.connected": CommandSpec(CallInput, connected, CallReply),
    "call.hangup": CommandSpec(CallInput, hangup, CallReply),
}
