"""Feed, push devices and the delivery queue in the admin; never a push token, never the text of a mail."""

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from fcm_django.admin import DeviceAdmin as FCMDeviceAdmin

from accounts.services.audit import name_actions
from accounts.staff.actions import ConfirmedAction, NoChange, NoForm, ReasonForm
from accounts.staff.lists import KnownValuesFilter, StaffAdmin
from accounts.staff.overview import Chart, Figure, Panel, Task
from notifications.kinds import DELIVERY_NAMES
from notifications.models import ChannelPause, Delivery, Device, Notification
from notifications.services import delivery

if TYPE_CHECKING:
    from accounts.models import User

name_actions(
    {
        "emit_event": _("Event recorded"),
        "push.tested": _("Test push sent"),
        "retry_deliveries": _("Deliveries retried"),
    }
)

FINISHED = (Delivery.State.SENT, Delivery.State.DEAD, Delivery.State.EXPIRED, Delivery.State.CANCELLED)


def _retry(by: "User", row: Delivery, data: dict[str, Any]) -> None:
    if not delivery.retry(ids=[row.id], actor=by, reason=data["reason"]):
        raise NoChange(
            _("Only a push that failed or is waiting for its next attempt can be retried. Mails are not kept.")
        )


def _can_be_retried(row: Delivery) -> bool:
    return Delivery.objects.retriable().filter(id=row.id).exists()


def _test_push(by: "User", device: Device, data: dict[str, Any]) -> None:
    if not delivery.send_test_push(user=device.user, device_ids=[device.id], actor=by):
        raise NoChange(_("This device is no longer in use: its push service refuses it."))


@admin.register(Notification)
class NotificationAdmin(StaffAdmin):
    task = Task.DELIVERY
    list_display = ("id", "recipient", "kind", "actor", "count", "is_read", "created_at")
    list_select_related = ("recipient", "actor")
    links = MappingProxyType({"target_id": ("messaging.Conversation", "conversation_id")})
    list_filter = ("kind", "is_read")
    search_fields = ("=id", "=recipient__email", "=recipient__id")
    fields = (
        "id", "recipient", "kind", "actor", "target_id", "target_title", "count", "is_open", "is_read", "read_at",
        "first_at", "created_at",
    )  # fmt: skip


# fcm-django has registered its own page.
admin.site.unregister(Device)


@admin.register(Device)
class DeviceAdmin(StaffAdmin, FCMDeviceAdmin):
    """fcm-django's list of devices, without its actions: they show tokens and send past the queue and the audit log."""

    task = Task.DELIVERY
    list_display = ("id", "user", "type", "masked_token", "active", "locale", "app_version", "last_seen_at")  # type: ignore[assignment]
    search_fields = ("=id", "=user__email", "=user__id")
    fields = (
        "id", "user", "session", "type", "masked_token", "device_id", "active", "failures", "locale", "app_version",
        "date_created", "last_seen_at",
    )  # fmt: skip
    test_push = ConfirmedAction(
        label=_("Send a test push"),
        permission="notifications.send_test_push",
        form_class=NoForm,
        consequences=[_("The device shows a notification that says it is a test.")],
        perform=_test_push,
        is_offered=lambda device: device.active,
    )
    actions = ("test_push",)  # type: ignore[assignment]

    def get_search_fields(self, request: HttpRequest) -> tuple[str, ...]:
        return self.search_fields

    @admin.display(description=_("token"))
    def masked_token(self, device: Device) -> str:
        return device.masked_token


class KindFilter(KnownValuesFilter):
    @staticmethod
    def known() -> dict[str, str | Promise]:
        return dict(sorted(DELIVERY_NAMES.items(), key=lambda pair: str(pair[1])))


@admin.register(Delivery)
class DeliveryAdmin(StaffAdmin):
    task = Task.DELIVERY
    leads_task = True
    figures = (
        Figure(_("Pending deliveries"), Delivery.objects.pending, lambda: {"state__exact": Delivery.State.PENDING}),
        Figure(
            _("Failed deliveries"),
            lambda: Delivery.objects.filter(state=Delivery.State.DEAD),
            lambda: {"state__exact": Delivery.State.DEAD},
        ),
    )
    chart = Chart(
        "deliveries",
        _("Deliveries by result"),
        lambda start: Delivery.objects.filter(finished_at__isnull=False),
        at="finished_at",
        by="state",
        labels={state: state.label for state in FINISHED},
    )
    panel = Panel(
        # The payload is left out: the page reads nothing from it.
        lambda user: Delivery.objects.filter(recipient=user).defer("payload").order_by("-id"),
        columns=("id", "state", "last_error", "channel", "kind_name", "tries", "due_at", "finished_at"),
        position=5,
    )
    list_display = (
        "id", "state", "last_error", "recipient", "channel", "kind_name", "tries", "due_at", "finished_at",
    )  # fmt: skip
    list_select_related = ("recipient",)
    list_filter = ("channel", "state", ("kind", KindFilter))
    search_fields = ("=id", "=recipient__email", "=recipient__id", "=provider_id", "=target")
    fields = (
        "id", "channel", "target", "kind_name", "priority", "recipient", "device", "notification", "state", "tries", "due_at",
        "expires_at", "lease_until", "last_error", "provider_id", "created_at", "finished_at",
    )  # fmt: skip
    retry = ConfirmedAction(
        label=_("Try again"),
        permission="notifications.retry_delivery",
        form_class=ReasonForm,
        consequences=[_("Failed pushes are retried now, unless they have expired.")],
        perform=_retry,
        is_offered=_can_be_retried,
    )
    actions = ("retry",)

    @admin.display(description=_("kind"), ordering="kind")
    def kind_name(self, row: Delivery) -> str:
        return format_html('<span title="{}">{}</span>', row.kind, DELIVERY_NAMES.get(row.kind, row.kind))


@admin.register(ChannelPause)
class ChannelPauseAdmin(StaffAdmin):
    task = Task.DELIVERY
    figures = (Figure(_("Paused channels"), ChannelPause.objects.all),)
    list_display = ("channel", "reason", "failures", "started_at", "until")
    ordering = ("-pk",)
