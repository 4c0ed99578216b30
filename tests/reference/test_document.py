"""The OpenAPI document explains every operation. Each rule names the operations that break it."""

import json
import re

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from messaging.models import Message
from messaging.serializers import CALL_OUTCOMES, MESSAGE_KINDS
from notifications.kinds import KINDS
from notifications.serializers import TARGET_TYPES
from portal.docs.openapi import texts
from portal.docs.schema_fields import kind
from realtime.calls.models import Call
from tests import schema

METHODS = {"get", "post", "put", "patch", "delete"}


def operations():
    return [
        operation
        for path in schema.document()["paths"].values()
        for method, operation in path.items()
        if method in METHODS
    ]


def schemas():
    return schema.document()["components"]["schemas"]


def broken(rule):
    return [operation["operationId"] for operation in operations() if not rule(operation)]


def json_contents(operation):
    """Every JSON body of an operation: (where, content)."""
    parts = [("request", operation.get("requestBody", {}))]
    parts += list(operation["responses"].items())
    return [(where, kind, content) for where, part in parts for kind, content in part.get("content", {}).items()]


def test_the_document_is_valid():
    assert [error.message for error in OpenAPIV31SpecValidator(schema.document()).iter_errors()] == []


def test_what_has_a_default_may_be_left_out_of_a_request():
    required = [
        f"{name}.{field}"
        for name, one in schemas().items()
        for field, described in one.get("properties", {}).items()
        if name.endswith("Request") and "default" in described and field in one.get("required", ())
    ]
    assert required == []
    event = schemas()["EventRequest"]
    assert (event["properties"]["action"]["default"], "action" in event["required"]) == ("create", False)


def test_every_operation_has_a_summary_and_a_description():
    assert broken(lambda one: 5 <= len(one.get("summary", "")) <= 60 and not one["summary"].endswith(".")) == []
    assert broken(lambda one: len(one.get("description", "")) >= 20 and one["description"].endswith(".")) == []


def test_every_text_belongs_to_an_operation():
    assert set(texts.operations()) == {one["operationId"] for one in operations()}


def test_every_operation_has_one_tag_that_is_described():
    tags = {tag["name"]: tag["description"] for tag in schema.document()["tags"]}
    assert all(tags.values())
    assert broken(lambda one: len(one["tags"]) == 1 and one["tags"][0] in tags) == []


def test_every_operation_says_how_it_is_protected():
    schemes = schema.document()["components"]["securitySchemes"]
    assert broken(lambda one: isinstance(one.get("security"), list)) == []
    assert broken(lambda one: {name for choice in one["security"] for name in choice} <= set(schemes)) == []


def test_every_operation_names_its_error_codes_by_status():
    known = set(schemas()["ErrorCode"]["x-extensible-enum"])
    assert broken(lambda one: one["x-error-codes"] and set(one["x-error-codes"]) <= known) == []

    def by_status(one):
        references = [
            code
            for status, response in one["responses"].items()
            if status.startswith("4")
            for code in response["content"]["application/json"]["examples"]
        ]
        return sorted(references) == one["x-error-codes"]

    assert broken(by_status) == []


def test_every_json_body_has_an_example():
    missing = [
        (operation["operationId"], where)
        for operation in operations()
        for where, kind, content in json_contents(operation)
        if kind in ("application/json", "multipart/form-data") and not content.get("examples")
    ]
    assert missing == [("realtime_schema", "200")]


def test_examples_are_what_their_schemas_say():
    registry = Registry().with_resource("urn:openapi", Resource(contents=schema.document(), specification=DRAFT202012))
    wrong = []
    for operation in operations():
        for where, _, content in json_contents(operation):
            text = json.dumps(content["schema"]).replace('"#/', '"urn:openapi#/')
            check = Draft202012Validator(json.loads(text), registry=registry)
            for name, example in content.get("examples", {}).items():
                wrong += [
                    (operation["operationId"], where, name, e.message) for e in check.iter_errors(example["value"])
                ]
    assert wrong == []


