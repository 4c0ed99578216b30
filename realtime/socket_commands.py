"""The table of commands that a client may send, each with its serializer and service.

A new command is one entry: the serializer that validates its data, and a function that calls the same service as REST
and returns the data of the reply, with the keys of the matching REST reply. An exception becomes the error reply, with
the same code as over REST.
"""

from typing import Any, NamedTuple

from rest_framework.serializers import ListField, Serializer

from core.api.serializers import IdField, StrictBooleanField, StrictIntegerField, TextField
from core.ids import MAX_ID
from messaging import serializers as messaging
from messaging.services import conversations, messages, reactions
from realtime.calls import socket_commands as calls
from realtime.command_spec import CommandContext, CommandSpec
from realtime.serializers import NothingData, PresenceReplyData
from realtime.services import presence

Data = dict[str, Any]


# --- What the client sends -------------------------------------------------------------------------


class PositionInput(Serializer):
    # No upper limits: a log never has such an epoch or number, so the client has to reload.
    epoch = TextField()
    seq = StrictIntegerField(min_value=0)


class AuthInput(Serializer):
    token = TextField(max_length=8192)
    resume = PositionInput(required=False, allow_null=True)


class AckInput(Serializer):
    seq = StrictIntegerField(min_value=0, max_value=MAX_ID)


class SendInput(messaging.SendMessageInput):
    conversation_id = IdField()


class EditInput(messaging.EditMessageInput):
    message_id = IdField()


class DeleteInput(Serializer):
    message_id = IdField()


class ReactInput(messaging.ReactionInput):
    message_id = IdField()


class ReadInput(messaging.UpToMessageInput):
    conversation_id = IdField()


class TypingInput(Serializer):
    conversation_id = IdField()
    is_typing = StrictBooleanField()


class BoundedListField(ListField):
    """Refuses a list that is too long before validating its items, because an error for each would fill a large
    reply."""

    def to_internal_value(self, data: Any) -> list[Any]:
        if self.max_length is not None and isinstance(data, list) and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        return super().to_internal_value(data)


class WatchInput(Serializer):
    user_ids = BoundedListField(
        child=IdField(), max_length=presence.WATCHED, help_text="Replaces what this socket watched before."
    )


# --- What it does ----------------------------------------------------------------------------------


def send(context: CommandContext, data: Data) -> Data:
    message, _created = messages.send(sender=context.user, **data)
    return {"message": messaging.MessageOutput.render(message, context.user.id)}


def edit(context: CommandContext, data: Data) -> Data:
    message = messages.edit(editor=context.user, **data)
    return {"message": messaging.MessageOutput.render(message, context.user.id)}


def delete(context: CommandContext, data: Data) -> Data:
    return {"message_id": messages.delete(user=context.user, **data)}


def react(context: CommandContext, data: Data) -> Data:
    return messaging.ReactionsReply.render(reactions.add(user=context.user, **data))


def unreact(context: CommandContext, data: Data) -> Data:
    return messaging.ReactionsReply.render(reactions.remove(user=context.user, **data))


def read(context: CommandContext, data: Data) -> Data:
    return dict(conversations.mark_read(reader_id=context.user.id, session_id=context.device.session_id, **data))


def typing(context: CommandContext, data: Data) -> Data:
    presence.typing(actor=context.user, **data)
    return {}


def watch(context: CommandContext, data: Data) -> Data:
    return {"presence": presence.watch(viewer=context.user, device=context.device, **data)}


class OwnCommand(NamedTuple):
    """A command that the connection itself handles."""

    summary: str
    input: type[Serializer[Any]]
    # The messages of the AsyncAPI document that answer the command.
    replies: tuple[str, ...]


OWN_COMMANDS = {
    "auth": OwnCommand(
        "Signs the socket in, or renews its token. With `resume`, continues from a position in the log.",
        AuthInput,
        ("ready", "reply.auth"),
    ),
    "resume": OwnCommand(
        "Replays the events after `seq`, then sends `synced`; or `resync` when that is not possible.",
        PositionInput,
        ("synced", "resync"),
    ),
    "ack": OwnCommand("Confirms that all events up to `seq` are stored.", AckInput, ("reply.ack",)),
    "ping": OwnCommand("Keeps the connection open. The server answers with `pong`.", NothingData, ("pong",)),
}

COMMANDS: dict[str, CommandSpec] = {
    "message.send": CommandSpec("Sends a text message.", SendInput, send, messaging.MessageReply, rate="send"),
    "message.edit": CommandSpec(
        "Replaces the text of the user's own message.", EditInput, edit, messaging.MessageReply, rate="edit"
    ),
    "message.delete": CommandSpec(
        "Deletes the user's own message for both users.",
        DeleteInput,
        delete,
        messaging.DeletedReply,
        for_verified=False,
        rate="writes",
    ),
    "message.react": CommandSpec(
        "Adds an emoji to a message.", ReactInput, react, messaging.ReactionsReply, rate="react"
    ),
    "message.unreact": CommandSpec(
        "Removes an emoji of the user from a message.", ReactInput, unreact, messaging.ReactionsReply, rate="react"
    ),
    "conversation.read": CommandSpec(
        "Marks messages as read, up to the given one or the newest one.",
        ReadInput,
        read,
        messaging.ReadReply,
        for_verified=False,
        rate="writes",
    ),
    "typing": CommandSpec(
        "Tells the other user that this user types or has stopped.", TypingInput, typing, NothingData
    ),
    "presence.watch": CommandSpec(
        "Returns the online status of the given users and sends `presence` events from now on.",
        WatchInput,
        watch,
        PresenceReplyData,
        for_verified=False,
    ),
    **calls.COMMANDS,
}
