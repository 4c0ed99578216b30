"""Search over the documentation: an index in memory, built once, without a service."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from django.urls import reverse

from config.openapi import errors, texts
from config.site import contents, markdown

SHOWN = 20
EXCERPT = 160
_WORD = re.compile(r"\w+")
_MARKS = re.compile(r"[`*#|>\[\]]|\(/[^)]*\)|^-+$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Entry:
    title: str
    where: str
    address: str
    text: str


def search(query: str) -> list[dict[str, str]]:
    """The entries that contain every word of the query, titles before texts."""
    words = [word.lower() for word in _WORD.findall(query)][:8]
    if not words:
        return []
    scored = [(score, at, entry) for at, entry in enumerate(_index()) if (score := _score(entry, words))]
    scored.sort(key=lambda row: (-row[0], row[1]))
    return [
        {"title": e.title, "where": e.where, "address": e.address, "excerpt": _excerpt(e.text, words)}
        for _, _, e in scored[:SHOWN]
    ]


def _score(entry: Entry, words: list[str]) -> int:
    title, text = entry.title.lower(), f"{entry.where} {entry.text}".lower()
    score = 0
    for word in words:
        if word in title:
            score += 20 if word in _WORD.findall(title) else 10
        elif word in text:
            score += 1 + min(text.count(word), 5)
        else:
            return 0
    return score


def _excerpt(text: str, words: list[str]) -> str:
    at = min((position for word in words if (position := text.lower().find(word)) >= 0), default=0)
    start = text.rfind(" ", 0, at - 60) + 1 if at > 60 else 0
    piece = text[start : start + EXCERPT]
    if start + EXCERPT < len(text):
        # Without the last word, which may be incomplete.
        piece = piece.rpartition(" ")[0] + " …"
    return ("… " if start else "") + piece


@cache
def _index() -> list[Entry]:
    entries: list[Entry] = []
    for page in contents.pages():
        entries.append(Entry(page.title, "", page.address, f"{page.about} {_plain(page.text)}"))
        entries += _sections(page)
    for operation in texts.operations().values():
        address = reverse("reference-operation", args=[operation.name])
        entries.append(Entry(operation.title, operation.name, address, _plain(operation.description)))
    entries += [
        Entry(row.code, "Error codes", f"{reverse('errors')}#{row.code}", _plain(row.when)) for row in errors.rows()
    ]
    return entries


def _plain(text: str) -> str:
    return " ".join(_MARKS.sub("", text).split())


def _sections(page: contents.Page) -> list[Entry]:
    headings = markdown.document(page.text).headings
    parts = re.split(r"^#{2,3} .+$", page.text, flags=re.MULTILINE)
    return [
        Entry(heading.title, page.title, f"{page.address}#{heading.anchor}", _plain(part))
        for heading, part in zip(headings, parts[1:], strict=False)
    ]
