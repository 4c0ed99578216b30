"""Waiting for what another thread or process does."""

import time
from collections.abc import Callable
from typing import Any


def wait_for(check: Callable[[], Any], seconds: float = 30, *, what: str = "it") -> Any:
    """The first true answer of `check`; fails when there was none in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := check():
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited {seconds} s in vain for {what}")
