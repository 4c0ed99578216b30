"""What the serializers of all apps are made of: strict fields, whose values are validated, never converted from another JSON
type; the checked body of a request; the envelope of replies.

In every app `…Input` is the body of a request, `…Reply` a whole reply, and any other serializer a part of one. A class with
`render` builds the JSON that its fields describe.
"""

from functools import cache
from typing import Any, cast

from django.conf import settings
from django.core.validators import ProhibitNullCharactersValidator
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.fields import empty
from rest_framework.serializers import Serializer
from rest_framework.utils.formatting import lazy_format

from core.text import MAX_ADDRESS, MAX_ID, clean_name, language_tag, normalise, normalise_address, supported_language

_refuse_nul = ProhibitNullCharactersValidator()


class StrictCharField(serializers.CharField):
    """A JSON string as sent, not trimmed. NUL and lone surrogates are refused (by CharField)."""

    default_error_messages = {"not_text": _("This must be text.")}
    # Of the arguments that a field leaves out.
    defaults: dict[str, Any] = {}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"trim_whitespace": False, **self.defaults, **kwargs})

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("not_text")
        return super().to_internal_value(data)


class TextField(StrictCharField):
    """A JSON string in composed form."""

    def to_internal_value(self, data: Any) -> str:
        return normalise(super().to_internal_value(data))


class NameField(TextField):
    """A first or last name: one line without control characters, 1 to 50 of them."""

    defaults = {"max_length": 50}

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        _refuse_nul(text)  # cleaning would hide it
        name = clean_name(text)
        if not name and not self.allow_blank:
            self.fail("blank")
        return name


@extend_schema_field({"type": "string", "format": "email"})
class AddressField(TextField):
    """An e-mail address in the one spelling under which it is stored."""

    default_error_messages = {"not_an_address": _("This is not an e-mail address.")}
    defaults = {"max_length": MAX_ADDRESS}

    def to_internal_value(self, data: Any) -> str:
        try:
            return normalise_address(super().to_internal_value(data))
        except ValueError:
            self.fail("not_an_address")


@extend_schema_field({"type": "string", "maxLength": 35})
class LanguageField(serializers.CharField):
    """A BCP 47 tag, mapped to a supported language; never an error. A missing one is left out, or the default."""

    def __init__(self, **kwargs: Any) -> None:
        codes = ", ".join(f"`{language_tag(code)}`" for code, _ in settings.LANGUAGES)
        description = f"A BCP 47 language tag. Supported: {codes}. Other tags fall back to their base, then to `en`."
        super().__init__(required=False, allow_null=True, help_text=description, **kwargs)

    def run_validation(self, data: Any = empty) -> Any:
        return super().run_validation() if data is empty else supported_language(data)


class CodeField(TextField):
    """A one-time code as people type it: digits, perhaps in groups."""

    defaults = {
        "max_length": 64,
        "help_text": "The mailed code: 6 digits, or 8 or 10 after many failed attempts. Spaces and dashes are ignored.",
    }

    def to_internal_value(self, data: Any) -> str:
        return "".join(super().to_internal_value(data).split()).replace("-", "")


@extend_schema_field({"type": "string", "format": "password"})
class PasswordField(StrictCharField):
    """A password exactly as typed; the hasher composes it."""

    defaults = {"max_length": 256}


class StrictIntegerField(serializers.IntegerField):
    """A JSON integer: no boolean, no string, no float."""

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return super().to_internal_value(data)


class IdField(StrictIntegerField):
    """A JSON integer that can be a row's id."""

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


def checked(serializer: type[Serializer[Any]], data: Any) -> dict[str, Any]:
    """The validated data of a request or a command. ValidationError naming the fields that are not right."""
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
    """A page of a list; core.pagination.page builds it."""

    has_more = serializers.BooleanField()
    next_cursor = serializers.CharField(allow_null=True)
