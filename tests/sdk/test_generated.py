"""The SDK's generated files are what the API's schemas say."""

import shutil

import pytest
from django.core.management import CommandError, call_command

from portal.docs import generators, sdk
from tests.node import needs_npm
from tests.server import ROOT

pytestmark = [pytest.mark.once, pytest.mark.timeout(300)]


@pytest.fixture(autouse=True)
def kept_generators(settings):
    settings.VAR_DIR = ROOT / "var"


@needs_npm
def test_the_committed_files_are_current():
    call_command("write_sdk", check=True)


def test_without_node_the_types_are_left_out(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sdk, "FOLDER", tmp_path)
    monkeypatch.setattr(generators, "tools", lambda: tmp_path)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    call_command("write_sdk")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["operations.js", "version.js"]
    assert "apt-get install nodejs npm" in capsys.readouterr().err


@needs_npm
def test_a_file_that_is_out_of_date_is_named_and_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sdk, "FOLDER", tmp_path)
    with pytest.raises(CommandError, match=r"operations\.js"):
        call_command("write_sdk", check=True)
    assert list(tmp_path.iterdir()) == []
    call_command("write_sdk")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["api.d.ts", "operations.js", "version.js"]
    call_command("write_sdk", check=True)


def test_every_operation_has_a_method():
    rows = {row.id: row for row in sdk.operations()}
    login, image = rows["auth_login"], rows["messages_send_image"]
    assert (login.namespace, login.name, login.bearer) == ("auth", "login", "")
    assert login.parameters["required"] == [*login.parameters["properties"]] == ["email", "password"]
    assert (image.name, image.multipart, image.bearer) == ("sendImage", True, "bearer")
    assert image.parameters["required"] == ["conversation_id", "file"]
    assert rows["auth_change_password"].headers == ["X-Action-Token"]
    assert rows["auth_two_step"].bearer == "two_step"
    assert (rows["auth_export"].result, login.result) == ("", "LoginResponse")
    assert not rows.keys() & sdk.EXCLUDED


@needs_npm
@pytest.mark.parametrize(
    "text",
    [
        "    call: Call | null;",
        "    file: Blob;",
        "    limit?: number;",
        '    /** @description There is a new message in a conversation. */\n    "message.new": MessageData;',
        "    reactions: Reaction[];",
        "  export(params: AuthExportParams, options?: CallOptions): Promise<Blob>;",
        "  list(params: MessagesListParams, options?: CallOptions): Promise<MessagesResponse>;",
    ],
)
def test_what_the_types_say(text):
    assert text in (sdk.FOLDER / sdk.TYPES).read_text(encoding="utf-8")
