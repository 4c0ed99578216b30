"""What people do on the way to something, in one call each."""

import re
from typing import Any

from django.core import mail

from accounts.models import User
from accounts.sign_in import codes
from tests.client import ApiClient
from tests.factories import PASSWORD

SECOND = "violet lantern 42"


def last_code(to: str) -> str:
    """The code in the newest mail to an address."""
    newest = next(sent for sent in reversed(mail.outbox) if sent.to == [to])
    match = re.search(r"(?m)^\s*(\d{6,10})\s*$", newest.body)
    assert match, newest.body
    return match[1]


def redeem_code(*, user: User, purpose: str, address: str, text: str, network: str = codes.NO_NETWORK) -> None:
    """Checks and consumes a code. InvalidOtp otherwise."""
    codes.consume(codes.check(user=user, purpose=purpose, address=address, text=text, network=network))


def action_token(client: ApiClient, user: User, action: str) -> str:
    """An action token for one action, by way of the mailed code."""
    challenge = client.post("/api/v1/auth/action-challenge", {"action": action})["challenge_token"]
    code = last_code(user.email)
    body = client.post("/api/v1/auth/action-verify", {"challenge_token": challenge, "code": code})
    return str(body["action_token"])


def act(client: ApiClient, user: User, action: str, path: str, data: Any = None, status: int = 200) -> Any:
    """A POST with a fresh action token."""
    headers = {"X-Action-Token": action_token(client, user, action)}
    return client.post(f"/api/v1/auth/{path}", data, status=status, headers=headers)


def enable_two_step(client: ApiClient, user: User, password: str = SECOND, **fields: str) -> list[str]:
    """Switches the second step on; the recovery codes."""
    body = act(client, user, "two_step_enable", "two-step/enable", {"password": password, **fields})
    return list(body["recovery_codes"])


def login(user: User, password: str = PASSWORD, status: int = 200, **headers: str) -> Any:
    """The reply to a sign-in with the first password."""
    data = {"email": user.email, "password": password}
    return ApiClient().post("/api/v1/auth/login", data, status=status, headers=headers)


def send_second_step(user: User, **headers: str) -> ApiClient:
    """A client that carries a fresh two-step token."""
    return ApiClient(login(user)["two_step_token"], **headers)


def answers(responses: list[Any]) -> dict[str, int]:
    """How often each outcome came: "200", or the error's code."""
    counted: dict[str, int] = {}
    for response in responses:
        assert not isinstance(response, BaseException), response
        body = response.json()
        key = str(response.status_code) if body["ok"] else body["error"]
        counted[key] = counted.get(key, 0) + 1
    return counted
