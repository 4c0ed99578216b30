"""Mails about an account, in its language: a table of texts and two templates."""

import re
import unicodedata
import uuid
from collections.abc import Mapping
from typing import Any

from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils import translation

from accounts.conf import NAME_LENGTH, conf
from accounts.emails.texts import EMAIL_TEXTS
from accounts.models import User
from core.characters import clean_name
from core.conf import project

# A name must not advertise, so words that a mail program or a reader could take for a link are removed.
_LINK = re.compile(
    r"//|www\.|@"
    r"|[a-z][a-z0-9+.-]*:\S"  # any scheme: http:, hxxp:, mailto:
    r"|[\w-]+\.(?:[^\W\d_]{2,}|xn--[\w-]+)"  # host.top, also inside of a longer word
    r"|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]*:[0-9a-f:.]*\]",  # addresses of IP
    re.IGNORECASE,
)
# Full stops of other scripts; browsers take some of them for a dot in a host name. Compatibility forms were normalised before.
_DOTS = re.compile("[\u3002\u06d4\u0701\u0702\u16eb\u2e3c\ua4f8\ua60e]|[\\[({](?:\\.|dot)[\\])}]", re.IGNORECASE)
# Marks and invisible characters could hide a link from the pattern. Endings in some scripts have marks.
_IGNORED_CATEGORIES = {"Cf", "Mc", "Me", "Mn"}
# Mail programs turn longer numbers into telephone links, and readers take them for codes.
MAX_DIGITS = 5
MAX_NAME = NAME_LENGTH


def send_to(user: User, kind: str, *, to: str = "", **context: Any) -> None:
    """Sends the mail `kind` to a user, at the present address or at `to`, in the user's language and with the user's name.

    Call it inside the unit of work of the change, so that the mail is queued with it.
    """
    render(kind, to or user.email, user.language, {"name": user.first_name, **context}).send()


def render(kind: str, to: str, language: str, context: Mapping[str, Any] | None = None) -> EmailMultiAlternatives:
    """Builds a mail. `context` fills its sentences; `name` is used in the greeting, `code` is shown large."""
    template = EMAIL_TEXTS[kind]
    values = dict(context or {})
    name = _without_numbers(clean(str(values.pop("name", ""))))
    variables = {key: clean_name(str(value)) for key, value in values.items()}
    with translation.override(language):
        content: dict[str, Any] = {
            "language": translation.get_language(),
            "right_to_left": translation.get_language_bidi(),
            "subject": str(template.subject) % variables,
            "name": name,
            "before": [str(sentence) % variables for sentence in template.before],
            "code": variables.get("code", ""),
            "link": variables.get("link", ""),
            "product": project.PRODUCT_NAME,
            "product_url": project.PRODUCT_URL,
            "support": project.SUPPORT_EMAIL,
            "after": [str(sentence) % variables for sentence in template.after],
        }
        text = render_to_string("accounts/email/body.txt", content)
        html = render_to_string("accounts/email/body.html", content)
    # The outbox removes the headers that begin with X-Delivery.
    headers = {"Auto-Submitted": "auto-generated", "X-Delivery-Kind": kind}
    if content["code"]:  # the outbox sends it with priority, and drops it once the code has expired
        headers |= {"X-Delivery-Priority": "code", "X-Delivery-Expires-In": str(conf.CODE_MINUTES * 60)}
        # Gmail hides text that repeats the previous mail; the reader needs the newer code.
        headers["X-Entity-Ref-ID"] = uuid.uuid4().hex
    reply_to = [project.SUPPORT_EMAIL] if project.SUPPORT_EMAIL else None
    mail = EmailMultiAlternatives(content["subject"], text, None, [to], headers=headers, reply_to=reply_to)
    mail.attach_alternative(html, "text/html")
    return mail


def clean(name: str) -> str:
    """The name without control characters and links, at most 50 characters."""
    words = clean_name(name).split()
    return " ".join(word for word in words if not _is_link(word))[:MAX_NAME].strip()


def _is_link(word: str) -> bool:
    plain = _letters(unicodedata.normalize("NFKC", _letters(word)))
    return bool(_LINK.search(_DOTS.sub(".", plain)))


def _letters(text: str) -> str:
    return "".join(character for character in text if unicodedata.category(character) not in _IGNORED_CATEGORIES)


def _without_numbers(name: str) -> str:
    """The name without words that contain digits, if it has as many digits as a code or telephone number."""
    if sum(map(str.isdigit, name)) <= MAX_DIGITS:
        return name
    return " ".join(word for word in name.split() if not any(map(str.isdigit, word)))
