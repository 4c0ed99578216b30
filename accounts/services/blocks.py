"""Blocks between users."""

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from accounts.exceptions import UserNotFound
from accounts.models import Block, User
from accounts.selectors import blockable_user, blocks_made_by
from accounts.signals import block_changed
from core.transactions import unit_of_work


def block(*, blocker: User, blocked_id: int) -> Block:
    """Blocks a user. A second call changes nothing.

    Returns the row as `selectors.blocks_made_by` reads it. UserNotFound for an unconfirmed or erased user;
    ValidationError on `user_id` for the actor.
    """
    if blocked_id == blocker.id:
        raise ValidationError({"user_id": [_("You cannot block yourself.")]})
    with unit_of_work():
        # Locked: one change of this user's blocks at a time.
        User.objects.lock_active(blocker.id)
        blocked = blockable_user(blocked_id)
        row, created = Block.objects.get_or_create(blocker=blocker, blocked=blocked)
        if created:
            block_changed.send(Block, blocker_id=blocker.id, blocked_id=blocked.id, blocked=True)
        return blocks_made_by(blocker.id).get(id=row.id)


def unblock(*, blocker: User, blocked_id: int | None) -> None:
    """Removes a block. UserNotFound when the user is not blocked."""
    with unit_of_work():
        User.objects.lock_active(blocker.id)
        removed, _rows = Block.objects.filter(blocker=blocker, blocked_id=blocked_id).delete()
        if not removed or blocked_id is None:
            raise UserNotFound
        block_changed.send(Block, blocker_id=blocker.id, blocked_id=blocked_id, blocked=False)
