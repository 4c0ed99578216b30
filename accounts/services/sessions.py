"""Sign-ins: start, recognise, refresh, end."""

import uuid
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from accounts import emails, request_context
from accounts.conf import conf
from accounts.exceptions import AccountBlocked, NotFound, TokenRevoked
from accounts.models import Session, TrustedDevice, User
from accounts.selectors import session_with_user
from accounts.signals import session_revoked
from accounts.tokens import SessionClaims, decode_session_token, encode_session_token
from accounts.unit_of_work import unit_of_work


def start(
    *,
    user: User,
    ip: str | None = None,
    user_agent: str = "",
    device_name: str = "",
    trusted_device: TrustedDevice | None = None,
) -> tuple[Session, str]:
    """A new session of `user` and its first token. The caller has checked every right to it."""
    now = timezone.now()
    expires_at = now + timedelta(days=conf.SESSION_DAYS)
    session = Session.objects.create(
        user=user,
        ip=ip,
        user_agent=user_agent[:400],
        device_name=device_name[:200],
        trusted_device=trusted_device,
        generation_used_at=now,
        created_at=now,
        last_used_at=now,
        token_expires_at=_token_expiry(now, expires_at),
        expires_at=expires_at,
    )
    request_context.identify(user_id=user.id, session_id=session.id)
    return session, _token(session, now)


def authenticate(token: str) -> tuple[User, Session]:
    """The person and session behind a session token, read in one query.

    TokenInvalid, TokenExpired, TokenRevoked, or AccountBlocked while staff blocks the account.
    """
    claims = decode_session_token(token)
    now = timezone.now()
    session = session_with_user(sid=_sid_of(claims), user_id=claims.user_id)
    if session is None:
        raise TokenRevoked
    user = session.user
    if user.is_blocked(now):
        raise AccountBlocked
    if session.ended_at is not None or session.expires_at <= now:
        raise TokenRevoked
    behind = session.generation - claims.generation
    if behind < 0 or behind > 1:
        raise TokenRevoked
    if behind == 1 and _grace_is_over(session, now):
        raise TokenRevoked
    _note_use(session, is_newest=behind == 0, now=now)
    return user, session


def recheck(*, sid: uuid.UUID, user_id: int) -> tuple[User, Session]:
    """The person and session of a token that was accepted earlier, as they are now, in one query.

    TokenRevoked, or AccountBlocked while staff blocks the account.
    """
    session = session_with_user(sid=sid, user_id=user_id)
    now = timezone.now()
    if session is None:
        raise TokenRevoked
    if session.user.is_blocked(now):
        raise AccountBlocked
    if session.ended_at is not None or session.expires_at <= now:
        raise TokenRevoked
    return session.user, session


def ended(session_ids: Iterable[int]) -> dict[int, str]:
    """Those of these sessions that are over, with the error code that their token gets now."""
    wanted = set(session_ids)
    now = timezone.now()
    codes = dict.fromkeys(wanted, "token_revoked")
    for session in Session.objects.filter(id__in=wanted).select_related("user"):
        if session.user.is_blocked(now):
            codes[session.id] = "account_blocked"
        elif session.ended_at is None and session.expires_at > now:
            del codes[session.id]
    return codes


def refresh(token: str) -> str:
    """The next token of the session.

    The newest generation is followed by the next one. The generation before it gets the same
    successor again while that is unused, or within a minute of its first use: a lost answer or two
    tabs sign nobody out. Anything older is a copy in other hands: the session ends.
    """
    claims = decode_session_token(token)
    with unit_of_work():
        locked = Session.objects.select_for_update(no_key=True)
        session = locked.filter(sid=_sid_of(claims), user_id=claims.user_id).first()
        if session is None:
            raise TokenRevoked
        user = User.objects.get(id=session.user_id)  # as it is now that the row is ours
        now = timezone.now()
        if user.is_blocked(now):
            raise AccountBlocked
        if session.ended_at is not None or session.expires_at <= now:
            raise TokenRevoked
        behind = session.generation - claims.generation
        reused = behind not in (0, 1) or (behind == 1 and _grace_is_over(session, now))
        if reused:
            _end_reused(session, user)
        else:
            _renew(session, follows_newest=behind == 0, now=now)
    if reused:  # told after the commit: the answer is an error, the end of the session stays
        raise TokenRevoked
    return _token(session, now)


