"""Checked input of a request."""

from functools import cache
from typing import Any

from django.utils.text import format_lazy
from rest_framework.request import Request
from rest_framework.serializers import Serializer
from rest_framework.utils.formatting import lazy_format


def checked(serializer: type[Serializer], request: Request) -> dict[str, Any]:
    """The validated body. ValidationError naming the fields that are not right."""
    return dict(_shared(serializer).run_validation(request.data))


@cache
def _shared(serializer: type[Serializer]) -> Serializer:
    """Shares a serializer's fields between requests, because building them costs more than validating.

    One exception is corrected here: DRF formats the message of a limit once, in the language of the first request. A
    lazy text is translated for each request.
    """
    made = serializer()
    for rule in [rule for field in made.fields.values() for rule in field.validators]:
        limit: Any = getattr(rule, "message", None)
        if isinstance(limit, lazy_format):
            rule.message = format_lazy(limit.format_string, **limit.kwargs)  # type: ignore
    return made
