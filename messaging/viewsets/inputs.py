"""Checked input of a request."""

from typing import Any

from rest_framework.request import Request
from rest_framework.serializers import Serializer


def checked(serializer: type[Serializer], request: Request) -> dict[str, Any]:
    """The validated body. ValidationError naming the fields that are not right."""
    filled = serializer(data=request.data)
    filled.is_valid(raise_exception=True)
    return dict(filled.validated_data)
