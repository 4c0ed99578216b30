"""Sessions: start, authenticate, refresh, end."""

import uuid
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, QuerySet
from django.utils import timezone

from accounts import emails
from accounts.client import UNKNOWN, Client
from accounts.conf import conf
from accounts.exceptions import TokenRevoked
from accounts.models import Session, User
from accounts.services import audit
from accounts.signals import session_revoked, session_started, session_tokens_replaced
from accounts.tokens import SessionToken
from core import request_context
from core.api.exceptions import ApiError, NotFound
from core.database.compiled import compiled
from core.database.statements import insert
from core.database.transactions import unit_of_work


def start(*, user: User, client: Client = UNKNOWN, **fields: Any) -> tuple[Session, str]:
    """Creates a session of `user` and its first token; `fields` are other columns. The caller has completed all checks."""
    now = timezone.now()
    ends = now + timedelta(days=conf.SESSION_DAYS)
    with unit_of_work(savepoint=False):
        session = _create(user, client, now, token_expires_at=_token_expiry(now, ends), expires_at=ends, **fields)
        session_started.send(Session, session=session)
    request_context.identify(user_id=user.id, session_id=session.id)
    return session, _token(session, now)


def start_in_admin(*, user: User, client: Client, lifetime: timedelta) -> Session:
    """Creates a session of the admin: it has no token and is not renewed."""
    now = timezone.now()
    ends = now + lifetime
    return _create(user, client, now, kind=Session.Kind.ADMIN, token_expires_at=ends, expires_at=ends)


def _create(user: User, client: Client, now: datetime, **fields: Any) -> Session:
    """A session used now."""
    fields |= {"ip": client.ip, "user_agent": client.user_agent, "device_name": client.device_name}
    return insert(Session(user=user, generation_used_at=now, created_at=now, last_used_at=now, **fields))


def is_live_in_admin(*, session_id: int | None, user_id: int | None) -> bool:
    """Whether this session of the admin is still valid; records its use. False without a session or a user."""
    now = timezone.now()
    own = Session.objects.filter(id=session_id, user_id=user_id, kind=Session.Kind.ADMIN)
    session = own.live(now).first()
    if session is None:
        return False
    _record_use(session, is_newest=False, now=now)
    return True


def end_in_admin(*, user_id: int, reason: str, session_id: int | None = None) -> int:
    """Ends one admin session, or all of the user. Returns how many ended."""
    own = Session.objects.not_ended().filter(user_id=user_id, kind=Session.Kind.ADMIN)
    return revoke(own if session_id is None else own.filter(id=session_id), reason=reason)


def authenticate(text: str) -> tuple[User, Session]:
    """The user and session of the text of a session token. Errors of SessionToken and `of_token`."""
    return of_token(SessionToken(text))


def of_token(token: SessionToken) -> tuple[User, Session]:
    """The user and session of a token, read in one query. TokenRevoked, or AccountBlocked while staff blocks the
    account."""
    now = timezone.now()
    session = _require_accepting(_with_user.first(_sid_of(token), token.user_id), token.generation, now)
    behind = session.generation - token.generation
    if behind < 0:
        _catch_up(session, token, now)
    elif _is_reused(session, behind, now):
        raise TokenRevoked
    _record_use(session, is_newest=behind <= 0, now=now)
    return session.user, session


def of_user(text: str, user: User) -> Session | None:
    """The session of a token if it is a valid one of this user; else None."""
    if not text:
        return None
    try:
        owner, session = authenticate(text)
    except ApiError:
        return None
    return session if owner.id == user.id else None


def recheck(*, sid: uuid.UUID, user_id: int, generation: int) -> tuple[User, Session]:
    """The current user and session of a token that was accepted earlier, in one query.

    TokenRevoked, also when a credential changed after this `generation` was issued, or AccountBlocked
    while staff blocks the account.
    """
    session = _require_accepting(_with_user.first(sid, user_id), generation, timezone.now())
    return session.user, session


