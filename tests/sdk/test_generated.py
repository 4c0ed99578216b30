"""The SDK's generated files are what the API's schemas say."""

import pytest
from django.core.management import CommandError, call_command

from config import sdk

pytestmark = pytest.mark.once


def test_the_committed_files_are_current():
    call_command("write_sdk", check=True)


def test_a_file_that_is_out_of_date_is_named_and_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sdk, "FOLDER", tmp_path)
    with pytest.raises(CommandError, match=r"operations\.js"):
        call_command("write_sdk", check=True)
    assert list(tmp_path.iterdir()) == []
    call_command("write_sdk")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["api.d.ts", "operations.js"]
    call_command("write_sdk", check=True)


def test_every_operation_has_a_method():
    rows = {row.id: row for row in sdk.operations()}
    login, image = rows["auth_login"], rows["messages_send_image"]
    assert (login.namespace, login.name, login.bearer) == ("auth", "login", "")
    assert login.parameters == ["email: string", "password: string"]
    assert (image.name, image.multipart, image.bearer) == ("sendImage", True, "bearer")
    assert image.parameters[:2] == ["conversation_id: number", "file: Blob"]
    assert rows["auth_change_password"].headers == ["X-Action-Token"]
    assert rows["auth_two_step"].bearer == "two_step"
    assert rows["auth_export"].result == "Blob"
    assert not rows.keys() & sdk.EXCLUDED


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "integer"}, "number"),
        ({"type": ["string", "null"]}, "string | null"),
        ({"type": "array", "items": {"type": "boolean"}}, "Array<boolean>"),
        ({"$ref": "#/components/schemas/Message"}, "Message"),
        ({"enum": ["audio", "video"], "type": "string"}, '"audio" | "video"'),
        ({"oneOf": [{"$ref": "#/a/Call"}, {"type": "null"}]}, "Call | null"),
        ({"type": "object", "properties": {"a-b": {}, "c": {"type": "string"}}, "required": ["c"]}, None),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "Record<string, string>"),
    ],
)
def test_schemas_as_types(schema, kind):
    assert sdk.typescript(schema) == (kind or '{ "a-b"?: Record<string, unknown>; c: string }')
