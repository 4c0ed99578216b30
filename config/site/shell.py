"""Shared by all pages: template context, the conditions under which there are pages, and the 404 page."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect, HttpResponseRedirect
from django.shortcuts import render
from django.urls import Resolver404, resolve, reverse
from django.views.decorators.http import require_safe

from config import demo
from config.site import contents, markdown
from core import errors
from core.request_context import is_in_admin, plain_address

View = Callable[..., HttpResponse]
API_PREFIX = "/api/"
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


def demo_logins(request: HttpRequest) -> list[demo.Login]:
    """The logins that a page may show: for a browser on this machine only."""
    return demo.current() if is_developer(request) else []


def page(request: HttpRequest, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
    """A page outside of the documentation's navigation; like all pages of it in English."""
    shared = {"developer": is_developer(request), "docs": settings.DOCS}
    response = render(request, f"pages/{template}.html", shared | context, status=status)
    response["Content-Language"] = "en"
    return response


def documented(request: HttpRequest, template: str, name: str, **context: Any) -> HttpResponse:
    """A page of the documentation; `name` is marked in the navigation."""
    return page(request, template, groups=contents.GROUPS, current=name, **context)


def document(request: HttpRequest, name: str, *, title: str, text: str) -> HttpResponse:
    """A Markdown text as a page."""
    shown = markdown.document(text)
    headings = [heading for heading in shown.headings if heading.level == 2]
    return documented(request, "document", name, title=title, body=shown.html, headings=headings)


def shown_if(condition: Callable[[HttpRequest], bool]) -> Callable[[View], View]:
    """Decorates a page that is only read, and that is not found unless the condition holds."""

    def decorated(view: View) -> View:
        @require_safe
        @wraps(view)
        def shown(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not condition(request):
                raise Http404
            return view(request, *args, **kwargs)

        return shown

    return decorated


documentation = shown_if(lambda request: settings.DOCS)
developers_only = shown_if(is_developer)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """The page or the error body of an unknown path: HTML for browsers, the envelope for everything else."""
    accepts_html = request.method in ("GET", "HEAD") and "text/html" in request.headers.get("Accept", "")
    if is_in_admin(request) or not accepts_html:
        return errors.not_found(request, exception)
    without_slash = request.path_info.rstrip("/")
    if without_slash == "/api/v1" and settings.DOCS:
        return HttpResponseRedirect(reverse("reference"))
    # A view that has the path with the slash and said 404 is switched off: the other path would lead back to it.
    if without_slash != request.path_info and not _exists(request.path_info) and _exists(without_slash):
        return HttpResponsePermanentRedirect(without_slash)
    if request.path_info.startswith(API_PREFIX):
        return errors.not_found(request, exception)
    return page(request, "not_found", status=404)


def _exists(path: str) -> bool:
    try:
        return resolve(path).func is not not_found and not path.startswith("/api/v1")
    except Resolver404:
        return False
