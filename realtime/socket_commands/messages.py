"""Commands for messages; they call the same services as REST."""

from typing import Any

from rest_framework.serializers import Serializer

from core.fields import IdField
from messaging.serializers import inputs, outputs
from messaging.services import conversations, messages, reactions
from realtime.kinds import CommandContext, CommandSpec

Data = dict[str, Any]


class SendInput(inputs.SendMessageInput):
    conversation_id = IdField()


class EditInput(inputs.EditMessageInput):
    message_id = IdField()


class DeleteInput(Serializer):
    message_id = IdField()


class ReactInput(inputs.EmojiInput):
    message_id = IdField()


class ReadInput(inputs.UpToMessageInput):
    conversation_id = IdField()


def send(caller: CommandContext, data: Data) -> Data:
    message, _created = messages.send(sender=caller.user, **data)
    return {"message": message}


def edit(caller: CommandContext, data: Data) -> Data:
    return {"message": messages.edit(editor=caller.user, **data)}


def delete(caller: CommandContext, data: Data) -> Data:
    return {"message_id": messages.delete(user=caller.user, **data)}


def react(caller: CommandContext, data: Data) -> Data:
    return {"reactions": reactions.add(user=caller.user, **data)}


def unreact(caller: CommandContext, data: Data) -> Data:
    return {"reactions": reactions.remove(user=caller.user, **data)}


def read(caller: CommandContext, data: Data) -> Data:
    return dict(conversations.mark_read(reader_id=caller.user.id, **data))


COMMANDS = {
    "message.send": CommandSpec(SendInput, send, outputs.MessageReply, rate="send"),
    "message.edit": CommandSpec(EditInput, edit, outputs.MessageReply, rate="edit"),
    "message.delete": CommandSpec(DeleteInput, delete, outputs.DeletedReply, for_verified=False),
    "message.react": CommandSpec(ReactInput, react, outputs.ReactionsReply, rate="react"),
    "message.unreact": CommandSpec(ReactInput, unreact, outputs.ReactionsReply, rate="react"),
    "conversation.read": CommandSpec(ReadInput, read, outputs.ReadReply, for_verified=False),
}
