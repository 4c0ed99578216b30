"""`manage.py fake_webhook`: a receiver of events on this machine."""

import base64
import json
import secrets
import signal
import threading
from typing import Any

from django.core.management.base import CommandError, CommandParser

from core.commands import PlainCommand, seconds
from portal.development.webhook_receiver import Received, Receiver, ReceiverServer


class Command(PlainCommand):
    help = "Receive events on this machine: verify their signatures and print them, a line of JSON each."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
        parser.add_argument("--name", default="local", help="the name of the target")
        parser.add_argument("--types", default="*+text", help="the events that it asks for (*+text)")
        parser.add_argument("--key", default="", help="whsec_…; random without it")
        parser.add_argument(
            "--statuses", default="200", help="answers in turn, separated by commas: 500,500,200; the last is repeated"
        )
        parser.add_argument("--delay", type=seconds, default=0.0, help="seconds before each answer")
        parser.add_argument("--json", action="store_true", help="print the setting as one line of JSON first")

    def handle(self, *args: Any, **options: Any) -> None:
        key = options["key"] or f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}"
        try:
            statuses = [int(text) for text in options["statuses"].split(",")]
            keys = [base64.b64decode(key.removeprefix("whsec_"), validate=True)]
        except ValueError as error:
            raise CommandError("--statuses are numbers, and --key is whsec_ and base64.", returncode=2) from error
        receiver = Receiver(keys, statuses, options["delay"], self._show)
        try:
            server = ReceiverServer((options["host"], options["port"]), receiver)
        except (OSError, OverflowError) as error:
            raise CommandError(f"Cannot listen on {options['host']}:{options['port']}: {error}") from error
        host, port = server.server_address[:2]
        setting = f"{options['name']}|http://{host!s}:{port}/|{key}|{options['types']}"
        if options["json"]:
            self.stdout.write(json.dumps({"WEBHOOKS": setting}))
        else:
            self.report("A receiver of events; give this to every process:")
            self.stdout.write(f"export WEBHOOKS='{setting}'")
        self.stdout.flush()
        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        stopped.wait()
        server.shutdown()
        self.report("Stopped.")

    def _show(self, event: Received) -> None:
        line = {"id": event.id, "attempt": event.attempt, "genuine": event.is_genuine, "status": event.status}
        self.stdout.write(json.dumps(line | {"body": event.body}, ensure_ascii=False))
        self.stdout.flush()
