"""Session tokens (JWTs signed with the key ring) and opaque tokens (random, stored hashed)."""

import hashlib
import secrets
import uuid
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import jwt
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.crypto import constant_time_compare, salted_hmac
from rest_framework_simplejwt.backends import TokenBackend
from rest_framework_simplejwt.exceptions import ExpiredTokenError, TokenError
from rest_framework_simplejwt.settings import api_settings
from rest_framework_simplejwt.tokens import Token

from accounts.conf import conf
from accounts.exceptions import TokenExpired, TokenInvalid
from core.ids import parse_id

# More than a refresh each second for thirty years; the column holds twice as many.
MAX_GENERATION = 2**30
# What a signed token with impossible claims raises, and a text that is not a token.
_MALFORMED = (TokenError, jwt.PyJWTError, KeyError, TypeError, ValueError, OverflowError, RecursionError)


class RingKey(TokenBackend):
    """simplejwt's codec with one key of the ring, which the header of a token names by `kid`."""

    def __init__(self, kid: str, secret: str) -> None:
        names = {"audience": api_settings.AUDIENCE, "issuer": api_settings.ISSUER}
        super().__init__(api_settings.ALGORITHM, secret, leeway=api_settings.LEEWAY, **names)
        self.kid = kid

    def encode(self, payload: dict[str, Any]) -> str:
        claims = payload | {"aud": self.audience, "iss": self.issuer}
        # simplejwt writes no `kid`.
        return jwt.encode(claims, self.prepared_signing_key, self.algorithm, headers={"kid": self.kid})

    def decode(self, token: Any, verify: bool = True) -> dict[str, Any]:
        return dict(_decoded(self, token))


# A valid signature stays valid: each process checks it once per token. Errors are not cached.
@lru_cache(maxsize=4096)
def _decoded(key: RingKey, token: str) -> dict[str, Any]:
    return TokenBackend.decode(key, token)  # type: ignore[arg-type]


# One header per key of the ring, for as many tokens as there are sessions.
@lru_cache(maxsize=64)
def _kid_of(header: str) -> Any:
    """The `kid` of a header; None for a header with a field that this service never sets, such as `jku`."""
    fields = jwt.get_unverified_header(f"{header}.e30.AA")
    return fields.get("kid") if fields.keys() <= {"alg", "kid", "typ"} else None


@lru_cache(maxsize=4)
def _ring(keys: str) -> dict[str, RingKey]:
    ring: dict[str, RingKey] = {}
    for pair in filter(None, keys.split(",")):
        kid, separator, secret = pair.strip().partition(":")
        if not separator or not kid or not secret:
            raise ImproperlyConfigured("TOKEN_KEYS is kid:secret[,kid:secret…].")
        if kid in ring:
            raise ImproperlyConfigured(f"TOKEN_KEYS names the key {kid!r} twice.")
        ring[kid] = RingKey(kid, secret)
    if not ring:
        raise ImproperlyConfigured("TOKEN_KEYS holds no key.")
    return ring


def key_ring() -> dict[str, RingKey]:
    """The keys of the ring by `kid`, the newest first. ImproperlyConfigured for a malformed one."""
    return _ring(conf.TOKEN_KEYS)


def token_secrets() -> list[str]:
    """The secrets of the ring, none of a malformed one."""
    try:
        return [str(key.signing_key) for key in key_ring().values()]
    except ImproperlyConfigured:
        return []


class SessionToken(Token):
    """The token of a session: its id, its user and its generation.

    Reading a text raises TokenExpired for a genuine token that has expired, and TokenInvalid for anything else that is
    not accepted.
    """

    token_type = "session"
    lifetime = api_settings.ACCESS_TOKEN_LIFETIME
    token: str | None  # type: ignore[assignment]
    payload: dict[str, Any]

    def __init__(self, token: str | None = None, verify: bool = True) -> None:
        try:
            super().__init__(token, verify)  # type: ignore[arg-type]
        except ExpiredTokenError as error:
            raise TokenExpired from error
        except _MALFORMED as error:
            raise TokenInvalid from error

    @classmethod
    def issue(
        cls, *, sid: uuid.UUID, user_id: int, generation: int, issued_at: datetime, expires_at: datetime
    ) -> "SessionToken":
        """A new token of this generation of a session; its text is `str(token)`."""
        token = cls()
        token.payload |= {
            api_settings.USER_ID_CLAIM: str(user_id),
            "sid": str(sid),
            "gen": generation,
            # With its fraction, as RFC 7519 allows: a credential may change within the second.
            "iat": issued_at.timestamp(),
            "exp": int(expires_at.timestamp()),
        }
        return token

    def get_token_backend(self) -> RingKey:
        """The newest key for a new token, else the one that its header names."""
        ring = key_ring()
        return next(iter(ring.values())) if self.token is None else ring[_kid_of(self.token.partition(".")[0])]

    def verify(self) -> None:
        super().verify()
        latest = self.current_time + self.get_token_backend().get_leeway()
        # Compared on every request, also for a payload that was decoded earlier.
        if self.issued_at > latest.timestamp() or not self.user_id or not self.sid or self.generation > MAX_GENERATION:
            raise TokenInvalid

    def check_exp(self, claim: str = "exp", current_time: datetime | None = None) -> None:
        """simplejwt's own, which reports an expired token like one without the claim."""
        try:
            super().check_exp(claim, current_time)
        except TokenError as error:
            raise (TokenExpired if claim in self.payload else TokenInvalid) from error

    @property
    def user_id(self) -> int:
        """0 for a claim that is not an id."""
        return parse_id(self.payload[api_settings.USER_ID_CLAIM]) or 0

    @property
    def sid(self) -> str:
        return str(self.payload["sid"])

    @property
    def generation(self) -> int:
        return int(self.payload["gen"])

    @property
    def issued_at(self) -> float:
        """Seconds since 1970, with their fraction."""
        return float(self.payload["iat"])

    @property
    def expires_at(self) -> datetime:
        return datetime.fromtimestamp(self.payload["exp"], UTC)


def new_opaque_token() -> tuple[str, str]:
    """A random 256-bit token and the digest that is stored of it."""
    token = secrets.token_urlsafe(32)
    return token, opaque_digest(token)


def opaque_digest(token: str) -> str:
    """SHA-256 in hex: enough for 256 random bits, and cheap to look up."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def keyed_digest(purpose: str, *values: str) -> str:
    """HMAC-SHA256 in hex under Django's secret key, for values that are too short for a plain hash."""
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
