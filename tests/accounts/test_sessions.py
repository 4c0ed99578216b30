"""The session row is read with its user on every request."""

import base64
import hmac
import json

import jwt
import pytest
from django.utils import timezone

from accounts.conf import conf
from accounts.exceptions import AccountBlocked, TokenExpired, TokenInvalid, TokenRevoked
from accounts.models import Session
from accounts.services import account_status
from accounts.sign_in import sessions
from accounts.signals import session_revoked
from accounts.tokens import SessionToken
from tests.factories import sign_in


def test_authenticating_takes_one_query(alice, django_assert_num_queries):
    _, token = sign_in(alice)
    with django_assert_num_queries(1):
        user, session = sessions.authenticate(token)
    assert user == alice
    assert session.user_id == alice.id


def test_a_refreshed_token_replaces_the_old_one_after_its_first_use(alice):
    _, old = sign_in(alice)
    new = sessions.refresh(old)
    sessions.authenticate(old)
    sessions.authenticate(new)
    newest = sessions.refresh(new)
    assert sessions.authenticate(newest)[0] == alice
    with pytest.raises(TokenRevoked):
        sessions.authenticate(old)


def test_a_token_of_long_ago_ends_the_session(alice):
    session, first = sign_in(alice)
    second = sessions.refresh(first)
    sessions.refresh(second)
    with pytest.raises(TokenRevoked):
        sessions.refresh(first)
    assert Session.objects.get(id=session.id).ended_reason == "reuse"


def test_a_garbled_token_is_invalid(db):
    with pytest.raises(TokenInvalid):
        sessions.authenticate("a.b.c")


def test_reuse_of_an_old_token_mails_the_owner_and_sends_a_signal(alice, mailoutbox):
    received = []

    def listen(sender, **fact):
        received.append((fact["user_id"], fact["session_ids"], fact["reason"]))

    session, first = sign_in(alice)
    newest = sessions.refresh(sessions.refresh(first))
    session_revoked.connect(listen)
    try:
        with pytest.raises(TokenRevoked):
            sessions.refresh(first)
    finally:
        session_revoked.disconnect(listen)
    assert received == [(alice.id, [session.id], "reuse")]
    assert [mail.to for mail in mailoutbox] == [[alice.email]]
    with pytest.raises(TokenRevoked):
        sessions.authenticate(newest)


def test_a_lost_reply_to_a_refresh_ends_no_session(alice, clock):
    _, old = sign_in(alice)
    lost = sessions.refresh(old)
    clock.forward(hours=1)
    again = sessions.refresh(old)
    assert SessionToken(again).generation == SessionToken(lost).generation == 2
    sessions.authenticate(again)  # its first use: the old one has a minute left
    clock.forward(seconds=59)
    assert SessionToken(sessions.refresh(old)).generation == 2
    sessions.authenticate(old)
    clock.forward(seconds=2)
    with pytest.raises(TokenRevoked):
        sessions.authenticate(old)
    sessions.authenticate(again)
    with pytest.raises(TokenRevoked):
        sessions.refresh(old)


def test_a_token_lives_seven_days_and_a_sign_in_ninety(alice, clock):
    _, token = sign_in(alice)
    for _day in range(17):
        clock.forward(days=5)
        token = sessions.refresh(token)
    clock.forward(days=4)
    sessions.authenticate(token)
    assert sessions.refresh(token)
    clock.forward(days=1, minutes=1)
    with pytest.raises(TokenExpired):
        sessions.authenticate(token)

    _, token = sign_in(alice)
    clock.forward(days=7, seconds=29)
    sessions.authenticate(token)
    clock.forward(seconds=2)
    with pytest.raises(TokenExpired):
        sessions.authenticate(token)
    with pytest.raises(TokenExpired):
        sessions.refresh(token)


def test_a_clock_ahead_by_little_is_forgiven(alice, clock):
    clock.forward(seconds=25)
    _, token = sign_in(alice)
    clock.forward(seconds=-25)
    sessions.authenticate(token)
    clock.forward(hours=1)
    _, token = sign_in(alice)
    clock.forward(hours=-1)
    with pytest.raises(TokenInvalid):
        sessions.authenticate(token)


def test_a_block_answers_before_anything_else(alice):
    _, token = sign_in(alice)
    account_status.block(user=alice, reason="spam", actor="test")
    for use in (sessions.authenticate, sessions.refresh):
        with pytest.raises(AccountBlocked):
            use(token)


