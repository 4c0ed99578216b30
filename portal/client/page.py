"""The page of the web client, one document for `/` and every path under `/app/`, and its translations as JSON."""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
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
from portal.development import demo
from portal.development.demo import demo_logins
from portal.docs import views as site
from portal.pages import is_developer, logo_address, permissions, picture_address

MAIN = "app/main.js"
CALLS = permissions("camera", "display-capture", "microphone")
# Trusted Types: the client's code must not turn text into HTML or script.
TRUSTED_TYPES = {"require-trusted-types-for": ["'script'"], "trusted-types": [NONE]}
PACKAGES = {"preact": "vendor/preact.mjs", "preact/hooks": "vendor/preact-hooks.mjs", "htm": "vendor/htm.mjs"}
FIRST_SHEETS = ("css/tokens.css", "app/css/base.css", "app/css/shell.css", "app/css/pages.css")
OWN_FOLDERS = ("app", "vendor")
RELATIVE = re.compile(r"""["'](\.\.?/[\w./-]+\.m?js)["']""")
IMPORT = re.compile(r"""^\s*(?:import|export)\b[^"';]*?from\s*["']([^"']+)["']|^\s*import\s*["']([^"']+)["']""", re.M)
ROOT = settings.BASE_DIR / "static"
# What a browser draws around the page: the page's own background, light and dark.
BACKGROUND = dict(
    re.findall(r"--(light|dark), (#\w+)", (ROOT / "css/tokens.css").read_text().partition("--color-background:")[2])[:2]
)
# The page offers to sign in as one of these demo users.
DEMO_TITLES = {user.title for user in demo.DEMO_USERS if not user.is_staff}


def modules() -> list[str]:
    """Static names of all modules of the client: its own, and what they name of the SDK, at once or later."""
    waiting = [path for folder in OWN_FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in {".js", ".mjs"}]
    found: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path in found or not path.is_file():
            continue
        found.add(path)
        waiting += [(path.parent / name).resolve() for name in RELATIVE.findall(path.read_text(encoding="utf-8"))]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def later_sheets() -> list[str]:
    """Addresses of the style sheets for signed-in users."""
    names = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "app/css").glob("*.css"))
    return [staticfiles_storage.url(name) for name in names if name not in FIRST_SHEETS]


def import_map() -> dict[str, dict[str, str]]:
    hashed = {settings.STATIC_URL + name: staticfiles_storage.url(name) for name in modules()}
    packages = {name: staticfiles_storage.url(file) for name, file in PACKAGES.items()}
    return {"imports": packages | hashed}


def imported(name: str) -> list[str]:
    """Every module that `name` needs before it runs, itself included; dynamic imports are left out."""
    modules: list[str] = []
    waiting = [name]
    while waiting:
        current = waiting.pop(0)
        if current in modules or not (ROOT / current).is_file():
            continue
        modules.append(current)
        for match in IMPORT.finditer((ROOT / current).read_text(encoding="utf-8")):
            target = match[1] or match[2]
            relative = Path(current).parent / target
            waiting.append(PACKAGES.get(target) or posixpath.normpath(relative.as_posix()))
    return modules


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
        "catalogs": catalog_addresses(),
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
    response = render(
        request,
        "app/index.html",
        {
            "import_map": json.dumps(import_map(), separators=(",", ":")),
            "main": MAIN,
            "sheets": FIRST_SHEETS,
            "preload": imported(MAIN),
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
