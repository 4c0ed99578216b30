"""Sign-ins, trusted devices and the status of codes in the admin; never a token, never a code."""

from typing import Any

from django.contrib import admin
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.admin_site.actions import ConfirmedAction, NoChange
from accounts.admin_site.lists import ChoiceFilter, KnownValuesFilter, StaffAdmin
from accounts.admin_site.overview import Panel, Task
from accounts.models import Code, Session, TrustedDevice, User
from accounts.services import account_status, step_up
from core.exceptions import NotFound


class LiveFilter(ChoiceFilter):
    title = _("state")
    parameter_name = "state"
    options = (
        ("live", _("active"), lambda sessions: sessions.signed_in()),
        ("ended", _("ended"), lambda sessions: sessions.filter(ended_at__isnull=False)),
    )


def _end(by: User, session: Session, data: dict[str, Any]) -> None:
    try:
        account_status.end_session(session=session, reason=data["reason"], actor=by)
    except NotFound as error:
        raise NoChange(_("This session has already ended.")) from error


def _may_change_owner(row: Session | TrustedDevice, by: User) -> bool:
    return account_status.refusal_of(row.user, by) is None


@admin.register(Session)
class SessionAdmin(StaffAdmin):
    task = Task.PEOPLE
    list_display = ("id", "user", "kind", "device_name", "ip", "created_at", "last_used_at", "ended_at", "ended_reason")
    list_select_related = ("user",)
    panel = Panel(
        lambda user: Session.objects.filter(user=user).order_by("-last_used_at"),
        columns=("id", "kind", "device_name", "ip", "created_at", "last_used_at", "ended_at", "ended_reason"),
        position=1,
    )
    list_filter = (LiveFilter, "kind", "created_at")
    search_fields = ("=user__id", "=user__email", "=ip")
    fields = (
        "id", "user", "kind", "device_name", "ip", "user_agent", "created_at", "last_used_at", "token_expires_at",
        "expires_at", "ended_at", "ended_reason",
    )  # fmt: skip
    end = ConfirmedAction(
        label=_("End these sessions"),
        permission="accounts.sign_out_user",
        consequences=[_("The token stops working, sockets close, pushes to this device stop.")],
        perform=_end,
        is_allowed=_may_change_owner,
        is_offered=lambda session: session.ended_at is None,
    )
    actions = ("end",)


@admin.register(TrustedDevice)
class TrustedDeviceAdmin(StaffAdmin):
    task = Task.PEOPLE
    list_display = ("id", "user", "device_name", "created_at", "last_used_at", "expires_at")
    list_select_related = ("user",)
    search_fields = ("=user__id", "=user__email")
    fields = ("id", "user", "device_name", "created_at", "last_used_at", "expires_at")
    panel = Panel(
        lambda user: TrustedDevice.objects.filter(user=user).order_by("-id"),
        columns=("id", "device_name", "created_at", "last_used_at", "expires_at"),
        position=2,
    )
    forget = ConfirmedAction(
        label=_("Stop trusting these devices"),
        permission="accounts.sign_out_user",
        consequences=[
            _("The next sign-in there asks for the second password again."),
            _("Sessions that skipped the second step on these devices end."),
        ],
        perform=lambda by, device, data: account_status.remove_device(device=device, actor=by, **data),
        is_allowed=_may_change_owner,
    )
    actions = ("forget",)


class PurposeFilter(KnownValuesFilter):
    @staticmethod
    def known() -> dict[str, str]:
        actions = map(step_up.purpose_of, step_up.Action)
        return {purpose: purpose for purpose in sorted([*map(str, Code.Purpose), *actions])}


@admin.register(Code)
class CodeAdmin(StaffAdmin):
    """The status of codes (sent, used, expired). The codes themselves are never shown."""

    task = Task.PEOPLE
    list_display = ("id", "user", "purpose", "address", "status", "tries", "created_at", "expires_at")
    list_select_related = ("user",)
    list_filter = (("purpose", PurposeFilter),)
    search_fields = ("=user__id", "=user__email", "=address")
    ordering = ("-created_at",)
    fields = ("id", "user", "purpose", "address", "status", "tries", "created_at", "expires_at", "used_at")

    @admin.display(description=_("status"))
    def status(self, code: Code) -> str:
        if code.used_at:
            return str(_("used"))
        return str(_("expired") if code.expires_at <= timezone.now() else _("pending"))
