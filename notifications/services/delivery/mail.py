"""Mail: Django's `send_mail` queues it inside the transaction that causes it, the worker sends it through the real backend
(settings.NOTIFICATIONS_MAIL_TRANSPORT).

The queue keeps the content encrypted, so that only the process that sends a mail can read it. A waiting mail may hold a
code, which a copy of the database, a report or an admin page must not show.
"""

import base64
import contextlib
import io
import json
import re
import smtplib
import threading
import uuid
from collections.abc import Sequence
from datetime import timedelta
from email.generator import BytesGenerator
from email.headerregistry import Address
from email.policy import SMTPUTF8
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
from django.utils.encoding import punycode

from accounts.emails.texts import EMAIL_TEXTS
from notifications.channels import Dead, Outcome, Retry, Sent, Unavailable
from notifications.conf import conf
from notifications.kinds import OTHER_MAIL
from notifications.models import Delivery
from notifications.services.delivery.claims import Claimed, DeliveryResult
from notifications.services.delivery.sending import DeliveryHandler, Job
from notifications.services.delivery.wakeups import wake_on_commit

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet


# Headers that the queue reads and removes: the kind of mail, a key of EMAIL_TEXTS, for the list of deliveries; the priority `code` sends a mail before everything but calls, and a mail
# that was not sent within these seconds expires.
KIND_HEADER = "X-Delivery-Kind"
PRIORITY_HEADER = "X-Delivery-Priority"
EXPIRES_HEADER = "X-Delivery-Expires-In"

_KEY = "sealed"

_CLOSING = 421
_SIGN_IN_REQUIRED = 530
_POLICY = re.compile(rb"[245]\.7\.\d")


class QueueingEmailBackend(BaseEmailBackend):
    """The e-mail backend of the project (EMAIL_BACKEND). A mail belongs to the transaction that queues it."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Queue mails, which are sent after the commit. Returns how many.

        BadHeaderError for a line break in an address or subject, ValueError for attachments.
        """
        rows = [_mail_row(message) for message in email_messages if message.recipients()]
        Delivery.objects.bulk_create(rows)
        if rows:
            wake_on_commit()
        return len(rows)

    def discard_messages(self, email_messages: Sequence[EmailMessage]) -> None:
        """Do the work of `send_messages` and queue nothing, so that timing does not reveal whether a mail is sent."""
        with transaction.atomic():
            self.send_messages(email_messages)
            transaction.set_rollback(True)
        wake_on_commit()


def _mail_row(message: EmailMessage) -> Delivery:
    now = timezone.now()
    headers = {name: str(value) for name, value in message.extra_headers.items()}
    kind = headers.pop(KIND_HEADER, OTHER_MAIL)
    is_code = headers.pop(PRIORITY_HEADER, "") == "code"
    seconds = float(headers.pop(EXPIRES_HEADER, conf.CODE_MAIL_SECONDS if is_code else conf.MAIL_SECONDS))
    domain = parseaddr(message.from_email)[1].rpartition("@")[2] or "localhost"
    # A mail that has to be sent twice keeps its id, so mailboxes show it once. The id begins with the time in
    # microseconds: several threads send, and the Date header has whole seconds.
    headers.setdefault("Message-ID", f"<{int(now.timestamp() * 1_000_000):017}.{uuid.uuid4().hex}@{domain}>")
    headers.setdefault("Date", formatdate(now.timestamp()))
    content = _mail_content(message, headers)
    address = parseaddr(message.recipients()[0])[1]
    owner = get_user_model()._default_manager.filter(email=address).values("id")[:1]
    return Delivery(
        channel=Delivery.Channel.MAIL,
        kind=kind if kind in EMAIL_TEXTS else OTHER_MAIL,
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
    """The content of a mail. Raises UnknownKey without its key."""
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
    """Each thread keeps its connection while it has something to send; `idle` closes it."""

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
            smtp = getattr(connection, "connection", None)
            if isinstance(smtp, smtplib.SMTP) and _needs_smtputf8(job.message):
                smtp.ehlo_or_helo_if_needed()
                if not smtp.has_extn("smtputf8"):
                    # As an encoded word, the address would be another mailbox.
                    return Dead("the mail server takes no address with letters beyond ASCII (it has no SMTPUTF8)")
                _send_with_smtputf8(smtp, job.message)
            else:
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


def _needs_smtputf8(message: EmailMessage) -> bool:
    """Whether a mailbox of the mail has letters beyond ASCII before the `@` (RFC 6531). Domains and names can be encoded."""
    return not all(_mailbox(address)[0].isascii() for address in [message.from_email, *message.recipients()])


def _mailbox(address: str) -> tuple[str, str]:
    """The local part and the domain, the latter in ASCII, of an address with or without a name."""
    local, _at, domain = parseaddr(address)[1].rpartition("@")
    return local, punycode(domain)


def _send_with_smtputf8(smtp: smtplib.SMTP, message: EmailMessage) -> None:
    """Sends a mail with its addresses as they are, in the envelope and in the headers (RFC 6532). Django would encode them."""
    rendered = message.message()
    headers = {"From": [message.from_email], "To": message.to, "Cc": message.cc, "Reply-To": message.reply_to}
    for name in headers.keys() & rendered.keys():
        # Django would encode an address that is assigned.
        rendered.replace_header(name, ", ".join(map(_as_it_is, headers[name])))
    content = io.BytesIO()
    BytesGenerator(content, mangle_from_=False, policy=SMTPUTF8).flatten(rendered, linesep="\r\n")
    smtp.sendmail(
        "@".join(_mailbox(message.from_email)),
        ["@".join(_mailbox(address)) for address in message.recipients()],
        content.getvalue(),
        mail_options=["SMTPUTF8", "BODY=8BITMIME"],
    )


def _as_it_is(address: str) -> str:
    local, domain = _mailbox(address)
    return str(Address(parseaddr(address)[0], local, domain))


def classify(error: Exception) -> Outcome:
    """Classifies errors of an open connection. Only codes are kept, because the texts of servers repeat addresses."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        # With several recipients, the mail is tried again as long as one of them may accept it later.
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
        # The refusal may concern all our mails, for example when the server does not relay for us.
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
