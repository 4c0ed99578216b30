"""Transports of deliveries, one module each, and the outcomes of one attempt, on which the worker acts.

A channel knows neither the queue nor the database.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sent:
    provider_id: str = ""


@dataclass(frozen=True, slots=True)
class Retry:
    """The attempt failed and may succeed later. `after` is the wait in seconds that the service requested."""

    error: str
    after: float | None = None


@dataclass(frozen=True, slots=True)
class Unavailable:
    """The service refuses all requests. The delivery is not at fault, so the attempt does not count."""

    error: str
    after: float | None = None


@dataclass(frozen=True, slots=True)
class Dead:
    """The service will never accept this delivery."""

    error: str


@dataclass(frozen=True, slots=True)
class DeviceGone:
    """The token is no longer valid."""

    error: str


@dataclass(frozen=True, slots=True)
class WrongSender:
    """The token belongs to another Firebase project: either the token or the credentials are wrong."""

    error: str


Outcome = Sent | Retry | Unavailable | Dead | DeviceGone | WrongSender