def forged(claims=None, *, key=None, algorithm="HS256", **headers):
    kid, secret = conf.TOKEN_KEYS.split(",")[0].split(":", 1)
    now = int(timezone.now().timestamp())
    payload = {
        "typ": "session", "iss": "parley", "aud": "parley-api", "sub": "1", "gen": 1,
        "sid": "00000000-0000-4000-8000-000000000000", "jti": "x", "iat": now, "exp": now + 600,
    } | (claims or {})  # fmt: skip
    payload = {name: value for name, value in payload.items() if value is not None}
    token = jwt.encode(payload, secret if key is None else key, algorithm, headers={"kid": kid})
    if not headers:
        return token
    # By hand, because PyJWT refuses to write what it must refuse to read.
    head = json.dumps({"alg": algorithm, "kid": kid} | headers).encode()
    signed = base64.urlsafe_b64encode(head).rstrip(b"=") + b"." + token.split(".")[1].encode()
    signature = hmac.digest(secret.encode(), signed, "sha256")
    return (signed + b"." + base64.urlsafe_b64encode(signature).rstrip(b"=")).decode()


def test_a_well_made_token_of_no_session_is_revoked(db):
    with pytest.raises(TokenRevoked):
        sessions.authenticate(forged())


@pytest.mark.parametrize(
    "make",
    [
        lambda: "",
        lambda: "a.b.c",
        lambda: "é" * 20,
        lambda: forged({"typ": "two_step"}),
        lambda: forged({"typ": None}),
        lambda: forged({"aud": "others"}),
        lambda: forged({"iss": "others"}),
        lambda: forged({"sub": None}),
        lambda: forged({"sub": "abc"}),
        lambda: forged({"sub": "9" * 30}),
        lambda: forged({"sub": "0"}),
        lambda: forged({"sid": None}),
        lambda: forged({"gen": "x"}),
        lambda: forged({"exp": None}),
        lambda: forged({"exp": "soon"}),
        lambda: forged({"iat": None}),
        lambda: forged({"jti": None}),
        lambda: forged({"iat": 4_000_000_000}),
        lambda: forged({"nbf": 100_000_000_000}),
        lambda: forged({"nbf": int(timezone.now().timestamp()) + 90}),
        lambda: forged({"nbf": float("inf")}),
        lambda: forged({"nbf": "soon"}),
        lambda: forged(key="another secret of more than thirty-two bytes"),
        # A wrong signature beats expiry.
        lambda: forged({"exp": 1}, key="another secret of more than thirty-two bytes"),
        lambda: forged(algorithm="HS512"),
        lambda: forged(key="", algorithm="none"),
        lambda: forged(kid="unknown"),
        lambda: forged(kid=None),
        lambda: forged(kid=["a"]),
        lambda: forged(crit=["x"]),
        lambda: forged(jku="https://keys.example/jwks.json"),
        lambda: forged(jwk={"kty": "oct", "k": "a2V5"}),
        lambda: forged(x5u="https://keys.example/x5u.pem"),
        lambda: forged()[:-2],
        lambda: forged().rsplit(".", 1)[0] + ".",
    ],
)
def test_what_is_no_token_of_ours_is_invalid(db, make):
    with pytest.raises(TokenInvalid):
        sessions.authenticate(make())


def test_a_token_is_valid_from_its_nbf_on_with_the_leeway_of_every_time(db):
    for seconds in (-600, 0, 10):
        with pytest.raises(TokenRevoked):
            sessions.authenticate(forged({"nbf": int(timezone.now().timestamp()) + seconds}))


def test_a_hand_made_head_passes_when_it_says_the_truth(db):
    with pytest.raises(TokenRevoked):
        sessions.authenticate(forged(typ="JWT"))


def test_keys_are_rotated_without_ending_sessions(alice, settings):
    _, old = sign_in(alice)
    settings.ACCOUNTS_TOKEN_KEYS = "new:" + "n" * 32 + "," + conf.TOKEN_KEYS
    sessions.authenticate(old)
    _, new = sign_in(alice)
    assert jwt.get_unverified_header(new)["kid"] == "new"
    settings.ACCOUNTS_TOKEN_KEYS = "new:" + "n" * 32
    sessions.authenticate(new)
    with pytest.raises(TokenInvalid):
        sessions.authenticate(old)
