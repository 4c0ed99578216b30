"""Commands for calls, signaling included."""

from collections.abc import Callable
from typing import Any

from rest_framework import serializers

from core.api.serializers import IdField, TextField
from messaging.conf import CLIENT_ID_LENGTH
from realtime.calls import services
from realtime.calls.models import Call
from realtime.calls.serializers import SIGNAL_KINDS, CallReply, CallRouteReply, CallSerializer, DeclineInput
from realtime.command_spec import CommandContext, CommandSpec
from realtime.conf import CANDIDATE_BYTES, SDP_BYTES

Data = dict[str, Any]
Command = Callable[[CommandContext, Data], Data]


class InviteInput(serializers.Serializer):
    conversation_id = IdField()
    media = serializers.ChoiceField(Call.Media.values)
    client_id = TextField(
        required=False,
        allow_null=True,
        help_text=f"[A-Za-z0-9_-]{{1,{CLIENT_ID_LENGTH}}}; the same one finds the same call again.",
    )


class CallInput(serializers.Serializer):
    call_id = IdField()


class CallDeclineInput(DeclineInput):
    call_id = IdField()


class SignalInput(CallInput):
    kind = serializers.ChoiceField(list(SIGNAL_KINDS.meanings))
    payload = serializers.DictField(
        help_text=f"Passed on unread; SDP up to {SDP_BYTES >> 10} KiB, a candidate up to {CANDIDATE_BYTES >> 10} KiB."
    )


def invite(context: CommandContext, data: Data) -> Data:
    call = services.invite(actor=context.user, device=context.device, **data)
    return _render_call(context, call) | services.ice_for(actor=context.user, call=call)


def accept(context: CommandContext, data: Data) -> Data:
    call = services.accept(device=context.device, **data)
    return _render_call(context, call) | services.ice_for(actor=context.user, call=call)


def _by_user(service: Callable[..., Call]) -> Command:
    """A command that the user may send from any device."""
    return lambda context, data: _render_call(context, service(user_id=context.user.id, **data))


def _by_device(service: Callable[..., Call]) -> Command:
    """A command of the device that is bound to the call."""
    return lambda context, data: _render_call(context, service(device=context.device, **data))


def _render_call(context: CommandContext, call: Call) -> Data:
    return {"call": CallSerializer.render(call, device=context.device)}


COMMANDS = {
    "call.invite": CommandSpec("Starts a call in a conversation.", InviteInput, invite, CallRouteReply),
    "call.ringing": CommandSpec(
        "Tells the caller that this device rings.", CallInput, _by_user(services.ringing), CallReply
    ),
    "call.accept": CommandSpec("Accepts a ringing call on this device.", CallInput, accept, CallRouteReply),
    "call.decline": CommandSpec(
        "Declines a ringing call.", CallDeclineInput, _by_user(services.decline), CallReply, rate="writes"
    ),
    "call.cancel": CommandSpec(
        "Cancels the user's own call while it rings.", CallInput, _by_user(services.cancel), CallReply
    ),
    "call.signal": CommandSpec(
        "Passes an offer, an answer or an ICE candidate to the other device.",
        SignalInput,
        _by_device(services.signal),
        CallReply,
    ),
    "call.connected": CommandSpec(
        "Tells the server that media flows.", CallInput, _by_device(services.connected), CallReply
    ),
    "call.hangup": CommandSpec("Ends a call.", CallInput, _by_device(services.hangup), CallReply),
}
