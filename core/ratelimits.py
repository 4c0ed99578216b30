"""Request rates: one guard around django-ratelimit's counter.

A scope names what is limited ("login_network"), a key names the client or user. Views declare their scopes
(`core.throttles`); services call `check` or `allows` where the limit depends on data that they read.
The counter is in the cache: Redis, or the memory of a single process. While it is unavailable, or where several
processes share none, scopes that guard secrets are counted by the store that an app has set with `count_with` (rows
in a database); all other scopes are then not limited, or limited per process.
"""

import logging
import time
from collections.abc import Iterable, Mapping
from typing import Protocol, cast

from django.conf import settings
from django.utils.crypto import salted_hmac
from django_ratelimit.core import get_usage

from core.conf import COUNT_IN_DATABASE, Rate, conf, project
from core.exceptions import RateLimited

logger = logging.getLogger("parley.ratelimits")

# After a failure the counter is not used for this long, so that an unavailable one costs one timeout, not one per
# request.
RETRY_COUNTER_SECONDS = 5.0

Rates = Rate | Iterable[Rate]


class Store(Protocol):
    def __call__(self, *, key: str, seconds: int) -> tuple[int, int]:
        """Counts one use of `key`: the uses in the present window, and the seconds left of it."""


_defaults: dict[str, tuple[str, tuple[Rate, ...]]] = {}
_store: Store | None = None
_counter_retry_at = 0.0


def register(prefix: str, scopes: Mapping[str, Rates]) -> None:
    """Adds the scopes of an app; its setting `<prefix>_RATES` overrides single ones.

    A rate is (allowed, seconds, what to do while the counter is unavailable). Several rates of one scope
    hold together: 20 within 5 seconds and 60 within a minute is a burst and a long run.
    """
    _defaults.update({scope: (prefix, _as_rates(rates)) for scope, rates in scopes.items()})


def count_with(store: Store) -> None:
    """Sets where scopes that guard secrets are counted while the counter is unavailable."""
    global _store
    _store = store


def rates_of(scope: str) -> tuple[Rate, ...]:
    """The rates of a scope as configured now. LookupError for one that no app has registered."""
    if scope not in _defaults:
        raise LookupError(f"no rate is registered for {scope!r}")
    prefix, rates = _defaults[scope]
    overrides: Mapping[str, Rates] = getattr(settings, f"{prefix}_RATES", {})
    return _as_rates(overrides[scope]) if scope in overrides else rates


def scopes(prefix: str | None = None) -> list[str]:
    """All registered scopes, or those that the setting `<prefix>_RATES` may name."""
    return [scope for scope, (owner, _) in _defaults.items() if prefix in (None, owner)]


def overrides() -> list[tuple[str, str, Rates]]:
    """(prefix, scope, rates) of every rate that a setting overrides."""
    prefixes = sorted({prefix for prefix, _ in _defaults.values()})
    return [(prefix, *item) for prefix in prefixes for item in getattr(settings, f"{prefix}_RATES", {}).items()]


def check(scope: str, key: str | int) -> None:
    """Counts one use of `scope` by `key`. RateLimited when it is one too many."""
    wait = _count(scope, str(key))
    if wait:
        raise RateLimited(retry_after=wait)


def allows(scope: str, key: str | int) -> bool:
    """Counts one use like `check`, for callers that skip the action instead of refusing it."""
    return not _count(scope, str(key))


def _count(scope: str, key: str) -> int:
    """0 when this use is allowed, otherwise the seconds to wait."""
    rates = rates_of(scope)
    if not project.RATELIMIT_ENABLE:
        return 0
    # The cache and the fall-back rows hold no address in plain text.
    digest = salted_hmac("core.ratelimits", f"{scope}:{key}", algorithm="sha256").hexdigest()
    return max(_count_one(scope, digest, rate) for rate in rates)


def _count_one(scope: str, digest: str, rate: Rate) -> int:
    allowed, seconds, fallback = rate
    store = _store if fallback == COUNT_IN_DATABASE else None
    usage = None
    if conf.COUNTER_IS_SHARED or store is None:
        usage = _from_counter(scope, digest, allowed, seconds)
    if usage is None and store is not None:
        usage = store(key=f"{digest[:56]}:{seconds}", seconds=seconds)
    if usage is None:
        return 0
    count, time_left = usage
    return max(1, time_left) if count > allowed else 0


def _from_counter(scope: str, digest: str, allowed: int, seconds: int) -> tuple[int, int] | None:
    """The uses and the seconds left of the window; None when the counter is unavailable."""
    global _counter_retry_at
    if time.monotonic() < _counter_retry_at:
        return None
    try:
        usage = get_usage(None, group=scope, key=lambda group, request: digest, rate=(allowed, seconds), increment=True)
    except Exception as error:  # of any client behind the cache: a rate is never a 500
        _counter_retry_at = time.monotonic() + RETRY_COUNTER_SECONDS
        logger.warning("rate counter out of reach: %s", error.__class__.__name__)
        return None
    if usage is None or usage["time_left"] < 0:  # django-ratelimit's way to say that it could not count
        return None
    return usage["count"], usage["time_left"]


def _as_rates(rates: Rates) -> tuple[Rate, ...]:
    rates_tuple = tuple(rates)
    return cast(tuple[Rate, ...], (rates,) if rates_tuple and isinstance(rates_tuple[0], int) else rates_tuple)
