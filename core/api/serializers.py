"""The base of the serializers of all apps: strict fields, the validation of a body, the envelope of replies.

A strict field validates its value and never converts it from another JSON type. In every app `…Input` is the body of a
request, `…Reply` a whole reply, and any other serializer a part of one. core/api/shapes.py builds replies.
"""

from functools import cache
from typing import Any, cast

from django.core.validators import ProhibitNullCharactersValidator
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers
from rest_framework.fields import empty
from rest_framework.serializers import Serializer
from rest_framework.utils.formatting import lazy_format

from core.characters import is_invisible, normalise
from core.ids import MAX_ID
from core.images.pool import MAX_BYTES, MIMES

_refuse_nul = ProhibitNullCharactersValidator()


class StrictCharField(serializers.CharField):
    """A JSON string as sent, not trimmed. NUL and lone surrogates are refused (by CharField).

    `limits` are keywords of JSON schema for what is checked elsewhere, such as the length of a text after trimming. They
    are documented, so that a client can check them before it sends.
    """

    default_error_messages = {"not_text": _("This must be text.")}
    # The default of arguments that a field leaves out.
    defaults: dict[str, Any] = {}

    def __init__(self, **kwargs: Any) -> None:
        arguments = {"trim_whitespace": False, **self.defaults, **kwargs}
        self.limits: dict[str, Any] = arguments.pop("limits", {})
        super().__init__(**arguments)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("not_text")
        return super().to_internal_value(data)


class TextField(StrictCharField):
    """A JSON string in composed form."""

    def to_internal_value(self, data: Any) -> str:
        return normalise(super().to_internal_value(data))


class OptionalTextField(TextField):
    """A JSON string in composed form, trimmed; empty if it has no visible character."""

    defaults = {"required": False, "allow_null": True, "allow_blank": True}

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        _refuse_nul(text)  # the cleaned text may be empty, which would hide it
        return "" if is_invisible(text) else text.strip()


class StrictIntegerField(serializers.IntegerField):
    """A JSON integer; a boolean, a string or a float is refused."""

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return super().to_internal_value(data)


class IdField(StrictIntegerField):
    """A JSON integer that can be an id."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=1, max_value=MAX_ID, **kwargs)


class StrictBooleanField(serializers.BooleanField):
    """A JSON boolean: `true` or `false` only."""

    default_error_messages = {"invalid": _("This must be true or false.")}
    # A form without the field leaves it out. DRF would read it as an unchecked box of a page.
    default_empty_html = empty

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class PictureField(serializers.FileField):
    """An uploaded image. The service that stores it chooses the error for an empty or broken file."""

    def __init__(self, **kwargs: Any) -> None:
        *names, last = ("WebP" if name == "WEBP" else name for name in MIMES)
        size = f"at most {MAX_BYTES >> 20} MB ({MAX_BYTES:,} bytes)"
        super().__init__(allow_empty_file=True, help_text=f"{', '.join(names)} or {last}, {size}.", **kwargs)


def checked(serializer: type[Serializer[Any]], data: Any) -> dict[str, Any]:
    """The validated data of a request or a command. ValidationError naming the invalid fields."""
    return dict(_shared(serializer).run_validation(data))


@cache
def _shared(serializer: type[Serializer]) -> Serializer:
    """Shares a serializer's fields between uses, because building them costs more than validating.

    One exception is corrected here: DRF formats the message of a limit once, in the language of the first request. A
    lazy text is translated for each request.
    """
    instance = serializer()
    for rule in [rule for field in instance.fields.values() for rule in field.validators]:
        limit: Any = getattr(rule, "message", None)
        if isinstance(limit, lazy_format):
            cast(Any, rule).message = format_lazy(cast(str, limit.format_string), **limit.kwargs)
    return instance


class OkReply(serializers.Serializer):
    """A reply without further data, and the base of all others; the renderer writes `ok`."""

    ok = serializers.BooleanField()


class PageReply(OkReply):
    """A page of a list; core.api.pagination.page builds it."""

    has_more = serializers.BooleanField()
    next_cursor = serializers.CharField(allow_null=True)
