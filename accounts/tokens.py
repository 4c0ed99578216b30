"""Session tokens (JWTs signed with the key ring) and opaque tokens (random, stored hashed)."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

import jwt
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from rest_framework_simplejwt.backends import TokenBackend

from accounts.conf import conf
from accounts.exceptions import TokenExpired, TokenInvalid
from core.text import parse_id

ALGORITHM = "HS256"
SESSION = "session"
MIN_SECRET_BYTES = 32


class KeyRingBackend(TokenBackend):
    """simplejwt's codec for one key of the ring, which the header names by `kid`."""

    def __init__(self, kid: str, secret: str) -> None:
        super().__init__(ALGORITHM, secret, audience=conf.TOKEN_AUDIENCE, issuer=conf.TOKEN_ISSUER)
        self.kid = kid

    def decode(self, token: str) -> dict[str, Any]:  # type: ignore[override]
        """The claims of a token with a valid signature. TokenInvalid, TokenExpired, or an error of PyJWT."""
        payload = _signed_payload(token, str(self.signing_key), str(self.audience), str(self.issuer))
        now, leeway = timezone.now().timestamp(), conf.TOKEN_LEEWAY_SECONDS
        if max(int(payload["iat"]), int(payload.get("nbf", 0))) > now + leeway:
            raise TokenInvalid
        if int(payload["exp"]) <= now - leeway:
            raise TokenExpired
        return payload

    def encode(self, payload: dict[str, Any]) -> str:
        claims = payload | {"aud": self.audience, "iss": self.issuer}
        return jwt.encode(claims, str(self.signing_key), ALGORITHM, headers={"kid": self.kid})


# A valid signature stays valid: it is checked once per process and token.
# Times and the session are checked on every request. Errors are not cached.
@lru_cache(maxsize=4096)
def _signed_payload(token: str, key: str, audience: str, issuer: str) -> dict[str, Any]:
    return jwt.decode(
        token,
        key,
        algorithms=[ALGORITHM],
        audience=audience,
        issuer=issuer,
        # Times are compared with the clock that all services use.
        options={
            "verify_exp": False,
            "verify_iat": False,
            "verify_nbf": False,
            "require": ["exp", "iat", "sub", "aud", "iss", "jti"],
        },
    )


# One header per key of the ring, for as many tokens as there are sessions.
@lru_cache(maxsize=64)
def _kid_of(header: str) -> Any:
    """The key that a header names; none for a header with a field that this service never sets, such as `jku`."""
    fields = jwt.get_unverified_header(f"{header}.e30.AA")
    return fields.get("kid") if fields.keys() <= {"alg", "kid", "typ"} else None


@lru_cache(maxsize=4)
def _ring(keys: str) -> dict[str, KeyRingBackend]:
    ring: dict[str, KeyRingBackend] = {}
    for pair in filter(None, keys.split(",")):
        kid, separator, secret = pair.strip().partition(":")
        if not separator or not kid or len(secret.encode()) < MIN_SECRET_BYTES:
            raise ImproperlyConfigured("TOKEN_KEYS is kid:secret[,kid:secret…], each secret at least 32 bytes.")
        if kid in ring:
            raise ImproperlyConfigured(f"TOKEN_KEYS names the key {kid!r} twice.")
        ring[kid] = KeyRingBackend(kid, secret)
    if not ring:
        raise ImproperlyConfigured("TOKEN_KEYS holds no key.")
    return ring


def key_ring() -> dict[str, KeyRingBackend]:
    """The keys of the ring by `kid`, the newest first. ImproperlyConfigured for a malformed one."""
    return _ring(conf.TOKEN_KEYS)


@dataclass(frozen=True, slots=True)
class SessionClaims:
    sid: str
    user_id: int
    generation: int
    expires_at: int


def encode_session_token(*, sid: str, user_id: int, generation: int, issued_at: datetime, expires_at: datetime) -> str:
    """A signed session token; the newest key of the ring signs."""
    backend = next(iter(key_ring().values()))
    return backend.encode(
        {
            "typ": SESSION,
            "sub": str(user_id),
            "sid": sid,
            "gen": generation,
            "jti": secrets.token_hex(8),
            "iat": int(issued_at.timestamp()),
            "exp": int(expires_at.timestamp()),
        }
    )


def decode_session_token(token: str) -> SessionClaims:
    """The claims of a session token. TokenInvalid, or TokenExpired for a genuine one that has expired."""
    try:
        backend = key_ring()[_kid_of(token.partition(".")[0])]
        payload = backend.decode(token)
        user_id = parse_id(payload["sub"])
        if payload.get("typ") != SESSION or user_id is None:
            raise TokenInvalid
        return SessionClaims(str(payload["sid"]), user_id, int(payload["gen"]), int(payload["exp"]))
    except (jwt.PyJWTError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise TokenInvalid from error


def new_opaque_token() -> tuple[str, str]:
    """A random 256-bit token and the digest that is stored of it."""
    token = secrets.token_urlsafe(32)
    return token, opaque_digest(token)


def opaque_digest(token: str) -> str:
    """SHA-256 in hex: enough for 256 random bits, and cheap to look up."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def keyed_digest(purpose: str, *values: str) -> str:
    """HMAC-SHA256 in hex under Django's secret key: for what is too short to hide in a plain hash."""
    return keyed_digests(purpose, *values)[0]


def keyed_digests(purpose: str, *values: str) -> list[str]:
    """The digest under the secret key and under each of its fall-backs, to look long-lived rows up."""
    # The lengths keep ("ab", "c") apart from ("a", "bc").
    message = "".join(f"{len(value)}:{value}" for value in values).encode("utf-8", "surrogatepass")
    return [
        salted_hmac(f"accounts.{purpose}", message, secret=key, algorithm="sha256").hexdigest()
        for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    ]


def keyed_digest_matches(digest: str, purpose: str, *values: str) -> bool:
    """Compares in constant time, also with digests made before the secret key was changed."""
    return any(constant_time_compare(digest, candidate) for candidate in keyed_digests(purpose, *values))
