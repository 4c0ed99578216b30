"""Changing the first password with the old one."""

from django.contrib.auth.hashers import make_password
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from accounts import emails
from accounts.exceptions import InvalidCredentials
from accounts.models import PendingToken, Session, User
from accounts.services import (
    codes,
    one_time_tokens,
    registration,
    second_password,
    sessions,
    step_up,
    trusted_devices,
)
from core.transactions import unit_of_work


def change(
    *, user: User, session: Session, action_token: PendingToken, current_password: str, new_password: str
) -> str:
    """Sets the new password; every other session, trusted device, code and unfinished step ends.

    Returns the session's next token. InvalidCredentials for a wrong old password; ValidationError on
    `new_password` for a weak one, the old one, or the second one.
    """
    step_up.count_try(action_token)
    if not user.check_password(current_password):
        raise InvalidCredentials(_("The current password is wrong."))
    registration.refuse_weak_password(new_password, user, field="new_password")
    if new_password == current_password:
        raise ValidationError({"new_password": [_("This is already your password.")]})
    if second_password.matches(user, new_password):
        raise ValidationError({"new_password": [_("Choose a password that differs from your second one.")]})
    encoded = make_password(new_password)
    with unit_of_work():
        locked = User.objects.select_for_update(no_key=True).get(id=user.id)
        step_up.consume(action_token)
        if locked.password != user.password:
            # Changed or reset since it was compared: the proof is no longer valid.
            raise InvalidCredentials
        locked.password = encoded
        locked.password_changed_at = timezone.now()
        locked.save(update_fields=["password", "password_changed_at"])
        sessions.revoke_all(user_id=user.id, reason="password_changed", but=session)
        trusted_devices.forget_all(user_id=user.id)
        codes.end_all(user_id=user.id)
        one_time_tokens.end_all(user_id=user.id)
        emails.send_to(locked, "password_changed_by_you")
        return sessions.rotate(session)
