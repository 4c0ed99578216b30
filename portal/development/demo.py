"""The demo users: two who have a conversation and one support agent, with random passwords kept in `var/`."""

from __future__ import annotations

import hashlib
import json
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

from accounts.services import audit, registration
from core.commands import actor, replace_file
from core.database.exclusive import exclusive
from core.database.transactions import unit_of_work
from messaging.services import conversations, messages
from portal.pages import is_developer

TEXTS = (
    "Hi Bob! This is a conversation between two demo people.",
    "Hello Alice! Open it in two windows and write something.",
    "Every line arrives at once, and the mailbox keeps the codes.",
)
# The time since the demo users joined, and the time between two messages.
JOINED = timedelta(hours=1)
BETWEEN_TEXTS = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Login:
    title: str
    email: str
    password: str
    purpose: str


@dataclass(frozen=True, slots=True)
class DemoUser:
    title: str
    email: str
    last_name: str
    purpose: str
    is_staff: bool = False

    def password(self, seed: int | None) -> str:
        """A random password. With a seed, for tests of an app, the same one on every machine."""
        return secrets.token_urlsafe(9) if seed is None else self._derived(str(seed))[:12]

    def username(self, seed: int | None) -> str:
        """A username derived from the seed; empty for a random one."""
        return "" if seed is None else f"{self.title.lower()}_{self._derived(f'{seed}:username')[:5]}"

    def _derived(self, purpose: str) -> str:
        return hashlib.sha256(f"{purpose}:{self.email}".encode()).hexdigest()


DEMO_USERS = (
    DemoUser("Alice", "alice@example.com", "Archer", "talks with Bob"),
    DemoUser("Bob", "bob@example.com", "Baker", "talks with Alice"),
    DemoUser("Admin", "admin@example.com", "Staff", "may do everything in the admin", is_staff=True),
)


def passwords_file() -> Path:
    return Path(settings.VAR_DIR) / "demo.json"


def current() -> list[Login]:
    """The logins of the demo users; none when there are no demo users."""
    try:
        entries = json.loads(passwords_file().read_text(encoding="utf-8"))
        return [Login(**entry) for entry in entries]
    except (OSError, ValueError, TypeError):
        return []


def ensure(*, report: Callable[[str], object], seed: int | None = None) -> list[Login]:
    """Creates missing demo users and returns all logins. Users who do not match the file get new passwords. With a
    seed, usernames and passwords are derived from it. Accounts and messages have fixed times before now."""
    with exclusive(
        "demo", report_wait=lambda: report("Another process creates the demo users; waiting for it to end.")
    ):
        return _ensure(report, seed)


def _ensure(report: Callable[[str], object], seed: int | None) -> list[Login]:
    logins = current()
    users = get_user_model()._default_manager
    emails = {user.email for user in DEMO_USERS}
    existing = set(users.filter(email__in=emails).values_list("email", flat=True))
    usernames = [user.username(seed) for user in DEMO_USERS]
    match_seed = seed is None or (
        [login.password for login in logins] == [user.password(seed) for user in DEMO_USERS]
        and users.filter(username__in=usernames).count() == len(DEMO_USERS)
    )
    if match_seed and {login.email for login in logins} == existing == emails:
        return logins
    report("Creating the demo users …")
    start = timezone.now()
    with unit_of_work():
        logins = [_create_or_update(demo_user, seed, start - JOINED) for demo_user in DEMO_USERS]
        alice, bob = (users.get(email=demo_user.email) for demo_user in DEMO_USERS[:2])
        _write_messages(alice, bob, start)
    _save(logins)
    return logins


def _create_or_update(demo_user: DemoUser, seed: int | None, joined: datetime) -> Login:
    password, username = demo_user.password(seed), demo_user.username(seed)
    user = get_user_model()._default_manager.filter(email=demo_user.email).first()
    if user is None:
        staff: dict[str, Any] = {"is_staff": True, "is_superuser": True} if demo_user.is_staff else {}
        user = registration.create_user(
            email=demo_user.email,
            password=password,
            first_name=demo_user.title,
            last_name=demo_user.last_name,
            verified=True,
            username=username,
            created_at=joined,
            **staff,
        )
        audit.record(action="user.added", actor=actor(), target=user)
    else:
        user.set_password(password)
        user.username = username or user.username
        user.save(update_fields=["password", "username"])
        audit.record(action="user.changed", actor=actor(), target=user)
    return Login(demo_user.title, demo_user.email, password, demo_user.purpose)


def _write_messages(alice: Any, bob: Any, start: datetime) -> None:
    conversation, is_new = conversations.start(starter=alice, user_id=bob.id)
    if is_new:
        for number, text in enumerate(TEXTS):
            sender = (alice, bob)[number % 2]
            # A reply means that the earlier message was read.
            conversations.mark_read(reader_id=sender.id, conversation_id=conversation.id)
            sent_at = start - (len(TEXTS) - number) * BETWEEN_TEXTS
            messages.send(sender=sender, conversation_id=conversation.id, body=text, sent_at=sent_at)


def _save(logins: list[Login]) -> None:
    path = passwords_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, json.dumps([asdict(login) for login in logins], indent=1))


def demo_logins(request: HttpRequest) -> list[Login]:
    """The logins that the page may show to a browser on this machine; none for any other."""
    return current() if is_developer(request) else []
