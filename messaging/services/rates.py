"""How often one person may do a thing; the numbers stand in messaging/conf.py."""

from accounts import ratelimits


def check(scope: str, user_id: int) -> None:
    """Counts one. RateLimited when it was one too many."""
    ratelimits.check(scope, user_id)
