"""Settings of an app with their defaults, the settings of core, and the refusal to start a server with unsafe ones."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from django.conf import settings
from django.core.checks import ERROR, Tags, run_checks
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed

logger = logging.getLogger(__name__)

D = TypeVar("D")

# (allowed, seconds, what to do while the counter is unavailable).
Rate = tuple[int, int, str]
# One rate for each scope, or several that hold together.
RatesByScope = dict[str, Rate | tuple[Rate, ...]]
COUNT_IN_DATABASE = "count_in_database"
ALLOW = "allow"


class _Prefixed:
    """Caches each value until the setting changes (in tests). Without this, Django raises and catches an exception for
    each missing setting, and a request reads a dozen of them."""

    def __init__(self, prefix: str, defaults: object) -> None:
        self._prefix = f"{prefix}_" if prefix else ""
        self._defaults = defaults
        setting_changed.connect(self._reset)

    def __getattr__(self, name: str) -> Any:
        value = getattr(settings, f"{self._prefix}{name}", getattr(self._defaults, name))
        vars(self)[name] = value
        return value

    def _reset(self, *, setting: str, **_: Any) -> None:
        if setting.startswith(self._prefix):
            vars(self).pop(setting.removeprefix(self._prefix), None)


def prefixed(prefix: str, defaults: D) -> D:
    """The defaults, each overridden by the Django setting `<prefix>_<NAME>` when there is one."""
    return cast(D, _Prefixed(prefix, defaults))


@dataclass(frozen=True)
class Defaults:
    # How many proxies in front of the service add the address of their client to X-Forwarded-For.
    TRUSTED_PROXIES: int = 0
    # Names of required settings that are not set.
    MISSING_SETTINGS: Sequence[str] = ()
    # The cache counts for all processes: Redis, or the memory of a single process.
    COUNTER_IS_SHARED: bool = True
    RATES: RatesByScope = field(
        default_factory=lambda: {
            # The rate of every write that declares none.
            "writes": (120, 60, ALLOW),
            # Images of messages and avatars.
            "uploads": (10, 60, ALLOW),
        }
    )


conf = prefixed("CORE", Defaults())


@dataclass(frozen=True)
class ProjectDefaults:
    """Defaults of the settings without a prefix that several apps read."""

    # The product's name in mails, titles and file names.
    PRODUCT_NAME: str = "Chat"
    # The team behind it: a logo (SVG or PNG), its page, and where users get help.
    PRODUCT_LOGO: Path | None = None
    PRODUCT_URL: str = ""
    SUPPORT_EMAIL: str = ""
    # The address that links in mails begin with.
    SITE_URL: str = "http://127.0.0.1:8000"
    # The folder for files that commands write.
    VAR_DIR: Path = Path("var")
    # Empty: one process, which shares nothing.
    REDIS_URL: str = ""
    RATELIMIT_ENABLE: bool = True
    # The prefix of X-Accel-Redirect, if the proxy serves the images. Empty: this process sends them.
    MEDIA_SENDFILE: str = ""
    MEDIA_REDIRECT: bool = False
    CORS_ALLOWED_ORIGINS: Sequence[str] = ()


project = prefixed("", ProjectDefaults())


def refuse_unsafe_settings(*, is_command: bool = False) -> None:
    """ImproperlyConfigured, with what to do, when a process must not serve with these settings.

    Raises for the errors of `manage.py check`: servers that import an application run no checks. A command that starts
    a server (`is_command`) also refuses missing settings and names the command for development; an application that is
    imported without it starts with DEBUG off and the keys of its VAR_DIR, and logs a warning.
    """
    if conf.MISSING_SETTINGS:
        missing = f"DEBUG is off, and not set: {', '.join(conf.MISSING_SETTINGS)}."
        if is_command:
            raise ImproperlyConfigured(
                f"{missing} On a laptop use `python3 dev.py run`, or set DEBUG=1; a deployment sets them all."
            )
        logger.warning("%s Keys come from VAR_DIR, and links in mails lead to this machine.", missing)
    errors = [
        problem for problem in run_checks(tags=[Tags.security]) if problem.level >= ERROR and not problem.is_silenced()
    ]
    if errors:
        raise ImproperlyConfigured(
            " ".join(f"{problem.id}: {problem.msg} {problem.hint or ''}".strip() for problem in errors)
        )
