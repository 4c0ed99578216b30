"""Page sizes, ids and cursors of a query string."""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError

from core.ids import MAX_ID

# Of operations that return pages.
CURSOR = OpenApiParameter("cursor", str, description="`next_cursor` of the page before.")

_WHOLE = re.compile(r"-?[0-9]{1,100}")


def whole_number(query: Mapping[str, str], name: str, *, minimum: int = 1) -> int | None:
    """The integer parameter `name`; None if it is missing. ValidationError naming it."""
    value = query.get(name)
    if value is None:
        return None
    if not _WHOLE.fullmatch(value):
        raise ValidationError({name: [_("A whole number is required.")]})
    number = int(value)
    if number < minimum:
        raise ValidationError({name: [_("This must be at least %(minimum)d.") % {"minimum": minimum}]})
    return min(number, MAX_ID)


class Limit(NamedTuple):
    """The default and the maximum length of a page."""

    default: int
    maximum: int

    def of(self, query: Mapping[str, str]) -> int:
        """`limit`, clamped to the maximum. ValidationError for anything below 1."""
        limit = whole_number(query, "limit")
        return self.default if limit is None else min(limit, self.maximum)

    @property
    def description(self) -> str:
        return f"Number of rows, {self.default} by default. Values above {self.maximum} count as {self.maximum}."

    @property
    def parameter(self) -> OpenApiParameter:
        # Larger values are clamped, so the schema has no maximum.
        schema = {"type": "integer", "minimum": 1, "default": self.default}
        return OpenApiParameter("limit", schema, description=self.description)


def flag(query: Mapping[str, str], name: str) -> bool:
    """The parameter `name`, `true` or `false`; false if it is missing. ValidationError naming it."""
    value = query.get(name, "false").lower()
    if value not in ("true", "false", "1", "0"):
        raise ValidationError({name: [_("This must be true or false.")]})
    return value in ("true", "1")


def encode_cursor(*numbers: int) -> str:
    text = ".".join(map(str, numbers))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None, *, largest: int = MAX_ID) -> tuple[int, int] | None:
    """The position after the previous page. ValidationError on `cursor` for one that the server did not issue."""
    numbers = decode_numbers(cursor, 2, largest=largest)
    return (numbers[0], numbers[1]) if numbers else None


def decode_numbers(cursor: str | None, count: int, *, largest: int = MAX_ID) -> tuple[int, ...] | None:
    """The same for a position of so many numbers, of which only the first may be 0 or above the largest id."""
    if cursor is None:
        return None
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True).decode("ascii")
        first, *others = numbers = tuple(int(part) for part in text.split(".") if part.isdecimal())
    except (ValueError, binascii.Error):
        first, others, numbers = -1, [], ()
    is_possible = 0 <= first <= largest and all(0 < number <= MAX_ID for number in others)
    if len(numbers) != count or not is_possible or encode_cursor(*numbers) != cursor:
        raise ValidationError({"cursor": [_("This cursor is not valid.")]})
    return numbers


def page(position: tuple[int, ...] | None, **data: Any) -> dict[str, Any]:
    """The data of a reply with `has_more` and `next_cursor`; `position` is that of the next page, None at the end."""
    return data | {"has_more": position is not None, "next_cursor": encode_cursor(*position) if position else None}
