"""One-time tokens for unfinished steps: the second step, a challenge, a confirmed action."""

from datetime import timedelta

from django.db.models import F
from django.utils import timezone

from accounts.models import OneTimeToken, Session, User
from accounts.tokens import new_opaque_token, opaque_digest


def issue(
    *, kind: OneTimeToken.Kind, user: User, minutes: int, session: Session | None = None, action: str = ""
) -> str:
    """A new token of `kind`, good for `minutes`; only its digest is stored."""
    token, digest = new_opaque_token()
    now = timezone.now()
    OneTimeToken.objects.create(
        kind=kind,
        digest=digest,
        user=user,
        session=session,
        action=action,
        created_at=now,
        expires_at=now + timedelta(minutes=minutes),
    )
    return token


def find(token: str, *, kind: OneTimeToken.Kind) -> OneTimeToken | None:
    """The row of a token with its user, whatever its state; None for an unknown one or another kind."""
    return OneTimeToken.objects.select_related("user").filter(digest=opaque_digest(token), kind=kind).first()


def is_live(pending: OneTimeToken, *, tries: int) -> bool:
    """Neither consumed, nor expired, nor tried too often."""
    return pending.used_at is None and pending.expires_at > timezone.now() and pending.tries < tries


def count_try(pending: OneTimeToken, *, tries: int) -> bool:
    """Counts one more try, in a statement of its own, before anything is checked with the token.

    False when the token is not live any more; then nothing may be checked.
    """
    live = OneTimeToken.objects.live().filter(id=pending.id, tries__lt=tries)
    return live.update(tries=F("tries") + 1) == 1


def uncount_try(pending: OneTimeToken) -> None:
    """Takes a counted try back when nothing was checked with it."""
    OneTimeToken.objects.filter(id=pending.id, tries__gt=0).update(tries=F("tries") - 1)


def consume(pending: OneTimeToken) -> bool:
    """Consumes the token. Of many parallel callers exactly one gets True."""
    return OneTimeToken.objects.live().filter(id=pending.id).update(used_at=timezone.now()) == 1
