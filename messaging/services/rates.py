"""How often one person may do a thing; the numbers stand in messaging/conf.py."""


def check(scope: str, user_id: int) -> None:
    """Counts one. RateLimited when it was one too many."""
    try:
        from accounts import ratelimits
    except ImportError:  # until the limiter has landed
        return
    ratelimits.check(scope, str(user_id))
