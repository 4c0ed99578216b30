"""A message that the team's own server sends for one of its users."""

from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from accounts.exceptions import DeletionScheduled
from accounts.services import audit, provisioning
from core.database.transactions import unit_of_work
from messaging.selectors import MessageRow
from messaging.services import conversations, messages

if TYPE_CHECKING:
    from accounts.models import User


def send(
    *,
    sender_id: int,
    recipient_id: int,
    body: str,
    client_id: str | None = None,
    reply_to_id: int | None = None,
    actor: str,
) -> tuple[MessageRow, bool]:
    """The message as its sender sees it, and whether it is new. Opens the conversation if there is none. If the message is
    refused, the new conversation does not stay.

    The rules of the sender hold, but not the sender's rates: the key has its own. UserNotFound, also for staff,
    AccountBlocked, DeletionScheduled, and what `messages.send` and `conversations.start` raise.
    """
    if sender_id == recipient_id:
        raise ValidationError({"recipient_id": [_("This is the sender.")]})
    sender: User = provisioning.get(sender_id)
    recipient = provisioning.get(recipient_id)
    sender.refuse_if_blocked(timezone.now())
    if sender.erase_after is not None:
        raise DeletionScheduled
    with unit_of_work():
        conversation, _is_new = conversations.start(starter=sender, user_id=recipient.id, is_counted=False)
        message, created = messages.send(
            sender=sender,
            conversation_id=conversation.id,
            body=body,
            reply_to_id=reply_to_id,
            client_id=client_id,
        )
        if created:
            audit.record(action="message.sent", actor=actor, target=sender, message_id=message.id)
    return message, created
