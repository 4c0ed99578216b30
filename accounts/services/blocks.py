"""One person wants to hear nothing from another."""

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from accounts.exceptions import UserNotFound
from accounts.models import Block, User
from accounts.selectors import blockable_user
from accounts.signals import block_changed
from accounts.unit_of_work import unit_of_work


def block(*, blocker: User, blocked_id: int) -> Block:
    """From now on nothing passes between the two. A second call changes nothing.

    UserNotFound for nobody anyone could meet; ValidationError on `user_id` for oneself.
    """
    if blocked_id == blocker.id:
        raise ValidationError({"user_id": [_("You cannot block yourself.")]})
    with unit_of_work():
        blocked = blockable_user(blocked_id)
        row, created = Block.objects.get_or_create(blocker=blocker, blocked=blocked)
        if created:
            block_changed.send(Block, blocker_id=blocker.id, blocked_id=blocked.id, blocked=True)
    return row


def unblock(*, blocker: User, blocked_id: int | None) -> None:
    """Takes a block back. UserNotFound when the person is not among those blocked."""
    with unit_of_work():
        removed, _rows = Block.objects.filter(blocker=blocker, blocked_id=blocked_id).delete()
        if not removed or blocked_id is None:
            raise UserNotFound
        block_changed.send(Block, blocker_id=blocker.id, blocked_id=blocked_id, blocked=False)