def ended(tokens: Iterable[tuple[int, int]]) -> dict[tuple[int, int], str]:
    """Which of these tokens (session id, generation), accepted earlier, are no longer valid; with the error code."""
    distinct = set(tokens)
    now = timezone.now()
    rows = Session.objects.filter(id__in={session_id for session_id, _ in distinct}).select_related("user")
    sessions = {session.id: session for session in rows}
    codes: dict[tuple[int, int], str] = {}
    for session_id, generation in distinct:
        try:
            _require_accepting(sessions.get(session_id), generation, now)
        except ApiError as error:
            codes[session_id, generation] = str(error.default_code)
    return codes


def refresh(text: str) -> str:
    """The next token of the session.

    The newest generation is followed by the next one. The generation before it gets the same
    successor again while that is unused, or within a minute of its first use: a lost reply or two tabs do not sign the
    user out. An older token is a stolen copy: the session ends. A token from before a credential change is refused and
    ends nothing: the owner has proved to hold the newest one. A token ahead of the session is genuine (see `_catch_up`).
    """
    token = SessionToken(text)
    with unit_of_work():
        locked = Session.objects.select_for_update(no_key=True)
        row = locked.filter(sid=_sid_of(token), user_id=token.user_id).first()
        now = timezone.now()
        # The user is read while the session's row is locked.
        session = _require_accepting(row, token.generation, now)
        behind = session.generation - token.generation
        if behind < 0:
            _catch_up(session, token, now)
            behind = 0
        reused = _is_reused(session, behind, now)
        if reused:
            # One of the two copies is stolen, but it is unknown which.
            revoke([session], reason="reuse")
            audit.record(action="session.reused", target=session.user, session_id=session.id)
            emails.send_to(session.user, "session_reuse", device=emails.clean(session.device_name) or "?")
        else:
            _renew(session, follows_newest=behind == 0, now=now)
    if reused:  # raised after the commit: the reply is an error, but the session stays ended
        raise TokenRevoked
    return _token(session, now)


def revoke(sessions: Iterable[Session], *, reason: str) -> int:
    """Ends live sessions of one or more users and sends one signal per user. Returns how many ended.

    What they still vouch for after each `reason` stands in `models.sign_ins.VOUCHING`.
    """
    with unit_of_work():
        now = timezone.now()
        not_ended = Session.objects.not_ended().filter(id__in=[session.id for session in sessions])
        live = list(not_ended.select_for_update(no_key=True).order_by("id").values_list("id", "user_id"))
        ids = [session_id for session_id, _ in live]
        Session.objects.filter(id__in=ids).update(ended_at=now, ended_reason=reason)
        for user_id in sorted({user_id for _, user_id in live}):
            own = [session_id for session_id, owner in live if owner == user_id]
            session_revoked.send(Session, user_id=user_id, session_ids=own, reason=reason)
    return len(live)


def lock_live(*, session_id: int) -> Session:
    """The session as stored now; it cannot end before the caller's unit of work is committed. TokenRevoked when it has
    ended."""
    session = Session.objects.not_ended().select_for_update(no_key=True).filter(id=session_id).first()
    if session is None:
        raise TokenRevoked
    return session


def end(*, user: User, session_id: int | None, reason: str = "revoked") -> None:
    """Ends one live session of the user. NotFound for an unknown, foreign or ended one."""
    if not revoke(Session.objects.filter(user=user, id=session_id), reason=reason):
        raise NotFound


def rotate(session: Session) -> str:
    """The next token of a session after a credential change; every earlier one stops working at once.

    TokenRevoked when the session has just ended.
    """
    with unit_of_work():
        session = lock_live(session_id=session.id)
        now = timezone.now()
        session.oldest_generation = session.generation + 1
        _renew(session, follows_newest=True, now=now)
        session_tokens_replaced.send(Session, user_id=session.user_id)
    return _token(session, now)


def end_grace(*, user_id: int) -> None:
    """Invalidates all but the newest token of every live session. Part of the caller's unit of work."""
    Session.objects.not_ended().filter(user_id=user_id).update(oldest_generation=F("generation"))
    session_tokens_replaced.send(Session, user_id=user_id)


def revoke_all(*, user_id: int, reason: str, but: Session | None = None) -> int:
    """Ends every live session of a user, except `but`. TokenRevoked when that one has just ended."""
    sessions = Session.objects.not_ended().filter(user_id=user_id)
    with unit_of_work():
        if but is not None:
            User.objects.lock(user_id)  # two sessions may end each other
            sessions = sessions.exclude(id=lock_live(session_id=but.id).id)
        return revoke(sessions, reason=reason)


