"""Server keys in the admin, for superusers: never a key, only its beginning."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.services.audit import name_actions
from accounts.staff.actions import ConfirmedAction, NoChange, NoForm, ReasonForm
from accounts.staff.lists import KnownValuesFilter, StaffAdmin
from accounts.staff.overview import Figure, Task
from integrations.kinds import EVENT_TYPES
from integrations.models import Event, ServerKey, WebhookTarget
from integrations.services import keys, webhooks
from integrations.targets import target as configured
from notifications.selectors import webhook_answers, webhook_pauses, webhooks_waiting

if TYPE_CHECKING:
    from accounts.models import User

name_actions(
    {
        "message.sent": _("Message sent by your own server"),
        "server_key.created": _("Server key created"),
        "server_key.revoked": _("Server key revoked"),
        "session.opened": _("Session opened by your own server"),
        "users.imported": _("Users imported"),
        "webhook.enabled": _("Webhook target switched on"),
        "webhook.switched_off": _("Webhook target switched off"),
        "webhook.tested": _("Test event sent"),
    }
)


def _revoke(by: "User", key: ServerKey, data: dict[str, Any]) -> None:
    if key.revoked_at is not None:
        raise NoChange(_("This key has already been revoked."))
    keys.revoke(keys=[key], actor=by, reason=data["reason"])


class TypeFilter(KnownValuesFilter):
    @staticmethod
    def known() -> dict[str, str]:
        return {name: name for name in sorted(EVENT_TYPES)}


@admin.register(ServerKey)
class ServerKeyAdmin(StaffAdmin):
    task = Task.STAFF
    list_display = (
        "id",
        "name",
        "prefix",
        "shown_scopes",
        "shown_networks",
        "created_at",
        "last_used_at",
        "revoked_at",
    )
    fields = ("id", "name", "prefix", "shown_scopes", "shown_networks", "created_at", "last_used_at", "revoked_at")
    search_fields = ("=name", "=prefix")
    revoke = ConfirmedAction(
        label=_("Revoke"),
        permission="integrations.revoke_serverkey",
        form_class=ReasonForm,
        consequences=[
            _("Requests with this key are refused immediately."),
            _("Sessions that it has opened go on."),
        ],
        perform=_revoke,
        is_dangerous=True,
        is_offered=lambda key: key.revoked_at is None,
    )
    actions = ("revoke",)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return bool(request.user.is_active and getattr(request.user, "is_superuser", False))

    has_module_permission = has_view_permission

    @admin.display(description=_("scopes"))
    def shown_scopes(self, key: ServerKey) -> str:
        return ", ".join(key.scopes)

    @admin.display(description=_("networks"))
    def shown_networks(self, key: ServerKey) -> str:
        return ", ".join(key.networks)


ANSWERS_SHOWN = 10


def _enable(by: "User", target: WebhookTarget, data: dict[str, Any]) -> None:
    if not webhooks.enable(name=target.name, actor=by):
        raise NoChange(_("This target is not switched off."))


@admin.register(WebhookTarget)
class WebhookTargetAdmin(StaffAdmin):
    """The targets with their state and last answers; never an address or a key."""

    task = Task.DELIVERY
    figures = (
        Figure(
            _("Webhook targets switched off"),
            lambda: WebhookTarget.objects.exclude(switched_off_at=None),
            lambda: {"switched_off_at__isnull": False},
        ),
    )
    list_display = ("name", "state", "switched_off_at", "reason")
    fields = ("name", "state", "switched_off_at", "reason", "waiting", "answers")
    search_fields = ("=name",)
    enable = ConfirmedAction(
        label=_("Switch on"),
        permission="integrations.enable_webhook",
        form_class=NoForm,
        consequences=[_("Events that happen from now on are sent again. Earlier ones can be read only.")],
        perform=_enable,
        is_offered=lambda target: target.switched_off_at is not None,
    )
    actions = ("enable",)

    @admin.display(description=_("state"))
    def state(self, row: WebhookTarget) -> str:
        if configured(row.name) is None:
            return str(_("not configured"))
        if row.switched_off_at is not None:
            return str(_("switched off"))
        return webhook_pauses().get(row.name) or str(_("in use"))

    @admin.display(description=_("waiting events"))
    def waiting(self, row: WebhookTarget) -> int:
        return webhooks_waiting(row.name)

    @admin.display(description=_("last answers"))
    def answers(self, row: WebhookTarget) -> str:
        return "\n".join(
            f"{one.finished_at:%Y-%m-%d %H:%M:%S} {one.kind} {one.payload.get('status', '')} {one.last_error}".rstrip()
            for one in webhook_answers(row.name, ANSWERS_SHOWN)
        )


@admin.register(Event)
class EventAdmin(StaffAdmin):
    task = Task.DELIVERY
    list_display = ("id", "type", "created_at", "number")
    list_filter = (("type", TypeFilter),)
    search_fields = ("=id", "=number")
    fields = ("id", "number", "type", "created_at", "data")
