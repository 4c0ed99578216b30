"""JSON as the API accepts it: an object in UTF-8 with limited nesting."""

import codecs
import json
import math
from collections.abc import Mapping
from typing import IO, Any, NoReturn

from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

MAX_DEPTH = 16


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def finite(text: str) -> float:
    """A number with a fraction or exponent; ValueError for one that is too large to be a number (1e999)."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a number")
    return number


def _too_deep(text: str) -> bool:
    depth = 0
    in_string = escaped = False
    for character in text:
        if in_string:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                in_string = False
        elif character == '"':
            in_string = True
        elif character in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif character in "]}":
            depth -= 1
    return False


def parse_object(text: str) -> dict[str, Any]:
    """The JSON object in `text`; ValueError for anything else, NaN and deep nesting included."""
    if text.count("[") + text.count("{") > MAX_DEPTH and _too_deep(text):
        raise ValueError("nested too deeply")
    value = json.loads(text, parse_constant=_refuse_constant, parse_float=finite)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


class StrictJSONParser(JSONParser):
    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        try:
            text = codecs.decode(stream.read(), "utf-8-sig")
            return parse_object(text) if text.strip() else {}
        except (ValueError, RecursionError) as error:
            raise ParseError(_("The body is not a JSON object in UTF-8.")) from error
