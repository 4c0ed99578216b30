"""Fake timing work for addresses that get no mail, so that response times do not reveal accounts."""

from django.conf import settings
from django.core.mail import get_connection

from accounts import emails
from accounts.services import login_lockout
from accounts.tokens import keyed_digest
from core.transactions import unit_of_work


def simulate_code_mail(*, email: str) -> None:
    """Does the work of mailing a code (digest, row, text, outbox row, one commit) and sends nothing."""
    with unit_of_work():
        keyed_digest("code", email)
        login_lockout.record_unknown_address(email)
        mail = emails.render("reset_code", email, settings.LANGUAGE_CODE, {"name": "x", "code": "000000"})
        # Only a queue can take a mail and discard it; without a queue nothing is sent to this address.
        discard = getattr(get_connection(), "discard_messages", None)
        if discard is not None:
            discard([mail])
