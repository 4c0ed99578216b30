"""The one shape of every time that leaves the service."""

import re
from typing import Any

from jsonschema import FormatChecker

SHAPE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
# Almost a time: a whole second without a fraction, milliseconds, an offset, a blank, no zone.
NEARLY = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?.*", re.DOTALL)

formats = FormatChecker(formats=())


@formats.checks("date-time")
def is_in_shape(value: Any) -> bool:
    return not isinstance(value, str) or SHAPE.fullmatch(value) is not None


def times_in(value: Any, path: str = "") -> set[tuple[str, str]]:
    """Every text in this JSON that looks like a time, with its path."""
    if isinstance(value, dict):
        return {pair for name, inner in value.items() for pair in times_in(inner, f"{path}.{name}")}
    if isinstance(value, list):
        return {pair for inner in value for pair in times_in(inner, f"{path}[]")}
    return {(path, value)} if isinstance(value, str) and NEARLY.fullmatch(value) else set()


def hold(times: set[tuple[str, str]]) -> set[str]:
    """AssertionError for a time in another shape; returns the paths."""
    assert [pair for pair in sorted(times) if not SHAPE.fullmatch(pair[1])] == []
    return {path for path, _ in times}
