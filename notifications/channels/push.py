"""The push channel that PUSH_BACKEND selects, and the channels without a push service: files for `/dev/push/`, or lines on
standard output.
"""

import json
import os
import sys
import time
import uuid
from pathlib import Path
from typing import Any, Protocol

from django.core.exceptions import ImproperlyConfigured

from notifications.channels import Outcome, Sent
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
    if backend == "outbox":
        return OutboxChannel()
    if backend == "console":
        return ConsoleChannel()
    raise ImproperlyConfigured(f"PUSH_BACKEND must be one of {', '.join(BACKENDS)}.")


class OutboxChannel:
    """Writes each message, exactly as a push service would get it, to a file of its own."""

    def send(self, message: dict[str, Any], *, dry_run: bool = False) -> Outcome:
        name = f"{time.time_ns()}-{uuid.uuid4().hex[:8]}.json"
        if not dry_run:
            folder = Path(conf.PUSH_OUTBOX)
            folder.mkdir(parents=True, exist_ok=True)
            # Readers skip names that begin with a dot, so they never read a partial file.
            hidden = folder / f".{name}"
            with open(os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                json.dump({"message": message}, file, ensure_ascii=False)
            hidden.rename(folder / name)
        return Sent(f"outbox/{name}")

    def idle(self) -> None:
        """Nothing is kept open."""


class ConsoleChannel:
    """Writes each message as a line of JSON; the token is shortened, because terminals are shared."""

    def send(self, message: dict[str, Any], *, dry_run: bool = False) -> Outcome:
        shown = message | {"token": f"…{message['token'][-6:]}"}
        sys.stdout.write(json.dumps({"message": shown}, ensure_ascii=False) + "\n")
        sys.stdout.flush()
        return Sent("console")

    def idle(self) -> None:
        """Nothing is kept open."""
