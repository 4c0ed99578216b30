"""Mails about an account, in its language: one function, one table of texts, two templates."""

import re
from collections.abc import Mapping
from typing import Any

from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils import translation

from accounts.conf import conf
from accounts.emails.texts import LETTERS
from accounts.models import User
from accounts.text import clean_name

# A name may greet, it may not advertise: nothing that a mail reader would turn into a link.
_LINKS = re.compile(r"\S*(?:://|www\.|@)\S*|\b[\w-]+(?:\.[\w-]+)*\.[^\W\d_]{2,}\b\S*", re.IGNORECASE)
MAX_NAME = 50


def send(kind: str, to: str, language: str, context: Mapping[str, Any] | None = None) -> None:
    """Mails the letter `kind`. `context` fills its sentences; `name` greets, `code` is shown large.

    Call it inside the unit of work that is the reason for it: the mail is queued with the change.
    """
    render(kind, to, language, context).send()


def render(kind: str, to: str, language: str, context: Mapping[str, Any] | None = None) -> EmailMultiAlternatives:
    """The mail that `send` sends."""
    letter = LETTERS[kind]
    values = dict(context or {})
    name = clean(str(values.pop("name", "")))
    filling = {key: clean_name(str(value)) for key, value in values.items()}
    with translation.override(language):
        content: dict[str, Any] = {
            "language": translation.get_language(),
            "right_to_left": translation.get_language_bidi(),
            "subject": str(letter.subject) % filling,
            "name": name,
            "before": [str(sentence) % filling for sentence in letter.before],
            "code": filling.get("code", ""),
            "link": filling.get("link", ""),
            "after": [str(sentence) % filling for sentence in letter.after],
        }
        text = render_to_string("accounts/email/letter.txt", content)
        html = render_to_string("accounts/email/letter.html", content)
    mail = EmailMultiAlternatives(content["subject"], text, None, [to], headers=_headers(content["code"]))
    mail.attach_alternative(html, "text/html")
    return mail


def send_to(user: User, kind: str, **context: Any) -> None:
    """Mails the letter `kind` to a person, in their language and by their name."""
    send(kind, user.email, user.language, {"name": user.first_name, **context})


def clean(name: str) -> str:
    """The name without control characters and links, at most 50 characters."""
    return clean_name(_LINKS.sub(" ", clean_name(name)))[:MAX_NAME].strip()


def _headers(code: str) -> dict[str, str]:
    """How the queue is to treat the mail: codes hurry, and are worth nothing once they have expired."""
    headers = {"Auto-Submitted": "auto-generated"}
    if code:
        headers |= {"X-Delivery-Priority": "code", "X-Delivery-Expires-In": str(conf.CODE_MINUTES * 60)}
    return headers
