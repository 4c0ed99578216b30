"""Identity tokens: what other services of the team verify without asking here."""

import os
import subprocess
import sys

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.utils import timezone

from accounts.models import User
from core.conf import refuse_unsafe_settings
from tests.client import ApiClient
from tests.factories import make_user, sign_in
from tests.integrations.server import server
from tests.server import ROOT

PATH = "/api/v1/auth/identity-token"


def pem(folder, name, key=None):
    key = key or ec.generate_private_key(ec.SECP256R1())
    file = folder / name
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return str(file)


@pytest.fixture
def audiences(settings):
    settings.INTEGRATIONS_IDENTITY_AUDIENCES = ["shop", "https://billing.example.com"]
    return settings


def published():
    response = Client().get("/.well-known/jwks.json")
    assert response.status_code == 200 and "max-age" in response["Cache-Control"]
    return jwt.PyJWKSet.from_dict(response.json())


def verified(token, audience="shop"):
    key = published()[jwt.get_unverified_header(token)["kid"]]
    return jwt.decode(token, key, algorithms=["ES256"], audience=audience)


def test_another_service_verifies_a_token(audiences, alice):
    User.objects.filter(id=alice.id).update(external_id="a-1")
    session, token = sign_in(alice)
    reply = ApiClient(token).post(PATH, {"audience": "shop"})
    assert reply["expires_in"] == 300
    claims = verified(reply["token"])
    assert claims == {
        "iss": audiences.SITE_URL, "aud": "shop", "sub": str(alice.id), "sid": str(session.sid), "username": alice.username,
        "external_id": "a-1", "iat": claims["iat"], "exp": claims["iat"] + 300, "jti": claims["jti"],
    }  # fmt: skip
    assert abs(claims["iat"] - timezone.now().timestamp()) < 10
    with pytest.raises(jwt.InvalidAudienceError):
        verified(reply["token"], "https://billing.example.com")
    assert verified(ApiClient(token).post(PATH, {"audience": "shop"})["token"])["jti"] != claims["jti"]


def test_without_an_external_id_there_is_none(audiences, as_alice):
    assert "external_id" not in verified(as_alice.post(PATH, {"audience": "shop"})["token"])


@pytest.mark.parametrize(
    "body",
    [{}, {"audience": "other"}, {"audience": ""}, {"audience": None}, {"audience": ["shop"]}, {"audience": "Shop"}],
)
def test_another_audience_is_refused(audiences, as_alice, body):
    assert as_alice.post(PATH, body, 400)["fields"].keys() == {"audience"}


def test_without_audiences_there_are_no_tokens_and_no_keys(as_alice, db):
    assert as_alice.post(PATH, {"audience": "shop"}, 400)["fields"].keys() == {"audience"}
    assert Client().get("/.well-known/jwks.json").json() == {"keys": []}


def test_it_opens_nothing_here(audiences, as_alice):
    token = as_alice.post(PATH, {"audience": "shop"})["token"]
    assert ApiClient(token).get("/api/v1/auth/me", 401)["error"] == "token_invalid"
    assert ApiClient(token).post("/api/v1/auth/refresh", status=401)["error"] == "token_invalid"
    assert ApiClient(token).get("/api/v1/server/users", 401)["error"] == "server_key_invalid"
    assert server().post("/api/v1/server/introspect", {"token": token}) == {"ok": True, "active": False}


def test_an_unconfirmed_user_gets_none(audiences, db):
    client = ApiClient(sign_in(make_user("New", verified=False))[1])
    assert client.post(PATH, {"audience": "shop"}, 403)["error"] == "email_not_verified"


def test_two_keys_are_published_while_they_change(audiences, as_alice, tmp_path):
    old, new = pem(tmp_path, "old.pem"), pem(tmp_path, "new.pem")
    audiences.INTEGRATIONS_IDENTITY_KEYS = [old]
    before = as_alice.post(PATH, {"audience": "shop"})["token"]
    audiences.INTEGRATIONS_IDENTITY_KEYS = [new, old]
    after = as_alice.post(PATH, {"audience": "shop"})["token"]
    assert len(published().keys) == 2
    verified(before)
    verified(after)
    assert jwt.get_unverified_header(before)["kid"] != jwt.get_unverified_header(after)["kid"]
    assert "d" not in Client().get("/.well-known/jwks.json").json()["keys"][0]


def test_a_token_ends_after_five_minutes(audiences, alice, clock):
    token = ApiClient(sign_in(alice)[1]).post(PATH, {"audience": "shop"})["token"]
    clock.forward(minutes=6)
    with pytest.raises(jwt.ExpiredSignatureError):
        verified(token)


@pytest.mark.once
def test_nothing_starts_without_a_usable_key(audiences, tmp_path):
    audiences.INTEGRATIONS_IDENTITY_KEYS_ARE_MADE = False
    with pytest.raises(ImproperlyConfigured, match=r"integrations\.E002"):
        refuse_unsafe_settings()
    others = [
        str(tmp_path / "missing.pem"),
        pem(tmp_path, "rsa.pem", rsa.generate_private_key(public_exponent=65537, key_size=2048)),
        pem(tmp_path, "p384.pem", ec.generate_private_key(ec.SECP384R1())),
    ]
    for other in others:
        audiences.INTEGRATIONS_IDENTITY_KEYS = [other]
        with pytest.raises(ImproperlyConfigured, match=r"integrations\.E003"):
            refuse_unsafe_settings()
    audiences.INTEGRATIONS_IDENTITY_KEYS = [pem(tmp_path, "good.pem")]
    refuse_unsafe_settings()
    audiences.INTEGRATIONS_IDENTITY_AUDIENCES = ["shop", "shop"]
    with pytest.raises(ImproperlyConfigured, match=r"integrations\.E004"):
        refuse_unsafe_settings()


HTTP_PROCESS = """
import config.wsgi
from django.utils import timezone
from integrations import tokens

token = tokens.issue(user_id=7, username="ann", external_id=None, sid="1", audience="shop", now=timezone.now())
print(token)
"""


@pytest.mark.once
def test_an_http_process_of_the_fleet_signs(tmp_path):
    environment = {"PATH": os.environ["PATH"], "VAR_DIR": str(tmp_path), "DEBUG": "1", "IDENTITY_AUDIENCES": "shop"}
    command = [sys.executable, "-c", HTTP_PROCESS]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert jwt.get_unverified_header(done.stdout.strip())["alg"] == "ES256"
