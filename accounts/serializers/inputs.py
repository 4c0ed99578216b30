"""Checked input of a request."""

from functools import cache
from typing import Any

from rest_framework.request import Request
from rest_framework.serializers import Serializer


def checked(serializer: type[Serializer], request: Request) -> dict[str, Any]:
    """The validated body. ValidationError naming the fields that are not right."""
    return dict(_shared(serializer).run_validation(request.data))


@cache
def _shared(serializer: type[Serializer]) -> Serializer:
    """Making a serializer's fields anew costs more than checking with them; checking leaves no trace in them."""
    return serializer()
