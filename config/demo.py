"""The demo users: two who have a conversation and one support agent, with random passwords kept in `var/`."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.http import HttpRequest
from django.utils import timezone

from accounts.services import registration
from config.access import is_developer
from core.transactions import unit_of_work
from messaging.services import conversations, messages

LINES = (
    "Hi Bob! This is a conversation between two demo people.",
    "Hello Alice! Open it in two windows and write something.",
    "Every line arrives at once, and the mailbox keeps the codes.",
)
# Before the start: when the demo users joined, and the time from one message to the next.
JOINED = timedelta(hours=1)
BETWEEN_LINES = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Login:
    """The login of a demo user."""

    title: str
    email: str
    password: str
    purpose: str


@dataclass(frozen=True, slots=True)
class Part:
    """The data of a demo user."""

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
    """The logins of the demo users; none when there are no demo users."""
    try:
        entries = json.loads(passwords_file().read_text(encoding="utf-8"))
        return [Login(**entry) for entry in entries]
    except (OSError, ValueError, TypeError):
        return []


def client_logins(request: HttpRequest) -> list[dict[str, str]]:
    """The logins that the web client offers, for a browser on this machine only."""
    if not is_developer(request):
        return []
    names = {part.title for part in PARTS if not part.is_staff}
    return [
        {"name": login.title, "email": login.email, "password": login.password}
        for login in known()
        if login.title in names
    ]


def ensure(*, note: Callable[[str], object], seed: int | None = None) -> list[Login]:
    """Creates missing demo users and returns all logins. If users and file do not match, the users get new passwords.
    With a seed, usernames and passwords are derived from it. Accounts and messages have fixed times before now."""
    logins = known()
    people = get_user_model()._default_manager
    present = set(people.filter(email__in=[part.email for part in PARTS]).values_list("email", flat=True))
    are_wanted = seed is None or (
        [login.password for login in logins] == [_password(part, seed) for part in PARTS]
        and people.filter(username__in=[_username(part, seed) for part in PARTS]).count() == len(PARTS)
    )
    if are_wanted and {login.email for login in logins} == present == {part.email for part in PARTS}:
        return logins
    note("Creating the demo users …")
    start = timezone.now()
    with unit_of_work():
        logins = [_make(part, _password(part, seed), _username(part, seed), start - JOINED) for part in PARTS]
        alice, bob = (people.get(email=part.email) for part in PARTS[:2])
        _talk(alice, bob, start)
    _keep(logins)
    return logins


def _password(part: Part, seed: int | None) -> str:
    """A random password or, for tests of an app, the same one on every machine."""
    if seed is None:
        return secrets.token_urlsafe(9)
    return hashlib.sha256(f"{seed}:{part.email}".encode()).hexdigest()[:12]


def _username(part: Part, seed: int | None) -> str:
    """A username derived from the seed; empty for a random one."""
    if seed is None:
        return ""
    return f"{part.title.lower()}_{hashlib.sha256(f'{seed}:username:{part.email}'.encode()).hexdigest()[:5]}"


def _make(part: Part, password: str, username: str, joined: datetime) -> Login:
    user = get_user_model()._default_manager.filter(email=part.email).first()
    if user is None:
        staff: dict[str, Any] = {"is_staff": True, "is_superuser": True} if part.is_staff else {}
        registration.create_user(
            email=part.email,
            password=password,
            first_name=part.title,
            last_name=part.last_name,
            verified=True,
            username=username,
            created_at=joined,
            **staff,
        )
    else:
        user.set_password(password)
        user.username = username or user.username
        user.save(update_fields=["password", "username"])
    return Login(part.title, part.email, password, part.purpose)


def _talk(alice: Any, bob: Any, start: datetime) -> None:
    conversation, is_new = conversations.start(starter=alice, user_id=bob.id)
    if is_new:
        for number, line in enumerate(LINES):
            sender = (alice, bob)[number % 2]
            sent_at = start - (len(LINES) - number) * BETWEEN_LINES
            messages.send(sender=sender, conversation_id=conversation["id"], body=line, sent_at=sent_at)


def _keep(logins: list[Login]) -> None:
    path = passwords_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    # Created with permissions for its owner only.
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump([asdict(login) for login in logins], file, indent=1)
    fresh.replace(path)
