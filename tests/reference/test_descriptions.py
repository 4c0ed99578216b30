"""Every field and every parameter says what it means: the reference, generated clients and the SDK's types show it."""

import itertools
import re

import pytest

from portal.docs import sdk
from portal.docs.openapi import fields, texts
from realtime import asyncapi

pytestmark = pytest.mark.once


def test_every_field_and_parameter_is_described():
    document = texts.document()
    missing = [
        f"{name}.{field}"
        for name, schema in document["components"]["schemas"].items()
        for field, inner in schema.get("properties", {}).items()
        if not inner.get("description")
    ]
    missing += [
        f"{operation['operationId']}: {parameter['name']}"
        for methods in document["paths"].values()
        for operation in methods.values()
        for parameter in operation.get("parameters", [])
        if not parameter.get("description")
    ]
    assert missing == []


def test_the_table_describes_nothing_that_is_gone():
    schemas = asyncapi.document()["components"]["schemas"] | texts.document()["components"]["schemas"]
    names = {f"{name}.{field}" for name, schema in schemas.items() for field in schema.get("properties", {})}
    names |= {name.partition(".")[2] for name in names}
    assert {name for name in fields.MEANINGS if name not in names} == set()
    used = {
        parameter["name"]
        for methods in texts.document()["paths"].values()
        for operation in methods.values()
        for parameter in operation.get("parameters", [])
    }
    assert fields.PARAMETERS.keys() <= used


def test_every_field_and_method_of_the_types_has_a_comment():
    lines = (sdk.FOLDER / sdk.TYPES).read_text(encoding="utf-8").splitlines()
    member = re.compile(r'^ {2,4}"?[\w.]+"?\??(: |\()')
    bare = [line for before, line in itertools.pairwise(lines) if member.match(line) and "*/" not in before]
    assert [line for line in bare if "signal?: AbortSignal" not in line] == []
