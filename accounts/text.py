"""Text as it is stored and as it is compared: one place for both."""

import re
import unicodedata

# Controls, and the marks that change the direction of what follows them.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]")


def normalise(text: str) -> str:
    """The text in Unicode's composed form (NFC)."""
    return unicodedata.normalize("NFC", text)


def clean_name(text: str) -> str:
    """A name on one line: composed, without control characters, single spaces."""
    return " ".join(_UNPRINTABLE.sub(" ", normalise(text)).split())


def fold(text: str) -> str:
    """The text as search compares it: compatibility form, without case and accents.

    Scripts whose marks are letters (Cyrillic й, Korean, Indic vowel signs) keep them: only marks on
    Latin and Greek bases are dropped.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    decomposed = unicodedata.normalize("NFD", folded)
    kept: list[str] = []
    base_has_accents = False
    for character in decomposed:
        if unicodedata.combining(character):
            if not base_has_accents:
                kept.append(character)
            continue
        base_has_accents = character < "\u0400" or "\u1e00" <= character <= "\u1fff"
        kept.append(character)
    return unicodedata.normalize("NFC", "".join(kept))
