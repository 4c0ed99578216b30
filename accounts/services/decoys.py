"""Work for addresses that get no mail, so that the time of an answer tells nothing about them."""

import secrets

from django.conf import settings
from django.utils import timezone

from accounts import emails
from accounts.services import locks, rate_counts
from accounts.tokens import keyed_digest
from accounts.unit_of_work import unit_of_work


def mail_no_code(*, email: str) -> None:
    """What mailing a code costs: its digest, its row, its text, a row of the queue, one commit."""
    with unit_of_work():
        _touch(email)
        digest = keyed_digest("code", email, secrets.token_hex(3))
        rate_counts.count(key=digest, seconds=3600)
        emails.render("reset_code", email, settings.LANGUAGE_CODE, {"name": "x", "code": digest[:6]})


def compare_no_code(*, email: str) -> None:
    """What a wrong code costs: a counted try and a counted failure, each committed."""
    for _ in range(2):
        with unit_of_work():
            _touch(email)
    keyed_digest("code", email)


def _touch(email: str) -> None:
    row = locks.locked_unknown(email)
    row.touched_at = timezone.now()
    row.save(update_fields=["touched_at"])
