"""The audit log in the admin: read-only for staff with the view permission."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from accounts.models import AuditEntry
from accounts.services import audit
from accounts.staff import tasks
from accounts.staff.downloads import download_action
from accounts.staff.lists import StaffAdmin

COLUMNS = (
    "id", "created_at", "actor_label", "action", "target_label", "reason", "details", "request_id", "ip",
)  # fmt: skip


class ActionFilter(admin.AllValuesFieldListFilter):
    def choices(self, changelist: Any) -> Iterator[Any]:
        for choice in super().choices(changelist):
            yield {**choice, "display": audit.name_of(str(choice["display"]))}


@admin.register(AuditEntry)
class AuditEntryAdmin(StaffAdmin):
    task = tasks.RECORDS
    list_display = ("created_at", "action_name", "target_label", "reason", "actor_label", "ip", "request_id", "id")
    list_filter = (("action", ActionFilter), "created_at")
    search_fields = ("=actor_label", "=target_label", "=request_id")
    fields = ("action_name", *COLUMNS, "actor", "target")
    download_csv = download_action(kind="csv", columns=COLUMNS, permission="accounts.view_auditentry")
    download_json = download_action(kind="json", columns=COLUMNS, permission="accounts.view_auditentry")
    actions = ("download_csv", "download_json")

    @admin.display(description=_("action"), ordering="action")
    def action_name(self, entry: AuditEntry) -> str:
        return format_html('<span title="{}">{}</span>', entry.action, audit.name_of(entry.action))
