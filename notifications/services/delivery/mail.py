"""Mail: queued inside the transaction that causes it, sent by the worker.

The queue keeps the content encrypted, so that only the process that sends a mail can read it: a mail that waits may
hold a code, and a copy of the database, a report or a page that shows the row shows no code.
"""

import base64
import json
import uuid
from collections.abc import Sequence
from datetime import timedelta
from email.utils import formatdate, parseaddr
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.mail import BadHeaderError, EmailMessage, EmailMultiAlternatives
from django.db import transaction
from django.db.models import Subquery
from django.utils import timezone
from django.utils.crypto import salted_hmac

from notifications.channels import Outcome
from notifications.channels.mail import MailChannel
from notifications.conf import conf
from notifications.models import Delivery
from notifications.services.delivery.claims import Claimed, DeliveryResult
from notifications.services.delivery.sending import Job, result
from notifications.services.delivery.wakeups import wake_on_commit

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet


# Headers that the queue reads and removes: the priority `code` sends a mail before everything but calls, and a mail
# that was not sent within these seconds expires.
PRIORITY_HEADER = "X-Delivery-Priority"
EXPIRES_HEADER = "X-Delivery-Expires-In"

_KEY = "sealed"


def enqueue_mail(messages: Sequence[EmailMessage]) -> int:
    """Queue mails; they leave after the commit. Returns how many.

    BadHeaderError for a line break in an address or subject, ValueError for attachments.
    """
    rows = [_mail_row(message) for message in messages if message.recipients()]
    Delivery.objects.bulk_create(rows)
    if rows:
        wake_on_commit()
    return len(rows)


def discard_mail(messages: Sequence[EmailMessage]) -> None:
    """Queue mails and roll back: the same work as `enqueue_mail`, and nothing is sent."""
    with transaction.atomic():
        enqueue_mail(messages)
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
    payload = _mail_payload(message, headers)
    address = parseaddr(message.recipients()[0])[1]
    owner = get_user_model()._default_manager.filter(email=address).values("id")[:1]
    return Delivery(
        channel=Delivery.Channel.MAIL,
        kind="mail",
        dedupe_key=f"mail:{headers['Message-ID']}"[:200],
        priority=Delivery.Priority.CODE if is_code else Delivery.Priority.REST,
        recipient_id=Subquery(owner),
        payload=encrypt(payload),
        due_at=now,
        expires_at=now + timedelta(seconds=seconds),
        created_at=now,
        touched_at=now,
    )


def _mail_payload(message: EmailMessage, headers: dict[str, str]) -> dict[str, Any]:
    if message.attachments:
        raise ValueError("mails with attachments are not queued")
    lines = [message.subject, message.from_email, *message.recipients(), *message.reply_to, *headers.values()]
    if any("\n" in str(line) or "\r" in str(line) for line in lines):
        raise BadHeaderError("a header of a mail must not contain line breaks")
    alternatives = message.alternatives if isinstance(message, EmailMultiAlternatives) else []
    return {
        "subject": str(message.subject),
        "text": str(message.body),
        "subtype": message.content_subtype,
        "alternatives": [[str(content), str(mimetype)] for content, mimetype in alternatives],
        "from": str(message.from_email),
        "to": [str(address) for address in message.to],
        "cc": [str(address) for address in message.cc],
        "bcc": [str(address) for address in message.bcc],
        "reply_to": [str(address) for address in message.reply_to],
        "headers": headers,
    }


class UnknownKey(Exception):
    """The content was encrypted with a key that is no longer among SECRET_KEY and SECRET_KEY_FALLBACKS."""


def encrypt(content: dict[str, Any]) -> dict[str, Any]:
    return {_KEY: _fernet().encrypt(json.dumps(content, ensure_ascii=False).encode()).decode()}


def decrypt(payload: dict[str, Any]) -> dict[str, Any]:
    """The content of a mail. Unreadable without its key."""
    from cryptography.fernet import InvalidToken

    try:
        content: dict[str, Any] = json.loads(_fernet().decrypt(payload[_KEY]))
    except (InvalidToken, KeyError) as error:
        raise UnknownKey from error
    return content


def _fernet() -> "MultiFernet":
    return _fernet_of((str(settings.SECRET_KEY), *map(str, settings.SECRET_KEY_FALLBACKS)))


@lru_cache(maxsize=4)
def _fernet_of(secrets: tuple[str, ...]) -> "MultiFernet":
    # 8 MB, loaded with the first mail.
    from cryptography.fernet import Fernet, MultiFernet

    salt = "notifications.delivery.mail"
    digests = (salted_hmac(salt, "key", secret=secret, algorithm="sha256").digest() for secret in secrets)
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])


class MailHandler:
    def __init__(self) -> None:
        self._channel = MailChannel()

    def prepare(self, rows: Sequence[Claimed]) -> list[Job | DeliveryResult]:
        prepared: list[Job | DeliveryResult] = []
        for row in rows:
            try:
                prepared.append(Job(row, decrypt(row.payload)))
            except UnknownKey:
                prepared.append(result(row, Delivery.State.DEAD, "the content needs an earlier SECRET_KEY"))
        return prepared

    def send(self, job: Job) -> Outcome:
        return self._channel.send(job.message)

    def idle(self) -> None:
        self._channel.idle()

    def device_gone(self, row: Claimed) -> None:
        """Mail has no devices."""
