"""The worker of mail."""

from collections.abc import Sequence

from notifications.channels.mail import MailChannel
from notifications.channels.outcomes import Outcome
from notifications.models import Delivery
from notifications.services.delivery.claims import Claimed, DeliveryResult
from notifications.services.delivery.jobs import Job, result
from notifications.services.delivery.mail_outbox import Unreadable, opened


class MailHandler:
    def __init__(self) -> None:
        self._channel = MailChannel()

    def prepare(self, rows: Sequence[Claimed]) -> list[Job | DeliveryResult]:
        prepared: list[Job | DeliveryResult] = []
        for row in rows:
            try:
                prepared.append(Job(row, opened(row.payload)))
            except Unreadable:
                prepared.append(result(row, Delivery.State.DEAD, "the content needs an earlier SECRET_KEY"))
        return prepared

    def send(self, job: Job) -> Outcome:
        return self._channel.send(job.work)

    def idle(self) -> None:
        self._channel.idle()

    def device_gone(self, row: Claimed) -> None:
        """Mail has no devices."""
