"""The page of the web client: one document for `/` and every path under `/app/`.

The client itself is in static/app and talks to the public API only. The page brings an import map with hashed
names, and, for a browser on this machine, the logins of the demo users.
"""

from __future__ import annotations

import gzip
import json
import posixpath
import re
from pathlib import Path
from typing import Any

from csp.constants import NONE
from csp.decorators import csp_update
from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.translation import get_language, get_language_bidi, gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from config import client_catalog, demo
from config.access import is_developer
from config.site import views as site

MAIN = "app/main.js"
# Trusted Types: the client's code must not turn text into HTML or script.
TRUSTED_TYPES = {"require-trusted-types-for": ["'script'"], "trusted-types": [NONE]}
PACKAGES = {"preact": "vendor/preact.mjs", "preact/hooks": "vendor/preact-hooks.mjs", "htm": "vendor/htm.mjs"}
FIRST_SHEETS = ("css/tokens.css", "app/css/base.css", "app/css/shell.css", "app/css/pages.css")
FOLDERS = ("app", "sdk", "vendor")
IMPORT = re.compile(r"""^\s*(?:import|export)\b[^"';]*?from\s*["']([^"']+)["']|^\s*import\s*["']([^"']+)["']""", re.M)


ROOT = settings.BASE_DIR / "static"


def modules() -> list[str]:
    """Static names of all modules of the client."""
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in {".js", ".mjs"}]
    return sorted(path.relative_to(ROOT).as_posix() for path in paths)


def sheets() -> tuple[list[str], list[str]]:
    """Addresses of the style sheets of the first page, and of those for signed-in users."""
    names = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "app/css").glob("*.css"))
    later = [name for name in names if name not in FIRST_SHEETS]
    return [staticfiles_storage.url(name) for name in FIRST_SHEETS], [staticfiles_storage.url(name) for name in later]


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
        "developer": is_developer(request),
        "demo": demo.client_logins(request),
        "catalogs": client_catalog.addresses(),
        "sheets": sheets()[1],
    }


@require_safe
@never_cache
@csp_update(TRUSTED_TYPES)
def client(request: HttpRequest, path: str = "") -> HttpResponse:
    """The page of the client. With WEB_CLIENT=0 there is none, and `/` leads to the documentation."""
    if not settings.WEB_CLIENT:
        if request.path_info == "/":
            return site.index(request)
        raise Http404
    response = render(
        request,
        "app/index.html",
        {
            "import_map": json.dumps(import_map(), separators=(",", ":")),
            "main": staticfiles_storage.url(MAIN),
            "sheets": sheets()[0],
            "preload": [staticfiles_storage.url(name) for name in imported(MAIN)],
            "options": json.dumps(options(request)),
            "description": gettext("Messages and calls between two people."),
            "needs_javascript": gettext("This page needs JavaScript."),
            "language": get_language(),
            "direction": "rtl" if get_language_bidi() else "ltr",
        },
    )
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        response.content = gzip.compress(response.content, mtime=0)
        response["Content-Encoding"] = "gzip"
        response["Content-Length"] = str(len(response.content))
    patch_vary_headers(response, ["Accept-Encoding"])
    return response
