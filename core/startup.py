"""Refuses to start a server process with unsafe settings."""

import logging

from django.core.checks import ERROR, Tags, run_checks
from django.core.exceptions import ImproperlyConfigured

from core.conf import conf

logger = logging.getLogger(__name__)


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
