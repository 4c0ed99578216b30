"""The development outboxes: mails written by Django's file backend, and pushes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import getaddresses, parsedate_to_datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache

from accounts.conf import code_lengths
from core.addresses import normalise_address
from core.times import json_time
from portal.pages import developers_only, page

SHOWN = 200
# Django's file backend ends every mail with a line of dashes.
_RULE = re.compile(rb"^-{70,}\s*$", re.MULTILINE)
_WRITTEN = re.compile(r"<(\d{17})\.")
_DIGITS = "|".join(rf"\d{{{length}}}" for length in code_lengths())
_CODE = re.compile(rf"(?<![\w-])({_DIGITS})(?![\w-])")


@dataclass(frozen=True, slots=True)
class Mail:
    """One mail as it would have been sent. `code` is the first one-time code in its text, or an empty string.

    `written` is the time in microseconds from the Message-ID that the queue sets; 0 for other mails.
    """

    to: str
    subject: str
    text: str
    code: str
    created_at: datetime
    written: int


@dataclass(frozen=True, slots=True)
class Push:
    """One push message as a device would get it."""

    title: str
    text: str
    payload: dict[str, Any]
    created_at: datetime


def newest_files(folder: Path) -> Iterator[tuple[bytes, datetime]]:
    """The content and time of the files of a folder, newest first; files that are removed meanwhile are skipped."""
    ages: dict[Path, float] = {}
    for path in folder.iterdir() if folder.is_dir() else ():
        with suppress(FileNotFoundError):
            if path.is_file() and not path.name.startswith("."):
                ages[path] = path.stat().st_mtime
    for path in sorted(ages, key=lambda path: ages[path], reverse=True):
        with suppress(FileNotFoundError):
            yield path.read_bytes(), datetime.fromtimestamp(ages[path], tz=UTC)


def mails(*, to: str = "") -> list[Mail]:
    """The newest mails first, at most 200; with `to`, only those to that address."""
    address = _as_sent(to.strip().casefold())
    mails: list[Mail] = []
    for content, written_at in newest_files(settings.MAILBOX_DIR):
        mails += reversed(list(_mails_in(content, written_at, address)))
        if len(mails) >= SHOWN:
            break
    # Each sending thread writes its own file, so the order of the files is not enough.
    mails.sort(key=lambda mail: (mail.created_at, mail.written), reverse=True)
    return mails[:SHOWN]


def _as_sent(address: str) -> str:
    """The address as it appears in a mail, with the domain in ASCII; any other text is unchanged."""
    try:
        return normalise_address(address)
    except ValueError:
        return address


def _mails_in(content: bytes, written_at: datetime, address: str) -> Iterator[Mail]:
    """The mails of a file; with an address, only those to it."""
    *_, unfinished = raws = _RULE.split(content)
    for raw in raws:
        # Parsing a mail costs more than this search. Addresses in other scripts are encoded, so the search skips none
        # of their mails.
        if not raw.strip() or (address.isascii() and address.encode() not in raw.lower()):
            continue
        message = message_from_bytes(raw.lstrip(), _class=EmailMessage, policy=policy.default)
        if message.defects and raw is unfinished:
            continue  # The worker is still writing it.
        to = str(message["To"] or "")
        if address and address not in [recipient.casefold() for _, recipient in getaddresses([to])]:
            continue
        body = message.get_body(("plain", "html"))
        text = body.get_content().strip() if body else ""
        code = _CODE.search(text)
        written = _WRITTEN.search(str(message["Message-ID"] or ""))
        try:
            created_at = parsedate_to_datetime(str(message["Date"])).astimezone(UTC)
        except (TypeError, ValueError):
            created_at = written_at
        yield Mail(
            to=to,
            subject=str(message["Subject"] or ""),
            text=text,
            code=code[1] if code else "",
            created_at=created_at,
            written=int(written[1]) if written else 0,
        )


def pushes() -> list[Push]:
    """The newest push messages first, at most 200."""
    pushes: list[Push] = []
    for content, written_at in newest_files(settings.NOTIFICATIONS_PUSH_OUTBOX):
        for line in reversed(content.splitlines()):
            # A line that is still being written is skipped.
            with suppress(ValueError):
                pushes.append(_push(json.loads(line), written_at))
        if len(pushes) >= SHOWN:
            break
    return pushes[:SHOWN]


def _push(payload: dict[str, Any], written_at: datetime) -> Push:
    message = payload.get("message", payload)
    title = message.get("notification", {}).get("title") or message.get("data", {}).get("type") or "Push"
    return Push(title, json.dumps(payload, indent=2, ensure_ascii=False), payload, written_at)


MAIL_FIELDS = ("to", "subject", "text", "code", "created_at")


@developers_only
@never_cache
def dev_mail(request: HttpRequest) -> HttpResponse:
    to = request.GET.get("to", "")
    return page(request, "mailbox", to=to, mails=mails(to=to))


@developers_only
@never_cache
def dev_mail_json(request: HttpRequest) -> HttpResponse:
    rows = [
        {name: getattr(mail, name) for name in MAIL_FIELDS} | {"created_at": json_time(mail.created_at)}
        for mail in mails(to=request.GET.get("to", ""))
    ]
    return JsonResponse({"ok": True, "mails": rows})


@developers_only
@never_cache
def dev_push(request: HttpRequest) -> HttpResponse:
    return page(request, "outbox", pushes=pushes())


@developers_only
@never_cache
def dev_push_json(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"ok": True, "pushes": [push.payload for push in pushes()]})
