"""Answer a message with an emoji, and take it back."""

from typing import TYPE_CHECKING, Any

from django.utils.translation import ngettext
from rest_framework.exceptions import ValidationError

from accounts import ratelimits
from accounts.unit_of_work import unit_of_work
from messaging import signals
from messaging.conf import conf
from messaging.models import Message, Reaction
from messaging.selectors.messages import reactions_of
from messaging.services import lines
from messaging.text import clean_emoji

if TYPE_CHECKING:
    from accounts.models import User


def add(*, user: "User", message_id: object, emoji: object) -> list[dict[str, Any]]:
    """All reactions of the message, this one among them; the same one again changes nothing.

    MessageNotFound, EmailNotVerified, UserBlocked, MessagePermissionDenied, RateLimited,
    ValidationError (not exactly one emoji, or one too many of this person).
    """
    value = clean_emoji(emoji)
    ratelimits.check("react", user.id)
    with unit_of_work():
        line, message = lines.lock_message(message_id, user.id)
        line.check_contact(user)
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
            _tell(message, line, user)
        return reactions_of([message.id])[message.id]


def remove(*, user: "User", message_id: object, emoji: object) -> list[dict[str, Any]]:
    """All reactions of the message, this person's one no longer among them. Allowed to blocked people
    too, as deleting is. MessageNotFound, RateLimited, ValidationError (not exactly one emoji)."""
    value = clean_emoji(emoji)
    ratelimits.check("react", user.id)
    with unit_of_work():
        line, message = lines.lock_message(message_id, user.id)
        gone, _details = Reaction.objects.filter(message=message, user_id=user.id, emoji=value).delete()
        if gone:
            _tell(message, line, user)
        return reactions_of([message.id])[message.id]


def _tell(message: Message, line: lines.Line, user: "User") -> None:
    signals.reactions_changed.send(Message, message_id=message.id, conversation=line.conversation, actor_id=user.id)
