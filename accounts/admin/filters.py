"""Filters of the user list."""

from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.services.login_lockout import is_locked


class AccountStatusFilter(SimpleListFilter):
    title = _("standing")
    parameter_name = "standing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("verified", _("confirmed")),
            ("unverified", _("not confirmed")),
            ("blocked", _("blocked")),
            ("locked", _("locked")),
            ("leaving", _("to be erased")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        now = timezone.now()
        still_blocked = Q(blocked_until=None) | Q(blocked_until__gt=now)
        chosen = {
            "verified": Q(email_verified_at__isnull=False),
            "unverified": Q(email_verified_at=None),
            "blocked": Q(blocked_at__isnull=False) & still_blocked,
            "locked": is_locked(now),
            "leaving": Q(erase_after__isnull=False),
        }.get(self.value() or "")
        return queryset.filter(chosen) if chosen is not None else queryset


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
        return [("live", _("live")), ("ended", _("ended"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        if self.value() == "live":
            return queryset.filter(ended_at=None, token_expires_at__gt=timezone.now())
        if self.value() == "ended":
            return queryset.filter(ended_at__isnull=False)
        return queryset
