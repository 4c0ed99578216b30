"""Translations without GNU gettext: Babel collects texts, merges them into the catalogs and compiles those."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings

APPS = ("accounts", "messaging", "notifications", "realtime", "config")
KEYWORDS = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "npgettext_lazy": ((1, "c"), 2, 3),
}
# English is what the sources say.
LOCALES = ("ru", "es", "de", "fr", "pt", "tr", "uk", "ar", "zh_Hans")


@dataclass(frozen=True, slots=True)
class CatalogState:
    """One .po file as it stands: whether its .mo is what it compiles to, and what nobody has translated yet."""

    path: Path
    up_to_date: bool
    untranslated: tuple[str, ...]


def po_files() -> Iterator[Path]:
    for app in APPS:
        yield from sorted((settings.BASE_DIR / app / "locale").glob("*/LC_MESSAGES/*.po"))


def compiled(path: Path) -> bytes:
    """What the .mo beside this .po must be."""
    buffer = io.BytesIO()
    write_mo(buffer, read(path))
    return buffer.getvalue()


def read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=path.parent.parent.name, domain=path.stem)


def compile_stale() -> int:
    """Compile every .po that is newer than its .mo. Returns how many .mo files changed."""
    changed = 0
    for path in po_files():
        target = path.with_suffix(".mo")
        if target.exists() and target.stat().st_mtime >= path.stat().st_mtime:
            continue
        content = compiled(path)
        if not target.exists() or target.read_bytes() != content:
            target.write_bytes(content)
            changed += 1
        else:
            # A checkout gives both files the same age or the wrong order: remember that this one was looked at.
            target.touch()
    return changed


def compile_all() -> int:
    """Compile every .po. Returns how many .mo files changed."""
    changed = 0
    for path in po_files():
        target, content = path.with_suffix(".mo"), compiled(path)
        if not target.exists() or target.read_bytes() != content:
            target.write_bytes(content)
            changed += 1
    return changed


def states() -> Iterator[CatalogState]:
    for path in po_files():
        target = path.with_suffix(".mo")
        missing = tuple(_shown(message.id) for message in read(path) if message.id and not _translated(message.string))
        yield CatalogState(path, target.exists() and target.read_bytes() == compiled(path), missing)


def _shown(message_id: object) -> str:
    return str(message_id[0] if isinstance(message_id, list | tuple) else message_id)


def _translated(text: object) -> bool:
    return all(text) if isinstance(text, list | tuple) else bool(text)


def collected(app: str) -> Catalog:
    """The texts that the Python files of an app ask for, migrations and tests apart."""
    catalog = Catalog(domain="django", charset="utf-8")
    folder = settings.BASE_DIR / app
    found = extract_from_dir(
        str(folder),
        method_map=[("migrations/**", "ignore"), ("**.py", "python")],
        keywords=KEYWORDS,
        comment_tags=("Translators:",),
        strip_comment_tags=True,
    )
    for filename, line, message, comments, context in sorted(found, key=lambda entry: (entry[0], entry[1])):
        flags = ("python-brace-format",) if "{" in _shown(message) else ()
        catalog.add(message, None, [(f"{app}/{filename}", line)], flags, auto_comments=comments, context=context)
    return catalog


def update() -> int:
    """Merge the texts of the sources into every catalog; what is gone is dropped. Returns how many files changed."""
    changed = 0
    for app in APPS:
        template = collected(app)
        if not len(template):
            continue
        for locale in LOCALES:
            path = settings.BASE_DIR / app / "locale" / locale / "LC_MESSAGES" / "django.po"
            catalog = read(path) if path.exists() else Catalog(locale=locale, domain="django", charset="utf-8")
            catalog.update(template, no_fuzzy_matching=True)
            catalog.obsolete.clear()
            buffer = io.BytesIO()
            write_po(buffer, catalog, width=100, omit_header=False, sort_output=True, no_location=True)
            if not path.exists() or path.read_bytes() != buffer.getvalue():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(buffer.getvalue())
                changed += 1
    return changed
