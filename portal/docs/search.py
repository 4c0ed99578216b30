"""Search over the documentation: an index in memory, built once, without a service."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from django.urls import reverse
from django.utils.html import conditional_escape, strip_tags
from django.utils.safestring import SafeString, mark_safe

from portal.docs import contents, markdown, realtime
from portal.docs.openapi import errors, texts

SHOWN = 20
EXCERPT = 160
_WORD = re.compile(r"\w+")
_MARKS = re.compile(r"^```\w*$|[`*#|>\[\]]|\(/[^)]*\)|^-+$", re.MULTILINE)
# A term of readers → the words of these pages.
SYNONYMS = {
    "2fa": "two step",
    "mfa": "two step",
    "otp": "code",
    "signin": "sign in",
    "login": "sign in",
    "logout": "sign out",
    "signout": "sign out",
    "register": "sign up",
    "signup": "sign up",
    "jwt": "token",
    "websocket": "socket",
    "ws": "socket",
    "webhooks": "webhook",
    "paging": "pagination",
    "cursor": "pagination",
    "throttle": "rate",
    "throttling": "rate",
    "attachment": "image",
    "photo": "image",
    "avatar": "picture",
    "retry": "repeat",
    "channel": "conversation",
    "room": "conversation",
    "receipt": "read",
    "receipts": "read",
    "turn": "relay",
}


@dataclass(frozen=True, slots=True)
class Entry:
    title: str
    where: str
    address: str
    text: str


def search(query: str) -> list[dict[str, str]]:
    """The entries that contain every word of the query, or else most of them, titles before texts."""
    words = [word.lower() for word in _WORD.findall(query)][:8]
    if not words:
        return []
    choices = [{word, SYNONYMS.get(word, word)} for word in words]
    scored = [(*_score(entry, choices), at, entry) for at, entry in enumerate(_index())]
    most = max(found for found, *_ in scored) or 1
    best = sorted((row for row in scored if row[0] == most), key=lambda row: (-row[1], row[2]))
    return [
        {"title": e.title, "where": e.where, "address": e.address, "excerpt": _excerpt(e.text, words)}
        for *_, e in best[:SHOWN]
    ]


def marked(text: str, query: str) -> SafeString:
    """The text as HTML, with the words of the query marked."""
    words = "|".join(re.escape(word) for word in _WORD.findall(query)[:8])
    if not words:
        return conditional_escape(text)
    pieces = re.split(f"({words})", text, flags=re.IGNORECASE)
    marks = [
        f"<mark>{conditional_escape(piece)}</mark>" if at % 2 else conditional_escape(piece)
        for at, piece in enumerate(pieces)
    ]
    return mark_safe("".join(marks))


def _score(entry: Entry, choices: list[set[str]]) -> tuple[int, int]:
    """How many of the words an entry has, each as it is or as its synonym, and how well it fits them."""
    title, text = _searched(entry)
    scores = [max(_word_score(word, title, text) for word in words) for words in choices]
    return sum(score > 0 for score in scores), sum(scores)


@cache
def _searched(entry: Entry) -> tuple[str, str]:
    """Title and text as words between spaces, so that "sign-out" is found as "sign out"."""
    return _spaced(entry.title), _spaced(f"{entry.where} {entry.text}")


def _spaced(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.lower()))} "


def _word_score(word: str, title: str, text: str) -> int:
    if word in title:
        return 20 if f" {word} " in title else 10
    return 1 + min(text.count(word), 5) if word in text else 0


def _excerpt(text: str, words: list[str]) -> str:
    at = min((position for word in words if (position := text.lower().find(word)) >= 0), default=0)
    start = text.rfind(" ", 0, at - 60) + 1 if at > 60 else 0
    piece = text[start : start + EXCERPT]
    if start + EXCERPT < len(text):
        # Leaves out the last word, which may be incomplete.
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
    socket = realtime.reference()
    entries += [
        Entry(entry.type, "WebSocket API", f"{reverse('realtime')}#{entry.anchor}", strip_tags(entry.about))
        for part in ("commands", "durable", "transient")
        for entry in socket[part]
    ]
    entries += [
        Entry(
            str(row["code"]),
            "Close codes",
            f"{reverse('realtime')}#close-{row['code']}",
            f"{row['meaning']} {row['remedy']}",
        )
        for row in socket["close_codes"]
    ]
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
