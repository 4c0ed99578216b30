"""Argon2id for passwords, at most as many at once as there are cores."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from django.contrib.auth.hashers import Argon2PasswordHasher

from core.exceptions import ServiceUnavailable
from core.text import normalise

WAIT_SECONDS = 8

_slots = BoundedSemaphore(os.cpu_count() or 1)


@contextmanager
def _slot() -> Iterator[None]:
    if not _slots.acquire(timeout=WAIT_SECONDS):
        raise ServiceUnavailable(retry_after=2)
    try:
        yield
    finally:
        _slots.release()


class BoundedArgon2Hasher(Argon2PasswordHasher):
    """19 MiB, two passes, parallelism 1: 20-50 ms, where Django's default takes 100 MiB a hash.

    Keyboards differ in how they spell é and ế: the composed form (NFC) is hashed in every case.
    """

    time_cost = 2
    memory_cost = 19_456
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        with _slot():
            return super().encode(normalise(password), salt)

    def verify(self, password: str, encoded: str) -> bool:
        with _slot():
            return super().verify(normalise(password), encoded)
