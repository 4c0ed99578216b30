"""Mail: Django's `send_mail` queues it inside the transaction that causes it, the worker sends it through the real backend
(settings.NOTIFICATIONS_MAIL_TRANSPORT).

The queue keeps the content encrypted, so that only the process that sends a mail can read it: a mail that waits may
hold a code, and a copy of the database, a report or a page that shows the row shows no code.
"""

import base64
import contextlib
import json
import re
import smtplib
import threading
import uuid
from collections.abc import Sequence
from datetime import timedelta
from email.utils import formatdate, parseaddr
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.mail import BadHeaderError, EmailMessage, EmailMultiAlternatives, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.db.models import Subquery
from django.utils import timezone
from django.utils.crypto import salted_hmac

from notifications.channels import Dead, Outcome, Retry, Sent, Unavailable
from notifications.conf import conf
from notifications.models import Delivery
from notifications.services.delivery.claims import Claimed, DeliveryResult
from notifications.services.delivery.sending import DeliveryHandler, Job
from notifications.services.delivery.wakeups import wake_on_commit

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet


# Headers that the queue reads and removes: the priority `code` sends a mail before everything but calls, and a mail
# that was not sent within these seconds expires.
PRIORITY_HEADER = "X-Delivery-Priority"
EXPIRES_HEADER = "X-Delivery-Expires-In"

_KEY = "sealed"

_CLOSING = 421
_SIGN_IN_REQUIRED = 530
_POLICY = re.compile(rb"[245]\.7\.\d")


class QueueingEmailBackend(BaseEmailBackend):
    """The e-mail backend of the project (EMAIL_BACKEND). A mail belongs to the transaction that queues it."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Queue mails; they leave after the commit. Returns how many.

        BadHeaderError for a line break in an address or subject, ValueError for attachments.
        """
        rows = [_mail_row(message) for message in email_messages if message.recipients()]
        Delivery.objects.bulk_create(rows)
        if rows:
            wake_on_commit()
        return len(rows)

    def discard_messages(self, email_messages: Sequence[EmailMessage]) -> None:
        """The same work as `send_messages` without a row, so that timing does not reveal whether a mail is sent."""
        with transaction.atomic():
            self.send_messages(email_messages)
            transaction.set_rollback(True)
        wake_on_commit()


def _mail_row(message: EmailMessage) -> Delivery:
    now = timezone.now()
    headers = {name: str(value) for name, value in message.extra_headers.items()}
    is_code = headers.pop(PRIORITY_HEADER, "") == "code"
    seconds = float(headers.pop(EXPIRES_HEADER, conf.CODE_MAIL_SECONDS if is_code else conf.MAIL_SECONDS))
    domain = parseaddr(message.from_email)[1].rpartition("@")[2] or "localhost"
    # A mail that has to be sent twice arrives under one id: mailboxes show it once. It begins with the
    # moment in microseconds: several threads send, and a date has whole seconds.
    headers.setdefault("Message-ID", f"<{int(now.timestamp() * 1_000_000):017}.{uuid.uuid4().hex}@{domain}>")
    headers.setdefault("Date", formatdate(now.timestamp()))
    content = _mail_content(message, headers)
    address = parseaddr(message.recipients()[0])[1]
    owner = get_user_model()._default_manager.filter(email=address).values("id")[:1]
    return Delivery(
        channel=Delivery.Channel.MAIL,
        kind="mail",
        dedupe_key=f"mail:{headers['Message-ID']}"[:200],
        priority=Delivery.Priority.CODE if is_code else Delivery.Priority.REST,
        recipient_id=Subquery(owner),
        payload=encrypt(content),
        expires_at=now + timedelta(seconds=seconds),
    )


def _mail_content(message: EmailMessage, headers: dict[str, str]) -> dict[str, Any]:
    """The arguments of the same message, and the subtype of its body."""
    if message.attachments:
        raise ValueError("mails with attachments are not queued")
    lines = [message.subject, message.from_email, *message.recipients(), *message.reply_to, *headers.values()]
    if any("\n" in str(line) or "\r" in str(line) for line in lines):
        raise BadHeaderError("a header of a mail must not contain line breaks")
    return {
        "subject": message.subject,
        "body": message.body,
        "subtype": message.content_subtype,
        "alternatives": getattr(message, "alternatives", []),
        "from_email": message.from_email,
        "to": message.to,
        "cc": message.cc,
        "bcc": message.bcc,
        "reply_to": message.reply_to,
        "headers": headers,
    }


