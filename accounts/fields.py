"""Fields of people's data: names, addresses, languages, codes, passwords."""

from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.fields import empty

from accounts.conf import NAME_LENGTH, PASSWORD_LENGTH, code_lengths
from core.addresses import MAX_ADDRESS, normalise_address
from core.api.serializers import StrictCharField, TextField, _refuse_nul
from core.characters import clean_name, read_code
from core.languages import language_tag, supported_language


class NameField(TextField):
    """A first or last name: one line without control characters, not empty."""

    defaults = {"max_length": NAME_LENGTH}

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


_usual, *_longer = code_lengths()


class CodeField(TextField):
    """A one-time code as people type or paste it (core.characters.read_code)."""

    defaults = {
        "max_length": 64,
        "help_text": "The mailed code: {} digits of any script, or {} after many failed attempts. White space, dashes, quotes"
        " and invisible characters are ignored.".format(_usual, " or ".join(map(str, _longer))),
    }

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        return read_code(text) or text


@extend_schema_field({"type": "string", "format": "password"})
class PasswordField(StrictCharField):
    """A password exactly as typed; the hasher composes it."""

    defaults = {"max_length": PASSWORD_LENGTH}
