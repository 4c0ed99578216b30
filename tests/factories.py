"""Factories of users and sessions."""

import itertools
from typing import Any

from django.utils import timezone

from accounts.client import Client
from accounts.models import Session, User
from accounts.sign_in import sessions
from core.folding import fold

PASSWORD = "correct horse 9"

_numbers = itertools.count(1)


def make_user(first_name: str = "Ann", *, verified: bool = True, **fields: Any) -> User:
    number = next(_numbers)
    fields.setdefault("last_name", "Example")
    fields.setdefault("username", f"{fold(first_name)}_{number:05d}")
    user = User(
        first_name=first_name,
        email=fields.pop("email", f"{fold(first_name)}{number}@example.com"),
        email_verified_at=timezone.now() if verified else None,
        **fields,
    )
    user.set_password(PASSWORD)
    user.save()
    return user


def sign_in(user: User) -> tuple[Session, str]:
    """A live session of the user and its token, as login would give it."""
    return sessions.start(user=user, client=Client(ip="127.0.0.1", user_agent="tests"))
