"""`manage.py send_test_push`: does a push reach a user's devices?"""

from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError, CommandParser

from accounts.management.user_commands import find_user
from core.commands import NothingMatched, OperatorCommand, actor, positive
from core.languages import supported_language
from notifications.channels import Dead, Failed, push_channel
from notifications.conf import conf
from notifications.models import Device
from notifications.selectors import unread_count
from notifications.services import delivery
from notifications.services.delivery.push_messages import test_message


class Command(OperatorCommand):
    help = "Queue a test push to a user's devices; --dry-run only validates them with the push service."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="e-mail address or id")
        parser.add_argument("--device", type=positive, action="append", help="only this device (its id)")

    def act(self, **options: Any) -> dict[str, Any]:
        user = find_user(options["user"])
        devices = Device.objects.active().filter(user=user).select_related("user").order_by("id")
        if options["device"]:
            devices = devices.filter(id__in=options["device"])
        if not devices:
            raise NothingMatched(f"{user.email} has no device that pushes could reach.")
        if options["dry_run"]:
            return {"user_id": user.id, "devices": self.validate(user.id, devices), "dry_run": True}
        if conf.PUSH_BACKEND == "off":
            raise CommandError("Push is switched off: set PUSH_BACKEND.")
        queued = delivery.send_test_push(user=user, device_ids=[device.id for device in devices], actor=actor())
        if not queued:
            raise NothingMatched(f"The devices of {user.email} were removed a moment ago.")
        self.report("Queued; a running `serve` or `deliver` sends it.")
        return {"user_id": user.id, "queued": queued, "dry_run": False}

    def validate(self, user_id: int, devices: Iterable[Device]) -> list[dict[str, Any]]:
        """Prints the result of the push service's dry run for each device."""
        try:
            channel = push_channel()
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
        results = []
        badge = unread_count(user_id)
        for device in devices:
            language = supported_language(device.locale, device.user.language)
            message = test_message(device.registration_id, device.type, language=language, badge=badge)
            outcome = channel.send(message, dry_run=True) if channel else Dead("push is switched off")
            error = outcome.error if isinstance(outcome, Failed) else ""
            results.append({"device_id": device.id, "token": device.masked_token, "ok": not error, "error": error})
        if not any(result["ok"] for result in results):
            reasons = ", ".join(sorted({result["error"] for result in results}))
            raise CommandError(f"The push service takes none of the {len(results)} devices: {reasons}.")
        return results
