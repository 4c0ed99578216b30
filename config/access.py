"""Who may see what is meant for the person at this machine."""

from __future__ import annotations

import ipaddress

from django.conf import settings
from django.http import HttpRequest

FORWARDED_HEADERS = ("X-Forwarded-For", "Forwarded", "X-Real-Ip")


def is_loopback(request: HttpRequest) -> bool:
    """Whether the caller sits on this machine and nobody passed the request on for somebody else."""
    try:
        address = ipaddress.ip_address(request.META.get("REMOTE_ADDR") or "")
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback and not any(name in request.headers for name in FORWARDED_HEADERS)


def is_developer(request: HttpRequest) -> bool:
    """Whether the mailbox, the push outbox and demo passwords may be shown: DEBUG=1 and from loopback."""
    return settings.DEBUG and is_loopback(request)
