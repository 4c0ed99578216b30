"""The texts of all mails. A new mail is one entry; the context of `render` fills its sentences."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Sentence = str | Promise


class EmailText:
    """The text of one mail: sentences before and after the code or link, each a paragraph."""

    def __init__(self, subject: Sentence, *before: Sentence, after: tuple[Sentence, ...] = ()) -> None:
        self.subject = subject
        self.before = before
        self.after = after


_TEN_MINUTES = _("The code is valid for 10 minutes and works once.")
_NOT_YOU = _("If this was not you, you do not need to do anything.")
_NEVER_SHARE = _("We will never ask you for this code.")
_UNDO_NOW = _("If this was not you, change your password immediately. This ends all other sessions.")


def _action_code(subject: Sentence, sentence: Sentence) -> EmailText:
    """The mail with the code that confirms an action of a user who is signed in."""
    stolen = _("If you did not ask for this, someone else is signed in to your account: change your password.")
    return EmailText(subject, sentence, after=(_TEN_MINUTES, _NEVER_SHARE, stolen))


# Each sentence stands on one line, however long it is.
# fmt: off
EMAIL_TEXTS: dict[str, EmailText] = {
    "signup_code": EmailText(
        _("Your confirmation code"),
        _("Welcome! Enter this code to confirm your e-mail address:"),
        after=(_TEN_MINUTES, _("If you did not sign up, you can ignore this mail.")),
    ),
    "already_registered": EmailText(
        _("You already have an account"),
        _("Someone, perhaps you, tried to sign up with this e-mail address. It already has an account."),
        _("Sign in with your password, or ask for a new one with “Forgot password”."),
        after=(_NOT_YOU,),
    ),
    "reset_code": EmailText(
        _("Your code for a new password"),
        _("Enter this code to choose a new password:"),
        after=(_TEN_MINUTES, _NEVER_SHARE, _NOT_YOU),
    ),
    "choose_password": EmailText(
        _("Please choose your password"),
        _("Your e-mail address is confirmed. Someone else had tried to sign up with it before, so the password set at that time no longer works."),
        _("Enter this code under “Forgot password” to choose a password of your own:"),
        after=(_TEN_MINUTES, _("When it has expired, ask for a new one with “Forgot password”.")),
    ),
    "password_changed": EmailText(
        _("Your password was changed"),
        _("The password of your account was changed, and all devices were signed out."),
        after=(_("If this was not you, set a new password immediately with “Forgot password”."),),
    ),
    "new_sign_in": EmailText(
        _("New sign-in to your account"),
        _("Your account was used to sign in from a new device or network."),
        _("Device: %(device)s"),
        _("Address: %(address)s"),
        _("Time: %(time)s (UTC)"),
        after=(_UNDO_NOW,),
    ),
    "locked": EmailText(
        _("Sign-in to your account is paused"),
        _("There were several wrong passwords in a row for your account, so signing in with a password is paused for a short while. Devices that are signed in stay signed in."),
        after=(_("If this was you, wait a moment, or choose a new password with “Forgot password”."), _NOT_YOU),
    ),
    "session_reuse": EmailText(
        _("One of your sessions was ended"),
        _("An old sign-in token of your account was used again, which can mean that it was copied. To be safe, we ended that session; please sign in again on that device."),
        _("Device: %(device)s"),
        after=(_("If you see sessions that you do not recognize, change your password."),),
    ),
    "two_step_code": EmailText(
        _("Your code for the second step"),
        _("Enter this code instead of your second password to finish signing in:"),
        after=(
            _TEN_MINUTES,
            _NEVER_SHARE,
            _("If you are not signing in right now, someone else knows your first password: change it."),
        ),
    ),
    "two_step_code_refused": EmailText(
        _("No code for the second step yet"),
        _("A code was requested instead of your second password. Your first password was set by e-mail less than 7 days ago, so we did not send one: anyone who can read your mail could otherwise pass both steps."),
        _("Use your second password or one of your recovery codes."),
        after=(_("If you are not signing in right now, choose a new first password."),),
    ),
    "wrong_second_password": EmailText(
        _("Wrong second passwords for your account"),
        _("Someone entered the right first password of your account, and then several wrong second passwords."),
        _("After 10 wrong second passwords in a day, only recovery codes and trusted devices are accepted until the next day."),
        after=(_("If this was not you, change your first password now: someone else knows it."),),
    ),
    "wrong_recovery_code": EmailText(
        _("Wrong recovery codes for your account"),
        _("Someone entered the right first password of your account, and then several wrong recovery codes."),
        after=(_("If this was not you, change your first password now: someone else knows it."),),
    ),
    "staff_code_wrong": EmailText(
        _("Wrong app codes for your account"),
        _("Someone entered the right password of your account at the support pages, and then several wrong codes of an authenticator app."),
        after=(_("If this was not you, change your first password now: someone else knows it."),),
    ),
    "many_wrong_codes": EmailText(
        _("Many wrong codes for your account"),
        _("Many wrong codes were entered for your account today. The next codes that we mail to you are longer."),
        after=(_NOT_YOU,),
    ),
    "recovery_code_used": EmailText(
        _("A recovery code was used"),
        _("One of your recovery codes was used to sign in. Codes left: %(left)s."),
        _("For 15 minutes, this session can set a new second password without the old one."),
        after=(_UNDO_NOW,),
    ),
    "two_step_enabled": EmailText(
        _("Two-step verification is on"),
        _("Your account now asks for a second password when you sign in."),
        _("Keep your recovery codes in a place that you can reach without this mailbox."),
        after=(_UNDO_NOW,),
    ),
    "two_step_changed": EmailText(
        _("Your second password was changed"),
        _("The second password of your account was changed. No device skips the second step any more."),
        after=(_UNDO_NOW,),
    ),
    "two_step_disabled": EmailText(
        _("Two-step verification is off"),
        _("Your account no longer asks for a second password. Your recovery codes no longer work."),
        after=(_UNDO_NOW,),
    ),
    "recovery_codes_replaced": EmailText(
        _("You have new recovery codes"),
        _("New recovery codes were created for your account. The old ones no longer work."),
        after=(_UNDO_NOW,),
    ),
    "password_changed_by_you": EmailText(
        _("Your password was changed"),
        _("The password of your account was changed. All other devices were signed out and are no longer trusted."),
        after=(_("If this was not you, set a new password immediately with “Forgot password”."),),
    ),
    "staff_factor_added": EmailText(
        _("An authenticator app was added for the support pages"),
        _("An authenticator app was added to your staff account. Together with your password, it gives access to the support pages."),
        _("Address: %(address)s"),
        after=(_("If this was not you, change your password immediately and tell an administrator: someone else knows your password."),),
    ),
    "staff_factor_removed": EmailText(
        _("The authenticator app for the support pages was removed"),
        _("An administrator removed the authenticator app and the recovery codes for the support pages from your account. At your next sign-in there, you set up a new app."),
        after=(_("If you did not ask for this, tell an administrator now."),),
    ),
    "change_email": EmailText(
        _("Confirm your new e-mail address"),
        _("Enter this code to make this the e-mail address of your account:"),
        after=(_TEN_MINUTES, _("If you did not ask for this, you can ignore this mail.")),
    ),
    "email_changed": EmailText(
        _("Your e-mail address was changed"),
        _("The e-mail address of your account is now %(address)s. Mails no longer go here."),
        _("If this was not you, undo the change within 7 days with this link:"),
        after=(_("Undoing the change signs out all devices."),),
    ),
    "email_change_undone": EmailText(
        _("The change of your e-mail address was undone"),
        _("The change of your e-mail address was undone, and all devices were signed out."),
        _("A password, second password or recovery codes set since the change, or on the day before it, no longer work."),
        after=(_("Choose a new password now, on the page that the link opened or with “Forgot password”."),),
    ),
    "email_change_was_undone": EmailText(
        _("This is no longer the address of your account"),
        _("The change of an account to this e-mail address was undone with the link sent to its previous address. All devices were signed out."),
        after=(_("If this is your account, contact support."),),
    ),
    "deletion_scheduled": EmailText(
        _("Your account will be deleted"),
        _("You asked us to delete your account. On %(date)s, everything in it will be permanently erased."),
        _("All devices were signed out. To keep your account, sign in before that day."),
        after=(_("If this was not you, sign in and change your password."),),
    ),
    "deletion_cancelled": EmailText(
        _("Your account will be kept"),
        _("You signed in, so your account will not be deleted."),
        after=(_("If this was not you, set a new password immediately with “Forgot password”."),),
    ),
    "action:change_password": _action_code(
        _("Code to change your password"),
        _("Enter this code to change the password of your account. All other devices will be signed out:"),
    ),
    "action:change_email": _action_code(
        _("Code to change your e-mail address"),
        _("Enter this code to replace the e-mail address of your account, which is now this one:"),
    ),
    "action:two_step_enable": _action_code(
        _("Code to turn on two-step verification"),
        _("Enter this code to turn on two-step verification. Your account will then ask for a second password when you sign in:"),
    ),
    "action:two_step_change": _action_code(
        _("Code to change your second password"),
        _("Enter this code to change the second password of your account:"),
    ),
    "action:two_step_disable": _action_code(
        _("Code to turn off two-step verification"),
        _("Enter this code to turn off two-step verification. Your account will then no longer ask for a second password when you sign in:"),
    ),
    "action:recovery_codes": _action_code(
        _("Code for new recovery codes"),
        _("Enter this code to create new recovery codes. Your old ones will stop working:"),
    ),
    "action:export_data": _action_code(
        _("Code to download your data"),
        _("Enter this code to download all the data we hold about you as one file:"),
    ),
    "action:delete_account": _action_code(
        _("Code to delete your account"),
        _("Enter this code to delete your account. You will be signed out everywhere, and after 14 days everything in it will be permanently erased:"),
    ),
}
# fmt: on
