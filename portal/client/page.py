"""The page of the web client, one document for `/` and every path under `/app/`, and its translations as JSON."""

from __future__ import annotations

import json
import re
from typing import Any

from csp.constants import NONE
from csp.decorators import csp_update
from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from notifications.kinds import SWITCHES
from notifications.services.ingestion import sent_switches
from portal.client.catalogs import catalog_addresses
from portal.client.modules import ROOT, scripts
from portal.development import demo
from portal.development.demo import demo_logins
from portal.docs import views as site
from portal.pages import is_developer, logo_address, permissions, picture_address

CALLS = permissions("camera", "display-capture", "microphone")
# Trusted Types: the client's code must not turn text into HTML or script.
TRUSTED_TYPES = {"require-trusted-types-for": ["'script'"], "trusted-types": [NONE]}
FIRST_SHEETS = ("css/tokens.css", "app/css/base.css", "app/css/shell.css", "app/css/pages.css")
# What a browser draws around the page: the page's own background, light and dark.
BACKGROUND = dict(
    re.findall(r"--(light|dark), (#\w+)", (ROOT / "css/tokens.css").read_text().partition("--color-background:")[2])[:2]
)
SCHEMES = ("light", "dark")
# The page offers to sign in as one of these demo users.
DEMO_TITLES = {user.title for user in demo.DEMO_USERS if not user.is_staff}


def later_sheets() -> list[str]:
    """Addresses of the style sheets for signed-in users."""
    names = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "app/css").glob("*.css"))
    return [staticfiles_storage.url(name) for name in names if name not in FIRST_SHEETS]


def pictures(language: str) -> dict[str, str]:
    """Of a conversation in that language: scheme of colours → address."""
    return {scheme: staticfiles_storage.url(f"app/pictures/landing-{language}-{scheme}.webp") for scheme in SCHEMES}


def options(request: HttpRequest) -> dict[str, Any]:
    """Options for the client, embedded in the page; they are public, so they contain no secrets."""
    return {
        "product": settings.PRODUCT_NAME,
        "developer": is_developer(request),
        "demo": [
            {"name": login.title, "email": login.email, "password": login.password}
            for login in demo_logins(request)
            if login.title in DEMO_TITLES
        ],
        "pictures": {code: pictures(code) for code, _name in settings.LANGUAGES},
        "catalogs": catalog_addresses(),
        "emoji": {code: staticfiles_storage.url(f"vendor/emoji-{code}.json") for code, _name in settings.LANGUAGES},
        "sheets": later_sheets(),
        "switches": SWITCHES if is_developer(request) else sent_switches(),
    }


@require_safe
@gzip_page
def manifest(request: HttpRequest) -> HttpResponse:
    """What a phone needs to put the client among its apps, as in the W3C's "Web Application Manifest"."""
    if not settings.WEB_CLIENT:
        raise Http404
    logo, picture = logo_address(), picture_address()
    kind = "image/png" if logo == picture else "image/svg+xml"
    icons = [{"src": logo, "sizes": "any", "type": kind}]
    if picture not in (None, logo):
        icons.append({"src": picture, "sizes": "512x512", "type": "image/png"})
    content = {
        "name": settings.PRODUCT_NAME,
        "short_name": settings.PRODUCT_NAME,
        "description": description(),
        "id": "/app/",
        "start_url": "/app/",
        "scope": "/app/",
        "display": "standalone",
        "background_color": BACKGROUND["light"],
        "theme_color": BACKGROUND["light"],
        "icons": icons,
    }
    return JsonResponse(content, content_type="application/manifest+json")


def description() -> str:
    return _("Messages and calls between two people.")


@require_safe
@never_cache
@csp_update(TRUSTED_TYPES)
@gzip_page
def client(request: HttpRequest, path: str = "") -> HttpResponse:
    """The page of the client. With WEB_CLIENT=0 there is none, and `/` leads to the documentation."""
    if not settings.WEB_CLIENT:
        if request.path_info == "/":
            return site.index(request)
        raise Http404
    product = settings.PRODUCT_NAME
    main, needed, import_map = scripts()
    response = render(
        request,
        "app/index.html",
        {
            "import_map": json.dumps(import_map, separators=(",", ":")),
            "main": main,
            "sheets": FIRST_SHEETS,
            "preload": needed,
            "options": json.dumps(options(request)),
            "description": description(),
            "background": BACKGROUND,
            "site": settings.SITE_URL,
            "picture": picture_address(),
            "needs_javascript": _("This page needs JavaScript."),
            "too_old": _("This browser is too old for {product}. Update it, or use another one.").format(
                product=product
            ),
            "not_started": _("{product} could not be started. Check the connection and load the page again.").format(
                product=product
            ),
            "reload": _("Load again"),
        },
    )
    response["Permissions-Policy"] = CALLS
    return response


# --- Translations: `/app/catalog/<language>.json` --------------------------------------------------
