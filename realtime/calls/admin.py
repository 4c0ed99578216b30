"""Calls in the admin: participants, times and outcome. Media and addresses are never stored."""

from types import MappingProxyType

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from accounts.services.audit import name_actions
from accounts.staff.lists import StaffAdmin
from accounts.staff.overview import Chart, Figure, Task, today
from realtime.calls.models import Call

name_actions({"log.new_epoch": _("New epoch of the event log")})


@admin.register(Call)
class CallAdmin(StaffAdmin):
    task = Task.CALLS
    figures = (
        Figure(
            _("Calls today"),
            lambda: Call.objects.filter(**today("created_at")),
            lambda: today("created_at"),
        ),
    )
    chart = Chart(
        "calls",
        _("Calls by outcome"),
        # A call that is not over yet has no outcome.
        lambda start: Call.objects.exclude(outcome=""),
        by="outcome",
        labels={outcome: outcome.label for outcome in Call.Outcome},
    )
    list_display = ("id", "caller", "callee", "media", "state", "outcome", "created_at", "duration_s")
    list_select_related = ("caller", "callee")
    links = MappingProxyType({"conversation_id": ("messaging.Conversation", "conversation_id")})
    list_filter = ("state", "outcome", "media", "created_at")
    search_fields = ("=id", "=caller__email", "=callee__email", "=caller__id", "=callee__id")
    fields = (
        "id", "conversation_id", "caller", "callee", "media", "state", "outcome", "created_at", "answered_at",
        "ended_at", "duration_s",
    )  # fmt: skip

    @admin.display(description=_("seconds"))
    def duration_s(self, call: Call) -> int | None:
        return call.duration_s
