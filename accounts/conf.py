"""Defaults of this app; a setting `ACCOUNTS_<NAME>` overrides the one of that name."""

from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from django.conf import settings

D = TypeVar("D")

# How many within how many seconds, and what to do while the counter is out of reach.
Rate = tuple[int, int, str]
COUNT_IN_DATABASE = "count_in_database"
ALLOW = "allow"


class _Prefixed:
    def __init__(self, prefix: str, defaults: object) -> None:
        self._prefix = prefix
        self._defaults = defaults

    def __getattr__(self, name: str) -> Any:
        return getattr(settings, f"{self._prefix}_{name}", getattr(self._defaults, name))


def prefixed(prefix: str, defaults: D) -> D:
    """The defaults, each overridden by the Django setting `<prefix>_<NAME>` when there is one."""
    return cast(D, _Prefixed(prefix, defaults))


@dataclass(frozen=True)
class Defaults:
    # kid:secret pairs, newest first; a secret has at least 32 bytes.
    TOKEN_KEYS: str = ""
    TOKEN_ISSUER: str = "parley"
    TOKEN_AUDIENCE: str = "parley-api"
    TOKEN_DAYS: int = 7
    TOKEN_LEEWAY_SECONDS: int = 30
    SESSION_DAYS: int = 90
    REFRESH_GRACE_SECONDS: int = 60
    LAST_USED_EVERY_SECONDS: int = 300

    CODE_MINUTES: int = 10
    CODE_TRIES: int = 5

    # Wrong passwords in a row, and the seconds of waiting from then on; every further five: the last.
    LOCK_STEPS: tuple[tuple[int, int], ...] = ((5, 60), (10, 300), (15, 900))
    LOCK_EVERY: int = 5
    # Wrong passwords of longer ago are forgotten.
    LOCK_QUIET_HOURS: int = 24
    # A trusted device is not locked out, but may be wrong only so often an hour while it would be.
    TRUSTED_DEVICE_TRIES: int = 10

    TRUSTED_PROXIES: int = 0
    TRUSTED_DEVICE_DAYS: int = 30
    TRUSTED_DEVICES_MAX: int = 10

    TWO_STEP_TOKEN_MINUTES: int = 10
    TWO_STEP_TRIES: int = 5
    WRONG_SECOND_PASSWORDS_A_DAY: int = 10
    # From this wrong second password of a day on, the owner is told: somebody knows the first one.
    WRONG_SECOND_PASSWORDS_MAILED: int = 3
    RECOVERY_CODES: int = 10
    # After a recovery code its session may set a new second password without the old one.
    SECOND_PASSWORD_FREE_MINUTES: int = 15
    # After a reset of the first password by mail, no second step by mail: one mailbox is one step.
    MAILED_STEP_HOLD_DAYS: int = 7

    CHALLENGE_MINUTES: int = 10
    ACTION_TOKEN_MINUTES: int = 5
    ACTION_TOKEN_TRIES: int = 5

    EMAIL_UNDO_DAYS: int = 7
    USERNAME_DAYS: int = 30

    UNCONFIRMED_DAYS: int = 7
    # Ended sign-ins are kept for so long: support asks about them, and a known device is told by them.
    SESSIONS_KEPT_DAYS: int = 90
    DELETE_GRACE_DAYS: int = 14

    # The cache counts for all processes: Redis, or the memory of a single process.
    COUNTER_IS_SHARED: bool = True
    # What the rates are keyed by is said where they are checked, in the viewsets.
    RATES: dict[str, Rate | tuple[Rate, ...]] = field(
        default_factory=lambda: {
            "login": (5, 60, COUNT_IN_DATABASE),
            "login_client": (30, 60, COUNT_IN_DATABASE),
            "resend_otp": (3, 60, COUNT_IN_DATABASE),
            "forgot_password": (3, 60, COUNT_IN_DATABASE),
            "signup": (20, 60, COUNT_IN_DATABASE),
            # More mails than these to one address are silently not sent.
            "code_mails_hour": (10, 3600, COUNT_IN_DATABASE),
            "code_mails_day": (30, 86_400, COUNT_IN_DATABASE),
            "notice_mails": (3, 3600, COUNT_IN_DATABASE),
            "verify": (10, 60, COUNT_IN_DATABASE),
            "verify_reset": (10, 60, COUNT_IN_DATABASE),
            # Tries are counted on the token and the account; this only keeps hashes from being a lever.
            "two_step": (30, 60, COUNT_IN_DATABASE),
            "two_step_forgot": (30, 60, COUNT_IN_DATABASE),
            "resend_two_step": (3, 60, COUNT_IN_DATABASE),
            "action_challenge": (3, 60, COUNT_IN_DATABASE),
            "action_verify": (30, 60, COUNT_IN_DATABASE),
            "refresh": (30, 60, ALLOW),
            "email_undo": (30, 60, ALLOW),
            "media": (10, 60, ALLOW),
        }
    )


conf = prefixed("ACCOUNTS", Defaults())
