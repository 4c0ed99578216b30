"""What stands around a message, for staff who judge it."""

from messaging.models import Message

SHOWN_ON_EACH_SIDE = 3


def messages_around(message: Message) -> list[Message]:
    """The message between its neighbours in the conversation, oldest first."""
    conversation = Message.objects.filter(conversation_id=message.conversation_id).select_related("sender")
    before = conversation.filter(id__lt=message.id).order_by("-id")[:SHOWN_ON_EACH_SIDE]
    after = conversation.filter(id__gt=message.id).order_by("id")[:SHOWN_ON_EACH_SIDE]
    return [*reversed(before), message, *after]
