"""`manage.py create_server_key`: a key for the team's own server, shown once."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from core.commands import OperatorCommand, actor
from integrations.models import Scope
from integrations.services import keys


class Command(OperatorCommand):
    help = "Create a key for your own server. It is shown once and cannot be shown again."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "name", help="which of your services it is for; a second key of one name replaces the first"
        )
        parser.add_argument("--scopes", required=True, help=f"what it may do, split by commas: {', '.join(Scope)}")
        parser.add_argument("--networks", default="", help="from where, split by commas: 10.0.0.0/8; without, anywhere")

    def act(self, **options: Any) -> dict[str, Any]:
        scopes, networks = _listed(options["scopes"]), _listed(options["networks"])
        try:
            keys.refuse_bad(name=options["name"], scopes=scopes, networks=networks)
            if options["dry_run"]:
                return {"name": options["name"], "scopes": scopes, "networks": networks, "dry_run": True}
            row, key = keys.create(name=options["name"], scopes=scopes, networks=networks, actor=actor())
        except ValueError as error:
            raise CommandError(str(error), returncode=2) from error
        self.report("Keep it where your server reads its secrets; only its digest is stored here.")
        return {
            "name": row.name,
            "prefix": row.prefix,
            "scopes": row.scopes,
            "networks": row.networks,
            "key": key,
            "dry_run": False,
        }


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
