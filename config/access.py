"""Restricts development pages to a browser on this machine."""

from __future__ import annotations

import ipaddress

from django.conf import settings
from django.http import HttpRequest

# Headers that proxies, tunnels and content networks add to a forwarded request: names, prefixes and suffixes. The only
# "x-" headers of browsers are those that scripts send.
FORWARDED_HEADERS = frozenset(
    {"via", "forwarded", "forwarded-for", "front-end-https", "proxy", "surrogate-capability", "client-ip"}
)
FORWARDED_PREFIXES = ("x-", "cf-", "cdn-", "cloudfront-", "fastly-", "fly-", "akamai-", "ngrok-", "tailscale-")
FORWARDED_SUFFIXES = ("-client-ip", "-connecting-ip", "-real-ip")
SENT_BY_SCRIPTS = frozenset({"x-requested-with", "x-csrftoken", "x-request-id"})


def is_loopback(request: HttpRequest) -> bool:
    """Whether the request comes from loopback and was not forwarded by a proxy."""
    try:
        address = ipaddress.ip_address(request.META.get("REMOTE_ADDR") or "")
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback and not was_forwarded(request)


def was_forwarded(request: HttpRequest) -> bool:
    """Whether a header shows that a proxy forwarded the request."""
    names = {name.lower() for name in request.headers} - SENT_BY_SCRIPTS
    return any(
        name in FORWARDED_HEADERS or name.startswith(FORWARDED_PREFIXES) or name.endswith(FORWARDED_SUFFIXES)
        for name in names
    )


def is_developer(request: HttpRequest) -> bool:
    """Whether the mailbox, the push outbox and demo passwords may be shown: DEBUG=1 and from loopback."""
    return settings.DEBUG and is_loopback(request)
