"""Filters of the user list."""

from collections.abc import Callable
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.services.login_lockout import is_locked


class AccountStatusFilter(SimpleListFilter):
    title = _("status")
    parameter_name = "standing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("verified", _("confirmed")),
            ("unverified", _("not confirmed")),
            ("blocked", _("blocked")),
            ("locked", _("locked")),
            ("leaving", _("to be erased")),
        ]

    def queryset(self, request: HttpRequest, queryset: Any) -> QuerySet:
        chosen: dict[str | None, Callable[[], QuerySet]] = {
            "verified": queryset.verified,
            "unverified": queryset.unverified,
            "blocked": queryset.blocked,
            "locked": lambda: queryset.filter(is_locked(timezone.now())),
            "leaving": lambda: queryset.filter(erase_after__isnull=False),
        }
        return chosen.get(self.value(), queryset.all)()


class TwoStepFilter(SimpleListFilter):
    title = _("two-step")
    parameter_name = "two_step"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("on", _("on")), ("off", _("off"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        if self.value() == "on":
            return queryset.exclude(second_password="")
        if self.value() == "off":
            return queryset.filter(second_password="")
        return queryset


class LiveFilter(SimpleListFilter):
    """Filters sessions by whether they are still valid."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("live", _("active")), ("ended", _("ended"))]

    def queryset(self, request: HttpRequest, queryset: Any) -> QuerySet:
        if self.value() == "live":
            return queryset.signed_in()
        if self.value() == "ended":
            return queryset.filter(ended_at__isnull=False)
        return queryset
