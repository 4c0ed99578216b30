"""Normalisation of text for storage and for comparison; ids, names and times as text."""

import re
import secrets
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from functools import lru_cache

from django.conf import settings
from django.db.models import Model
from django.utils.translation import get_supported_language_variant
from email_validator import SPECIAL_USE_DOMAIN_NAMES, EmailNotValidError, validate_email

# The library would refuse names such as `.test` and `.local`. A private network may have mail servers for them.
SPECIAL_USE_DOMAIN_NAMES.clear()
MAX_ADDRESS = 254
MAX_ID = 2**63 - 1
MAX_LANGUAGE_TAG = 35
_BASE32 = "abcdefghijklmnopqrstuvwxyz234567"

# What Arabic and Hebrew writing leaves out: vowel signs and points, and the stroke that only stretches a word.
_VOWEL_POINTS = re.compile(r"[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0670]")

# Letters that Unicode does not take apart into a base and an accent, as PostgreSQL's `unaccent` replaces them. Case folding
# has made ss of ß before.
_PLAIN_LETTERS = str.maketrans(
    {
        "ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ŋ": "n", "ı": "i",
        "æ": "ae", "œ": "oe", "þ": "th",
    }
)  # fmt: skip

# Controls that are no white space, and the marks that change the direction of what follows them.
_UNPRINTABLE = re.compile(
    r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
)
# White space, and zero-width characters that some clients send for an empty line.
_INVISIBLE = re.compile(
    r"[\s\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]*"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_ID = re.compile(r"[1-9][0-9]{0,18}")


def normalise(text: str) -> str:
    """The text in Unicode's composed form (NFC)."""
    return unicodedata.normalize("NFC", text)


def encodable(text: str) -> str:
    """The text without lone surrogates, which UTF-8 cannot encode: an error may quote what the client sent."""
    return text.encode("utf-8", "replace").decode()


def is_encodable(text: str) -> bool:
    """Whether the text has no lone surrogates, which UTF-8 cannot encode and databases refuse."""
    return _SURROGATE.search(text) is None


def is_invisible(text: str) -> bool:
    """Whether a reader would see nothing: the text is empty, or of white space and zero-width characters only."""
    return _INVISIBLE.fullmatch(text) is not None


def clean_name(text: str) -> str:
    """A name on one line: composed, without control characters, single spaces; empty if nothing of it is visible."""
    name = " ".join(normalise(_UNPRINTABLE.sub("", text)).split())
    return "" if is_invisible(name) else name


def fold(text: str) -> str:
    """The text as search compares it: compatibility form, without case and accents, æ as ae and ł as l.

    Scripts whose marks are letters (Cyrillic й and ї, Korean, Indic vowel signs) keep them: only marks
    on Latin and Greek bases are dropped, and what most people do not type: the dots of ё, and the
    vowel points of Arabic and Hebrew.
    """
    folded = unicodedata.normalize("NFKC", text).casefold().replace("ё", "е")
    decomposed = _VOWEL_POINTS.sub("", unicodedata.normalize("NFD", folded))
    characters: list[str] = []
    base_has_accents = False
    for character in decomposed:
        if unicodedata.combining(character):
            if not base_has_accents:
                characters.append(character)
            continue
        base_has_accents = character < "\u0400" or "\u1e00" <= character <= "\u1fff"
        characters.append(character)
    return unicodedata.normalize("NFC", "".join(characters)).translate(_PLAIN_LETTERS)


def parse_id(value: object) -> int | None:
    """The id in a path or query (`"42"`), or None for anything that cannot be one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if 1 <= value <= MAX_ID else None
    if isinstance(value, str) and _ID.fullmatch(value):
        return parse_id(int(value))
    return None


# A request names its address twice: for its rate, and for its account.
@lru_cache(maxsize=256)
def normalise_address(text: str) -> str:
    """An e-mail address in its one spelling: lower case, composed, the domain in ASCII (IDNA).

    ValueError for what is no address of at most 254 characters with a full domain.
    """
    if len(text) > 2 * MAX_ADDRESS:
        raise ValueError("not an address")
    try:
        parts = validate_email(text.strip(), check_deliverability=False, globally_deliverable=False)
    except EmailNotValidError as error:
        raise ValueError("not an address") from error
    domain = parts.ascii_domain.lower()
    address = f"{normalise(parts.local_part.lower())}@{domain}"
    if "." not in domain or len(address) > MAX_ADDRESS:
        raise ValueError("not an address")
    return address


def first_supported_language(tags: Iterable[str]) -> str | None:
    """The supported language of the first of these BCP 47 tags that has one: `de-AT` is `de`."""
    for tag in tags:
        with suppress(LookupError):
            return get_supported_language_variant(tag.strip().lower().replace("_", "-"))
    return None


def supported_language(*tags: object) -> str:
    """The first supported language of what may be language tags, else the default."""
    plausible = (tag for tag in tags if isinstance(tag, str) and len(tag) <= MAX_LANGUAGE_TAG)
    return first_supported_language(plausible) or settings.LANGUAGE_CODE


def language_tag(code: str) -> str:
    """A supported language as the API names it: without the script of Chinese, of which there is one."""
    return code.partition("-")[0]


def new_username(first_name: str) -> str:
    """The first name in ASCII (or "user") and five random letters; never from the address."""
    latin = unicodedata.normalize("NFKD", first_name).encode("ascii", "ignore").decode().lower()
    base = "".join(character for character in latin if character.isalnum())[:16] or "user"
    return f"{base}_{''.join(secrets.choice(_BASE32) for _ in range(5))}"


def display_name(first_name: str, last_name: str, username: str) -> str:
    """The name of a user on screens and in pushes."""
    return f"{first_name} {last_name}".strip() or username


def row_name(row: Model) -> str:
    """The name of a row on the support pages, as a model's `__str__`: "session 7", not "Session object (7)"."""
    return f"{row._meta.verbose_name} {row.pk}"


def json_time(value: datetime | str) -> str:
    """A time in UTC with `Z`, as the API writes it. SQLite returns text to hand-written statements, PostgreSQL a
    datetime."""
    if isinstance(value, str):
        return value.replace(" ", "T") + "Z"
    return value.isoformat().removesuffix("+00:00") + "Z"
