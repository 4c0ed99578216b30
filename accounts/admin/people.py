"""Users in the admin: staff search by what a user says on the phone; confirmed actions make changes."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.admin.filters import AccountStatusFilter, TwoStepFilter
from accounts.models import Block, User
from accounts.services import account_status as staff
from accounts.services import audit, recovery_codes
from accounts.staff.actions import NoChange, NoForm, ReasonForm, confirmed_action
from accounts.staff.downloads import confirmed_download
from accounts.staff.lists import AuditedAdmin, ReasonModelForm, StaffAdmin
from accounts.staff.lookups import MAX_SEARCH
from core.fields import parse_id
from core.text import fold

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
            raise forms.ValidationError(_("This is in the past."))
        return until


def _block(by: User, user: User, data: dict[str, Any]) -> None:
    staff.block(user=user, reason=data["reason"], until=data["until"], actor=by)


def _unblock(by: User, user: User, data: dict[str, Any]) -> None:
    if user.blocked_at is None:
        raise NoChange(_("This account is not blocked."))
    staff.unblock(user=user, reason=data["reason"], actor=by)


def _unlock(by: User, user: User, data: dict[str, Any]) -> None:
    staff.unlock(user=user, reason=data["reason"], actor=by)


def _resend(by: User, user: User, data: dict[str, Any]) -> None:
    if user.is_verified:
        raise NoChange(_("The address is confirmed already; no code was sent."))
    if user.is_blocked(timezone.now()):
        raise NoChange(_("A blocked account gets no code."))
    staff.send_code_again(user=user, actor=by)


def _sign_out(by: User, user: User, data: dict[str, Any]) -> None:
    staff.sign_out_everywhere(user=user, reason=data["reason"], actor=by)


def _reset_two_step(by: User, user: User, data: dict[str, Any]) -> None:
    if not user.two_step_enabled:
        raise NoChange(_("Two-step is off for this account."))
    staff.reset_two_step(user=user, reason=data["reason"], actor=by)


def _erase(by: User, user: User, data: dict[str, Any]) -> None:
    if user.erased_at is not None:
        raise NoChange(_("This account has been erased already."))
    staff.erase(user=user, reason=data["reason"], actor=by)


def _exported(by: User, user: User, data: dict[str, Any]) -> None:
    audit.record(action="user.exported", actor=by, target=user, reason=data["reason"])


def _download(kind: str) -> Any:
    return confirmed_download(
        kind=kind,
        columns=EXPORTED,
        permission="accounts.export_user",
        consequences=lambda chosen: [
            _("You download a file with the names and addresses of these users."),
            _("Your name and the reason are kept in the audit log, for each user."),
        ],
        perform=_exported,
    )


@admin.register(User)
class UserAdmin(AuditedAdmin):
    form = ReasonModelForm
    list_display = (
        "id",
        "email",
        "username",
        "name",
        "standing",
        "two_step",
        "language",
        "created_at",
        "last_seen_at",
    )
    list_display_links = ("id", "email")
    list_filter = (AccountStatusFilter, TwoStepFilter, "is_staff", "language", "created_at", "last_seen_at")
    ordering = ("-id",)
    search_fields = ("email", "username", "first_name")  # shows the box; the search is our own
    search_help_text = _("Id, e-mail address, or the beginning of a username or name")
    fieldsets = (
        (None, {"fields": ("id", "email", "username", "first_name", "last_name", "bio", "language")}),
        (
            _("Standing"),
            {
                "fields": (
                    "standing",
                    "email_verified_at",
                    "blocked_at",
                    "blocked_until",
                    "blocked_reason",
                    "wrong_passwords",
                    "locked_until",
                    "erase_after",
                )
            },
        ),
        (_("Second step"), {"fields": ("two_step", "second_password_changed_at", "recovery_codes_left")}),
        (_("Privacy"), {"fields": ("who_can_message", "read_receipts", "show_last_seen", "relay_calls")}),
        (_("Times"), {"fields": ("created_at", "last_seen_at", "username_changed_at", "password_reset_at")}),
        (_("Staff"), {"fields": ("is_staff", "is_superuser", "groups")}),
    )
    staff_fields = ("is_staff", "is_superuser", "groups")

    block = confirmed_action(
        name="block",
        label=_("Block"),
        permission="accounts.block_user",
        form_class=BlockForm,
        consequences=lambda chosen: [
            _("Every session ends at once, on phones and in browsers."),
            _("Signing in answers that the account is blocked."),
            _("No push and no message reaches the account."),
            _("The reason is kept in the audit log."),
        ],
        perform=_block,
    )
    unblock = confirmed_action(
        name="unblock",
        label=_("Unblock"),
        permission="accounts.block_user",
        consequences=lambda chosen: [_("The user can sign in again. Sessions that ended stay ended.")],
        perform=_unblock,
    )
    unlock = confirmed_action(
        name="unlock",
        label=_("Unlock"),
        permission="accounts.unlock_user",
        consequences=lambda chosen: [_("The count of wrong passwords is reset; the user can sign in at once.")],
        perform=_unlock,
    )
    resend_code = confirmed_action(
        name="resend_code",
        label=_("Send the confirmation code again"),
        permission="accounts.unlock_user",
        form_class=NoForm,
        consequences=lambda chosen: [_("A new code is mailed; the one before stops working.")],
        perform=_resend,
    )
    sign_out = confirmed_action(
        name="sign_out",
        label=_("Sign out everywhere"),
        permission="accounts.sign_out_user",
        consequences=lambda chosen: [_("Every session and every trusted device ends."), _("Pushes stop.")],
        perform=_sign_out,
    )
    reset_two_step = confirmed_action(
        name="reset_two_step",
        label=_("Switch two-step off"),
        permission="accounts.reset_two_step",
        consequences=lambda chosen: [
            _("The second password and the recovery codes are removed."),
            _("The user is notified by mail."),
        ],
        perform=_reset_two_step,
    )
    erase = confirmed_action(
        name="erase",
        label=_("Erase"),
        permission="accounts.erase_user",
        consequences=lambda chosen: [
            _("The account and everything personal is erased now. This cannot be undone."),
        ],
        perform=_erase,
    )
    download_csv = _download("csv")
    download_json = _download("json")
    actions = (
        "block",
        "unblock",
        "unlock",
        "resend_code",
        "sign_out",
        "reset_two_step",
        "erase",
        "download_csv",
        "download_json",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).prefetch_related("network_locks")

    @admin.display(description=_("name"))
    def name(self, user: User) -> str:
        return user.display_name

    @admin.display(description=_("standing"))
    def standing(self, user: User) -> str:
        now = timezone.now()
        words = []
        if user.is_blocked(now):
            words.append(_("blocked"))
        ends = [user.locked_until, *(lock.locked_until for lock in user.network_locks.all())]
        if any(end is not None and end > now for end in ends):
            words.append(_("locked"))
        if not user.is_verified:
            words.append(_("not confirmed"))
        if user.erase_after:
            words.append(_("to be erased"))
        return ", ".join(str(word) for word in words) or str(_("in order"))

    @admin.display(description=_("two-step"), boolean=True)
    def two_step(self, user: User) -> bool:
        return user.two_step_enabled

    @admin.display(description=_("recovery codes left"))
    def recovery_codes_left(self, user: User) -> int:
        return recovery_codes.left(user=user)

    def get_search_results(self, request: HttpRequest, queryset: QuerySet, search_term: str) -> tuple[QuerySet, bool]:
        """Prefixes that indexes answer; never `%word%` over a million rows."""
        term = search_term.strip()[:MAX_SEARCH]
        if not term:
            return queryset, False
        folded = fold(term)
        found = Q(username_folded__startswith=folded) | Q(first_name_folded__startswith=folded)
        found |= Q(last_name_folded__startswith=folded) | Q(email__startswith=term.lower())
        if (user_id := parse_id(term)) is not None:
            found |= Q(id=user_id)
        return queryset.filter(found), False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # Only the staff flag and groups, and only by a superuser; every other change of a user is an action.
        return bool(request.user.is_superuser)  # type: ignore[union-attr]

    def audit_label(self, row: Any) -> str:
        return str(row.email)

    def worth_keeping(self, row: Any) -> dict[str, Any]:
        groups = sorted(row.groups.values_list("name", flat=True))
        return {"is_staff": row.is_staff, "is_superuser": row.is_superuser, "groups": groups}

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if not self.has_change_permission(request, obj):
            return self.fieldsets
        *others, (title, staff) = self.fieldsets  # type: ignore[misc]
        return [*others, (title, {"fields": (*staff["fields"], "reason")})]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        shown = [name for _title, part in self.fieldsets for name in part["fields"]]  # type: ignore[index]
        return [name for name in shown if name not in self.staff_fields]


@admin.register(Block)
class BlockAdmin(StaffAdmin):
    """The blocks between users."""

    list_display = ("id", "blocker", "blocked", "created_at")
    list_select_related = ("blocker", "blocked")
    ordering = ("-id",)
