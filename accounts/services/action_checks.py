"""Checks what an action will be asked with before its code is mailed, so that a refusal mails no code.

The action checks all of it again. A password is compared here under the counts of a sign-in, not of an action token.
"""

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from accounts.exceptions import AccountLocked, EmailTaken, InvalidCredentials
from accounts.models import Action, User
from accounts.selectors import address_is_taken
from accounts.services.registration import refuse_weak_password
from accounts.sign_in import second_password, second_step, stages


def check(
    *,
    user: User,
    network: str,
    action: Action,
    current_password: str | None = None,
    password: str | None = None,
    new_password: str | None = None,
    hint: str | None = None,
    email: str | None = None,
) -> None:
    """Refuses as the action would. Nothing is compared while the tries are used up."""
    if action == Action.CHANGE_EMAIL and email is not None:
        if address_is_taken(email, asked_by=user.id, confirmed=True):
            raise EmailTaken
    elif action == Action.CHANGE_PASSWORD:
        if new_password is not None:
            refuse_weak_password(new_password, user, field="new_password")
            if new_password == current_password:
                raise ValidationError({"new_password": [_("This is already your password.")]})
        if current_password is not None:
            _check_first(user, current_password, network)
    elif action == Action.TWO_STEP_ENABLE and not user.two_step_enabled and password is not None:
        second_password.check_strength(user, password, hint or "", field="password")
        _check_differs(user, password)
    elif action in (Action.TWO_STEP_CHANGE, Action.TWO_STEP_DISABLE) and user.two_step_enabled:
        if new_password is not None:
            second_password.check_strength(user, new_password, hint or "", field="new_password")
        if password is not None:
            second_step.guess(user=user, password=password)


def _check_first(user: User, password: str, network: str) -> None:
    """Counted as a sign-in in this network. InvalidCredentials."""
    try:
        stages.check_password(email=user.email, password=password, network=network)
    except InvalidCredentials:
        raise InvalidCredentials(_("The current password is wrong.")) from None
    except AccountLocked:
        # Who is signed in may act in spite of a lockout; the action token has tries of its own.
        return


def _check_differs(user: User, password: str) -> None:
    """Each comparison is a guess at the first password, counted as those at the second one are."""
    try:
        second_step.count_guess(user)
    except AccountLocked:
        return
    second_password.check_differs_from_first(user, password, field="password")
