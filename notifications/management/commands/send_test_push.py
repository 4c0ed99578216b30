"""`manage.py send_test_push`: does a push reach a user's devices?"""

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError, CommandParser

from accounts.management.user_commands import find_user
from accounts.services import audit
from core.operator import NothingMatched, OperatorCommand, actor, positive
from core.transactions import unit_of_work
from notifications.conf import conf
from notifications.services import delivery


class Command(OperatorCommand):
    help = "Queue a test push to a user's devices; --dry-run only validates them with the push service."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="e-mail address or id")
        parser.add_argument("--device", type=positive, action="append", help="only this device (its id)")

    def act(self, **options: Any) -> dict[str, Any]:
        user = find_user(options["user"])
        devices = delivery.devices_of(user.id, options["device"])
        if not devices:
            raise NothingMatched(f"{user.email} has no device that pushes could reach.")
        if options["dry_run"]:
            return self.validate(user.id, options["device"])
        if conf.PUSH_BACKEND == "off":
            raise CommandError("Push is switched off: set PUSH_BACKEND.")
        with unit_of_work():
            queued = delivery.enqueue_test_push(recipient_id=user.id, device_ids=[device.id for device in devices])
            audit.record(action="send_test_push", actor=actor(), target=user, devices=queued)
        self.report("Queued; a running `serve` or `deliver` sends it.")
        return {"user_id": user.id, "queued": queued, "dry_run": False}

    def validate(self, user_id: int, device_ids: list[int] | None) -> dict[str, Any]:
        try:
            results = delivery.validate_devices(user_id=user_id, device_ids=device_ids)
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
        if not any(result["ok"] for result in results):
            reasons = ", ".join(sorted({result["error"] for result in results}))
            raise CommandError(f"The push service takes none of the {len(results)} devices: {reasons}.")
        return {"user_id": user_id, "devices": results, "dry_run": True}
