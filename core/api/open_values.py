"""Lists that may grow. A reply or event may hold a value that a client does not know yet; a request takes those of a
closed list only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from rest_framework import serializers

from core.api.json_schema import Schema


class OpenValues(NamedTuple):
    """Known value → what it means."""

    # The name of its schema in the documents.
    name: str
    meanings: Mapping[str, str]

    def schema(self) -> Schema:
        return {
            "type": "string",
            "description": "More values may be added.",
            "x-extensible-enum": [str(value) for value in self.meanings],
            "x-enumDescriptions": {str(value): meaning for value, meaning in self.meanings.items()},
        }


class OpenValueField(serializers.CharField):
    """A value of a list that may grow, in replies and events."""

    def __init__(self, values: OpenValues, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.values = values


class ErrorCodeField(serializers.CharField):
    """The code of an error. The document describes each."""
