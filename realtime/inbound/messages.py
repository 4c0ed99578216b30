"""What can be said in a conversation: the same services as behind REST."""

from typing import Any

from rest_framework.serializers import Serializer

from accounts.fields import IdField
from messaging.serializers import inputs
from messaging.services import conversations, messages, reactions
from realtime.inbound.table import Caller, Command
from realtime.serializers import events

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


def send(caller: Caller, data: Data) -> Data:
    message, _created = messages.send(sender=caller.user, **data)
    return {"message": message}


def edit(caller: Caller, data: Data) -> Data:
    return {"message": messages.edit(editor=caller.user, **data)}


def delete(caller: Caller, data: Data) -> Data:
    return {"message_id": messages.delete(user=caller.user, **data)}


def react(caller: Caller, data: Data) -> Data:
    return {"reactions": reactions.add(user=caller.user, **data)}


def unreact(caller: Caller, data: Data) -> Data:
    return {"reactions": reactions.remove(user=caller.user, **data)}


def read(caller: Caller, data: Data) -> Data:
    return dict(conversations.mark_read(reader_id=caller.user.id, **data))


COMMANDS = {
    "message.send": Command(SendInput, send, events.MessageReplyData),
    "message.edit": Command(EditInput, edit, events.MessageReplyData),
    "message.delete": Command(DeleteInput, delete, events.DeletedReplyData, for_verified=False),
    "message.react": Command(ReactInput, react, events.ReactionsReplyData),
    "message.unreact": Command(ReactInput, unreact, events.ReactionsReplyData),
    "conversation.read": Command(ReadInput, read, events.ReadReplyData, for_verified=False),
}
