"""Validation of message bodies, client ids, emoji and search texts, the same for every entry point.

The fields of the serializers have already checked and composed the Unicode of bodies.
"""

import re
from functools import cache

from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from rest_framework.exceptions import ValidationError

from core.characters import is_invisible, normalise
from core.folding import fold
from core.text import is_encodable
from messaging.conf import CLIENT_ID_LENGTH, EMOJI_LENGTH, conf

_CLIENT_ID = re.compile(f"[A-Za-z0-9_-]{{1,{CLIENT_ID_LENGTH}}}")
# U+FDFA alone is 18 letters when folded. Ordinary text stays far below this factor.
_MAX_GROWTH = 3
_SHORT = 64
_LINE_END = re.compile(r"\r\n?")
_TEXT_STYLE = "\ufe0e"
_EMOJI_STYLE = "\ufe0f"


def searchable(body: str | None) -> str:
    """The folded text that search reads, cut to a limit: a few characters become many when they are folded."""
    text = body or ""
    return fold(text)[: _MAX_GROWTH * len(text) + _SHORT]


def too_long(length: int) -> str:
    """The error text for a text above this length."""
    sentence = ngettext(
        "This may have at most %(length)d character.", "This may have at most %(length)d characters.", length
    )
    return sentence % {"length": length}


def clean_body(value: str | None, *, may_be_empty: bool) -> str | None:
    """The body as it is stored: trimmed, its lines ending in LF, or None without a text. ValidationError naming `body`."""
    if value is None and not may_be_empty:
        raise ValidationError({"body": [_("This must be text.")]})
    # Browsers send CRLF for each end of a line in a form with a file.
    body = _LINE_END.sub("\n", (value or "").strip())
    if is_invisible(body):
        if may_be_empty:
            return None
        raise ValidationError({"body": [_("This may not be blank.")]})
    if len(body) > conf.BODY_LENGTH:
        raise ValidationError({"body": [too_long(conf.BODY_LENGTH)]})
    return body


def clean_client_id(value: str | None) -> str | None:
    """The client's own id of a message. ValidationError naming `client_id`."""
    if value is not None and not _CLIENT_ID.fullmatch(value):
        sentence = _("Use 1 to %(most)d letters, digits, hyphens and underscores.")
        raise ValidationError({"client_id": [sentence % {"most": CLIENT_ID_LENGTH}]})
    return value


def clean_emoji(value: str) -> str:
    """Exactly one emoji, in its fully qualified spelling (❤ becomes ❤️). ValidationError naming `emoji`."""
    if len(value) <= EMOJI_LENGTH and _TEXT_STYLE not in value:
        spelling = _spellings().get(value.replace(_EMOJI_STYLE, ""))
        if spelling is not None:
            return spelling
    raise ValidationError({"emoji": [_("This must be exactly one emoji.")]})


def clean_query(value: str | None) -> str:
    """A search text of a query string, folded as the bodies are. ValidationError naming `q`."""
    query = normalise(value or "").strip()
    if "\x00" in query:
        raise ValidationError({"q": [_("Null characters are not allowed.")]})
    if not is_encodable(query):
        raise ValidationError({"q": [_("This is not valid Unicode text.")]})
    if len(query) > conf.SEARCH_QUERY_LENGTH:
        raise ValidationError({"q": [too_long(conf.SEARCH_QUERY_LENGTH)]})
    # White space may have stood behind what is not drawn.
    folded = fold(query).strip()
    if not folded:
        raise ValidationError({"q": [_("This may not be blank.")]})
    return folded


@cache
def _spellings() -> dict[str, str]:
    """Each emoji without its style marks → the spelling Unicode calls fully qualified."""
    import emoji  # its table takes 3 MB, so it is loaded only for reactions

    return {
        spelling.replace(_EMOJI_STYLE, ""): spelling
        for spelling, data in emoji.EMOJI_DATA.items()
        if data["status"] == emoji.STATUS["fully_qualified"]
    }
