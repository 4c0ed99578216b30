"""The actions of staff on accounts, in the list of users and on the page of a user."""

from collections.abc import Callable
from typing import Any, cast

from django import forms
from django.contrib.admin.utils import display_for_field
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.services import account_status as staff
from accounts.services import export
from accounts.sign_in import second_step
from accounts.staff.actions import DOWNLOAD_LABELS, ConfirmedAction, NoChange, NoForm, Perform, ReasonForm, download
from core.api.renderers import archive

EXPORTED = ("id", "email", "username", "first_name", "last_name", "language", "created_at", "last_seen_at")


class BlockForm(ReasonForm):
    until = forms.DateTimeField(
        label=_("Until"),
        required=False,
        help_text=_("Leave blank to block indefinitely. Times are in UTC."),
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
    )

    def clean_until(self) -> Any:
        until = self.cleaned_data["until"]
        if until is not None and until <= timezone.now():
            raise forms.ValidationError(_("This time is in the past."))
        return until


def _is_not_erased(user: User) -> bool:
    return user.erased_at is None


def may_change(user: User, by: User) -> bool:
    """Whether this staff member may change the status of an account."""
    return staff.refusal_of(user, by) is None


def _has_wrong_passwords(user: User) -> bool:
    """Whether there are wrong first or second passwords to forget."""
    return bool(user.wrong_passwords or second_step.wrong_guesses_today(user) or user.network_locks.all())


def _block_of(user: User) -> str:
    if not user.is_blocked(timezone.now()):
        return ""
    fields = [field for field in User._meta.fields if field.name.startswith("blocked_")]
    return ", ".join(
        f"{field.verbose_name}: {display_for_field(getattr(user, field.name), field, '–')}" for field in fields
    )


def _by(service: Callable[..., object]) -> Perform:
    """Calls a service with the account, the staff member and the values of the form."""
    return lambda by, user, data: service(user=user, actor=by, **data)


def _resend(by: User, user: User, data: dict[str, Any]) -> None:
    if user.is_blocked(timezone.now()):
        raise NoChange(_("Blocked accounts cannot receive codes."))
    if not staff.send_code_again(user=user, actor=by):
        raise NoChange(_("The address is already confirmed; no code was sent."))


# Any, because a FileResponse is not an HttpResponse.
def _archive(_page: Any, request: HttpRequest, users: list[User], _data: dict[str, Any]) -> Any:
    (user,) = users
    file = export.archive(user_id=user.id, reader=cast(User, request.user))
    return archive(file, filename=export.file_name(user.username))


def _download(kind: str) -> Any:
    """An action of the list only, without a button on the page of a user."""
    return ConfirmedAction(
        label=DOWNLOAD_LABELS[kind],
        permission="accounts.export_user",
        consequences=[
            _("You download a file with the names and addresses of these users."),
            _("Your name and the reason are kept in the audit log, for each user."),
        ],
        perform=_by(staff.record_export),
        on_success=lambda page, request, users, data: download(
            page, ({name: getattr(user, name) for name in EXPORTED} for user in users), EXPORTED, kind
        ),
        is_offered=lambda user: False,
    )


class UserActions:
    block = ConfirmedAction(
        label=_("Block"),
        permission="accounts.block_user",
        form_class=BlockForm,
        consequences=[
            _("All sessions end immediately, on phones and in browsers."),
            _("Sign-in attempts are refused with a notice that the account is blocked."),
            _("The account gets no pushes. Messages to it are still accepted and wait until the block ends."),
            _("The reason is kept in the audit log."),
        ],
        perform=_by(staff.block),
        is_allowed=may_change,
        is_dangerous=True,
        state_of=_block_of,
        label_of=lambda user: _("Change the block") if user.is_blocked(timezone.now()) else None,
    )
    unblock = ConfirmedAction(
        label=_("Unblock"),
        permission="accounts.block_user",
        consequences=[_("The user can sign in again. Sessions that ended stay ended.")],
        perform=_by(staff.unblock),
        is_allowed=may_change,
        is_offered=lambda user: user.blocked_at is not None,
        refusal=_("This account is not blocked."),
    )
    unlock = ConfirmedAction(
        label=_("Unlock"),
        permission="accounts.unlock_user",
        consequences=[_("The count of wrong passwords is reset; the user can sign in at once.")],
        perform=_by(staff.unlock),
        is_allowed=may_change,
        is_offered=_has_wrong_passwords,
    )
    resend_code = ConfirmedAction(
        label=_("Send the confirmation code again"),
        permission="accounts.unlock_user",
        form_class=NoForm,
        consequences=[_("A new code is sent by e-mail; the previous one stops working.")],
        perform=_resend,
        is_offered=lambda user: not user.has_verified_email and _is_not_erased(user),
    )
    sign_out = ConfirmedAction(
        label=_("Sign out everywhere"),
        permission="accounts.sign_out_user",
        consequences=[_("All sessions end, and no device is trusted any longer."), _("Pushes stop.")],
        perform=_by(staff.sign_out_everywhere),
        is_allowed=may_change,
        is_dangerous=True,
    )
    reset_two_step = ConfirmedAction(
        label=_("Turn off two-step verification"),
        permission="accounts.reset_two_step",
        consequences=[_("The second password and the recovery codes are removed."), _("The user is notified by mail.")],
        perform=_by(staff.reset_two_step),
        is_allowed=may_change,
        is_dangerous=True,
        is_offered=lambda user: user.two_step_enabled,
        refusal=_("Two-step verification is off for this account."),
    )
    export = ConfirmedAction(
        label=_("Export all data"),
        permission="accounts.export_user",
        max_rows=1,
        consequences=[
            _("You download the archive that the user can download themselves."),
            _("Messages are in it only if you may reveal them."),
            _("Your name and the reason are kept in the audit log."),
        ],
        perform=_by(staff.record_export),
        on_success=_archive,
        is_offered=_is_not_erased,
        refusal=_("This account has already been erased."),
    )
    erase = ConfirmedAction(
        label=_("Erase"),
        permission="accounts.erase_user",
        consequences=[_("The account and everything personal is erased now. This cannot be undone.")],
        perform=_by(staff.erase),
        is_allowed=may_change,
        is_dangerous=True,
    )
    download_csv = _download("csv")
    download_json = _download("json")
    actions = (
        "block", "unblock", "unlock", "resend_code", "sign_out", "reset_two_step", "export", "erase", "download_csv",
        "download_json",
    )  # fmt: skip
