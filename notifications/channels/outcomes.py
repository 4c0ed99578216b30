"""What became of one attempt; the worker decides what follows from it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sent:
    provider_id: str = ""


@dataclass(frozen=True, slots=True)
class Retry:
    """This one failed and may work later. `after` is the wait in seconds that the service asked for."""

    error: str
    after: float | None = None


@dataclass(frozen=True, slots=True)
class Unavailable:
    """The service refuses everybody: not the fault of what was to be sent, so its tries are not charged."""

    error: str
    after: float | None = None


@dataclass(frozen=True, slots=True)
class Dead:
    """This one will never be accepted."""

    error: str


@dataclass(frozen=True, slots=True)
class DeviceGone:
    """The token is dead: nothing will ever reach it."""

    error: str


@dataclass(frozen=True, slots=True)
class WrongSender:
    """The token belongs to another project: either it is a stray one, or our credentials are wrong."""

    error: str


Outcome = Sent | Retry | Unavailable | Dead | DeviceGone | WrongSender
