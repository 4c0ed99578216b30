"""E-mail addresses, spelled in one way."""

import re
import unicodedata
from functools import lru_cache

from email_validator import SPECIAL_USE_DOMAIN_NAMES, EmailNotValidError, validate_email

from core.characters import normalise, without_invisible

# The library would refuse names such as `.test` and `.local`. A private network may have mail servers for them.
SPECIAL_USE_DOMAIN_NAMES.clear()
MAX_ADDRESS = 254

_WIDE = re.compile("[\uff00-\uffef\ufe6b]+")
_FULL_STOPS = re.compile("[\u3002\uff61]")
_AT_SIGN = re.compile("[@\uff20\ufe6b]")
# Part of a domain name between letters of scripts that join them; anywhere else invisible.
_JOINERS = ("\u200c", "\u200d")
_AT_JOINERS = re.compile("([\u200c\u200d])")
_STRAY_JOINER = re.compile("(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])")
# A capital İ in lower case has a dot above the dot of the letter, which is not drawn.
_SECOND_DOT = re.compile("(?<=[ij])\u0307")
# Scripts that people write in one word with Latin letters, by the first word of the characters' names. Beside Latin letters,
# those of all other scripts are taken for Latin ones.
_BESIDE_LATIN = frozenset(
    {"LATIN", "COMBINING", "CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"}
)
# Scripts with letters of Latin shape, in which no mail server has names.
_LATIN_SHAPES = frozenset(
    {
        "CANADIAN", "CARIAN", "CHEROKEE", "COPTIC", "DESERET", "ELBASAN", "GOTHIC", "LISU", "LYCIAN", "LYDIAN", "MIAO", "OLD",
        "OSAGE", "RUNIC", "VITHKUQI", "WARANG",
    }
)  # fmt: skip
# Letters of other scripts that look exactly like a small Latin one.
_READ_AS_LATIN = frozenset("аеорсухіјѕһԁԛԝӏѵοϲϳօոսհ")
# Latin letters of phonetics and of old manuscripts, most of which look like other ones, such as small capitals; letters that
# look like an apostrophe; and marks that go across or inside a letter.
_LOOK_ALIKE = re.compile(
    "[\u0185\u018d\u01bd\u01bf\u01c0\u021d\u0223\u0237\u0251\u025c\u0261\u0262\u0269\u026a\u0274\u0276\u0280\u028f\u0299\u029b\u029c\u029d\u029f"
    "\u02b0-\u02ff\u0334-\u0338\u1d00-\u1d2b\u1d6b-\u1d9a\u1e9c\u1e9d\u1efa-\u1eff\u20d0-\u20ff\ua720-\ua7ff\uab30-\uab6f\U0001df00-\U0001dfff]"
)


def typed_address(text: str) -> str:
    """An e-mail address, or the beginning of one, as it reads: in lower case, without invisible characters, full-width forms as
    ordinary ones. Not validated."""
    local, at, domain = text, "", ""
    if signs := list(_AT_SIGN.finditer(text)):
        local, at, domain = text[: signs[-1].start()], "@", text[signs[-1].end() :]
    domain = "".join(part if part in _JOINERS else without_invisible(part) for part in _AT_JOINERS.split(domain))
    return (_as_typed(without_invisible(local)) + at + _STRAY_JOINER.sub("", _as_typed(domain))).strip()


def _as_typed(text: str) -> str:
    plain = _WIDE.sub(lambda wide: unicodedata.normalize("NFKC", wide[0]), _FULL_STOPS.sub(".", text))
    return _SECOND_DOT.sub("", normalise(plain.lower()))


# A request names its address twice: for its rate, and for its account.
@lru_cache(maxsize=256)
def normalise_address(text: str) -> str:
    """An e-mail address in its one spelling: as `typed_address` reads it, composed, the domain in ASCII (IDNA).

    ValueError for a text that is not an address with a full domain and at most 254 characters. Also for an address that
    looks like another one: with compatibility forms, with typographic marks or blanks, with letters or digits of other
    scripts beside Latin letters (but for Chinese, Japanese and Korean ones), or with nothing but letters that look like
    Latin ones in a part.
    """
    if len(text) > 2 * MAX_ADDRESS or "\0" in text:
        raise ValueError("not an address")
    try:
        parts = validate_email(typed_address(text), check_deliverability=False, globally_deliverable=False)
    except EmailNotValidError as error:
        raise ValueError("not an address") from error
    local, domain = normalise(parts.local_part.lower()), parts.ascii_domain.lower()
    address = f"{local}@{domain}"
    if "." not in domain or len(address) > MAX_ADDRESS:
        raise ValueError("not an address")
    labels = parts.domain.split(".")
    if any(_could_be_another(part, in_latin=labels[-1].isascii()) for part in (local, *labels)):
        raise ValueError("not an address")
    return address


def _could_be_another(part: str, *, in_latin: bool) -> bool:
    """`in_latin`: the last label of the domain is in Latin letters, so that a reader takes all of the address for Latin."""
    if part.isascii():
        return False
    if unicodedata.normalize("NFKC", part) != part or _LOOK_ALIKE.search(part):
        return True
    if not all(character.isascii() or _is_of_a_word(character) for character in part):
        return True
    letters = [character for character in part if character.isalpha()]
    written = (character for character in part if unicodedata.category(character)[0] in "LM")
    scripts = {unicodedata.name(character, "").partition(" ")[0] for character in written}
    if "LATIN" in scripts:
        return not scripts <= _BESIDE_LATIN or _has_foreign_digits(part)
    if not in_latin:
        return False
    if not letters:
        return _has_foreign_digits(part)
    return _READ_AS_LATIN.issuperset(letters) or not scripts.isdisjoint(_LATIN_SHAPES)


def _has_foreign_digits(part: str) -> bool:
    return any(unicodedata.category(character)[0] == "N" and not character.isascii() for character in part)


def _is_of_a_word(character: str) -> bool:
    """Letters, digits and marks, and what stands inside words of Catalan, Japanese, Hebrew and scripts that join letters."""
    return unicodedata.category(character)[0] in "LMN" or character in "\u00b7\u30fb\u05f3\u05f4\u200c\u200d"