def test_success_and_failure_are_told_apart_by_a_constant():
    assert schemas()["Error"]["properties"]["ok"].items() >= {"type": "boolean", "const": False}.items()
    for name, one in schemas().items():
        if name.endswith("Response") and "properties" in one:
            assert one["properties"]["ok"].items() >= {"type": "boolean", "const": True}.items(), name
            assert "ok" in one["required"], name
    assert schemas()["LoginResponse"] == {
        "oneOf": [
            {"$ref": "#/components/schemas/SignInResponse"},
            {"$ref": "#/components/schemas/TwoStepRequiredResponse"},
        ]
    }


def test_schemas_follow_one_naming_scheme():
    document = json.dumps(schema.document()["paths"])
    assert re.findall(r"schemas/(\w*(?:Input|Output|Reply|Enum|Serializer|Patched)\w*)", document) == []
    for name, one in schemas().items():
        assert not re.search(r"Input|Output|Reply$|Enum$|Patched", name), name
        if "ok" in one.get("properties", {}):
            assert name == "Error" or name.endswith("Response"), name


def test_no_thing_has_two_schemas():
    def plain(node):
        if isinstance(node, dict):
            return {key: plain(value) for key, value in node.items() if key != "description"}
        return [plain(one) for one in node] if isinstance(node, list) else node

    seen = {}
    for name, one in schemas().items():
        if not name.endswith("Request"):
            twin = seen.setdefault(json.dumps(plain(one), sort_keys=True), name)
            assert twin == name


@pytest.mark.parametrize(
    ("name", "field", "limits"),
    [
        ("SignUpRequest", "password", {"minLength": 8, "maxLength": 256}),
        ("SignUpRequest", "email", {"format": "email", "maxLength": 254}),
        ("SignUpRequest", "first_name", {"minLength": 1, "maxLength": 50}),
        ("SendMessageRequest", "body", {"minLength": 1, "maxLength": 4096}),
        ("SendMessageRequest", "client_id", {"maxLength": 64, "pattern": "^[A-Za-z0-9_-]*$"}),
        ("PushTokenRequest", "platform", {"enum": ["android", "ios", "web"]}),
    ],
)
def test_limits_of_fields_are_in_the_document(name, field, limits):
    shown = schemas()[name]["properties"][field]
    assert limits == {key: shown.get(key) for key in limits}


OPEN_LISTS = {
    "ErrorCode",
    "MessageKind",
    "CallOutcome",
    "NotificationType",
    "NotificationTargetType",
    "LoggedEventType",
    "ServerEventType",
}


def test_lists_that_may_grow_are_open_and_each_value_is_explained():
    lists = {name: row for name, row in schemas().items() if "x-extensible-enum" in row}
    assert set(lists) == OPEN_LISTS
    for name, row in [*lists.items(), *schemas()["ServerEvent"]["properties"]["data"]["properties"].items()]:
        assert row["type"] == "string", name
        assert "enum" not in row, name
        assert list(row["x-enumDescriptions"]) == row["x-extensible-enum"], name
        assert all(meaning.endswith(".") for meaning in row["x-enumDescriptions"].values()), name


def references(node, schemas_by_name):
    """The names of the schemas behind a schema."""
    if isinstance(node, list):
        return set().union(*(references(inner, schemas_by_name) for inner in node))
    if not isinstance(node, dict):
        return set()
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        return {name} | references(schemas_by_name[name], schemas_by_name)
    return references(list(node.values()), schemas_by_name)


def test_no_request_takes_an_open_list():
    for path, methods in texts.document()["paths"].items():
        for method, operation in methods.items():
            assert not references(operation.get("requestBody", {}), schemas()) & OPEN_LISTS, (method, path)


def test_the_known_values_are_those_of_the_code():
    assert set(MESSAGE_KINDS.meanings) == set(Message.Kind.values)
    assert set(CALL_OUTCOMES.meanings) == set(Call.Outcome.values)
    assert set(TARGET_TYPES.meanings) == {kind.target_type for kind in KINDS.values()}


def test_the_reference_says_that_a_list_is_open():
    assert kind({"$ref": "#/components/schemas/MessageKind"}, schemas()) == "string, open list: text, image, call"
