"""Every protected path meets every kind of token. The paths come from the resolver: a new one is in at once,
and one that is meant to be open must be named in routes.OPEN."""

import base64
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import jwt
import pytest
import time_machine
from django.conf import settings
from django.utils import timezone

from accounts.models import OneTimeToken, Session, TrustedDevice, User
from accounts.services import account_status, erasure
from accounts.sign_in import sessions, trusted_devices
from tests.client import ApiClient
from tests.contract.routes import OPEN, address, all_routes, protected_routes
from tests.factories import make_user, sign_in

SESSION_PATHS = [f"{method} {address(path)}" for method, path in protected_routes()]
TWO_STEP_PATHS = [f"POST {address(path)}" for path in ("auth/two-step", "auth/resend-two-step", "auth/two-step/forgot")]


def test_the_matrix_knows_the_routes():
    routes = {path for _method, path in all_routes()}
    assert {"auth/me", "messages/conversations", "notifications", "calls", "profile"} <= routes
    assert routes >= OPEN
    assert len(SESSION_PATHS) > 40


def key() -> tuple[str, str]:
    kid, _, secret = str(settings.ACCOUNTS_TOKEN_KEYS).split(",")[0].partition(":")
    return kid, secret


def forged(token: str, *, secret: str | None = None, kid: Any = "", alg: str = "HS256", **claims: Any) -> str:
    """The same token with other claims, another key or another header."""
    own_kid, own_secret = key()
    payload = jwt.decode(token, options={"verify_signature": False}) | claims
    payload = {name: value for name, value in payload.items() if value is not None}
    headers = {} if kid is None else {"kid": kid or own_kid}
    return jwt.encode(payload, own_secret if secret is None else secret, alg, headers=headers)


