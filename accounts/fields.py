"""Strict input fields: what a JSON value is not, it does not become."""

import re
from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from accounts.text import normalise

MAX_ID = 2**63 - 1
_ID = re.compile(r"[1-9][0-9]{0,18}")


def parse_id(value: object) -> int | None:
    """The id in a path or query (`"42"`), or None for anything that cannot be one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if 1 <= value <= MAX_ID else None
    if isinstance(value, str) and _ID.fullmatch(value):
        return parse_id(int(value))
    return None


class TextField(serializers.CharField):
    """A JSON string in composed form. NUL and lone surrogates are refused (by CharField); not trimmed."""

    default_error_messages = {"not_text": _("This must be text.")}

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("trim_whitespace", False)
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("not_text")
        return normalise(super().to_internal_value(data))


class PasswordField(serializers.CharField):
    """A password exactly as typed: neither trimmed nor composed."""

    default_error_messages = {"not_text": _("This must be text.")}

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("trim_whitespace", False)
        kwargs.setdefault("max_length", 256)
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("not_text")
        return super().to_internal_value(data)


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
    """true or false, nothing that resembles them."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data
