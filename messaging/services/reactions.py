"""Add and remove reactions."""

from typing import TYPE_CHECKING

from django.utils.translation import ngettext
from rest_framework.exceptions import ValidationError

from core.database.transactions import unit_of_work
from messaging import signals
from messaging.conf import conf
from messaging.models import Message, Reaction
from messaging.selectors.messages import ReactionRow, reactions_of
from messaging.services import locking
from messaging.text import clean_emoji

if TYPE_CHECKING:
    from accounts.models import User


def add(*, user: "User", message_id: object, emoji: str) -> list[ReactionRow]:
    """Adds a reaction and returns all reactions of the message; the same one again changes nothing.

    MessageNotFound, EmailNotVerified, UserBlocked, MessagePermissionDenied,
    ValidationError (not exactly one emoji, or one too many of this user).
    """
    value = clean_emoji(emoji)
    with unit_of_work():
        locked, message = locking.lock_message(message_id, user.id)
        locked.check_can_contact(user)
        own = set(Reaction.objects.filter(message=message, user_id=user.id).values_list("emoji", flat=True))
        if value not in own:
            if len(own) >= conf.REACTIONS_PER_MESSAGE:
                number = conf.REACTIONS_PER_MESSAGE
                text = ngettext(
                    "At most %(number)d reaction to one message.",
                    "At most %(number)d reactions to one message.",
                    number,
                )
                raise ValidationError({"emoji": [text % {"number": number}]})
            Reaction.objects.create(message=message, user_id=user.id, emoji=value)
            _announce(message, locked, user)
        return reactions_of(message.id)


def remove(*, user: "User", message_id: object, emoji: str) -> list[ReactionRow]:
    """Removes the user's reaction and returns all reactions of the message. Allowed after a block, as
    deleting is. MessageNotFound, ValidationError (not exactly one emoji)."""
    value = clean_emoji(emoji)
    with unit_of_work():
        locked, message = locking.lock_message(message_id, user.id)
        deleted, _details = Reaction.objects.filter(message=message, user_id=user.id, emoji=value).delete()
        if deleted:
            _announce(message, locked, user)
        return reactions_of(message.id)


def _announce(message: Message, locked: locking.LockedConversation, user: "User") -> None:
    signals.reactions_changed.send(Message, message_id=message.id, conversation=locked.conversation, actor_id=user.id)
