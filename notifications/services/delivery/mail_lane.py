"""The lane of mail."""

from collections.abc import Sequence

from notifications.channels.mail import MailChannel
from notifications.channels.outcomes import Outcome
from notifications.services.delivery.claims import Claimed, Ending
from notifications.services.delivery.worker import Job


class MailSender:
    def __init__(self) -> None:
        self._channel = MailChannel()

    def prepare(self, rows: Sequence[Claimed]) -> list[Job | Ending]:
        return [Job(row, row.payload) for row in rows]

    def send(self, job: Job) -> Outcome:
        return self._channel.send(job.work)

    def idle(self) -> None:
        self._channel.idle()

    def device_gone(self, row: Claimed) -> None:
        """Mail has no devices."""
