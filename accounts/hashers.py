"""Argon2id for passwords, with at most one hash per core at once, and the formats of imported password hashes.

An imported hash is renewed to Argon2id at the next sign-in. Its costs were chosen elsewhere, so each format has an upper
bound: a hash beyond it is refused when it is imported, and never computed.
"""

import os
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, TimeoutError
from contextlib import suppress
from typing import Any, TypeVar, cast

from django.contrib.auth.hashers import (
    Argon2PasswordHasher,
    BasePasswordHasher,
    BCryptPasswordHasher,
    BCryptSHA256PasswordHasher,
    PBKDF2PasswordHasher,
    ScryptPasswordHasher,
)

from core.api.exceptions import ServiceUnavailable
from core.characters import normalise

# A waiting request occupies its thread, so the wait is short. Most wait earlier (server.concurrency_limit, nginx).
WAIT_SECONDS = 2
# A `nice` value: while all cores hash, everything else goes first.
NICENESS = 5
# The longest hash that the column takes.
MAX_LENGTH = 256
# bcrypt itself reads no further.
_BCRYPT_BYTES = 72

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")


def hashes_password(view: F) -> F:
    """Declares that a view computes the hash of a password. Only a few threads at once serve such requests."""
    view.hashes_password = True  # type: ignore[attr-defined]
    return view


def _lower_priority() -> None:
    # Linux has a priority for each thread. It cannot be raised again, so these threads do nothing else.
    with suppress(AttributeError, OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


_hashing = ThreadPoolExecutor(os.cpu_count() or 1, "hash", initializer=_lower_priority)


# Password hashes have threads of their own: docs/decisions/authentication.md#0089
def _hashed(compute: Callable[..., R], *arguments: Any) -> R:
    waiting = _hashing.submit(compute, *arguments)
    try:
        return waiting.result(WAIT_SECONDS)
    except TimeoutError as error:
        if waiting.cancel():
            raise ServiceUnavailable(retry_after=2) from error
        return waiting.result()  # it has begun, so it ends soon


def _spellings(password: str) -> list[str]:
    """The composed form (NFC), because keyboards encode é in different ways, and the password as typed, which another
    service may have hashed."""
    return list(dict.fromkeys([normalise(password), password]))


class BoundedArgon2Hasher(Argon2PasswordHasher):
    """19 MiB, two passes, parallelism 1: 20-50 ms, where Django's default takes 100 MiB a hash."""

    time_cost = 2
    memory_cost = 19_456
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        return _hashed(super().encode, normalise(password), salt)

    def verify(self, password: str, encoded: str) -> bool:
        verify = super().verify
        return self.is_affordable(encoded) and any(_hashed(verify, one, encoded) for one in _spellings(password))

    def must_update(self, encoded: str) -> bool:
        # Django calls this before it verifies.
        return self.is_affordable(encoded) and super().must_update(encoded)

    @staticmethod
    def is_affordable(encoded: str) -> bool:
        """256 MiB, ten passes, parallelism 8."""
        costs = _costs(
            r"argon2\$argon2(?:id|i|d)\$v=(?:16|19)\$m=(\d{1,9}),t=(\d{1,9}),p=(\d{1,9})\$[\w+/]{11,}\$[\w+/]{16,}",
            encoded,
        )
        # The memory is in KiB. The library refuses less than 8 for each thread.
        return _within(costs, 256 * 1024, 10, 8) and costs[0] >= 8 * costs[2]


class _Imported(BasePasswordHasher):
    """A format that is verified but never used for a new password; Django's `verify` calls `encode`."""

    def encode(self, password: str, salt: str, *costs: Any) -> str:
        return str(_hashed(super().encode, password, salt, *costs))

    def verify(self, password: str, encoded: str) -> bool:
        return self.is_affordable(encoded) and any(
            super(_Imported, self).verify(one, encoded) for one in _spellings(password)
        )

    def harden_runtime(self, password: str, encoded: str) -> None:
        """Does nothing: Django calls it to level the time of hashes in the preferred format."""

    @staticmethod
    def is_affordable(encoded: str) -> bool:
        """Whether the text is a whole hash of this format, with costs within its bound."""
        raise NotImplementedError


class ImportedPBKDF2Hasher(_Imported, PBKDF2PasswordHasher):
    @staticmethod
    def is_affordable(encoded: str) -> bool:
        return _within(_costs(r"pbkdf2_sha256\$(\d{1,9})\$[^$]+\$[\w+/]{43}=", encoded), 2_000_000)


class ImportedBCryptHasher(_Imported, BCryptPasswordHasher):
    def encode(self, password: str, salt: Any, *costs: Any) -> str:
        # The library refuses longer passwords; other services hash only their beginning.
        hashpw = cast(Any, self)._load_library().hashpw
        hashed: bytes = _hashed(hashpw, password.encode()[:_BCRYPT_BYTES], salt)
        return f"{self.algorithm}${hashed.decode('ascii')}"

    @staticmethod
    def is_affordable(encoded: str) -> bool:
        return _within(_costs(r"bcrypt\$\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}", encoded), 14, least=4)


class ImportedBCryptSHA256Hasher(_Imported, BCryptSHA256PasswordHasher):
    @staticmethod
    def is_affordable(encoded: str) -> bool:
        return _within(_costs(r"bcrypt_sha256\$\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}", encoded), 14, least=4)


class ImportedScryptHasher(_Imported, ScryptPasswordHasher):
    # 128 * N * r bytes of the most expensive one, and room for the rest; OpenSSL's own limit is 32 MiB.
    maxmem = 320 * 1024 * 1024

    @staticmethod
    def is_affordable(encoded: str) -> bool:
        costs = _costs(r"scrypt\$(\d{1,9})\$[^$]+\$(\d{1,9})\$(\d{1,9})\$[\w+/]{86}==", encoded)
        # The first one is a power of two.
        return _within(costs, 2**17, 16, 4) and costs[0] > 1 and costs[0] & (costs[0] - 1) == 0


FORMATS = (
    BoundedArgon2Hasher,
    ImportedPBKDF2Hasher,
    ImportedBCryptHasher,
    ImportedBCryptSHA256Hasher,
    ImportedScryptHasher,
)


def can_be_imported(encoded: str) -> bool:
    """Whether this is a whole hash of a known format, with costs within its bound."""
    return len(encoded) <= MAX_LENGTH and any(hasher.is_affordable(encoded) for hasher in FORMATS)


def _costs(pattern: str, encoded: str) -> list[int]:
    """The costs in a hash; empty for a text in another format."""
    match = re.fullmatch(pattern, encoded, re.ASCII)
    return [int(cost) for cost in match.groups()] if match else []


def _within(costs: list[int], *bounds: int, least: int = 1) -> bool:
    return len(costs) == len(bounds) and all(least <= cost <= bound for cost, bound in zip(costs, bounds, strict=True))
