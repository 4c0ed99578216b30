"""The translations of the web client as JSON, with one address per language and version."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from babel.messages.catalog import Message
from babel.messages.mofile import read_mo
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.translation import to_locale
from django.views.decorators.http import require_safe

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


# Portuguese by the rule of our catalog: "0 mensagens".
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
