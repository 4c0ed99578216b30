"""The web client: its page, one document for `/` and every path under `/app/`, and its translations as JSON.

The client itself is in static/app and talks to the public API only. The page brings an import map with hashed
names, and, for a browser on this machine, the logins of the demo users.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from babel.messages.catalog import Message
from babel.messages.mofile import read_mo
from csp.constants import NONE
from csp.decorators import csp_update
from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.translation import gettext as _
from django.utils.translation import to_locale
from django.views.decorators.cache import never_cache
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from config import demo
from config.site import views as site
from config.site.shell import demo_logins, is_developer

MAIN = "app/main.js"
# Trusted Types: the client's code must not turn text into HTML or script.
TRUSTED_TYPES = {"require-trusted-types-for": ["'script'"], "trusted-types": [NONE]}
PACKAGES = {"preact": "vendor/preact.mjs", "preact/hooks": "vendor/preact-hooks.mjs", "htm": "vendor/htm.mjs"}
FIRST_SHEETS = ("css/tokens.css", "app/css/base.css", "app/css/shell.css", "app/css/pages.css")
FOLDERS = ("app", "sdk", "vendor")
IMPORT = re.compile(r"""^\s*(?:import|export)\b[^"';]*?from\s*["']([^"']+)["']|^\s*import\s*["']([^"']+)["']""", re.M)
ROOT = settings.BASE_DIR / "static"
# The demo users that the page offers to sign in as.
DEMO_TITLES = {user.title for user in demo.DEMO_USERS if not user.is_staff}


def modules() -> list[str]:
    """Static names of all modules of the client."""
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in {".js", ".mjs"}]
    return sorted(path.relative_to(ROOT).as_posix() for path in paths)


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
        "developer": is_developer(request),
        "demo": [
            {"name": login.title, "email": login.email, "password": login.password}
            for login in demo_logins(request)
            if login.title in DEMO_TITLES
        ],
        "catalogs": catalog_addresses(),
        "sheets": later_sheets(),
    }


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
    return render(
        request,
        "app/index.html",
        {
            "import_map": json.dumps(import_map(), separators=(",", ":")),
            "main": MAIN,
            "sheets": FIRST_SHEETS,
            "preload": imported(MAIN),
            "options": json.dumps(options(request)),
            "description": _("Messages and calls between two people."),
            "needs_javascript": _("This page needs JavaScript."),
        },
    )


# --- Translations: `/app/catalog/<language>.json` --------------------------------------------------

# The CLDR names of the plural forms of a catalog, in gettext's order. A browser selects by these names
# (Intl.PluralRules); any other name (fractions, millions) takes the last form.
PLURAL_CATEGORIES = {
    "ru": ("one", "few", "many"),
    "uk": ("one", "few", "many"),
    # Babel's formula counts 100, 101 and 102 before 11 to 99.
    "ar": ("zero", "one", "two", "few", "other", "many"),
    "tr": ("other",),
    "zh-hans": ("other",),
}
ONE_AND_MANY = ("one", "other")
# Portuguese as our catalog counts it: "0 mensagens".
PLURAL_LOCALES = {"pt": "pt-PT"}
YEAR = 31_536_000


@dataclass(frozen=True, slots=True)
class ClientCatalog:
    """The JSON of a language and its hash."""

    content: bytes
    fingerprint: str


def catalog_path(language: str) -> Path:
    return settings.BASE_DIR / "config" / "locale" / to_locale(language) / "LC_MESSAGES" / "client.mo"


def catalog(language: str) -> ClientCatalog:
    """The current catalog; an empty one for English."""
    path = catalog_path(language)
    return _read(language, path.stat().st_mtime_ns if path.exists() else 0)


@lru_cache(maxsize=2 * 16)
def _read(language: str, _changed_at: int) -> ClientCatalog:
    path = catalog_path(language)
    messages: Iterable[Message] = ()
    if path.exists():
        with path.open("rb") as file:
            messages = read_mo(file)
    # The first message is the header, whose id is empty.
    texts = {
        message.id[0] if message.pluralizable else message.id: message.string for message in messages if message.id
    }
    data = {
        "language": language,
        "plural_locale": PLURAL_LOCALES.get(language, language),
        "plural_categories": plural_categories(language),
        "texts": texts,
    }
    content = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    return ClientCatalog(content, sha256(content).hexdigest()[:16])


def plural_categories(language: str) -> tuple[str, ...]:
    return PLURAL_CATEGORIES.get(language, ONE_AND_MANY)


def catalog_addresses() -> dict[str, str]:
    """The URL of each language's catalog; it changes with the content, so clients may cache it for ever."""
    languages = [code for code, _name in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
    return {code: f"{reverse('client-catalog', args=[code])}?v={catalog(code).fingerprint}" for code in languages}


@require_safe
def client_catalog(request: HttpRequest, language: str) -> HttpResponse:
    if language not in dict(settings.LANGUAGES):
        raise Http404
    current = catalog(language)
    etag = f'"{current.fingerprint}"'
    response = get_conditional_response(request, etag=etag) or HttpResponse(current.content, "application/json")
    response["ETag"] = etag
    is_current = request.GET.get("v") == current.fingerprint
    response["Cache-Control"] = f"public, max-age={YEAR}, immutable" if is_current else "public, no-cache"
    return response
