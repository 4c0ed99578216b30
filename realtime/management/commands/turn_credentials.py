"""Credentials for the TURN server, to test it with a client such as `turnutils_uclient -u … -w …`."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from core.commands import OperatorCommand
from realtime.calls.services import signaling
from realtime.conf import conf


class Command(OperatorCommand):
    help = "Print a user name and password that the TURN server accepts for an hour."
    changes = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--label", default="operator", help="text from which the pseudonym is made")

    def act(self, **options: Any) -> dict[str, Any]:
        if not conf.TURN_URLS or not conf.TURN_SECRET:
            raise CommandError("No TURN server: set TURN_URLS and TURN_SECRET.")
        username, credential = signaling.credentials(options["label"])
        return {
            "urls": list(conf.TURN_URLS),
            "username": username,
            "credential": credential,
            "expires_in": conf.TURN_SECONDS,
        }
