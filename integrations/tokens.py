"""Identity tokens: short ES256 tokens by which other services of the team recognise a user, without asking here."""

import base64
import hashlib
import json
import secrets
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from django.core.exceptions import ImproperlyConfigured

from core.commands import replace_file
from core.conf import project
from integrations.conf import conf

ALGORITHM = "ES256"
LIFETIME_SECONDS = 300
# Of one that is made for development.
KEPT_KEY = "identity_key.pem"


@dataclass(frozen=True, slots=True)
class SigningKey:
    kid: str
    private: ec.EllipticCurvePrivateKey
    public: dict[str, str]


def keys() -> tuple[SigningKey, ...]:
    """The keys, the newest first: it signs, and all are published. ImproperlyConfigured for an invalid key."""
    if conf.IDENTITY_KEYS:
        return tuple(_read(path) for path in conf.IDENTITY_KEYS)
    if not conf.IDENTITY_KEYS_ARE_MADE:
        return ()
    path = Path(project.VAR_DIR) / KEPT_KEY
    if not path.exists():
        private = ec.generate_private_key(ec.SECP256R1())
        pem = private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        replace_file(path, pem.decode())
    return (_read(str(path)),)


@lru_cache(maxsize=8)
def _read(path: str) -> SigningKey:
    try:
        private = serialization.load_pem_private_key(Path(path).read_bytes(), None)
    except (OSError, ValueError, TypeError) as error:
        raise ImproperlyConfigured(f"IDENTITY_KEYS: {path} is not a PEM file with a private key.") from error
    if not isinstance(private, ec.EllipticCurvePrivateKey) or not isinstance(private.curve, ec.SECP256R1):
        raise ImproperlyConfigured(f"IDENTITY_KEYS: the key in {path} is not one of P-256, which ES256 needs.")
    numbers = private.public_key().public_numbers()
    public = {"kty": "EC", "crv": "P-256", "x": _coordinate(numbers.x), "y": _coordinate(numbers.y)}
    # The thumbprint of RFC 7638.
    canonical = json.dumps(dict(sorted(public.items())), separators=(",", ":")).encode()
    kid = _text(hashlib.sha256(canonical).digest())
    return SigningKey(kid, private, public | {"kid": kid, "use": "sig", "alg": ALGORITHM})


def _coordinate(number: int) -> str:
    return _text(number.to_bytes(32, "big"))


def _text(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def public_keys() -> dict[str, Any]:
    """The JSON Web Key Set that other services verify with."""
    return {"keys": [key.public for key in keys()]} if conf.IDENTITY_AUDIENCES else {"keys": []}


def issue(*, user_id: int, username: str, external_id: str | None, sid: str, audience: str, now: datetime) -> str:
    """A token for one audience, signed by the newest key."""
    key = keys()[0]
    issued_at = int(now.timestamp())
    claims: dict[str, Any] = {
        "iss": project.SITE_URL,
        "aud": audience,
        "sub": str(user_id),
        "sid": sid,
        "username": username,
        "iat": issued_at,
        "exp": issued_at + LIFETIME_SECONDS,
        "jti": secrets.token_hex(16),
    }
    if external_id is not None:
        claims["external_id"] = external_id
    return jwt.encode(claims, key.private, ALGORITHM, headers={"kid": key.kid})
