"""Invisible characters and stacked marks in a text, and codes and digits as people type them."""

import re
import unicodedata

# What Unicode calls default ignorable: nothing is drawn for these characters, in any font.
_JOINERS = "\u200c\u200d"
_SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_TAGS = "\U000e0020-\U000e007f"
_FORMATS = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e001f\U000e0080-\U000e00ff\U000e01f0-\U000e0fff"
)
# Control characters that are not white space.
_CONTROLS = "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
_UNPRINTABLE = re.compile(f"[{_CONTROLS}{_FORMATS}]+")
_IGNORABLE = re.compile(f"[{_CONTROLS}{_FORMATS}{_JOINERS}{_SELECTORS}{_TAGS}]+")

_UNSEEN_CATEGORIES = frozenset({"Cf", "Cc", "Zs", "Zl", "Zp", "Mn", "Me"})
# Letters and symbols with an empty glyph: fillers, the Braille pattern without dots, a note without a head, the object
# replacement character, blank hieroglyphs.
_BLANK = frozenset(
    "\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffc\U00016fe4\U0001d159\U00013441\U00013442"
)  # fmt: skip
# The planes where Unicode adds emoji and Chinese characters. Newer devices draw some that this Python does not know yet.
_GROWING = re.compile("[\U0001f000-\U0001faff\U0001fc00-\U0001fffd\U00020000-\U0003fffd]")

# Marks that go with letters of any script, which ordinary spelling stacks to two at most.
GENERAL_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_MANY_GENERAL_MARKS = re.compile(f"(?<=[{GENERAL_MARKS}]{{2}})[{GENERAL_MARKS}]+")
# Burmese, Tibetan and pointed Hebrew have up to six marks on a letter, each of them once.
_MOST_MARKS = 6

_FOREIGN_DIGIT = re.compile(r"[^\D0-9]")
# Not punctuation for Unicode, but where a Japanese keyboard has its dash.
_LONG_VOWEL_MARKS = "\u30fc\uff70"


def normalise(text: str) -> str:
    """The text in Unicode's composed form (NFC)."""
    return unicodedata.normalize("NFC", text)


def without_invisible(text: str) -> str:
    """The text without control characters (except white space) and without characters that are never drawn."""
    return text if text.isascii() and text.isprintable() else _IGNORABLE.sub("", text)


def is_invisible(text: str) -> bool:
    """Whether the text consists of white space, control characters, marks and blanks only."""
    return not any(map(_is_seen, text))


def _is_seen(character: str) -> bool:
    category = unicodedata.category(character)
    if category == "Cn":
        return _GROWING.match(character) is not None
    return category not in _UNSEEN_CATEGORIES and character not in _BLANK


def clean_name(text: str) -> str:
    """A name on one line: composed, without control characters and stacks of marks, single spaces; empty if it has no
    visible character.

    Joiners, variation selectors and the tags of flags stay, because letters and emoji need them.
    """
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    name = " ".join(_without_stacks(_UNPRINTABLE.sub("", text)).split())
    return "" if is_invisible(name) else name


def _without_stacks(text: str) -> str:
    """The text in composed form, with no mark twice in a row, at most six marks, and two general ones beside a composed letter."""
    kept: list[str] = []
    marks = 0
    for character in unicodedata.normalize("NFD", text):
        if unicodedata.category(character) not in ("Mn", "Me"):
            marks = 0
        elif marks == _MOST_MARKS or (marks and character == kept[-1]):
            continue
        else:
            marks += 1
        kept.append(character)
    return _MANY_GENERAL_MARKS.sub("", normalise("".join(kept)))


def plain_digits(text: str) -> str:
    """The text with the decimal digits of every script as 0 to 9."""
    return text if text.isascii() else _FOREIGN_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text)


def read_code(text: str) -> str | None:
    """The digits (0 to 9) of a code as people type and paste it; None for a text that is not a code.

    The digits may be those of any script. White space, dashes, quotes, brackets and invisible characters do not count,
    inside and around.
    """
    digits = _digits_and_letters(text)
    return digits if digits.isascii() and digits.isdigit() else None


def read_printed_code(text: str) -> str:
    """A printed code as it is compared: only its letters and digits, in capitals."""
    return _digits_and_letters(unicodedata.normalize("NFKC", text).upper())


def _digits_and_letters(text: str) -> str:
    if "\0" in text:
        return text  # requests with it are refused as such
    plain = plain_digits(without_invisible(text))
    return "".join(character for character in plain if not _is_beside_letters(character))


def _is_beside_letters(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "ZPMS" or category in ("Cf", "Cc") or character in _LONG_VOWEL_MARKS
