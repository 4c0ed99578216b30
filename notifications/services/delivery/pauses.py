"""Pauses a channel whose service refuses all requests. A few deliveries probe it; the first success ends the pause."""

import logging
import time
from collections import deque
from dataclasses import dataclass, field
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from notifications.channels import Dead, DeviceGone, Outcome, RateLimited, Retry, Sent, TargetGone, Unavailable
from notifications.conf import conf
from notifications.models import ChannelPause

log = logging.getLogger(__name__)

# After so many consecutive failures, of as many users, the service counts as failing.
_FAILURES = 8
# After so many tokens of another project without a success in between, the credentials are wrong, not the tokens.
_MISMATCHED_DEVICES = 5
# The latest answers about tokens: if half of them name another project, the credentials are wrong.
_WINDOW = 20


def current(channel: str) -> ChannelPause | None:
    return ChannelPause.objects.filter(channel=channel).first()


def pause(channel: str, reason: str, min_seconds: float = 0) -> None:
    """Pause the channel, twice as long as the last time, at least `min_seconds`; logged once."""
    shortest, longest = conf.PAUSE_SECONDS
    now = timezone.now()
    with transaction.atomic():
        row, is_new = ChannelPause.objects.select_for_update().get_or_create(
            channel=channel, defaults={"until": now, "failures": 0}
        )
        if is_new:
            log.error("Delivery by %s is paused, nothing is lost: %s.", channel, reason)
        if row.until <= now:
            row.failures += 1
            seconds = min(shortest * 2 ** min(row.failures - 1, 10), longest)
            row.until = now + timedelta(seconds=max(seconds, min(min_seconds, longest)))
            row.reason = reason[:300]
            row.save(update_fields=["failures", "until", "reason"])


def resume(channel: str) -> None:
    if ChannelPause.objects.filter(channel=channel).delete()[0]:
        log.warning("Delivery by %s goes on.", channel)


@dataclass
class CircuitBreaker:
    """Distinguishes a failing service from failing deliveries, by the answers to one worker."""

    _failed: set[object] = field(default_factory=set)
    _mismatched_devices: set[object] = field(default_factory=set)
    _answers: deque[bool] = field(default_factory=lambda: deque(maxlen=_WINDOW))
    _last_success: float = 0.0
    _first_mismatch: dict[object, float] = field(default_factory=dict)

    def record(self, outcome: Outcome, *, recipient: object, device: object) -> str:
        """The reason to pause the channel after this answer, or an empty string."""
        now = time.monotonic()
        if isinstance(outcome, Sent):
            self._failed.clear()
            self._mismatched_devices.clear()
            self._answers.append(True)
            self._last_success = now
            return ""
        if isinstance(outcome, Unavailable):
            return outcome.error
        if isinstance(outcome, RateLimited) and outcome.after is not None:
            # The service works and named a time for this delivery.
            return ""
        if isinstance(outcome, Retry):
            self._failed.add(recipient)
            if len(self._failed) >= _FAILURES:
                self._failed.clear()
                return f"{_FAILURES} people in a row could not be served, at last: {outcome.error}"
            return ""
        if isinstance(outcome, Dead | DeviceGone | TargetGone):
            # The service works; it rejected this delivery alone.
            self._failed.clear()
            return ""
        return self._record_mismatch(device, now)

    def _record_mismatch(self, device: object, now: float) -> str:
        self._answers.append(False)
        self._mismatched_devices.add(device)
        self._first_mismatch.setdefault(device, now)
        are_many_devices = len(self._mismatched_devices) >= _MISMATCHED_DEVICES
        are_most_answers = len(self._answers) == _WINDOW and self._answers.count(False) * 2 >= _WINDOW
        if are_many_devices or are_most_answers:
            return "the tokens belong to another project; are these the right credentials?"
        return ""

    def is_isolated_mismatch(self, device: object) -> bool:
        """Only this token belongs to another project: other devices were reached since its first mismatch."""
        first_at = self._first_mismatch.get(device)
        are_few_answers = self._answers.count(False) * 2 < len(self._answers)
        return first_at is not None and self._last_success > first_at and are_few_answers
