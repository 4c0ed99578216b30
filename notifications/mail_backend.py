"""The e-mail backend of Django's `send_mail`: it writes to the queue; the worker sends through the real backend.

A mail belongs to the transaction that queues it; services.delivery.mail names the headers that set its priority.
"""

from collections.abc import Sequence

from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

from notifications.services import delivery


class QueueingEmailBackend(BaseEmailBackend):
    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        return delivery.enqueue_mail(email_messages)

    def discard_messages(self, email_messages: Sequence[EmailMessage]) -> None:
        """The same work as `send_messages` without a row, so that timing does not reveal whether a mail is sent."""
        delivery.discard_mail(email_messages)
