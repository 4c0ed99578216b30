"""The networks that an account knows, because it was used there lately."""

from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from accounts.conf import conf
from accounts.models import Session, User
from accounts.models.sign_ins import NO_USER
from core.database.compiled import compiled
from core.network import network_of

# The newest sign-ins are enough to recognise a network.
NEWEST_SESSIONS = 200


def knows_network(user: User | None, network: str) -> bool:
    """Whether a session or trusted device of the account was in this network in the last days. Limits count
    such a network apart from all others, so that an attacker cannot use up the owner's budget.

    Which sessions count after they ended stands in `models.sign_ins.VOUCHING`. Known is also the network that used the
    code of the last reset: it had the mailbox.
    """
    now = timezone.now()
    since = now - timedelta(days=conf.KNOWN_NETWORK_DAYS)
    user_id = user.id if user is not None else NO_USER
    addresses = _addresses(user_id, now, since)
    if any(address is not None and network_of(address) == network for (address,) in addresses):
        return True
    reset_at = user.password_reset_at if user is not None else None
    return user is not None and reset_at is not None and reset_at > since and user.password_reset_network == network


@compiled
def _addresses(user_id: int, now: datetime, since: datetime) -> QuerySet[Session, tuple[str | None]]:
    """The addresses of the sessions that make a network known, the newest first."""
    recent = Session.objects.vouching_for_networks(now).filter(user_id=user_id, last_used_at__gt=since)
    return recent.order_by("-last_used_at").values_list("ip")[:NEWEST_SESSIONS]
