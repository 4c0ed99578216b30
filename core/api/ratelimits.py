"""Request rates: one guard around django-ratelimit's counter.

A scope names what is limited ("login_network"), a key names the client or user, and begins with the client's network
where there is one. Views declare their scopes
(`core.api.throttles`); services call `check` or `allows` where the limit depends on data that they read.
The counter is in the cache: Redis, or the memory of a single process. While it is unavailable, or where several
processes share none, scopes that guard secrets are counted by the store that an app has set with `count_with` (rows
in a database). All other scopes are then not limited, or limited per process.
"""

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol, cast

from django.conf import settings
from django.utils.crypto import salted_hmac
from django_ratelimit.core import get_usage

from core.api.exceptions import RateLimited
from core.conf import COUNT_IN_DATABASE, Rate, conf, project
from core.network import wider_networks

logger = logging.getLogger("parley.ratelimits")

# After a failure the counter is not used for this long, so that an unavailable one costs one timeout, not one per
# request.
RETRY_COUNTER_SECONDS = 5.0

Rates = Rate | Iterable[Rate]


class Store(Protocol):
    def __call__(self, *, key: str, seconds: int) -> tuple[int, int]:
        """Counts one use of `key`. Returns the uses in the present window, and the seconds left of it."""


_defaults: dict[str, tuple[str, tuple[Rate, ...]]] = {}
_store: Store | None = None
_counter_retry_at = 0.0


def register(prefix: str, scopes: Mapping[str, Rates]) -> None:
    """Adds the scopes of an app; its setting `<prefix>_RATES` overrides single ones.

    A rate is (allowed, seconds, what to do while the counter is unavailable). Several rates of one scope
    hold together: 20 within 5 seconds for a burst, and 60 within a minute for the long run.
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
    for counted, times in _counted(key):
        # The cache and the fall-back rows hold no address in plain text.
        digest = salted_hmac("core.api.ratelimits", f"{scope}:{counted}", algorithm="sha256").hexdigest()
        wait = max(_count_one(scope, digest, (allowed * times, seconds, gone)) for allowed, seconds, gone in rates)
        if wait:  # a refused network does not use up the allowance that its neighbours share
            return wait
    return 0


def _counted(key: str) -> Iterator[tuple[str, int]]:
    """The keys that one use of `key` counts for, the most specific first, each with its multiple of the allowance. A key
    that begins with an IPv6 network also counts for the wider networks around it."""
    yield key, 1
    network, separator, rest = key.partition(" ")
    for wider, times in wider_networks(network):
        yield f"{wider}{separator}{rest}", times


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
    except Exception as error:  # any cache client may be configured; a failed count must not be a 500
        _counter_retry_at = time.monotonic() + RETRY_COUNTER_SECONDS
        logger.warning("rate counter out of reach: %s", error.__class__.__name__)
        return None
    if usage is None or usage["time_left"] < 0:  # django-ratelimit could not count
        return None
    return usage["count"], usage["time_left"]


def _as_rates(rates: Rates) -> tuple[Rate, ...]:
    rates_tuple = tuple(rates)
    return cast(tuple[Rate, ...], (rates,) if rates_tuple and isinstance(rates_tuple[0], int) else rates_tuple)
