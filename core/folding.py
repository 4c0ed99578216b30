"""Text as search compares it, and names in ASCII letters."""

import re
import unicodedata

from core.characters import GENERAL_MARKS, normalise, plain_digits, without_invisible

# Phones and word processors put these in place of the characters of a keyboard.
_TYPOGRAPHY = {
    "'": "\u0060\u00b4\u02b9\u02bb\u02bc\u02bd\u02be\u02bf\u02ca\u02cb\u0384\u055a\u055b\u05f3\u07f4\u07f5\u1fbd\u1fbf\u1fef\u1ffd\u1ffe"
    "\u2018\u2019\u201a\u201b\u2032\u2035\u2039\u203a\u275b\u275c\ua78b\ua78c",
    '"': "\u00ab\u00bb\u02ba\u02ee\u05f4\u201c\u201d\u201e\u201f\u2033\u2036\u275d\u275e\u276e\u276f\u301d\u301e\u301f",
    "-": "\u058a\u05be\u1806\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u2e3a\u2e3b\u2e40\ufe58\ufe63\uff0d",
    " ": "\t\x0b\x0c\u1680\u2800",
    "\n": "\r\x85\u2028\u2029",
    "~": "\u301c",
    "...": "\u22ef",
    "%": "\u066a",
    ".": "\u066b\u06d4",
    ",": "\u060c\u066c",
    ";": "\u061b",
    "?": "\u061f",
    "/": "\u2044\u2215",
    ":": "\u2236",
    "*": "\u2217",
}  # fmt: skip
_KEYS = {typed: key for key, characters in _TYPOGRAPHY.items() for typed in characters}
_TYPED = re.compile(f"[{re.escape(''.join(_KEYS))}]")
_DASHES = re.compile("--+")
_SPACES = re.compile("  +")

# Accents on Latin and Greek letters. Scripts whose marks are letters (Cyrillic й and ї, kana, Indic vowel signs) keep theirs.
_ACCENTS = re.compile(f"(?<=[\x00-\u03ff\u1e00-\u1fff])[{GENERAL_MARKS}]+")
# The accent that dictionaries set on a stressed Cyrillic vowel.
_STRESS = re.compile("(?<=[аеиоуыэюяєі\u0308])\u0301")
# Marks that Arabic, Hebrew and Syriac writers usually omit: vowel signs and points, marks for reading the Quran, and the
# stroke that only stretches a word. The hamza stays.
_VOWEL_POINTS = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u0652\u0656-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u08d3-\u08e1\u08e3-\u08ff]+"
)
# Letters that Unicode does not decompose: Latin letters without their stroke or hook, as people type them (case folding
# has already turned ß into ss), one letter that Arabic, Persian and Urdu keyboards write differently, and final consonants
# of Malayalam and Bengali, which older phones write with a joiner. ½ becomes 1, U+2044 and 2.
_LETTERS = {
    "ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ŋ": "n", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th",
    "ə": "e", "ɛ": "e", "ɔ": "o", "ɓ": "b", "ɗ": "d", "ɖ": "d", "ƙ": "k", "ƴ": "y", "ƒ": "f", "ɣ": "g", "ʋ": "v", "ɲ": "n",
    "ɨ": "i", "ʉ": "u", "ɵ": "o", "ƶ": "z", "ƀ": "b", "ǥ": "g", "ɫ": "l", "ƚ": "l", "ⱥ": "a", "ȼ": "c", "ɇ": "e", "ɉ": "j",
    "ɍ": "r", "ɏ": "y",
    "ǝ": "e", "ɩ": "i", "ʊ": "u", "ɑ": "a", "ʒ": "z", "ƈ": "c", "ƭ": "t", "ƥ": "p", "ʈ": "t", "ɠ": "g", "ɦ": "h", "ʃ": "s",
    "ĸ": "k", "ȷ": "j", "ƿ": "w", "ⱦ": "t", "ꝑ": "p", "ꝗ": "q", "ꝥ": "th", "ꜳ": "aa", "ỻ": "ll",
    "ى": "ي", "ی": "ي", "ې": "ي", "ے": "ي", "ک": "ك", "ڪ": "ك", "ٱ": "ا", "ة": "ه", "ہ": "ه", "ە": "ه", "ھ": "ه", "ۃ": "ه",
    "װ": "וו", "ױ": "וי", "ײ": "יי",
    "ൺ": "ണ്", "ൻ": "ന്", "ർ": "ര്", "ൽ": "ല്", "ൾ": "ള്", "ൿ": "ക്", "ৎ": "ত্",
    "\u2044": "/",
}  # fmt: skip
_LETTER = re.compile(f"[{''.join(_LETTERS)}]")
# Thai and Lao as typed with other keys: two signs that look like one, and the round sign before the mark of a tone.
_TWO_SIGNS = {"เเ": "แ", "ເເ": "ແ"}
_TWO_SIGN = re.compile("|".join(_TWO_SIGNS))
_SIGN_BEFORE_TONE = re.compile("([\u0e4d\u0ecd])([\u0e48-\u0e4b\u0ec8-\u0ecb])")


def fold(text: str) -> str:
    """The text as search compares it, however it was typed.

    Compatibility form, without case, accents and vowel points; æ as ae, ł as l, ё as е; one form of the Arabic and Persian
    letters that keyboards write differently; digits of every script as 0 to 9; quotes, dashes and other marks as on a
    keyboard; without invisible characters, and with one space for several.
    """
    # Before NFKC, which makes a space and an accent of some of these characters.
    plain = _TYPED.sub(_key, without_invisible(text).replace("\r\n", "\n"))
    if "--" in plain:
        plain = _DASHES.sub("-", plain)
    if plain.isascii():
        return _with_single_spaces(plain.lower())
    folded = unicodedata.normalize("NFKC", plain).casefold().replace("ё", "е")
    decomposed = _ACCENTS.sub("", unicodedata.normalize("NFD", folded))
    decomposed = _VOWEL_POINTS.sub("", _STRESS.sub("", decomposed))
    ordered = _SIGN_BEFORE_TONE.sub(r"\2\1", _TWO_SIGN.sub(_sign, decomposed))
    return _with_single_spaces(normalise(plain_digits(_LETTER.sub(_letter, ordered))))


def _with_single_spaces(text: str) -> str:
    return _SPACES.sub(" ", text) if "  " in text else text


def _sign(match: re.Match[str]) -> str:
    return _TWO_SIGNS[match[0]]


def _key(match: re.Match[str]) -> str:
    return _KEYS[match[0]]


def _letter(match: re.Match[str]) -> str:
    return _LETTERS[match[0]]


def to_ascii(text: str) -> str:
    """The letters, digits and marks of a text in ASCII, as a reader of Latin letters would write them: Łukasz, Đức and Иван are
    Lukasz, Duc and Ivan."""
    if text.isascii():
        return text
    from anyascii import anyascii  # 4 MB with the tables of some scripts: only for names beyond ASCII

    return anyascii("".join(character for character in normalise(text) if unicodedata.category(character)[0] in "LMN"))
