#!/usr/bin/env python3
"""Django's command line for Parley."""

import os
import sys

from core.version import VERSION

# What these write, no other user of the machine reads; other commands write into the checkout.
PRIVATE_COMMANDS = frozenset(
    {"createsuperuser", "deliver", "fake_fcm", "migrate", "move_media", "purge_expired", "runserver", "serve"}
)


def main() -> None:
    if sys.argv[1:] in (["version"], ["--version"]):
        # Django would print its own version, and the settings may be incomplete.
        sys.stdout.write(f"{VERSION}\n")
        return
    if PRIVATE_COMMANDS & set(sys.argv[1:2]):
        os.umask(0o077)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if sys.argv[1:2] == ["serve"]:
        # Request threads share a pool; what stays for long has connections of its own.
        os.environ.setdefault("DATABASE_CONNECTIONS", "pool")
    if os.environ.get("NO_COLOR"):
        os.environ.setdefault("DJANGO_COLORS", "nocolor")
    if sys.stdout is not None:
        # A terminal that is not UTF-8 shows escapes for what it has no letters for.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
    except ImportError:
        sys.exit("Django is not installed here. Run: python3 dev.py setup")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        if "--traceback" in sys.argv:
            raise
        sys.exit(str(error))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        # Ctrl-C while the server still starts, or in another command: no traceback of where it was.
        sys.exit(130)
