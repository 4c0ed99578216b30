"""Names of people: usernames, their form and those that are reserved; and names as search compares them."""

import re
import secrets

from django.utils.text import slugify

from accounts.conf import USERNAME_LENGTHS
from core.conf import project
from core.folding import fold, to_ascii

FORM = re.compile("[A-Za-z0-9_]{{{},{}}}".format(*USERNAME_LENGTHS))
# Words that could be taken for the service itself, and the beginning of the names of erased accounts.
RESERVED = frozenset({"admin", "administrator", "help", "moderator", "official", "root", "staff", "support"})
RESERVED_PREFIX = "deleted_"

_BASE32 = "abcdefghijklmnopqrstuvwxyz234567"
_LONGEST_BASE = 16
# Characters and pairs that look like another letter, with that letter. `i`, `l` and `1` count as one.
_LOOKS_LIKE = str.maketrans({"0": "o", "1": "l", "i": "l", "3": "e", "4": "a", "5": "s", "7": "t", "8": "b"})
_PAIRS = (("rn", "m"), ("vv", "w"))

# Some letters become many when they are folded; the columns of search hold no more of a name than this.
FOLDED_LENGTH = 300
_BETWEEN_PARTS = re.compile(r"[\s'.,\u00b7\u30fb=-]+")


def is_reserved(username: str) -> bool:
    """Whether a part of the username between `_`, or all of it without `_`, is or looks like a reserved word."""
    lowered = username.lower()
    words = {_as_read(word) for word in (*RESERVED, slugify(project.PRODUCT_NAME).replace("-", ""))}
    parts = {_as_read(part) for part in (*lowered.split("_"), lowered.replace("_", "")) if part}
    return not words.isdisjoint(parts) or _as_read(lowered).startswith(_as_read(RESERVED_PREFIX))


def _as_read(text: str) -> str:
    for pair, letter in _PAIRS:
        text = text.replace(pair, letter)
    return text.translate(_LOOKS_LIKE)


def new_username(first_name: str) -> str:
    """The first name in ASCII (or "user") and five random letters; never from the address."""
    ascii_name = to_ascii(first_name).lower()
    base = "".join(character for character in ascii_name if character.isalnum())[:_LONGEST_BASE]
    if not base or is_reserved(f"{base}_"):
        base = "user"
    return f"{base}_{''.join(secrets.choice(_BASE32) for _ in range(5))}"


def folded_names(username: str, first_name: str, last_name: str) -> dict[str, str]:
    """The columns that search for people reads, by their names."""
    first, last = folded_words(first_name), folded_words(last_name)
    given_first, family_first = f"{first} {last}".strip(), f"{last} {first}".strip()
    names = {
        "name_folded": given_first,
        "family_first_folded": family_first,
        "name_joined": joined(given_first),
        "family_first_joined": joined(family_first),
    }
    return {"username_folded": fold(username)[:64]} | {column: text[:FOLDED_LENGTH] for column, text in names.items()}


def folded_words(text: str) -> str:
    """Folded names with one space between their words; the dash of a double name counts as one."""
    return " ".join(fold(text).replace("-", " ").split())


def joined(folded: str) -> str:
    """Folded names in one word, without spaces and other separators."""
    return _BETWEEN_PARTS.sub("", folded)


def display_name(first_name: str, last_name: str, username: str) -> str:
    """The name of a user on screens and in pushes."""
    return f"{first_name} {last_name}".strip() or username