class UnknownKey(Exception):
    """The content was encrypted with a key that is no longer among SECRET_KEY and SECRET_KEY_FALLBACKS."""


def encrypt(content: dict[str, Any]) -> dict[str, Any]:
    # A translated text is a string only when it is read.
    return {_KEY: _fernet().encrypt(json.dumps(content, ensure_ascii=False, default=str).encode()).decode()}


def decrypt(payload: dict[str, Any]) -> dict[str, Any]:
    """The content of a mail. Unreadable without its key."""
    from cryptography.fernet import InvalidToken

    try:
        content: dict[str, Any] = json.loads(_fernet().decrypt(payload[_KEY]))
    except (InvalidToken, KeyError) as error:
        raise UnknownKey from error
    return content


def _fernet() -> "MultiFernet":
    # 8 MB, loaded with the first mail.
    from cryptography.fernet import Fernet, MultiFernet

    salt, secrets = "notifications.delivery.mail", (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    digests = (salted_hmac(salt, "key", secret=secret, algorithm="sha256").digest() for secret in secrets)
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])


class MailHandler(DeliveryHandler):
    """A thread keeps its connection while it has something to send; `idle` closes it."""

    def __init__(self) -> None:
        self._own = threading.local()

    def prepare(self, rows: Sequence[Claimed]) -> list[Job | DeliveryResult]:
        prepared: list[Job | DeliveryResult] = []
        for row in rows:
            try:
                prepared.append(Job(row, _message(decrypt(row.payload))))
            except UnknownKey:
                prepared.append(row.result(Delivery.State.DEAD, "the content needs an earlier SECRET_KEY"))
        return prepared

    def send(self, job: Job) -> Outcome:
        try:
            connection = self._connection()
        except smtplib.SMTPAuthenticationError as error:
            self.idle()
            return Unavailable(f"the mail server refuses our sign-in ({error.smtp_code})")
        except (OSError, smtplib.SMTPException) as error:
            self.idle()
            return Unavailable(f"the mail server cannot be reached ({_describe(error)})")
        try:
            connection.send_messages([job.message])
        except Exception as error:
            self.idle()
            return classify(error)
        return Sent(job.message.extra_headers["Message-ID"])

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
            # A server that does not answer is noticed while the connection opens.
            smtp = getattr(connection, "connection", None)
            if isinstance(smtp, smtplib.SMTP) and smtp.sock is not None:
                smtp.sock.settimeout(conf.MAIL_ACCEPT_SECONDS)
            self._own.connection = connection
        return connection


def _message(content: dict[str, Any]) -> EmailMultiAlternatives:
    subtype = content.pop("subtype")
    message = EmailMultiAlternatives(**content)
    message.content_subtype = subtype
    return message


def classify(error: Exception) -> Outcome:
    """Classifies errors of an open connection. Only codes are kept, because the texts of servers repeat addresses."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        # With several recipients: as long as one is only put off, the mail is tried again.
        code, text = min(error.recipients.values(), default=(0, b""), key=lambda refusal: refusal[0])
        return _refusal(code, text, of="the recipient")
    if isinstance(error, smtplib.SMTPDataError):
        return _refusal(error.smtp_code, error.smtp_error, of="the mail")
    if isinstance(error, smtplib.SMTPResponseException):
        if error.smtp_code == _CLOSING:
            return Unavailable("the mail server closes (421)")
        return Retry(f"the mail server answers {error.smtp_code}")
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return Dead("the mail server does not support this address")
    return Retry(_describe(error))


def _refusal(code: int, text: bytes | str, *, of: str) -> Outcome:
    """Classifies the refusal of a recipient or of a mail, by its code and the enhanced code (RFC 3463) of its text."""
    if code == _CLOSING:
        return Unavailable("the mail server closes (421)")
    if code == _SIGN_IN_REQUIRED or _POLICY.match(text if isinstance(text, bytes) else text.encode()):
        # It may concern all our mails, as when the server does not relay for us.
        return Retry(f"the mail server does not permit {of} ({code})")
    if code >= 500:
        return Dead(f"the mail server refuses {of} ({code})")
    return Retry(f"the mail server puts {of} off ({code})")


def _describe(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return f"{type(error).__name__} {error.smtp_code}"
    if isinstance(error, OSError) and error.strerror:
        return f"{type(error).__name__}: {error.strerror}"
    return type(error).__name__
