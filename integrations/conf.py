"""Defaults of this app; a setting `INTEGRATIONS_<NAME>` overrides the one of that name."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.conf import ALLOW, RatesByScope, prefixed


@dataclass(frozen=True)
class Defaults:
    USERS_PAGE: int = 50
    USERS_PAGE_MAX: int = 200
    # The last use of a key is stored this often.
    LAST_USED_EVERY_SECONDS: int = 300

    # Where events go (integrations.targets).
    WEBHOOKS: str = ""
    EVENTS_PAGE: int = 100
    EVENTS_PAGE_MAX: int = 1000
    KEEP_EVENT_DAYS: int = 14
    # How many committed events get their numbers in one transaction.
    NUMBERED_AT_ONCE: int = 1000
    WEBHOOK_TIMEOUT_SECONDS: float = 10
    # So much of a reply is read.
    WEBHOOK_REPLY_BYTES: int = 65_536

    # Identity tokens: PEM files, the newest first; the services that may get a token; and whether a missing key is made.
    IDENTITY_KEYS: Sequence[str] = ()
    IDENTITY_AUDIENCES: Sequence[str] = ()
    IDENTITY_KEYS_ARE_MADE: bool = True

    RATES: RatesByScope = field(
        default_factory=lambda: {
            # All requests with one server key.
            "server_key": (600, 60, ALLOW),
        }
    )


conf = prefixed("INTEGRATIONS", Defaults())
