"""Sends a queued mail through the real backend (settings.NOTIFICATIONS_MAIL_TRANSPORT)."""

import contextlib
import smtplib
import threading
from typing import Any

from django.core.mail import EmailMultiAlternatives, get_connection
from django.core.mail.backends.base import BaseEmailBackend

from notifications.channels import Dead, Outcome, Retry, Sent, Unavailable
from notifications.conf import conf


class MailChannel:
    """A thread keeps its connection while it has something to send; `idle` closes it."""

    def __init__(self) -> None:
        self._own = threading.local()

    def send(self, payload: dict[str, Any]) -> Outcome:
        try:
            connection = self._connection()
        except smtplib.SMTPAuthenticationError as error:
            self.idle()
            return Unavailable(f"the mail server refuses our sign-in ({error.smtp_code})")
        except (OSError, smtplib.SMTPException) as error:
            self.idle()
            return Unavailable(f"the mail server cannot be reached ({_describe(error)})")
        try:
            connection.send_messages([_message(payload)])
        except Exception as error:
            self.idle()
            return _classify(error)
        return Sent(payload.get("headers", {}).get("Message-ID", ""))

    def idle(self) -> None:
        connection = getattr(self._own, "connection", None)
        self._own.connection = None
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.close()

    def _connection(self) -> BaseEmailBackend:
        connection = getattr(self._own, "connection", None)
        if connection is None:
            transport = conf.MAIL_TRANSPORT
            connection = get_connection(transport["BACKEND"], fail_silently=False, **transport["OPTIONS"])
            connection.open()
            self._own.connection = connection
        return connection


def _message(payload: dict[str, Any]) -> EmailMultiAlternatives:
    message = EmailMultiAlternatives(
        subject=payload["subject"],
        body=payload["text"],
        from_email=payload["from"],
        to=payload["to"],
        cc=payload["cc"],
        bcc=payload["bcc"],
        reply_to=payload["reply_to"],
        headers=payload["headers"],
    )
    message.content_subtype = payload["subtype"]
    for content, mimetype in payload["alternatives"]:
        message.attach_alternative(content, mimetype)
    return message


def _classify(error: Exception) -> Outcome:
    """Classifies errors of an open connection. Only codes are kept, because the texts of servers repeat addresses."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        codes = [code for code, _ in error.recipients.values()]
        if codes and all(code >= 500 for code in codes):
            return Dead(f"the mail server refuses the recipient ({codes[0]})")
        return Retry(f"the mail server puts the recipient off ({codes[0] if codes else 'no code'})")
    if isinstance(error, smtplib.SMTPResponseException):
        if error.smtp_code == 421:
            return Unavailable("the mail server closes (421)")
        if isinstance(error, smtplib.SMTPDataError) and error.smtp_code >= 500:
            return Dead(f"the mail server refuses the mail ({error.smtp_code})")
        return Retry(f"the mail server answers {error.smtp_code}")
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return Dead("the mail server does not support this address")
    return Retry(_describe(error))


def _describe(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return f"{type(error).__name__} {error.smtp_code}"
    if isinstance(error, OSError) and error.strerror:
        return f"{type(error).__name__}: {error.strerror}"
    return type(error).__name__
