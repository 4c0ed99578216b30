"""A process that kills itself (SIGKILL) at a point of its work; nothing else differs. DIE_AT names it for a server."""

import os
import signal
from collections.abc import Callable
from importlib import import_module
from typing import Any

from django.apps import AppConfig

# Small batches and short waits, so that a process dies in the middle of its work.
QUICK = {
    "NOTIFICATIONS_BATCH": 5,
    "NOTIFICATIONS_SWEEP_SECONDS": 0.2,
    "NOTIFICATIONS_WEBHOOK_THREADS": 1,
    "NOTIFICATIONS_WEBHOOK_RETRY_SECONDS": (0.2,) * 7,
    "NOTIFICATIONS_PAUSE_SECONDS": (0.1, 0.5),
    "INTEGRATIONS_WEBHOOK_TIMEOUT_SECONDS": 3,
}

_CLAIMS = "notifications.services.delivery.claims"
_WEBHOOKS = "integrations.services.webhooks"
_DELIVERY = "notifications.services.delivery"

# Name: module, function, and whether it dies after the function has run. It dies at a call that does something: one with
# results to store, one that returns rows or a number of them.
POINTS: dict[str, tuple[str, str, bool]] = {
    "event written": ("integrations.services.event_log", "_write_all", True),
    "event committed": ("notifications.services.delivery.wakeups", "wake", False),
    "deliveries queued": (_DELIVERY, "enqueue_webhooks", True),
    "numbers committed": ("integrations.services.event_log", "give_numbers", True),
    "claimed": (_CLAIMS, "claim_webhooks", True),
    "prepared": (_WEBHOOKS, "WebhookHandler.send", False),
    "answered": (_WEBHOOKS, "WebhookHandler.send", True),
    "results missing": (_CLAIMS, "finish", False),
    "results stored": (_CLAIMS, "finish", True),
    "410": (_WEBHOOKS, "_switch_off", False),
    "410, cancelled": (_DELIVERY, "cancel_webhooks", True),
    "410, switched off": (_WEBHOOKS, "_switch_off", True),
}
_RETURN_WHAT_THEY_DID = {"enqueue_webhooks", "give_numbers", "claim_webhooks"}


class Dying(AppConfig):
    name = "tests.faults"

    def ready(self) -> None:
        if point := os.environ.get("DIE_AT"):
            die_at(point)


def die_at(point: str) -> None:
    module, path, is_after = POINTS[point]
    *owners, name = path.split(".")
    owner: Any = import_module(module)
    for each in owners:
        owner = getattr(owner, each)
    setattr(owner, name, _deadly(getattr(owner, name), is_after=is_after))


def _deadly(function: Callable[..., Any], *, is_after: bool) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        result = function(*args, **options) if is_after else None
        name = function.__name__
        if result if name in _RETURN_WHAT_THEY_DID else (args[0] if name == "finish" else True):
            os.kill(os.getpid(), signal.SIGKILL)
        return result if is_after else function(*args, **options)

    return call
