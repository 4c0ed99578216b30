"""Transports of deliveries, one module each, and the outcomes of one attempt, on which the worker acts.

A channel knows neither the queue nor the database.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sent:
    provider_id: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    error: str
    # The wait in seconds that the service requested, of those that may succeed later.
    after: float | None = None


class Retry(Failed):
    """The attempt failed and may succeed later."""


class Unavailable(Failed):
    """The service refuses all requests. The delivery is not at fault, so the attempt does not count."""


class Dead(Failed):
    """The service will never accept this delivery."""


class DeviceGone(Failed):
    """The token is no longer valid."""


class WrongSender(Failed):
    """The token belongs to another Firebase project: either the token or the credentials are wrong."""


Outcome = Sent | Retry | Unavailable | Dead | DeviceGone | WrongSender
