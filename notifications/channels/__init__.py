"""Push providers and the outcomes of one attempt, on which the worker acts.

A provider is a class with `send` and an entry in `conf.PUSH_PROVIDERS`. It uses neither the queue nor the database.
This module has the providers that need no push service: files for `/dev/push/`, or lines on standard output.
"""

import json
import os
import sys
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.utils.module_loading import import_string

from notifications.channels.fcm_messages import fcm_messages
from notifications.channels.messages import PushMessage
from notifications.conf import PUSH_PROVIDERS, conf


@dataclass(frozen=True, slots=True)
class Sent:
    provider_id: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    error: str
    # The wait in seconds that the service requested, if the attempt may succeed later.
    after: float | None = None


class Retry(Failed):
    """The attempt failed and may succeed later."""


class RateLimited(Retry):
    """The service accepts no more pushes for this device at the moment."""


class Unavailable(Failed):
    """The service refuses all requests. The cause is not the delivery, so the attempt does not count."""


class Dead(Failed):
    """The service will never accept this delivery."""


class DeviceGone(Failed):
    """The token is no longer valid."""


class WrongSender(Failed):
    """The token belongs to another Firebase project: either the token or the credentials are wrong."""


class TargetGone(Failed):
    """The target of a webhook does not want events any more."""


Outcome = TargetGone | Sent | Retry | Unavailable | Dead | DeviceGone | WrongSender


class PushChannel:
    def send(self, message: PushMessage, *, dry_run: bool = False) -> Outcome:
        """Hand over one push; with `dry_run` it is only validated. Thread-safe."""
        raise NotImplementedError


def push_channel() -> PushChannel | None:
    """The channel of PUSH_BACKEND; None when push is off. ImproperlyConfigured when its settings cannot be used."""
    path = PUSH_PROVIDERS[conf.PUSH_BACKEND]
    return import_string(path)() if path else None


class OutboxChannel(PushChannel):
    """Writes each message, exactly as FCM would get it, to a file of its own."""

    def send(self, message: PushMessage, *, dry_run: bool = False) -> Outcome:
        name = ""
        for each in fcm_messages(message):
            name = f"{time.time_ns()}-{uuid.uuid4().hex[:8]}.json"
            if not dry_run:
                self._write(name, each)
        return Sent(f"outbox/{name}")

    @staticmethod
    def _write(name: str, message: dict[str, Any]) -> None:
        folder = Path(conf.PUSH_OUTBOX)
        folder.mkdir(parents=True, exist_ok=True)
        # Readers skip names that begin with a dot, so they never read a partial file.
        hidden = folder / f".{name}"
        with open(os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump({"message": message}, file, ensure_ascii=False)
        hidden.rename(folder / name)


class ConsoleChannel(PushChannel):
    """Writes each message as a line of JSON; the token is shortened, because terminals are shared."""

    def send(self, message: PushMessage, *, dry_run: bool = False) -> Outcome:
        for each in fcm_messages(message):
            shown = each | {"token": f"…{message.token[-6:]}"}
            sys.stdout.write(json.dumps({"message": shown}, ensure_ascii=False) + "\n")
        sys.stdout.flush()
        return Sent("console")