def without_signature(token: str) -> str:
    def part(value: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    payload = jwt.decode(token, options={"verify_signature": False})
    return f"{part({'alg': 'none', 'typ': 'JWT', 'kid': key()[0]})}.{part(payload)}."


def fresh(user: User) -> str:
    return sign_in(user)[1]


def expired(user: User) -> str:
    with time_machine.travel(timezone.now() - timedelta(days=7, minutes=1)):
        return fresh(user)


def logged_out(user: User) -> str:
    token = fresh(user)
    ApiClient(token).post("/api/v1/auth/logout")
    return token


def session_removed(user: User) -> str:
    session, token = sign_in(user)
    ApiClient(fresh(user)).delete(f"/api/v1/auth/sessions/{session.id}")
    return token


def device_removed(user: User) -> str:
    device, _ = trusted_devices.remember_device(user=user)
    _, token = sessions.start(user=user, trusted_device=device)
    ApiClient(fresh(user)).delete(f"/api/v1/auth/devices/{device.id}")
    assert not TrustedDevice.objects.exists()
    return token


def two_generations_old(user: User) -> str:
    first = fresh(user)
    sessions.refresh(sessions.refresh(first))
    return first


def replaced_for_a_minute(user: User) -> str:
    with time_machine.travel(timezone.now() - timedelta(seconds=61)):
        first = fresh(user)
        sessions.authenticate(sessions.refresh(first))
    return first


def ninety_days_old(user: User) -> str:
    session, token = sign_in(user)
    Session.objects.filter(id=session.id).update(expires_at=timezone.now() - timedelta(seconds=1))
    return token


def row_gone(user: User) -> str:
    session, token = sign_in(user)
    session.delete()
    return token


def of_an_erased_person(user: User) -> str:
    token = fresh(user)
    erasure.erase(user_id=user.id)
    return token


def of_a_removed_account(user: User) -> str:
    token = fresh(user)
    user.delete()
    return token


def of_a_blocked_person(user: User) -> str:
    token = fresh(user)
    account_status.block(user=user, actor="test", reason="spam")
    return token


def of_a_person_blocked_before_signing_out(user: User) -> str:
    token = fresh(user)
    User.objects.filter(id=user.id).update(blocked_at=timezone.now())
    return token


def pending(kind: str) -> Callable[[User], str]:
    def make(user: User) -> str:
        session = None if kind == "two_step" else sign_in(user)[0]
        kinds = OneTimeToken.Kind(kind)
        return OneTimeToken.objects.issue(kind=kinds, user=user, session=session, action="change_password")

    return make


def session_of_another_user(user: User) -> str:
    return forged(fresh(user), sub=str(make_user("Mallory").id))


INVALID: dict[str, Callable[[User], str | None]] = {
    "none": lambda user: None,
    "empty": lambda user: "",
    "Basic": lambda user: "Basic YWxpY2U6c2VjcmV0",
    "no scheme": fresh,
    "another scheme": lambda user: f"Token {fresh(user)}",
    "two tokens": lambda user: f"Bearer {fresh(user)} {fresh(user)}",
    "nothing after Bearer": lambda user: "Bearer ",
    "garbage": lambda user: "Bearer nonsense",
    "three dots": lambda user: "Bearer a.b.c",
    "not ASCII": lambda user: "Bearer tökén",
    "very long": lambda user: "Bearer " + "x" * 8000,
    "cut short": lambda user: f"Bearer {fresh(user)[:-4]}",
    "alg none": lambda user: f"Bearer {without_signature(fresh(user))}",
    "other key": lambda user: f"Bearer {forged(fresh(user), secret='k' * 40)}",
    "other key, expired": lambda user: f"Bearer {forged(expired(user), secret='k' * 40)}",
    "the key's name as key": lambda user: f"Bearer {forged(fresh(user), secret=key()[0].ljust(32, 'x'))}",
    "unknown kid": lambda user: f"Bearer {forged(fresh(user), kid='elsewhere')}",
    "no kid": lambda user: f"Bearer {forged(fresh(user), kid=None)}",
    "other algorithm": lambda user: f"Bearer {forged(fresh(user), secret=key()[1].ljust(64, 'x'), alg='HS512')}",
    "other audience": lambda user: f"Bearer {forged(fresh(user), aud='elsewhere')}",
    "no audience": lambda user: f"Bearer {forged(fresh(user), aud=None)}",
    "other issuer": lambda user: f"Bearer {forged(fresh(user), iss='elsewhere')}",
    "other type": lambda user: f"Bearer {forged(fresh(user), typ='two_step')}",
    "no type": lambda user: f"Bearer {forged(fresh(user), typ=None)}",
    "no expiry": lambda user: f"Bearer {forged(fresh(user), exp=None)}",
    "no session": lambda user: f"Bearer {forged(fresh(user), sid=None)}",
    "subject no number": lambda user: f"Bearer {forged(fresh(user), sub='alice')}",
    "from the future": lambda user: f"Bearer {forged(fresh(user), iat=int(timezone.now().timestamp()) + 600)}",
    "generation that no row can hold": lambda user: f"Bearer {forged(fresh(user), gen=2**31)}",
    "challenge token": lambda user: f"Bearer {pending('challenge')(user)}",
    "action token": lambda user: f"Bearer {pending('action')(user)}",
}

REVOKED: dict[str, Callable[[User], str]] = {
    "logged out": logged_out,
    "session removed": session_removed,
    "device removed": device_removed,
    "two generations old": two_generations_old,
    "replaced for a minute": replaced_for_a_minute,
    "ninety days old": ninety_days_old,
    "row gone": row_gone,
    "erased person": of_an_erased_person,
    "removed account": of_a_removed_account,
    "another user's session": session_of_another_user,
    "session that never was": lambda user: forged(fresh(user), sid="00000000-0000-4000-8000-000000000000"),
    "session no UUID": lambda user: forged(fresh(user), sid="1"),
}

# kind: (how to make the Authorization header, status, code)
Case = tuple[Callable[[User], str | None], int, str]


def bearer(make: Callable[[User], str]) -> Callable[[User], str | None]:
    return lambda user: f"Bearer {make(user)}"


FOR_SESSIONS: dict[str, Case] = {
    **{name: (make, 401, "token_invalid") for name, make in INVALID.items()},
    "two-step token": (bearer(pending("two_step")), 401, "token_invalid"),
    "expired": (bearer(expired), 401, "token_expired"),
    **{name: (bearer(make), 401, "token_revoked") for name, make in REVOKED.items()},
    "blocked": (bearer(of_a_blocked_person), 403, "account_blocked"),
    "blocked, session live": (bearer(of_a_person_blocked_before_signing_out), 403, "account_blocked"),
}


@pytest.mark.parametrize("kind", FOR_SESSIONS)
def test_paths_of_a_session(db, kind):
    make, status, code = FOR_SESSIONS[kind]
    assert outcomes(SESSION_PATHS, make(make_user("Alice"))) == dict.fromkeys(SESSION_PATHS, (status, code))


def spent(user: User) -> str:
    token = pending("two_step")(user)
    OneTimeToken.objects.update(used_at=timezone.now())
    return token


def dead(user: User) -> str:
    token = pending("two_step")(user)
    OneTimeToken.objects.update(tries=5)
    return token


def too_old(user: User) -> str:
    token = pending("two_step")(user)
    OneTimeToken.objects.update(expires_at=timezone.now())
    return token


def begun_by_a_blocked_person(user: User) -> str:
    token = pending("two_step")(user)
    account_status.block(user=user, actor="test", reason="spam")
    return token


FOR_SECOND_STEP: dict[str, Case] = {
    **{name: (make, 401, "token_invalid") for name, make in INVALID.items()},
    "session token": (bearer(fresh), 401, "token_invalid"),
    "expired session token": (bearer(expired), 401, "token_invalid"),
    **{name: (bearer(make), 401, "token_invalid") for name, make in REVOKED.items()},
    "spent": (bearer(spent), 401, "token_revoked"),
    "dead": (bearer(dead), 401, "token_revoked"),
    "too old": (bearer(too_old), 401, "token_revoked"),
    "blocked": (bearer(begun_by_a_blocked_person), 403, "account_blocked"),
}


@pytest.mark.parametrize("kind", FOR_SECOND_STEP)
def test_paths_of_the_second_step(db, kind):
    make, status, code = FOR_SECOND_STEP[kind]
    assert outcomes(TWO_STEP_PATHS, make(make_user("Alice"))) == dict.fromkeys(TWO_STEP_PATHS, (status, code))


def test_the_right_tokens_open_every_path(db):
    """A good token is accepted on every route; otherwise the matrix would pass if all tokens were refused."""
    for name in SESSION_PATHS:
        assert outcome(name, f"Bearer {fresh(make_user('Alice'))}")[1] not in TOKEN_CODES, name
    for name in TWO_STEP_PATHS:
        assert outcome(name, f"Bearer {pending('two_step')(make_user('Alice'))}")[1] not in TOKEN_CODES, name


def test_the_scheme_is_read_without_regard_to_case(db):
    for scheme in ("bearer", "BEARER", "Bearer"):
        assert outcome("GET /api/v1/auth/me", f"{scheme} {fresh(make_user('Alice'))}") == (200, "")


TOKEN_CODES = {"token_invalid", "token_expired", "token_revoked", "account_blocked"}


def outcomes(names: list[str], header: str | None) -> dict[str, tuple[int, str]]:
    return {name: outcome(name, header) for name in names}


def outcome(name: str, header: str | None) -> tuple[int, str]:
    """Status and code of a request without a body; 401 names the scheme, errors are the envelope."""
    method, _, path = name.partition(" ")
    headers = {} if header is None else {"Authorization": header}
    response = ApiClient().raw(method, path, {}, headers=headers)
    if response.status_code == 401:
        assert response["WWW-Authenticate"].startswith("Bearer")
    if not response["Content-Type"].startswith("application/json"):
        return response.status_code, ""
    body = response.json()
    if body["ok"]:
        return response.status_code, ""
    assert {"ok", "error", "message", "request_id"} <= body.keys()
    return response.status_code, body["error"]
