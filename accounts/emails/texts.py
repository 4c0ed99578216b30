"""What each mail says. A new mail is one entry; its sentences are filled from the context of `send`."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Sentence = str | Promise


@dataclass(frozen=True, slots=True)
class Letter:
    """Sentences before and after the code (or link), each its own paragraph."""

    subject: Sentence
    before: tuple[Sentence, ...]
    after: tuple[Sentence, ...] = ()


_TEN_MINUTES = _("The code is valid for 10 minutes and works once.")
_NOT_YOU = _("If this was not you, you need not do anything.")
_NEVER_SHARE = _("Nobody from our side will ever ask you for this code.")

LETTERS: dict[str, Letter] = {
    "signup_code": Letter(
        _("Your confirmation code"),
        (_("Welcome! Enter this code to confirm your e-mail address:"),),
        (_TEN_MINUTES, _("If you did not sign up, you can ignore this mail.")),
    ),
    "already_registered": Letter(
        _("You already have an account"),
        (
            _("Somebody, perhaps you, tried to sign up with this e-mail address. It already has an account."),
            _("Sign in with your password, or ask for a new one with “Forgot password”."),
        ),
        (_NOT_YOU,),
    ),
    "reset_code": Letter(
        _("Your code for a new password"),
        (_("Enter this code to choose a new password:"),),
        (_TEN_MINUTES, _NEVER_SHARE, _NOT_YOU),
    ),
    "choose_password": Letter(
        _("Please choose your password"),
        (
            _(
                "Your e-mail address is confirmed. Somebody else had tried to sign up with it before, so the password that was set then has been switched off."
            ),
            _("Enter this code under “Forgot password” to choose a password of your own:"),
        ),
        (_TEN_MINUTES, _("When it has expired, ask for a new one with “Forgot password”.")),
    ),
    "password_changed": Letter(
        _("Your password was changed"),
        (_("The password of your account was changed, and all devices were signed out."),),
        (_("If this was not you, ask for a new password at once with “Forgot password”."),),
    ),
    "new_sign_in": Letter(
        _("New sign-in to your account"),
        (
            _("Your account was used to sign in from a new device or network."),
            _("Device: %(device)s"),
            _("Address: %(address)s"),
            _("Time: %(time)s (UTC)"),
        ),
        (_("If this was not you, change your password at once: that ends every other sign-in."),),
    ),
    "locked": Letter(
        _("Sign-in to your account is paused"),
        (
            _(
                "There were several wrong passwords in a row for your account, so signing in with a password is paused for a short while. Devices that are signed in stay signed in."
            ),
        ),
        (_("If this was you, wait a moment, or choose a new password with “Forgot password”."), _NOT_YOU),
    ),
    "session_reuse": Letter(
        _("A sign-in of yours was ended"),
        (
            _(
                "An old sign-in token of your account was used again, as happens when a token was copied. To be safe, that sign-in was ended; please sign in again on that device."
            ),
            _("Device: %(device)s"),
        ),
        (_("If you see sign-ins that you do not know, change your password."),),
    ),
}
