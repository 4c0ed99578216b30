"""The language that a request asks for, and its supported equivalent."""

from collections.abc import Iterable
from contextlib import suppress

from django.conf import settings
from django.utils.translation import get_supported_language_variant
from django.utils.translation.trans_real import parse_accept_lang_header


def requested_language(accept_language: str) -> str | None:
    """The first supported language of the header `Accept-Language`. None when it names no supported language.

    A quality of 0 means that the language is not acceptable.
    """
    tags = parse_accept_lang_header(accept_language)
    return first_supported_language(tag for tag, quality in tags if quality > 0)


MAX_LANGUAGE_TAG = 35


def first_supported_language(tags: Iterable[str]) -> str | None:
    """The supported language of the first of these BCP 47 tags that has one: `de-AT` is `de`."""
    for tag in tags:
        with suppress(LookupError):
            return get_supported_language_variant(tag.strip().lower().replace("_", "-"))
    return None


def supported_language(*tags: object) -> str:
    """The first supported language of possible language tags, else the default."""
    plausible = (tag for tag in tags if isinstance(tag, str) and len(tag) <= MAX_LANGUAGE_TAG)
    return first_supported_language(plausible) or settings.LANGUAGE_CODE


def language_tag(code: str) -> str:
    """A supported language as the API names it: Chinese without its script, because only one is supported."""
    return code.partition("-")[0]
