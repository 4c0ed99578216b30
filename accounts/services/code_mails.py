"""Limits how many codes are mailed to one address, over all requests.

Every request that mails a code asks here first: sign-up, a new code, a reset, a mailed second step, an action and a
new address. Not counted are codes that support sends, and the one that follows a confirmed code (a new password for
a contested address).
"""

from accounts.models import User
from accounts.services import known_networks
from core import ratelimits


def may_be_sent(*, address: str, asked_for: User | None, network: str) -> bool:
    """Counts one mail to `address`. False when the limit is reached: nothing may be sent, without an error.

    Networks known to `asked_for` (the account that the mail is about, None without one) have a budget of
    their own, which requests from all other networks cannot use up.
    """
    is_known = known_networks.is_known(asked_for, network)
    return ratelimits.allows("code_mails_known" if is_known else "code_mails_unknown", address)
