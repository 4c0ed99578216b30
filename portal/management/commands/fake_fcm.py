"""`manage.py fake_fcm`: a local push service that the real firebase-admin talks to."""

import json
import secrets
import signal
import threading
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.core.management.base import CommandError, CommandParser

from core.commands import PlainCommand, output_path, replace_file, seconds
from core.conf import project
from portal.development.fcm.server import Fake, FcmServer


class Command(PlainCommand):
    help = "Serve a local stand-in for FCM and write a throwaway service account for it."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
        parser.add_argument("--project", default="parley-local")
        parser.add_argument("--credentials", type=output_path, help="the service account to write (var/fake_fcm.json)")
        parser.add_argument("--delay", type=seconds, default=0.0, help="seconds before each answer")
        parser.add_argument("--json", action="store_true", help="print the settings as one line of JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["credentials"] or Path(project.VAR_DIR) / "fake_fcm.json"
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        email = f"fake@{options['project']}.iam.invalid"
        fake = Fake(project=options["project"], client_email=email, public_key=public.decode(), delay=options["delay"])
        try:
            server = FcmServer((options["host"], options["port"]), fake)
        except (OSError, OverflowError) as error:
            raise CommandError(f"Cannot listen on {options['host']}:{options['port']}: {error}") from error
        host, port = server.server_address[:2]
        endpoint = f"http://{host!s}:{port}"
        fake.token_uri = f"{endpoint}/token"
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        account = {
            "type": "service_account",
            "project_id": options["project"],
            "private_key_id": secrets.token_hex(20),
            "private_key": private.decode(),
            "client_email": email,
            "client_id": "1",
            "token_uri": fake.token_uri,
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, json.dumps(account))
        self._announce(endpoint, path, as_json=options["json"])

        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        stopped.wait()
        server.shutdown()
        self.report("Stopped.")

    def _announce(self, endpoint: str, path: Path, *, as_json: bool) -> None:
        variables = {"PUSH_BACKEND": "fcm", "PUSH_FCM_ENDPOINT": endpoint, "PUSH_FCM_CREDENTIALS": str(path.resolve())}
        if as_json:
            self.stdout.write(json.dumps(variables))
        else:
            self.report("A local push service; give this to the worker:")
            for name, value in variables.items():
                self.stdout.write(f"export {name}={value}")
        self.stdout.flush()
