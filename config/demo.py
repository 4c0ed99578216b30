"""The demo people: two who talk and one who supports, with random passwords kept in `var/`."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model

from accounts.services import registration
from accounts.unit_of_work import unit_of_work
from messaging.services import conversations, messages

LINES = (
    "Hi Bob! This is a conversation between two demo people.",
    "Hello Alice! Open it in two windows and write something.",
    "Every line arrives at once, and the mailbox keeps the codes.",
)


@dataclass(frozen=True, slots=True)
class Login:
    """How to sign in as a demo person."""

    title: str
    email: str
    password: str
    purpose: str


@dataclass(frozen=True, slots=True)
class Part:
    """A demo person as they are made."""

    title: str
    email: str
    last_name: str
    purpose: str
    is_staff: bool = False


PARTS = (
    Part("Alice", "alice@example.com", "Archer", "talks with Bob"),
    Part("Bob", "bob@example.com", "Baker", "talks with Alice"),
    Part("Admin", "admin@example.com", "Staff", "may do everything in the admin", is_staff=True),
)


def passwords_file() -> Path:
    return Path(settings.VAR_DIR) / "demo.json"


def known() -> list[Login]:
    """The logins of the demo people, or none when there are no demo people here."""
    try:
        entries = json.loads(passwords_file().read_text(encoding="utf-8"))
        return [Login(**entry) for entry in entries]
    except (OSError, ValueError, TypeError):
        return []


def ensure(*, note: Callable[[str], object]) -> list[Login]:
    """The demo people's logins; makes those who are missing. A file without its people, or people without
    their file, are brought together again with new passwords."""
    logins = known()
    people = get_user_model()._default_manager
    present = set(people.filter(email__in=[part.email for part in PARTS]).values_list("email", flat=True))
    if {login.email for login in logins} == present == {part.email for part in PARTS}:
        return logins
    note("Making the demo people …")
    with unit_of_work():
        logins = [_make(part) for part in PARTS]
        alice, bob = (people.get(email=part.email) for part in PARTS[:2])
        _talk(alice, bob)
    _keep(logins)
    return logins


def _make(part: Part) -> Login:
    password = secrets.token_urlsafe(9)
    user = get_user_model()._default_manager.filter(email=part.email).first()
    if user is None:
        staff: dict[str, Any] = {"is_staff": True, "is_superuser": True} if part.is_staff else {}
        registration.create_user(
            email=part.email,
            password=password,
            first_name=part.title,
            last_name=part.last_name,
            verified=True,
            **staff,
        )
    else:
        user.set_password(password)
        user.save(update_fields=["password"])
    return Login(part.title, part.email, password, part.purpose)


def _talk(alice: Any, bob: Any) -> None:
    conversation, is_new = conversations.start(starter=alice, user_id=bob.id)
    if is_new:
        for number, line in enumerate(LINES):
            sender = (alice, bob)[number % 2]
            messages.send(sender=sender, conversation_id=conversation["id"], body=line)


def _keep(logins: list[Login]) -> None:
    path = passwords_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    # Readable by its owner alone from the first byte on.
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump([asdict(login) for login in logins], file, indent=1)
    fresh.replace(path)
