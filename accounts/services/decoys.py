"""Work for addresses that get no mail, so that the time of an answer tells nothing about them."""

from django.conf import settings
from django.core.mail import get_connection

from accounts import emails
from accounts.services import locks
from accounts.tokens import keyed_digest
from accounts.unit_of_work import unit_of_work


def mail_no_code(*, email: str) -> None:
    """What mailing a code costs: its digest, its row, its text, a row of the queue, one commit."""
    with unit_of_work():
        keyed_digest("code", email)
        locks.touch_unknown(email)
        mail = emails.render("reset_code", email, settings.LANGUAGE_CODE, {"name": "x", "code": "000000"})
        # Only a queue can take a mail and forget it; without one, nothing may leave for this address.
        discard = getattr(get_connection(), "discard_messages", None)
        if discard is not None:
            discard([mail])
