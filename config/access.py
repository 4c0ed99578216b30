"""Restricts development pages to a browser on this machine."""

from __future__ import annotations

import ipaddress

from django.conf import settings
from django.http import HttpRequest

# Headers that proxies add to a forwarded request: full names, and prefixes.
FORWARDED_HEADERS = frozenset(
    {"via", "forwarded", "x-real-ip", "client-ip", "x-client-ip", "x-cluster-client-ip", "true-client-ip"}
)
FORWARDED_PREFIXES = (
    "x-forwarded",
    "x-original-",
    "x-envoy-",
    "x-proxy",
    "x-amzn-",
    "x-azure-",
    "x-vercel-",
    "cf-",
    "cdn-",
    "cloudfront-",
    "fastly-",
    "fly-",
    "akamai-",
)


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
    names = [name.lower() for name in request.headers]
    return any(name in FORWARDED_HEADERS or name.startswith(FORWARDED_PREFIXES) for name in names)


def is_developer(request: HttpRequest) -> bool:
    """Whether the mailbox, the push outbox and demo passwords may be shown: DEBUG=1 and from loopback."""
    return settings.DEBUG and is_loopback(request)
