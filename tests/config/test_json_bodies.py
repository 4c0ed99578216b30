"""How deep a JSON body may nest, and what finding that out costs (core.api.parsers)."""

import tracemalloc

import pytest

from core.api.parsers import parse_object

pytestmark = pytest.mark.once


def nested(levels):
    return '{"a":' * (levels - 1) + "{}" + "}" * (levels - 1)


def test_sixteen_levels_are_read_and_seventeen_are_refused():
    assert parse_object(nested(16))
    with pytest.raises(ValueError, match="nested too deeply"):
        parse_object(nested(17))


@pytest.mark.parametrize("text", ["[" * 40, '\\"' + "{" * 40, "\\\\" * 3 + '\\"[' * 40])
def test_brackets_in_a_string_do_not_count(text):
    assert parse_object(f'{{"a": "{text}"}}')


@pytest.mark.parametrize("text", ['"' + "a" * 2_000_000, '"' + "\\n" * 1_000_000, '"' + '\\"' * 1_000_000])
def test_a_long_string_takes_no_more_memory_than_its_length(text):
    body = f'{{"a": [{"[" * 20}], "b": {text}'
    tracemalloc.start()
    try:
        with pytest.raises(ValueError):
            parse_object(body)
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * len(body)
