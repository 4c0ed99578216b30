"""`manage.py list_server_keys`: the names and prefixes of the server keys, never the keys themselves."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import OperatorCommand
from integrations.models import ServerKey

COLUMNS = ("name", "prefix", "scopes", "networks", "created_at", "last_used_at", "revoked_at")


class Command(OperatorCommand):
    help = "List the server keys with their scopes, networks and last use."
    changes = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--all", action="store_true", help="revoked ones, too")

    def act(self, **options: Any) -> dict[str, Any]:
        rows = ServerKey.objects.all() if options["all"] else ServerKey.objects.live()
        return {"keys": [{name: getattr(row, name) for name in COLUMNS} for row in rows.order_by("id")]}

    def show(self, result: dict[str, Any], *, as_json: bool) -> None:
        if as_json:
            super().show(result, as_json=True)
            return
        for key in result["keys"]:
            used = f"last used {key['last_used_at']:%Y-%m-%d %H:%M}" if key["last_used_at"] else "never used"
            parts = [f"sk_{key['prefix']}_…", key["name"], ",".join(key["scopes"]), used]
            parts += [f"only from {','.join(key['networks'])}"] if key["networks"] else []
            parts += [f"revoked {key['revoked_at']:%Y-%m-%d %H:%M}"] if key["revoked_at"] else []
            self.stdout.write("  ".join(parts))
