"""Server keys: created once, shown once, verified on each request, revoked."""

import ipaddress
import re
import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.services import audit
from accounts.sign_in import sessions
from accounts.tokens import opaque_digest
from core.database.transactions import unit_of_work
from integrations.conf import conf
from integrations.exceptions import ServerKeyInvalid
from integrations.models import NAME_LENGTH, Scope, ServerKey

if TYPE_CHECKING:
    from accounts.models import User

_KEY = re.compile(r"sk_([a-z0-9]{8})_[A-Za-z0-9_-]{43}")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
NAME = re.compile(rf"[\w.-]{{1,{NAME_LENGTH}}}", re.ASCII)


def prefix_of(text: str) -> str:
    """The eight letters in a text that has the form of a key; empty for any other text."""
    match = _KEY.fullmatch(text)
    return match[1] if match else ""


def create(*, name: str, scopes: Iterable[str], networks: Iterable[str] = (), actor: str) -> tuple[ServerKey, str]:
    """The ServerKey and the key itself, which is not stored and cannot be shown again. ValueError as `refuse_bad`."""
    wanted, ranges = refuse_bad(name=name, scopes=scopes, networks=networks)
    secret = secrets.token_urlsafe(32)
    with unit_of_work():
        while True:
            prefix = "".join(secrets.choice(_LETTERS) for _ in range(8))
            token = f"sk_{prefix}_{secret}"
            row = ServerKey(name=name, prefix=prefix, digest=opaque_digest(token), scopes=wanted, networks=ranges)
            try:
                with transaction.atomic():
                    row.save(force_insert=True)
                break
            except IntegrityError:  # another key has the same prefix, once in 3 * 10^12
                continue
        audit.record(action="server_key.created", actor=actor, target_label=str(row), scopes=wanted, networks=ranges)
    return row, token


def refuse_bad(*, name: str, scopes: Iterable[str], networks: Iterable[str]) -> tuple[list[str], list[str]]:
    """The scopes and networks as they are stored. ValueError with one sentence for a bad name, scope or network."""
    if not NAME.fullmatch(name):
        raise ValueError(f"A name has 1 to {NAME_LENGTH} letters, digits, dots, dashes and underscores.")
    wanted = list(dict.fromkeys(scopes))
    if unknown := sorted(set(wanted) - set(Scope)):
        raise ValueError(f"There is no scope {', '.join(unknown)}. Scopes are {', '.join(Scope)}.")
    if not wanted:
        raise ValueError(f"Name the scopes: some of {', '.join(Scope)}.")
    return wanted, [_network(text) for text in networks]


def authenticate(token: str, *, address: str | None) -> ServerKey:
    """The live key behind the token, for a request from this address. ServerKeyInvalid."""
    key = ServerKey.objects.live().filter(digest=opaque_digest(token)).first() if prefix_of(token) else None
    if key is None or not key.may_come_from(address):
        raise ServerKeyInvalid
    now = timezone.now()
    if key.was_used(now, conf.LAST_USED_EVERY_SECONDS):
        ServerKey.objects.filter(id=key.id).update(last_used_at=now)
    return key


def named(text: str) -> list[ServerKey]:
    """The live keys of a name, or the one with this prefix (also written `sk_abcd1234` or as the whole key)."""
    prefix = text.removeprefix("sk_").partition("_")[0] if text.startswith("sk_") else text
    live = ServerKey.objects.live().order_by("id")
    return list(live.filter(prefix=prefix)) or list(live.filter(name=text))


def revoke(*, keys: Iterable[ServerKey], actor: "User | str", reason: str = "", end_sessions: bool = False) -> int:
    """Ends keys at once; with `end_sessions` also the sign-ins that they opened. Returns how many of those ended."""
    ended = 0
    with unit_of_work():
        for key in sorted(keys, key=lambda key: key.id):
            if not ServerKey.objects.live().filter(id=key.id).update(revoked_at=timezone.now()):
                continue
            count = sessions.revoke_opened_by(key_prefix=key.prefix) if end_sessions else 0
            audit.record(
                action="server_key.revoked", actor=actor, target_label=str(key), reason=reason, sessions_ended=count
            )
            ended += count
    return ended


def _network(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text.strip()))
    except ValueError as error:
        raise ValueError(f"{text!r} is not a network such as 10.0.0.0/8.") from error