def revoke_opened_by(*, key_prefix: str) -> int:
    """Ends the live sessions that a server key has opened. Returns how many."""
    opened = Session.objects.not_ended().exclude(opened_by="").filter(opened_by_key=key_prefix)
    return revoke(opened, reason="server_key_revoked")


def inspect(text: str) -> tuple[User, Session, datetime]:
    """As `authenticate`, with the time until which the token is accepted."""
    token = SessionToken(text)
    user, session = of_token(token)
    return user, session, min(token.expires_at, session.expires_at)


@compiled
def _with_user(sid: uuid.UUID, user_id: int) -> QuerySet[Session]:
    return Session.objects.select_related("user").filter(sid=sid, user_id=user_id)


def _sid_of(token: SessionToken) -> uuid.UUID:
    try:
        return uuid.UUID(token.sid)
    except ValueError as error:
        raise TokenRevoked from error


def _renew(session: Session, *, follows_newest: bool, now: datetime) -> None:
    if follows_newest:
        session.generation += 1
        session.generation_used_at = None
    session.last_used_at = now
    session.token_expires_at = _token_expiry(now, session.expires_at)
    changed = ["generation", "oldest_generation", "generation_used_at", "last_used_at", "token_expires_at"]
    session.save(update_fields=changed)


def _require_accepting(session: Session | None, generation: int, now: datetime) -> Session:
    """The session, which accepts tokens of this generation. TokenRevoked, or AccountBlocked while staff blocks the
    account."""
    if session is None:
        raise TokenRevoked
    session.user.refuse_if_blocked(now)
    if not session.accepts(generation, now):
        raise TokenRevoked
    return session


def _catch_up(session: Session, token: SessionToken, now: datetime) -> None:
    """Updates the session for a token that is ahead of it. Only this service signs, so the database has lost its last
    changes: it was restored from a backup, or a replica took over.

    TokenRevoked for a token from before a credential change that the row does know: it ended all tokens but the newest,
    and this one may not have been the newest.
    """
    if any(changed is not None and token.issued_at <= changed.timestamp() for changed in _credential_changes(session)):
        raise TokenRevoked
    session.generation, session.generation_used_at = token.generation, now
    session.token_expires_at = max(session.token_expires_at, _token_expiry(now, session.expires_at))
    behind = Session.objects.filter(id=session.id, generation__lt=token.generation)
    behind.update(
        generation=session.generation,
        generation_used_at=session.generation_used_at,
        token_expires_at=session.token_expires_at,
    )


def _credential_changes(session: Session) -> tuple[datetime | None, ...]:
    return session.user.password_changed_at, session.user.second_password_changed_at


def _is_reused(session: Session, behind: int, now: datetime) -> bool:
    """Whether a token so many generations behind the newest is an old copy: neither the newest, nor the one before it while
    the newest is unused or was first used within the last minute."""
    used_at = session.generation_used_at
    grace_is_over = used_at is not None and now - used_at >= timedelta(seconds=conf.REFRESH_GRACE_SECONDS)
    return behind not in (0, 1) or (behind == 1 and grace_is_over)


def _record_use(session: Session, *, is_newest: bool, now: datetime) -> None:
    """Stores the first use of a generation, and the last use of a session every few minutes."""
    changes: dict[str, datetime] = {}
    if is_newest and session.generation_used_at is None:
        changes["generation_used_at"] = session.generation_used_at = now
    if now - session.last_used_at >= timedelta(seconds=conf.LAST_USED_EVERY_SECONDS):
        changes["last_used_at"] = session.last_used_at = now
    if changes:
        Session.objects.filter(id=session.id, generation=session.generation).update(**changes)


def _token_expiry(now: datetime, expires_at: datetime) -> datetime:
    return min(now + SessionToken.lifetime, expires_at)


def _token(session: Session, now: datetime) -> str:
    token = SessionToken.issue(
        sid=session.sid,
        user_id=session.user_id,
        generation=session.generation,
        issued_at=now,
        expires_at=session.token_expires_at,
    )
    return str(token)
