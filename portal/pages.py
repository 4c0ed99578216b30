"""Shared by all pages: template context, the conditions for showing a page, and the 404 page."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.http import require_safe

from core.network import plain_address

View = Callable[..., HttpResponse]
API_PREFIX = "/api/"
# Headers that proxies, tunnels and content networks add to a forwarded request: names, prefixes and suffixes. Browsers
# send "x-" headers only for scripts.
FORWARDED_HEADERS = frozenset(
    {"via", "forwarded", "forwarded-for", "front-end-https", "proxy", "surrogate-capability", "client-ip"}
)
FORWARDED_PREFIXES = ("x-", "cf-", "cdn-", "cloudfront-", "fastly-", "fly-", "akamai-", "ngrok-", "tailscale-")
FORWARDED_SUFFIXES = ("-client-ip", "-connecting-ip", "-real-ip")
SENT_BY_SCRIPTS = frozenset({"x-requested-with", "x-csrftoken", "x-request-id"})

# The permissions that scripts of a page may request. The client's page may use camera, microphone and screen.
PERMISSIONS = (
    "accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "hid", "magnetometer", "microphone", "midi",
    "payment", "serial", "usb",
)  # fmt: skip


def permissions(*allowed: str) -> str:
    """The value of Permissions-Policy that allows a page of ours no more than these."""
    return ", ".join(f"{name}=({'self' if name in allowed else ''})" for name in PERMISSIONS)


def is_loopback(request: HttpRequest) -> bool:
    """Whether the request comes from loopback and was not forwarded by a proxy."""
    address = plain_address(request.META.get("REMOTE_ADDR") or "")
    return address is not None and ipaddress.ip_address(address).is_loopback and not was_forwarded(request)


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


def page(request: HttpRequest, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
    """A page outside of the documentation's navigation; in English, like the documentation."""
    shared = {"developer": is_developer(request), "docs": settings.DOCS}
    response = render(request, f"pages/{template}.html", shared | context, status=status)
    response["Content-Language"] = "en"
    return response


def shown_if(condition: Callable[[HttpRequest], bool]) -> Callable[[View], View]:
    """Decorates a read-only page, which is not found unless the condition holds."""

    def decorated(view: View) -> View:
        @require_safe
        @wraps(view)
        def shown(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not condition(request):
                raise Http404
            return view(request, *args, **kwargs)

        return shown

    return decorated


developers_only = shown_if(is_developer)


def logo_address() -> str:
    return reverse("logo") if settings.PRODUCT_LOGO else static("pages/icon.svg")


def picture_address() -> str | None:
    """The logo for programs that do not show drawings; None when the own logo is one."""
    if settings.PRODUCT_LOGO is None:
        return static("pages/icon.png")
    return reverse("logo") if settings.PRODUCT_LOGO.suffix == ".png" else None


def brand(request: HttpRequest) -> dict[str, Any]:
    """Context of every page: how the product is called, its logo, and the team behind it."""
    return {
        "brand": {
            "name": settings.PRODUCT_NAME,
            "logo": logo_address(),
            "url": settings.PRODUCT_URL,
            "support": settings.SUPPORT_EMAIL,
        }
    }


@require_safe
def logo(request: HttpRequest) -> HttpResponse:
    """PRODUCT_LOGO. A drawing may hold scripts, which its policy forbids."""
    if settings.PRODUCT_LOGO is None:
        raise Http404
    kind = "image/png" if settings.PRODUCT_LOGO.suffix == ".png" else "image/svg+xml"
    headers = {
        "Cache-Control": "public, max-age=3600",
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    }
    return HttpResponse(settings.PRODUCT_LOGO.read_bytes(), content_type=kind, headers=headers)


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    return HttpResponseRedirect(logo_address())


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    return HttpResponse(
        "User-agent: *\nDisallow: /api/\nDisallow: /admin/\nDisallow: /app/\n", content_type="text/plain"
    )
