"""The client of a sign-in, and the last step of every sign-in: the session."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts import emails
from accounts.exceptions import AccountBlocked
from accounts.models import Session, TrustedDevice, User
from accounts.services import sessions
from core import request_context
from core.compiled import compiled
from core.request_context import network_of
from core.text import clean_name

_PROGRAMS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


@dataclass(frozen=True, slots=True)
class Caller:
    """The client of a sign-in."""

    ip: str | None = None
    user_agent: str = ""
    device_name: str = ""


def caller_of(request: HttpRequest) -> Caller:
    """The address and the program behind a request, and how its device calls itself."""
    user_agent = clean_name(request.headers.get("User-Agent", ""))[:400]
    return Caller(
        ip=request_context.address_of(request),
        user_agent=user_agent,
        device_name=clean_name(request.headers.get("X-Device-Name", ""))[:200] or device_name(user_agent),
    )


def device_name(user_agent: str) -> str:
    """A readable device name: "Firefox on Linux", or the first word of an app's user agent."""
    program = next((name for mark, name in _PROGRAMS if mark in user_agent), user_agent.partition("/")[0][:60])
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), "")
    return f"{program} on {system}" if program and system else program or system


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
    latest = _latest(user.id)
    program, network = caller.user_agent[:400], network_of(caller.ip)
    return bool(latest) and not any(agent == program and network_of(ip) == network for ip, agent in latest)


@compiled
def _latest(user_id: int) -> QuerySet[Session, tuple[str | None, str]]:
    latest = Session.objects.filter(user_id=user_id).exclude(ended_reason="contested").order_by("-last_used_at")
    return latest.values_list("ip", "user_agent")[:REMEMBERED_SESSIONS]
