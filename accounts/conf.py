"""Defaults of this app; a setting `ACCOUNTS_<NAME>` overrides the one of that name."""

from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from django.conf import settings

D = TypeVar("D")


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

    TRUSTED_PROXIES: int = 0
    TRUSTED_DEVICE_DAYS: int = 30
    UNCONFIRMED_DAYS: int = 7
    DELETE_GRACE_DAYS: int = 14

    # scope: (allowed, seconds, what to do when the counter is dead)
    RATES: dict[str, tuple[int, int, str]] = field(
        default_factory=lambda: {
            "login": (5, 60, "count_in_database"),
            "login_client": (30, 60, "count_in_database"),
            "resend_otp": (3, 60, "count_in_database"),
            "forgot_password": (3, 60, "count_in_database"),
            "signup": (20, 60, "count_in_database"),
            "verify": (10, 60, "count_in_database"),
            "verify_reset": (10, 60, "count_in_database"),
            "two_step": (10, 60, "count_in_database"),
            "resend_two_step": (3, 60, "count_in_database"),
            "action_challenge": (3, 60, "count_in_database"),
            "action_verify": (10, 60, "count_in_database"),
            "refresh": (30, 60, "allow"),
        }
    )


conf = prefixed("ACCOUNTS", Defaults())