def revoke(sessions: Iterable[Session], *, reason: str) -> int:
    """Ends live sessions of one or more people; says so per person. Returns how many ended."""
    with unit_of_work():
        now = timezone.now()
        live = list(
            Session.objects.select_for_update()
            .filter(id__in=[session.id for session in sessions], ended_at=None)
            .order_by("id")
            .values_list("id", "user_id")
        )
        ids = [session_id for session_id, _ in live]
        Session.objects.filter(id__in=ids).update(ended_at=now, ended_reason=reason)
        for user_id in sorted({user_id for _, user_id in live}):
            own = [session_id for session_id, owner in live if owner == user_id]
            session_revoked.send(Session, user_id=user_id, session_ids=own, reason=reason)
    return len(live)


def end(*, user: User, session_id: int | None) -> None:
    """Ends one live session of the person. NotFound for another's, an ended or an impossible one."""
    own = Session.objects.filter(user=user, id=session_id) if session_id is not None else []
    if not revoke(own, reason="revoked"):
        raise NotFound


def rotate(session: Session) -> str:
    """The next token of a session, as a refresh would give it. TokenRevoked when it has just ended."""
    with unit_of_work():
        live = Session.objects.select_for_update(no_key=True).filter(id=session.id, ended_at=None).first()
        if live is None:
            raise TokenRevoked
        session = live
        now = timezone.now()
        session.generation += 1
        session.generation_used_at = None
        session.last_used_at = now
        session.token_expires_at = _token_expiry(now, session.expires_at)
        session.save(update_fields=["generation", "generation_used_at", "last_used_at", "token_expires_at"])
    return _token(session, now)


def revoke_all(*, user_id: int, reason: str, but: Session | None = None) -> int:
    """Ends every live session of a person, except `but`."""
    sessions = Session.objects.filter(user_id=user_id, ended_at=None)
    if but is not None:
        sessions = sessions.exclude(id=but.id)
    return revoke(sessions, reason=reason)


def _sid_of(claims: SessionClaims) -> uuid.UUID:
    try:
        return uuid.UUID(claims.sid)
    except ValueError as error:
        raise TokenRevoked from error


def _renew(session: Session, *, follows_newest: bool, now: datetime) -> None:
    if follows_newest:
        session.generation += 1
        session.generation_used_at = None
    session.last_used_at = now
    session.token_expires_at = _token_expiry(now, session.expires_at)
    session.save(update_fields=["generation", "generation_used_at", "last_used_at", "token_expires_at"])


def _end_reused(session: Session, user: User) -> None:
    """A token of long ago is a copy in other hands: nobody knows in whose hands the newest one is."""
    revoke([session], reason="reuse")
    emails.send_to(user, "session_reuse", device=emails.clean(session.device_name) or "?")


def _grace_is_over(session: Session, now: datetime) -> bool:
    used_at = session.generation_used_at
    return used_at is not None and now - used_at >= timedelta(seconds=conf.REFRESH_GRACE_SECONDS)


def _note_use(session: Session, *, is_newest: bool, now: datetime) -> None:
    """Writes the first use of a generation, and the last use of a session every few minutes."""
    changes: dict[str, datetime] = {}
    if is_newest and session.generation_used_at is None:
        changes["generation_used_at"] = session.generation_used_at = now
    if now - session.last_used_at >= timedelta(seconds=conf.LAST_USED_EVERY_SECONDS):
        changes["last_used_at"] = session.last_used_at = now
    if changes:
        unchanged = Q(id=session.id, generation=session.generation)
        Session.objects.filter(unchanged).update(**changes)


def _token_expiry(now: datetime, expires_at: datetime) -> datetime:
    return min(now + timedelta(days=conf.TOKEN_DAYS), expires_at)


def _token(session: Session, now: datetime) -> str:
    return encode_session_token(
        sid=str(session.sid),
        user_id=session.user_id,
        generation=session.generation,
        issued_at=now,
        expires_at=session.token_expires_at,
    )
