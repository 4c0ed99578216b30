"""The demo people: two who talk and one who supports, with random passwords kept in `var/`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings


@dataclass(frozen=True, slots=True)
class Login:
    """How to sign in as a demo person."""

    title: str
    email: str
    password: str
    purpose: str


PEOPLE = (
    ("Alice", "alice@example.com", "talks with Bob"),
    ("Bob", "bob@example.com", "talks with Alice"),
)


def passwords_file() -> Path:
    return settings.VAR_DIR / "demo.json"


def known() -> list[Login]:
    """The logins of the demo people, or none when there are no demo people here."""
    try:
        entries = json.loads(passwords_file().read_text(encoding="utf-8"))
        return [Login(**entry) for entry in entries]
    except (OSError, ValueError, TypeError):
        return []


def ensure(*, note: Callable[[str], object]) -> list[Login]:
    """The demo people's logins; makes those people who are missing."""
    return known()
