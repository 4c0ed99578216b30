"""Networks that an account knows: it was used there lately.

Limits count a known network apart from all others, so that an attacker cannot use up the owner's budget.
"""

from datetime import timedelta

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from accounts.conf import conf
from accounts.models import Session, TrustedDevice, User
from core.request_context import network_of

# The newest sign-ins are enough to recognise a network.
NEWEST_SESSIONS = 200
# No row has this id: for an address without account the statement is the same and finds nothing.
_NO_USER = 0
# Sessions that ended in another way may have been stolen. A reset ends all of them: the owner, who has
# just proved the mailbox, still signs in from the usual networks while an attacker goes on guessing.
_KNOWN_AFTER = ("logout", "password_reset")


def is_known(user: User | None, network: str) -> bool:
    """Whether a session or trusted device of the account was in this network in the last days.

    Sessions count while they live and after they expired, were signed out or ended by a reset of the password;
    those that ended in any other way (removed, reuse of a token) count only while their trusted device lives.
    """
    now = timezone.now()
    trusted = TrustedDevice.objects.live(now).filter(id=OuterRef("trusted_device_id"))
    lately = Session.objects.filter(
        Q(ended_at=None) | Q(ended_reason__in=_KNOWN_AFTER) | Exists(trusted),
        user_id=user.id if user is not None else _NO_USER,
        last_used_at__gt=now - timedelta(days=conf.KNOWN_NETWORK_DAYS),
    ).order_by("-last_used_at")
    addresses = lately.values_list("ip", flat=True)[:NEWEST_SESSIONS]
    return any(address is not None and network_of(address) == network for address in addresses)
