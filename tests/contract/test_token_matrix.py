"""Every protected route times every kind of token that must not open it."""

import jwt
import pytest

from accounts.conf import conf
from accounts.models import PendingToken, TrustedDevice
from accounts.services import devices, pending_tokens, sessions, standing
from tests.client import ApiClient
from tests.contract.routes import OPEN, address, all_routes, protected_routes
from tests.factories import make_user, sign_in


def another_key(user):
    token = sign_in(user)[1]
    claims = jwt.decode(token, options={"verify_signature": False})
    kid = jwt.get_unverified_header(token)["kid"]
    return jwt.encode(claims, "k" * 40, "HS256", headers={"kid": kid})


def unsigned(user):
    claims = jwt.decode(sign_in(user)[1], options={"verify_signature": False})
    return jwt.encode(claims, "", "none", headers={"kid": conf.TOKEN_KEYS.partition(":")[0]})


def logged_out(user):
    session, token = sign_in(user)
    sessions.revoke([session], reason="logout")
    return token


def after_a_device_was_removed(user):
    device, _token = devices.remember(user=user)
    _session, token = sessions.start(user=user, trusted_device=device)
    devices.remove(user=user, device_id=device.id)
    assert not TrustedDevice.objects.exists()
    return token


def two_generations_old(user):
    first = sign_in(user)[1]
    sessions.refresh(sessions.refresh(first))
    return first


def of_a_deleted_account(user):
    other = make_user("Gone")
    token = sign_in(other)[1]
    other.delete()
    return token


def expired(user):
    session, token = sign_in(user)
    claims = jwt.decode(token, options={"verify_signature": False})
    kid, secret = conf.TOKEN_KEYS.split(",")[0].split(":", 1)
    return jwt.encode(claims | {"exp": claims["iat"] - 60}, secret, "HS256", headers={"kid": kid})


def pending(kind):
    return lambda user: pending_tokens.issue(kind=kind, user=user, minutes=10)


def blocked(user):
    other = make_user("Out")
    token = sign_in(other)[1]
    standing.block(user=other, reason="spam", actor_label="test")
    return token


TOKENS = {
    "none": (lambda user: None, 401, "token_invalid"),
    "empty": (lambda user: "", 401, "token_invalid"),
    "garbage": (lambda user: "garbage", 401, "token_invalid"),
    "another key": (another_key, 401, "token_invalid"),
    "unsigned": (unsigned, 401, "token_invalid"),
    "two-step": (pending(PendingToken.Kind.TWO_STEP), 401, "token_invalid"),
    "challenge": (pending(PendingToken.Kind.CHALLENGE), 401, "token_invalid"),
    "action": (pending(PendingToken.Kind.ACTION), 401, "token_invalid"),
    "expired": (expired, 401, "token_expired"),
    "logged out": (logged_out, 401, "token_revoked"),
    "device removed": (after_a_device_was_removed, 401, "token_revoked"),
    "old generation": (two_generations_old, 401, "token_revoked"),
    "deleted account": (of_a_deleted_account, 401, "token_revoked"),
    "blocked account": (blocked, 403, "account_blocked"),
}


@pytest.mark.parametrize("kind", sorted(TOKENS))
def test_no_protected_route_opens(alice, kind):
    make, status, error = TOKENS[kind]
    client = ApiClient(make(alice))
    for method, path in protected_routes():
        response = client.raw(method, address(path), {})
        assert (path, response.status_code, response.json()["error"]) == (path, status, error)
        assert (status == 401) is ("WWW-Authenticate" in response.headers)


def test_the_matrix_knows_the_routes():
    routes = dict.fromkeys(path for _method, path in all_routes())
    assert {"auth/me", "messages/conversations", "notifications", "calls", "profile"} <= set(routes)
    assert set(routes) >= OPEN - {"schema", "realtime/schema"}
    assert len(protected_routes()) > 40


@pytest.mark.parametrize("path", ["auth/two-step", "auth/resend-two-step", "auth/two-step/forgot"])
@pytest.mark.parametrize("kind", ["none", "garbage", "expired", "logged out", "challenge", "action", "session"])
def test_the_second_step_takes_its_own_token_only(alice, path, kind):
    token = sign_in(alice)[1] if kind == "session" else TOKENS[kind][0](alice)
    body = {"password": "x", "recovery_code": "x"}
    assert ApiClient(token).post(f"/api/v1/{path}", body, status=401)["error"] == "token_invalid"


# What an account may do before its address is confirmed; everything else reaches another person or
# is a setting of security.
UNCONFIRMED_MAY = {
    ("POST", "auth/refresh"),
    ("POST", "auth/logout"),
    ("GET", "auth/me"),
    ("GET", "notifications"),
    ("GET", "notifications/unread-count"),
    ("GET", "notifications/preferences"),
    ("GET", "messages/conversations"),
    ("GET", "messages/conversations/<str:conversation_id>"),
    ("GET", "messages/conversations/<str:conversation_id>/messages"),
    ("POST", "messages/conversations/<str:conversation_id>/read"),
    ("GET", "realtime/changes"),
}
MUST_BE_CONFIRMED = {
    ("GET", "messages/users"),
    ("POST", "messages/conversations"),
    ("POST", "messages/conversations/<str:conversation_id>/messages"),
    ("POST", "messages/conversations/<str:conversation_id>/media"),
    ("PATCH", "messages/messages/<str:message_id>"),
    ("POST", "messages/messages/<str:message_id>/reactions"),
    ("DELETE", "messages/messages/<str:message_id>/reactions"),
    ("POST", "auth/action-challenge"),
    ("POST", "auth/action-verify"),
    ("POST", "auth/two-step/enable"),
    ("POST", "auth/two-step/change"),
    ("POST", "auth/two-step/disable"),
    ("POST", "auth/two-step/recovery-codes"),
    ("POST", "auth/change-password"),
    ("POST", "auth/change-email"),
    ("POST", "auth/change-email/verify"),
    ("POST", "auth/delete-account"),
    ("GET", "auth/export"),
}


def test_what_an_unconfirmed_account_may_and_may_not(db):
    ann = make_user("Ann", verified=False)
    routes = set(protected_routes())
    assert routes >= UNCONFIRMED_MAY | MUST_BE_CONFIRMED
    refused = set()
    for method, path in sorted(routes - {("POST", "auth/logout")}):
        body = ApiClient(sign_in(ann)[1]).raw(method, address(path), {}).json()
        if body.get("error") == "email_not_verified":
            refused.add((method, path))
    assert refused >= MUST_BE_CONFIRMED
    assert not refused & UNCONFIRMED_MAY
