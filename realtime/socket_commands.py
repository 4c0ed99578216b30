"""The table of commands that a client may send, each with its serializer and service.

A new command is one row: the serializer that validates its data, and a function that calls the service
(the same as over REST) and returns the data of the reply, with the keys of the matching REST reply. An
exception becomes the error reply, with the same code as over REST.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from rest_framework.serializers import DictField, ListField, Serializer

from core.fields import MAX_ID, IdField, StrictBooleanField, StrictIntegerField, TextField
from messaging.serializers import inputs, outputs
from messaging.services import conversations, messages, reactions
from realtime import selectors
from realtime.models import Call, SocketRef
from realtime.serializers import (
    CallReply,
    CallRouteReply,
    DeclineInput,
    NothingData,
    OneOf,
    PresenceReplyData,
)
from realtime.services import calls, presence

Data = dict[str, Any]


class CommandContext(NamedTuple):
    """The user as they are now (read with the session for every command), and the device."""

    user: Any
    device: SocketRef


class CommandSpec(NamedTuple):
    input: type[Serializer[Any]]
    run: Callable[[CommandContext, dict[str, Any]], dict[str, Any]]
    # The reply over REST, or the shape of the reply's data.
    reply: type[Serializer[Any]]
    # Commands that reach another user need a verified e-mail address.
    for_verified: bool = True
    # The scope of core.ratelimits that the same action has over REST; every command counts against the socket.
    rate: str | None = None


Command = Callable[[CommandContext, Data], Data]


# --- What the client sends -------------------------------------------------------------------------


class PositionInput(Serializer):
    epoch = TextField(max_length=64)
    seq = StrictIntegerField(min_value=0, max_value=MAX_ID)


class AuthInput(Serializer):
    token = TextField(max_length=8192)
    resume = PositionInput(required=False, allow_null=True)


class AckInput(Serializer):
    seq = StrictIntegerField(min_value=0, max_value=MAX_ID)


class PingInput(Serializer):
    pass


class SendInput(inputs.SendMessageInput):
    conversation_id = IdField()


class EditInput(inputs.EditMessageInput):
    message_id = IdField()


class DeleteInput(Serializer):
    message_id = IdField()


class ReactInput(inputs.ReactionInput):
    message_id = IdField()


class ReadInput(inputs.UpToMessageInput):
    conversation_id = IdField()


class TypingInput(Serializer):
    conversation_id = IdField()
    is_typing = StrictBooleanField()


class WatchInput(Serializer):
    user_ids = ListField(
        child=IdField(), max_length=presence.WATCHED, help_text="Replaces what this socket watched before."
    )


class InviteInput(Serializer):
    conversation_id = IdField()
    media = OneOf(Call.Media.values)
    client_id = TextField(
        required=False, allow_null=True, help_text="[A-Za-z0-9_-]{1,64}; the same one finds the same call again."
    )


class CallInput(Serializer):
    call_id = IdField()


class CallDeclineInput(DeclineInput):
    call_id = IdField()


class SignalInput(CallInput):
    kind = OneOf(calls.SIGNAL_KINDS)
    payload = DictField(help_text="Passed on unread; SDP up to 48 KiB, a candidate up to 2 KiB.")


# --- What it does ----------------------------------------------------------------------------------


def send(caller: CommandContext, data: Data) -> Data:
    message, _created = messages.send(sender=caller.user, **data)
    return {"message": outputs.MessageOutput.render(message, caller.user.id)}


def edit(caller: CommandContext, data: Data) -> Data:
    message = messages.edit(editor=caller.user, **data)
    return {"message": outputs.MessageOutput.render(message, caller.user.id)}


def delete(caller: CommandContext, data: Data) -> Data:
    return {"message_id": messages.delete(user=caller.user, **data)}


def react(caller: CommandContext, data: Data) -> Data:
    return {"reactions": outputs.ReactionOutput.render(reactions.add(user=caller.user, **data))}


def unreact(caller: CommandContext, data: Data) -> Data:
    return {"reactions": outputs.ReactionOutput.render(reactions.remove(user=caller.user, **data))}


def read(caller: CommandContext, data: Data) -> Data:
    return dict(conversations.mark_read(reader_id=caller.user.id, **data))


def typing(caller: CommandContext, data: Data) -> Data:
    presence.typing(actor=caller.user, **data)
    return {}


def watch(caller: CommandContext, data: Data) -> Data:
    return {"presence": presence.watch(viewer=caller.user, device=caller.device, **data)}


def invite(caller: CommandContext, data: Data) -> Data:
    call = calls.invite(actor=caller.user, device=caller.device, **data)
    return _render_call(caller, call) | calls.ice_for(actor=caller.user, call=call)


def accept(caller: CommandContext, data: Data) -> Data:
    call = calls.accept(user_id=caller.user.id, device=caller.device, **data)
    return _render_call(caller, call) | calls.ice_for(actor=caller.user, call=call)


def _by_user(service: Callable[..., Call]) -> Command:
    """A command that the user may send from any device."""
    return lambda caller, data: _render_call(caller, service(user_id=caller.user.id, **data))


def _by_device(service: Callable[..., Call]) -> Command:
    """A command of the device that is bound to the call."""
    return lambda caller, data: _render_call(caller, service(user_id=caller.user.id, device=caller.device, **data))


def _render_call(caller: CommandContext, call: Call) -> Data:
    return {"call": selectors.call_for(caller.user.id, call.id, caller.device)}


# Commands that the connection itself handles; all others are rows of COMMANDS.
OWN_COMMANDS: dict[str, type[Serializer[Any]]] = {
    "auth": AuthInput,
    "resume": PositionInput,
    "ack": AckInput,
    "ping": PingInput,
}

COMMANDS: dict[str, CommandSpec] = {
    "message.send": CommandSpec(SendInput, send, outputs.MessageReply, rate="send"),
    "message.edit": CommandSpec(EditInput, edit, outputs.MessageReply, rate="edit"),
    "message.delete": CommandSpec(DeleteInput, delete, outputs.DeletedReply, for_verified=False, rate="writes"),
    "message.react": CommandSpec(ReactInput, react, outputs.ReactionsReply, rate="react"),
    "message.unreact": CommandSpec(ReactInput, unreact, outputs.ReactionsReply, rate="react"),
    "conversation.read": CommandSpec(ReadInput, read, outputs.ReadReply, for_verified=False, rate="writes"),
    "typing": CommandSpec(TypingInput, typing, NothingData),
    "presence.watch": CommandSpec(WatchInput, watch, PresenceReplyData, for_verified=False),
    "call.invite": CommandSpec(InviteInput, invite, CallRouteReply),
    "call.ringing": CommandSpec(CallInput, _by_user(calls.ringing), CallReply),
    "call.accept": CommandSpec(CallInput, accept, CallRouteReply),
    "call.decline": CommandSpec(CallDeclineInput, _by_user(calls.decline), CallReply, rate="writes"),
    "call.cancel": CommandSpec(CallInput, _by_user(calls.cancel), CallReply),
    "call.signal": CommandSpec(SignalInput, _by_device(calls.signal), CallReply),
    "call.connected": CommandSpec(CallInput, _by_device(calls.connected), CallReply),
    "call.hangup": CommandSpec(CallInput, _by_device(calls.hangup), CallReply),
}
