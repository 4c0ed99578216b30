"""Users in the admin: the list with its search, the page of a user with its panels, blocks between users, their sign-ins,
trusted devices and codes (never a token, never a code). Confirmed actions make changes.
"""

from typing import Any, cast

from django.conf import settings
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import Block, Code, Session, TrustedDevice, User
from accounts.selectors import has_address, name_matches
from accounts.services import account_status, storage_quota
from accounts.sign_in import action_tokens, second_step
from accounts.sign_in.lockout import is_locked, locked_until
from accounts.staff import overview
from accounts.staff.actions import ConfirmedAction, NoChange
from accounts.staff.lists import AuditedAdmin, ChoiceFilter, KnownValuesFilter, ReasonModelForm, StaffAdmin
from accounts.staff.lookups import MAX_SEARCH
from accounts.staff.overview import Chart, Figure, Panel, Task
from accounts.staff.user_actions import UserActions, may_change
from core.addresses import typed_address
from core.api.exceptions import NotFound
from core.characters import is_invisible
from core.ids import parse_id


def _of_limit(size: int, limit: int) -> str:
    texts = {"size": filesizeformat(size), "limit": filesizeformat(limit)}
    return str(_("%(size)s of %(limit)s") % texts)


def _without_a_word(users: Any) -> QuerySet[User]:
    """Users whom the list calls active."""
    now = timezone.now()
    confirmed = users.verified().active(now).not_erased().filter(erase_after=None)
    return cast(QuerySet[User], confirmed.exclude(is_locked(now)))


class AccountStatusFilter(ChoiceFilter):
    title = _("status")
    parameter_name = "status"
    options = (
        ("active", _("active"), _without_a_word),
        ("verified", _("confirmed"), lambda users: users.verified()),
        ("unverified", _("not confirmed"), lambda users: users.unverified().not_erased()),
        ("blocked", _("blocked"), lambda users: users.blocked()),
        ("locked", _("locked"), lambda users: users.filter(is_locked(timezone.now()))),
        ("leaving", _("to be erased"), lambda users: users.filter(erase_after__isnull=False)),
        ("erased", _("erased"), lambda users: users.exclude(erased_at=None)),
    )


class TwoStepFilter(ChoiceFilter):
    title = _("two-step")
    parameter_name = "two_step"
    options = (
        ("on", _("on"), lambda users: users.exclude(second_password="")),
        ("off", _("off"), lambda users: users.filter(second_password="")),
    )


class LanguageFilter(KnownValuesFilter):
    known = staticmethod(lambda: dict(settings.LANGUAGES))


