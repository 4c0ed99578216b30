"""How often something may be asked for: one guard around django-ratelimit's counter.

Doors call `check` before they call a service. The counter lives in the cache (Redis, or the memory
of the one process of the embedded default). While it is out of reach, or where several processes have
none in common, scopes that guard secrets are counted in the database instead; all others are then let
through, or counted by each process for itself.
"""

import logging
import time
from collections.abc import Iterable, Mapping

from django.conf import settings
from django.http import HttpRequest
from django_ratelimit.core import get_usage

from accounts import request_context
from accounts.conf import COUNT_IN_DATABASE, Rate, conf
from accounts.exceptions import RateLimited
from accounts.services import rate_counts
from accounts.tokens import keyed_digest

logger = logging.getLogger("parley.ratelimits")

# After a failure the fast counter is left alone for so long, so that a dead one costs one wait, not one per request.
RETRY_COUNTER_SECONDS = 5.0

_registered: dict[str, tuple[Rate, ...]] = {}
_counter_dead_until = 0.0


def register(scopes: Mapping[str, Rate | Iterable[Rate]]) -> None:
    """Adds the scopes of another app: `{"send": ((20, 5, "allow"), (60, 60, "allow"))}`.

    A rate is (allowed, seconds, what to do when the counter is dead). Several rates of one scope hold
    together, which is how a burst is told from a long run: 20 within 5 seconds, 60 within a minute.
    """
    _registered.update({scope: _as_rates(rates) for scope, rates in scopes.items()})


def check(scope: str, key: str | int) -> None:
    """Counts one use of `scope` by whoever `key` names. RateLimited when it is one too many."""
    wait = _count(scope, str(key))
    if wait:
        raise RateLimited(retry_after=wait)


def allows(scope: str, key: str | int) -> bool:
    """Counts one use like `check`, for what is silently left out rather than refused."""
    return not _count(scope, str(key))


def client_key(request: HttpRequest) -> str:
    """Who a request comes from, as far as rates are concerned."""
    return request_context.network_of(request_context.address_of(request))


def forget_failures() -> None:
    """Asks the fast counter again at the next use."""
    global _counter_dead_until
    _counter_dead_until = 0.0


def _count(scope: str, key: str) -> int:
    """0 when this use is fine, else the seconds to wait."""
    if not settings.RATELIMIT_ENABLE:
        return 0
    digest = keyed_digest("rate", scope, key)
    return max(_count_one(scope, digest, rate) for rate in _rates(scope))


def _count_one(scope: str, digest: str, rate: Rate) -> int:
    allowed, seconds, when_dead = rate
    guards_secrets = when_dead == COUNT_IN_DATABASE
    counted = None
    if conf.COUNTER_IS_SHARED or not guards_secrets:
        counted = _from_counter(scope, digest, allowed, seconds)
    if counted is None and guards_secrets:
        counted = rate_counts.count(key=f"{digest[:56]}:{seconds}", seconds=seconds)
    if counted is None:
        return 0
    count, time_left = counted
    return max(1, time_left) if count > allowed else 0


def _from_counter(scope: str, digest: str, allowed: int, seconds: int) -> tuple[int, int] | None:
    """How often, and the seconds left of the window; None when the counter is out of reach."""
    global _counter_dead_until
    if time.monotonic() < _counter_dead_until:
        return None
    try:
        usage = get_usage(
            None,
            group=scope,
            key=lambda group, request: digest,
            rate=(allowed, seconds),
            increment=True,
        )
    except Exception as error:  # whatever client stands behind the cache: a rate is never a 500
        _counter_dead_until = time.monotonic() + RETRY_COUNTER_SECONDS
        logger.warning("rate counter out of reach: %s", error.__class__.__name__)
        return None
    if usage is None or usage["time_left"] < 0:  # its own way to say that it could not count
        return None
    return usage["count"], usage["time_left"]


def _rates(scope: str) -> tuple[Rate, ...]:
    rates = conf.RATES.get(scope) or _registered.get(scope)
    if rates is None:
        raise LookupError(f"no rate is registered for {scope!r}")
    return _as_rates(rates)


def _as_rates(rates: Rate | Iterable[Rate]) -> tuple[Rate, ...]:
    several = tuple(rates)
    return (rates,) if several and isinstance(several[0], int) else several  # type: ignore[return-value]
