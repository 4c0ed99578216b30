"""The push channel that PUSH_BACKEND selects."""

from typing import Any, Protocol

from django.core.exceptions import ImproperlyConfigured

from notifications.channels.outcomes import Outcome
from notifications.checks import BACKENDS
from notifications.conf import conf


class PushChannel(Protocol):
    def send(self, message: dict[str, Any], *, dry_run: bool = False) -> Outcome: ...

    def idle(self) -> None: ...


def push_channel() -> PushChannel | None:
    """The channel; None when push is off. ImproperlyConfigured when it cannot be used."""
    backend = conf.PUSH_BACKEND
    if backend == "off":
        return None
    if backend == "fcm":
        from notifications.channels.fcm import FcmChannel

        return FcmChannel()
    from notifications.channels.local import ConsoleChannel, OutboxChannel

    if backend == "outbox":
        return OutboxChannel()
    if backend == "console":
        return ConsoleChannel()
    raise ImproperlyConfigured(f"PUSH_BACKEND must be one of {', '.join(BACKENDS)}.")
