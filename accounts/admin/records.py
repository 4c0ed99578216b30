"""The audit log in the admin: read-only for staff with the view permission."""

from django.contrib import admin

from accounts.models import AuditEntry
from accounts.staff import tasks
from accounts.staff.downloads import download_action
from accounts.staff.lists import StaffAdmin

COLUMNS = (
    "id",
    "created_at",
    "actor_label",
    "action",
    "target_label",
    "reason",
    "details",
    "request_id",
    "ip",
)


@admin.register(AuditEntry)
class AuditEntryAdmin(StaffAdmin):
    task = tasks.RECORDS
    list_display = ("created_at", "action", "target_label", "reason", "actor_label", "ip", "request_id", "id")
    list_filter = ("action", "created_at")
    search_fields = ("=actor_label", "=target_label", "=request_id")
    ordering = ("-id",)
    fields = (*COLUMNS, "actor", "target")
    download_csv = download_action(kind="csv", columns=COLUMNS, permission="accounts.view_auditentry")
    download_json = download_action(kind="json", columns=COLUMNS, permission="accounts.view_auditentry")
    actions = ("download_csv", "download_json")
