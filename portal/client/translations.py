"""Translations without GNU gettext: Babel collects the texts, merges them into the catalogs and compiles the
catalogs."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir, extract_python
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.core.management.base import CommandError
from django.utils.translation import gettext_noop, ngettext_lazy, to_locale
from django.utils.translation.template import templatize

from portal.client import texts

APPS = ("core", "accounts", "messaging", "notifications", "realtime", "integrations", "config")
# The project's own catalog has the texts of these packages.
IN_CATALOG_OF = {"config": ("config", "portal", "server")}
# The web client has a catalog of its own, beside that of config.
CLIENT_APP, CLIENT_DOMAIN = "config", "client"
CLIENT_SOURCES = "static/app"
KEYWORDS = DEFAULT_KEYWORDS | {
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext_lazy": (1, 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext_lazy": ((1, "c"), 2, 3),
}
# Texts of Django and REST framework that lack a translation into some supported language. The catalogs of config take
# precedence.
OF_LIBRARIES = (
    gettext_noop("Not a valid string."),
    gettext_noop("Must be a valid UUID."),
    gettext_noop("Ensure this field has at least {min_length} elements."),
    gettext_noop("Ensure this field has no more than {max_length} elements."),
    gettext_noop("Surrogate characters are not allowed: U+{code_point:X}."),
    gettext_noop("This dictionary may not be empty."),
    gettext_noop("Invalid input."),
    gettext_noop("Model name"),
    gettext_noop("Add link"),
    gettext_noop("Change or view list link"),
    gettext_noop("Error:"),
    ngettext_lazy(
        "This password is too short. It must contain at least %d character.",
        "This password is too short. It must contain at least %d characters.",
    ),
)
# The sources are in English.
LOCALES = [to_locale(code) for code, _name in settings.LANGUAGES if code != settings.LANGUAGE_CODE]


@dataclass(frozen=True, slots=True)
class CatalogState:
    """The state of one .po file: whether its .mo is current, and which texts are not translated.

    Texts of the sources that the file does not contain count as not translated.
    """

    path: Path
    up_to_date: bool
    untranslated: tuple[str, ...]


def po_files() -> Iterator[Path]:
    for app in APPS:
        yield from sorted((settings.BASE_DIR / app / "locale").glob("*/LC_MESSAGES/*.po"))


def compiled(path: Path) -> bytes:
    """The .mo content that this .po compiles to."""
    buffer = io.BytesIO()
    write_mo(buffer, read(path))
    return buffer.getvalue()


def read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=path.parent.parent.name, domain=path.stem)


def compile_catalogs(*, only_stale: bool = False) -> int:
    """Compile every .po, or only those newer than their .mo. Returns how many .mo files changed."""
    changed = 0
    for path in po_files():
        target = path.with_suffix(".mo")
        if only_stale and target.exists() and target.stat().st_mtime >= path.stat().st_mtime:
            continue
        changed += _replaced(target, compiled(path))
        # A checkout may give both files the same age, or the wrong order.
        target.touch()
    return changed


def _replaced(path: Path, content: bytes) -> bool:
    """Writes the file if its content differs; returns whether it did."""
    if path.exists() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return True


def catalogs() -> Iterator[tuple[Path, Catalog, Catalog]]:
    """The path of every expected .po file, its content, and the texts of the sources that belong in it."""
    templates = [(app, collected(app)) for app in APPS] + [(CLIENT_APP, collected_from_client())]
    for app, template in templates:
        for locale in LOCALES if len(template) else ():
            path = settings.BASE_DIR / app / "locale" / locale / "LC_MESSAGES" / f"{template.domain}.po"
            yield path, read(path) if path.exists() else empty_catalog(app, locale, template.domain), template


def states() -> Iterator[CatalogState]:
    for path, catalog, template in catalogs():
        target = path.with_suffix(".mo")
        up_to_date = path.exists() and target.exists() and target.read_bytes() == compiled(path)
        messages = [catalog.get(text.id, text.context) or text for text in template if text.id]
        # The forms of a plural are a tuple of texts.
        missing = [message for message in messages if not message.string or not all(message.string)]
        shown = tuple(str(message.id[0] if message.pluralizable else message.id) for message in missing)
        yield CatalogState(path, up_to_date, shown)


def collected(app: str) -> Catalog:
    """The texts in the Python files and the templates of an app, without migrations."""
    catalog = Catalog(domain="django", charset="utf-8")
    for package in IN_CATALOG_OF.get(app, (app,)):
        for name, line, text, comments, context in sorted(_extracted(package), key=lambda one: (one[0], one[1])):
            catalog.add(text, None, [(f"{package}/{name}", line)], auto_comments=comments, context=context)
    return catalog


def _extracted(package: str) -> Iterator[tuple[Any, ...]]:
    return extract_from_dir(
        settings.BASE_DIR / package,
        method_map=[("migrations/**", "ignore"), ("**.py", "python"), ("templates/**", f"{__name__}:extract_template")],
        keywords=KEYWORDS,
        comment_tags=("Translators:",),
        strip_comment_tags=True,
    )


def extract_template(file: IO[bytes], keywords: Any, comment_tags: Any, options: Any) -> Any:
    """Babel's extraction method for templates, which Django converts to Python."""
    source = templatize(file.read().decode()).encode()
    return extract_python(io.BytesIO(source), keywords, comment_tags, options)


def collected_from_client() -> Catalog:
    """The texts in the JavaScript of the web client."""
    catalog = Catalog(domain=CLIENT_DOMAIN, charset="utf-8")
    for path in sorted((settings.BASE_DIR / CLIENT_SOURCES).rglob("*.js")):
        name = path.relative_to(settings.BASE_DIR).as_posix()
        try:
            for line, text in texts.texts(path.read_text(encoding="utf-8")):
                catalog.add(text, None, [(name, line)])
        except ValueError as error:
            raise CommandError(f"{name}: {error}") from error
    return catalog


def empty_catalog(app: str, locale: str, domain: str | None) -> Catalog:
    header = f"# Parley: {app if domain == 'django' else domain}."
    catalog = Catalog(locale, domain, header, "Parley", "1.0", charset="utf-8", fuzzy=False)
    catalog.msgid_bugs_address = catalog.last_translator = catalog.language_team = ""
    catalog.revision_date = catalog.creation_date
    return catalog


def update() -> int:
    """Merge the texts of the sources into every catalog and drop obsolete ones. Returns how many files changed."""
    changed = 0
    for path, catalog, template in catalogs():
        catalog.update(template, no_fuzzy_matching=True, update_creation_date=False)
        catalog.obsolete.clear()
        buffer = io.BytesIO()
        write_po(buffer, catalog, width=100, omit_header=False, sort_output=True, no_location=True)
        changed += _replaced(path, buffer.getvalue())
    return changed
