"""A team's backend: creates users, lets them in, receives events, catches up, verifies identity tokens.

    WEBHOOKS='shop|http://127.0.0.1:9000/events|whsec_…|*' …            (in the environment of the chat)
    CHAT_URL=http://127.0.0.1:8000 CHAT_KEY=sk_… CHAT_WEBHOOK_KEY=whsec_… python docs/examples/backend.py 9000

Needs `standardwebhooks` and `PyJWT`.
"""

import json
import os
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jwt
from standardwebhooks import Webhook, WebhookVerificationError

CHAT_URL, CHAT_KEY = os.environ["CHAT_URL"], os.environ["CHAT_KEY"]
WEBHOOK_KEY = os.environ["CHAT_WEBHOOK_KEY"]
# What this backend remembers: the last event that it has read, and the ids of those that it has handled.
STATE = Path(os.environ.get("STATE_FILE", "backend-state.json"))
_keys = jwt.PyJWKClient(f"{CHAT_URL}/.well-known/jwks.json")


def call(method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """One request with the server key. HTTPError, whose body is the error of the chat."""
    request = urllib.request.Request(
        f"{CHAT_URL}/api/v1/server/{path}",
        data=None if body is None else json.dumps(body).encode(),
        method=method,
        headers={"Authorization": f"Bearer {CHAT_KEY}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as reply:
        return dict(json.load(reply))


def token_for(customer: dict[str, str]) -> str:
    """A session token for one of our customers, who has signed in here; creates the user if need be."""
    user = call("POST", "users", {**customer, "is_verified": True})["user"]
    return str(call("POST", f"users/{user['id']}/sessions", {"device_name": "Shop app"})["token"])


def customer_of(identity_token: str) -> str | None:
    """Whom an identity token names. jwt.InvalidTokenError."""
    key = _keys.get_signing_key_from_jwt(identity_token)
    claims = jwt.decode(identity_token, key, algorithms=["ES256"], audience="shop", issuer=CHAT_URL)
    return str(claims["external_id"]) if "external_id" in claims else None


def catch_up() -> list[dict[str, Any]]:
    """The events since the last time, which the chat may have tried to send while this backend was down."""
    state = json.loads(STATE.read_text()) if STATE.exists() else {}
    caught: list[dict[str, Any]] = []
    while True:
        query = {"limit": 1000} | ({"after": state["last_id"]} if "last_id" in state else {})
        page = call("GET", f"events?{urlencode(query)}")
        caught += page["events"]
        if page["events"]:
            state["last_id"] = page["events"][-1]["id"]
            STATE.write_text(json.dumps(state))
        if not page["has_more"]:
            return caught


class Receiver(BaseHTTPRequestHandler):
    seen: set[str] = set()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        try:
            event = Webhook(WEBHOOK_KEY).verify(body, dict(self.headers.items()))
        except WebhookVerificationError:
            self.answer(401)
            return
        if self.headers["webhook-id"] not in self.seen:  # a repeat has the id of the first attempt
            self.seen.add(self.headers["webhook-id"])
            sys.stdout.write(json.dumps(event) + "\n")
            sys.stdout.flush()
        self.answer(204)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the events are the output."""


if __name__ == "__main__":
    for missed in catch_up():
        Receiver.seen.add(missed["webhook_id"])  # the chat may still try to send it
        sys.stdout.write(json.dumps(missed) + "\n")
    sys.stdout.flush()
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
