"""The last step of every sign-in: the session."""

from datetime import timedelta

from django.utils import timezone

from accounts import emails
from accounts.exceptions import AccountBlocked
from accounts.models import Session, TrustedDevice, User
from accounts.services import sessions
from accounts.services.callers import Caller
from core.request_context import network_of

# How many of the latest sessions are searched for the same device and network.
REMEMBERED_SESSIONS = 50


def complete(
    *,
    user: User,
    caller: Caller,
    trusted_device: TrustedDevice | None = None,
    announce: bool = True,
) -> tuple[Session, str]:
    """Creates a session and its token after all checks. AccountBlocked.

    Part of the caller's unit of work, which holds the row of the account locked. Signing in cancels a scheduled
    deletion; a new device or network is announced by mail.
    """
    _welcome(user, caller, announce=announce)
    return sessions.start(
        user=user,
        ip=caller.ip,
        user_agent=caller.user_agent,
        device_name=caller.device_name,
        trusted_device=trusted_device,
    )


def complete_in_admin(*, user: User, caller: Caller, lifetime: timedelta) -> Session:
    """A session without a token, for the admin's own cookie; otherwise as `complete`. AccountBlocked."""
    _welcome(user, caller, announce=True)
    return sessions.start_in_admin(
        user=user,
        ip=caller.ip,
        user_agent=caller.user_agent,
        device_name=caller.device_name,
        lifetime=lifetime,
    )


def _welcome(user: User, caller: Caller, *, announce: bool) -> None:
    now = timezone.now()
    if user.is_blocked(now):
        raise AccountBlocked
    if user.erase_after is not None:
        user.erase_after = None
        user.save(update_fields=["erase_after"])
        emails.send_to(user, "deletion_cancelled")
    if announce and _is_new(user, caller):
        emails.send_to(
            user,
            "new_sign_in",
            device=emails.clean(caller.device_name) or "?",
            address=caller.ip or "?",
            time=now.strftime("%Y-%m-%d %H:%M"),
        )


def _is_new(user: User, caller: Caller) -> bool:
    """There were sign-ins before, and none by this program from this network."""
    latest = Session.objects.filter(user=user).exclude(ended_reason="contested").order_by("-last_used_at")
    known = {
        (network_of(ip), user_agent) for ip, user_agent in latest.values_list("ip", "user_agent")[:REMEMBERED_SESSIONS]
    }
    return bool(known) and (network_of(caller.ip), caller.user_agent[:400]) not in known