@admin.register(User)
class UserAdmin(UserActions, AuditedAdmin):
    task = Task.PEOPLE
    leads_task = True
    figures = (
        Figure(
            _("New accounts today"),
            lambda: User.objects.filter(**overview.today("created_at")),
            lambda: overview.today("created_at"),
        ),
        Figure(
            _("Currently locked"),
            lambda: User.objects.filter(is_locked(timezone.now())),
            lambda: {"status": "locked"},
        ),
        Figure(_("Blocked"), lambda: User.objects.blocked(), lambda: {"status": "blocked"}),
    )
    chart = Chart("sign-ups", _("Sign-ups"), lambda start: User.objects.all())
    form = ReasonModelForm
    list_display = (
        "id", "email", "name", "status", "two_step", "last_seen_at", "created_at", "username", "language",
    )  # fmt: skip
    list_display_links = ("id", "email")
    list_filter = (
        AccountStatusFilter, TwoStepFilter, "is_staff", ("language", LanguageFilter), "created_at", "last_seen_at",
    )  # fmt: skip
    search_fields = ("email", "username", "first_name")  # shows the box; the search is our own
    search_help_text = _("Id, e-mail address, or the beginning of a username or name")  # type: ignore[assignment]
    fieldsets = (
        (None, {"fields": ("id", "email", "username", "first_name", "last_name", "bio", "language")}),
        (_("Status"), {"fields": (
            "status", "email_verified_at", "blocked_at", "blocked_until", "blocked_reason", "wrong_passwords",
            "locked_until", "erase_after", "erased_at",
        )}),
        (_("Second step"), {"fields": (
            "two_step", "second_password_changed_at", "wrong_second_passwords_today", "recovery_codes_left",
        )}),
        (_("Privacy"), {"fields": ("who_can_message", "read_receipts", "show_last_seen", "relay_calls")}),
        (_("Storage"), {"fields": ("stored", "stored_today")}),
        (_("Times"), {"fields": ("created_at", "last_seen_at", "username_changed_at", "password_reset_at")}),
        (_("Staff"), {"fields": ("is_staff", "is_superuser", "groups")}),
    )  # fmt: skip
    # At the top of the page; all fields stand below the panels.
    shown_first = ("email", "name", "status", "two_step", "created_at", "last_seen_at", "blocked_reason")
    staff_fields = ("is_staff", "is_superuser", "groups")

    change_form_template = "admin/accounts/user/change_form.html"

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any) -> Any:
        if context["original"] is not None:
            context["facts"] = overview.facts(context["original"], self, self.shown_first, request)
            context["panels"] = overview.panels(context["original"], self.admin_site, request)
        return super().render_change_form(request, context, *args, **options)

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).prefetch_related("network_locks")

    @admin.display(description=_("name"))
    def name(self, user: User) -> str:
        return user.display_name

    @admin.display(description=_("status"))
    def status(self, user: User) -> str:
        if user.erased_at:
            return str(_("erased"))
        now = timezone.now()
        words = (
            (_("blocked"), user.is_blocked(now)),
            (_("locked"), locked_until(user, now)),
            (_("not confirmed"), not user.has_verified_email),
            (_("to be erased"), user.erase_after),
        )
        return ", ".join(str(word) for word, applies in words if applies) or str(_("active"))

    @admin.display(description=_("two-step"), boolean=True)
    def two_step(self, user: User) -> bool:
        return user.two_step_enabled

    @admin.display(description=_("wrong second passwords today"))
    def wrong_second_passwords_today(self, user: User) -> int:
        return second_step.wrong_guesses_today(user)

    @admin.display(description=_("recovery codes left"))
    def recovery_codes_left(self, user: User) -> int:
        return user.recovery_codes.unused().count()

    @admin.display(description=_("stored images"))
    def stored(self, user: User) -> str:
        return _of_limit(storage_quota.use_of(user.id)[0], storage_quota.limits()[0])

    @admin.display(description=_("stored today"))
    def stored_today(self, user: User) -> str:
        return _of_limit(storage_quota.use_of(user.id)[1], storage_quota.limits()[1])

    def get_search_results(self, request: HttpRequest, queryset: QuerySet, search_term: str) -> tuple[QuerySet, bool]:
        """Prefixes that indexes answer; never `%word%` over a million rows."""
        term = search_term.strip()[:MAX_SEARCH]
        if is_invisible(term):
            return queryset, False
        matching = Q(email__startswith=typed_address(term)) | has_address(term)
        for name, _order in name_matches(term):
            matching |= name
        if (user_id := parse_id(term)) is not None:
            matching |= Q(id=user_id)
        return queryset.filter(matching), False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # Only the staff flag and groups; every other change of a user is an action.
        by = cast(User, request.user)
        return by.is_superuser and (obj is None or account_status.may_change_rights(user=obj, actor=by))

    def audit_label(self, row: Any) -> str:
        return str(row.email)

    def audit_details(self, row: Any) -> dict[str, Any]:
        groups = sorted(row.groups.values_list("name", flat=True))
        return {"is_staff": row.is_staff, "is_superuser": row.is_superuser, "groups": groups}

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        shown = [name for _title, part in self.fieldsets for name in part["fields"]]
        return [name for name in shown if name not in self.staff_fields]


@admin.register(Block)
class BlockAdmin(StaffAdmin):
    task = Task.PEOPLE
    search_fields = ("=blocker__id", "=blocker__email", "=blocked__id", "=blocked__email")
    list_display = ("id", "blocker", "blocked", "created_at")
    list_select_related = ("blocker", "blocked")
    panel = Panel(
        lambda user: Block.objects.filter(Q(blocker=user) | Q(blocked=user)).order_by("-id"),
        columns=list_display,
        position=3,
    )


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
        is_allowed=lambda row, by: may_change(row.user, by),
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
        is_allowed=lambda row, by: may_change(row.user, by),
    )
    actions = ("forget",)


class PurposeFilter(KnownValuesFilter):
    @staticmethod
    def known() -> dict[str, str]:
        actions = map(action_tokens.purpose_of, action_tokens.Action)
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
