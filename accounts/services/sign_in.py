"""The last step of every way to sign in."""

from dataclasses import dataclass

from django.utils import timezone

from accounts import emails
from accounts.exceptions import AccountBlocked
from accounts.models import Session, TrustedDevice, User
from accounts.request_context import network_of
from accounts.services import sessions

# Among so many of the latest sessions a device and network is looked for.
REMEMBERED_SESSIONS = 50


@dataclass(frozen=True, slots=True)
class Caller:
    """Where a sign-in comes from."""

    ip: str | None = None
    user_agent: str = ""
    device_name: str = ""


def complete(
    *,
    user: User,
    caller: Caller,
    trusted_device: TrustedDevice | None = None,
    announce: bool = True,
) -> tuple[Session, str]:
    """A session and its token for somebody who has proved everything. AccountBlocked.

    Part of the caller's unit of work, which holds the row of the account locked. Signing in takes
    back a wish to be erased; a new device or network is announced by mail.
    """
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
    return sessions.start(
        user=user,
        ip=caller.ip,
        user_agent=caller.user_agent,
        device_name=caller.device_name,
        trusted_device=trusted_device,
    )


def _is_new(user: User, caller: Caller) -> bool:
    """There were sign-ins before, and none by this program from this network."""
    latest = Session.objects.filter(user=user).exclude(ended_reason="contested").order_by("-last_used_at")
    known = {
        (network_of(ip), user_agent) for ip, user_agent in latest.values_list("ip", "user_agent")[:REMEMBERED_SESSIONS]
    }
    return bool(known) and (network_of(caller.ip), caller.user_agent[:400]) not in known
