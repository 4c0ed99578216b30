"""A local push service for development and tests: a part of FCM's v1 API.

It validates like the real service, records requests, and fails as a script says. firebase-admin runs unchanged against
this server.

    POST   /token                                   access token for a signed assertion
    POST   /v1/projects/<project>/messages:send     one message
    POST   /_fake/script     {"token": "…" or "*", "answers": [{"kind": "UNAVAILABLE", "retry_after": 5}, …]}
                             each answer is used once; one with `"forever": true` is repeated
    POST   /_fake/sign_in    {"works": false}       the token endpoint refuses, or works again
    GET    /_fake/requests   the recorded requests; ?token=… of one device only
    DELETE /_fake            delete requests and scripts
"""

import json
import re
import secrets
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt

from portal.development.fcm.rules import SCRIPTS, Answer, check_message, invalid, scripted_answer

SCOPES = {
    "https://www.googleapis.com/auth/firebase.messaging",
    "https://www.googleapis.com/auth/cloud-platform",
}
_HANG_SECONDS = 60.0
_ACCESS_SECONDS = 3600


@dataclass
class Fake:
    """The state of the server; shared by its threads."""

    project: str
    client_email: str
    public_key: str
    token_uri: str = ""
    delay: float = 0.0
    sign_in_works: bool = True
    access: dict[str, float] = field(default_factory=dict)
    scripts: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    requests: list[dict[str, Any]] = field(default_factory=list)
    sign_ins: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def scripted(self, token: str) -> dict[str, Any] | None:
        with self.lock:
            for key in (token, "*"):
                answers = self.scripts.get(key)
                if answers:
                    return answers[0] if answers[0].get("forever") else answers.pop(0)
        return None

    def reset(self) -> None:
        with self.lock:
            self.scripts.clear()
            self.requests.clear()
            self.sign_ins = 0
            self.sign_in_works = True


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "FcmServer"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urlsplit(self.path).path
        if path == "/token":
            self._reply(*self._token(body))
        elif path == "/_fake/script":
            self._reply(*self._script(body))
        elif path == "/_fake/sign_in":
            self.server.fake.sign_in_works = bool(json.loads(body)["works"])
            self._reply(200, {}, b"{}")
        elif match := re.fullmatch(r"/v1/projects/([^/]+)/messages:send", path):
            self._send(match[1], body)
        else:
            self._reply(404, {"Content-Type": "text/html"}, b"<html>Not Found</html>")

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        fake = self.server.fake
        if parts.path != "/_fake/requests":
            self._reply(404, {}, b"{}")
            return
        token = parse_qs(parts.query).get("token", [None])[0]
        with fake.lock:
            requests = [one for one in fake.requests if token in (None, one["token"])]
            document = {"requests": requests, "sign_ins": fake.sign_ins}
        self._reply(200, {}, json.dumps(document).encode())

    def do_DELETE(self) -> None:
        self.server.fake.reset()
        self._reply(200, {}, b"{}")

    # --- answers ---

    def _token(self, body: bytes) -> Answer:
        fake = self.server.fake
        form = parse_qs(body.decode("utf-8", "replace"))
        refused: Answer = (400, {}, b'{"error": "invalid_grant", "error_description": "Invalid JWT Signature."}')
        if not fake.sign_in_works:
            return refused
        if form.get("grant_type") != ["urn:ietf:params:oauth:grant-type:jwt-bearer"]:
            return 400, {}, b'{"error": "unsupported_grant_type"}'
        try:
            claims = jwt.decode(
                form.get("assertion", [""])[0],
                fake.public_key,
                algorithms=["RS256"],
                # google-auth names Google's own endpoint, even if the account has another token_uri.
                audience=[fake.token_uri, "https://oauth2.googleapis.com/token"],
                issuer=fake.client_email,
                options={"require": ["exp", "iat", "iss", "aud"]},
                leeway=60,
            )
        except jwt.InvalidTokenError:
            return refused
        if not SCOPES & set(str(claims.get("scope", "")).split()):
            return 400, {}, b'{"error": "invalid_scope"}'
        access = secrets.token_urlsafe(24)
        with fake.lock:
            fake.access[access] = time.monotonic() + _ACCESS_SECONDS
            fake.sign_ins += 1
        reply = {"access_token": access, "expires_in": _ACCESS_SECONDS, "token_type": "Bearer"}
        return 200, {}, json.dumps(reply).encode()

    def _script(self, body: bytes) -> Answer:
        script = json.loads(body)
        answers = script["answers"]
        if unknown := [one["kind"] for one in answers if one["kind"] not in SCRIPTS]:
            return 400, {}, json.dumps({"unknown": unknown, "known": SCRIPTS}).encode()
        with self.server.fake.lock:
            self.server.fake.scripts[script["token"]] = list(answers)
        return 200, {}, b"{}"

    def _send(self, project: str, body: bytes) -> None:
        fake = self.server.fake
        scheme, _, access = self.headers.get("Authorization", "").partition(" ")
        try:
            document = json.loads(body)
            message = document["message"]
            token = str(message.get("token", ""))
        except (KeyError, TypeError, ValueError, AttributeError):
            self._reply(*invalid("Invalid JSON payload received.", "message"))
            return
        with fake.lock:
            is_known = scheme == "Bearer" and fake.access.get(access, 0.0) > time.monotonic()
        if not is_known:
            answer = scripted_answer({"kind": "UNAUTHENTICATED"})
        elif project != fake.project:
            answer = scripted_answer({"kind": "PERMISSION_DENIED"})
        else:
            if fake.delay:
                time.sleep(fake.delay)
            script = fake.scripted(token)
            if script is not None and script["kind"] in ("DROP", "HANG", "SLOW"):
                time.sleep(float(script.get("seconds", _HANG_SECONDS if script["kind"] == "HANG" else 0)))
            if script is not None and script["kind"] in ("DROP", "HANG"):
                self._remember(token, document, 0)
                self.close_connection = True
                return
            answer = (scripted_answer(script) if script else None) or check_message(message)
        if answer is None:
            message_id = "fake_message_id" if document.get("validate_only") else secrets.token_hex(8)
            answer = (200, {}, json.dumps({"name": f"projects/{project}/messages/{message_id}"}).encode())
        self._remember(token, document, answer[0])
        self._reply(*answer)

    def _remember(self, token: str, document: dict[str, Any], status: int) -> None:
        entry = {
            "at": time.time(),
            "token": token,
            "message": document["message"],
            "validate_only": bool(document.get("validate_only")),
            "status": status,
        }
        with self.server.fake.lock:
            self.server.fake.requests.append(entry)

    def _reply(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json; charset=UTF-8"} | headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are recorded and served by `/_fake/requests`."""


class FcmServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], fake: Fake) -> None:
        super().__init__(address, Handler)
        self.fake = fake

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores clients that disconnect early."""
