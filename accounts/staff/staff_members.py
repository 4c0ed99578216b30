"""Staff: groups with their permissions and second factors, for superusers only; and the audit log, read-only for staff with the
view permission."""

from types import MappingProxyType
from typing import Any

from django import forms
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangosGroupAdmin
from django.contrib.auth.models import Group, Permission
from django.db.models import ManyToManyField
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts.models import AuditEntry, User
from accounts.services import audit
from accounts.staff import sign_in
from accounts.staff.actions import ConfirmedAction, DownloadAction
from accounts.staff.lists import AuditedAdmin, KnownValuesFilter, ReasonModelForm, StaffAdmin
from accounts.staff.overview import Chart, Panel, Task
from core.database.transactions import unit_of_work

admin.site.unregister(Group)

# Django's permissions of every model. The permissions that our models add are translated by their names.
OF_EVERY_MODEL = {"add": _("Add"), "change": _("Change"), "delete": _("Delete"), "view": _("View")}


def _permission_name(permission: Permission) -> str:
    """The name in the reader's language; the database holds the English one."""
    action, _underscore, model = permission.codename.partition("_")
    is_stock = action in OF_EVERY_MODEL and model == permission.content_type.model
    return f"{permission.content_type} | {OF_EVERY_MODEL[action] if is_stock else gettext(permission.name)}"


def _remove_group(by: User, group: Group, data: dict[str, Any]) -> None:
    with unit_of_work():
        group = Group.objects.select_for_update().get(pk=group.pk)
        audit.record(action="group.removed", actor=by, target_label=f"group {group.name}", reason=data["reason"])
        group.delete()


@admin.register(Group)
class GroupAdmin(AuditedAdmin, DjangosGroupAdmin):
    task = Task.STAFF
    form = ReasonModelForm
    fields = ("name", "permissions")
    filter_horizontal = ()
    search_fields = ("=name",)
    ordering = ("name",)
    remove = ConfirmedAction(
        label=_("Remove these groups"),
        permission="auth.delete_group",
        consequences=[_("Users who have their permissions only from these groups lose them immediately.")],
        perform=_remove_group,
    )
    actions = ("remove",)

    # Django's permissions of groups; other rows are read-only.
    has_add_permission = admin.ModelAdmin.has_add_permission
    has_change_permission = admin.ModelAdmin.has_change_permission

    def formfield_for_manytomany(
        self, db_field: ManyToManyField, request: HttpRequest | None = None, **kwargs: Any
    ) -> Any:
        field = super().formfield_for_manytomany(db_field, request=request, **kwargs)
        if db_field.name == "permissions":
            field.label_from_instance = _permission_name  # type: ignore[method-assign, union-attr]
        return field

    def audit_label(self, row: Any) -> str:
        return f"group {row.name}"

    def audit_details(self, row: Any) -> dict[str, Any]:
        return {"permissions": sorted(row.permissions.values_list("codename", flat=True))}


# django-otp has no translations. Migrations compare what a table was made with, not these names.
NAMES_OF_TABLES = {
    TOTPDevice: (_("authenticator app"), _("authenticator apps")),
    StaticDevice: (_("recovery codes"), _("recovery codes")),
    StaticToken: (_("recovery code"), _("recovery codes")),
}
NAMES_OF_FIELDS = {
    "user": _("user"),
    "name": _("name"),
    "confirmed": _("in use"),
    "created_at": _("created at"),
    "last_used_at": _("last used at"),
    "throttling_failure_count": _("wrong codes in a row"),
}
apps.get_app_config("otp_totp").verbose_name = _("Second factors")
apps.get_app_config("otp_static").verbose_name = _("Recovery codes")
for table, names in NAMES_OF_TABLES.items():
    table._meta.verbose_name, table._meta.verbose_name_plural = names
    for field in table._meta.get_fields():
        if field.name in NAMES_OF_FIELDS:
            field.verbose_name = NAMES_OF_FIELDS[field.name]


class WithoutHelp(forms.ModelForm):
    """Removes help texts, which are in English only and repeat the names."""

    class Meta:
        help_texts = dict.fromkeys(NAMES_OF_FIELDS, "")


@admin.register(TOTPDevice)
class AppAdmin(StaffAdmin):
    """TOTP devices; their keys are never shown."""

    task = Task.STAFF
    form = WithoutHelp
    list_display = ("id", "user", "name", "confirmed", "created_at", "last_used_at")
    list_select_related = ("user",)
    list_filter = ("confirmed",)
    search_fields = ("=user__id", "=user__email")
    fields = ("id", "user", "name", "confirmed", "created_at", "last_used_at", "throttling_failure_count")
    remove = ConfirmedAction(
        label=_("Remove the second factor"),
        permission="otp_totp.delete_totpdevice",
        consequences=[
            _(
                "The authenticator apps and recovery codes of these users stop working, and they are signed out of the support pages immediately."
            ),
            _("At the next sign-in, the user sets up a new app; until then, the password alone opens that page."),
        ],
        perform=lambda by, device, data: sign_in.remove_second_factor(user=device.user, actor=by, **data),
    )
    actions = ("remove",)


@admin.register(StaticDevice)
class StaticCodesAdmin(StaffAdmin):
    """The number of static codes that a staff member has left; never the codes."""

    task = Task.STAFF
    form = WithoutHelp
    list_display = ("id", "user", "codes_left", "created_at", "last_used_at")
    list_select_related = ("user",)
    search_fields = ("=user__id", "=user__email")
    fields = ("id", "user", "codes_left", "created_at", "last_used_at")

    @admin.display(description=_("codes left"))
    def codes_left(self, device: StaticDevice) -> int:
        return device.token_set.count()


AUDIT_COLUMNS = (
    "id", "created_at", "actor_label", "action", "target_label", "reason", "details", "request_id", "ip",
)  # fmt: skip


class ActionFilter(KnownValuesFilter):
    known = staticmethod(audit.names)


@admin.register(AuditEntry)
class AuditEntryAdmin(StaffAdmin):
    task = Task.RECORDS
    chart = Chart("lock-outs", _("Login lockouts"), lambda start: AuditEntry.objects.filter(action="user.locked"))
    panel = Panel(
        lambda user: AuditEntry.objects.filter(target=user).order_by("-id"),
        columns=("created_at", "action_name", "reason", "actor_label", "ip"),
        position=6,
    )
    list_display = ("created_at", "action_name", "target_label", "reason", "actor_label", "ip", "request_id", "id")
    list_filter = (("action", ActionFilter), "created_at")
    links = MappingProxyType(
        {
            "actor_label": ("accounts.User", "actor_id"),
            "target_label": ("accounts.User", "target_id"),
        }
    )
    search_fields = ("=actor_label", "=target_label", "=request_id")
    fields = ("action_name", *AUDIT_COLUMNS, "actor", "target")
    download_csv = DownloadAction(kind="csv", columns=AUDIT_COLUMNS, permission="accounts.view_auditentry")
    download_json = DownloadAction(kind="json", columns=AUDIT_COLUMNS, permission="accounts.view_auditentry")
    actions = ("download_csv", "download_json")

    @admin.display(description=_("action"), ordering="action")
    def action_name(self, entry: AuditEntry) -> str:
        return format_html('<span title="{}">{}</span>', entry.action, audit.name_of(entry.action))
