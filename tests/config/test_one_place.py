"""What CONTRIBUTING.md says about the files of a change is enough: in a copy of the project only those files are edited,
and everything else follows."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from portal.docs.openapi import texts
from tests.config.test_named_in_docs import ROWS_TO_TOUCH

ROOT = Path(settings.BASE_DIR)
FILES = {change: re.findall(r"`([^`]+)`", files) for change, files in ROWS_TO_TOUCH}

# Change → file → (text of the file, what replaces it).
EDITS = {
    "the length of a message": {"messaging/conf.py": ("BODY_LENGTH: int = 4096", "BODY_LENGTH: int = 123")},
    "the length of a code": {"accounts/conf.py": ("CODE_DIGITS: int = 6", "CODE_DIGITS: int = 7")},
    "a limit that clients check": {
        "accounts/conf.py": ("BIO_LENGTH = 500", "BIO_LENGTH = 456"),
        "messaging/conf.py": ("SEARCH_QUERY_LENGTH: int = 128", "SEARCH_QUERY_LENGTH: int = 77"),
    },
    "a field of a message": {
        "messaging/models.py": (
            "    request_digest = ",
            "    pinned_at = models.DateTimeField(null=True)\n    request_digest = ",
        ),
        # In the middle: the fields are read by name.
        "messaging/selectors/messages.py": (
            "    call_id: int | None = None\n",
            "    pinned_at: Any = None\n    call_id: int | None = None\n",
        ),
        "messaging/serializers.py": (
            "    is_edited = serializers.BooleanField()\n",
            "    pinned_at = serializers.DateTimeField(allow_null=True)\n    is_edited = serializers.BooleanField()\n",
        ),
    },
}
SCRIPT = """
import json, sys
import django
django.setup()
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
call_command("makemigrations", "messaging", verbosity=0)
call_command("migrate", verbosity=0)
call_command("spectacular", format="openapi-json", file="docs/openapi.json", validate=True, fail_on_warn=True)

from accounts.sign_in import codes
from messaging.models import Message
from portal.development import mailbox
from portal.docs import sdk
from portal.docs.openapi import texts
from realtime.asyncapi import document
from tests.factories import make_user, sign_in

ann, ben = make_user("Ann"), make_user("Ben")
client, headers = Client(), {"Host": "127.0.0.1", "Authorization": f"Bearer {sign_in(ann)[1]}"}
def call(method, path, body=None):
    return client.generic(method, f"/api/v1{path}", json.dumps(body or {}), "application/json", headers=headers).json()
started = call("POST", "/messages/conversations", {"user_id": ben.id})["conversation"]["id"]
path = f"/messages/conversations/{started}/messages"
sent = call("POST", path, {"body": "x" * 123})["message"]
Message.objects.filter(id=sent["id"]).update(pinned_at=timezone.now())
code = codes.issue(user=ann, purpose="signup", address=ann.email)
print(json.dumps({
    "sent": sent,
    "listed": call("GET", path)["messages"][0],
    "refused": call("POST", path, {"body": "x" * 124})["fields"],
    "openapi": texts.document(),
    "asyncapi": document(),
    "operations": sdk.table(),
    "code": code,
    "found": mailbox._CODE.search(f"Your code: {code}.")[0],
}))
"""


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """What the project does with all of the edits."""
    copy = tmp_path_factory.mktemp("copy")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if not name.endswith((".po", ".mo")) and (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    for change, files in EDITS.items():
        assert files.keys() <= {
            name.replace("<app>", app) for name in FILES[change] for app in ("accounts", "messaging")
        }
        for name, (text, replacement) in files.items():
            source = (copy / name).read_text()
            assert source.count(text) == 1, (name, text)
            (copy / name).write_text(source.replace(text, replacement))
    environment = {"PATH": os.environ["PATH"], "DJANGO_SETTINGS_MODULE": "tests.settings"}
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def limits_of_the_sdk(table):
    return dict(re.findall(r"^  (\w+): (\d+),$", table.partition("LIMITS")[2], re.MULTILINE))


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.timeout(180)
def test_the_files_of_a_change_are_enough(changed):
    schemas, sdk = changed["openapi"]["components"]["schemas"], limits_of_the_sdk(changed["operations"])
    of_socket = changed["asyncapi"]["components"]["schemas"]

    assert changed["refused"] == {"body": ["This may have at most 123 characters."]}
    for name in ("SendMessageRequest", "ServerMessageRequest"):
        body = schemas[name]["properties"]["body"]
        assert (body["maxLength"], body["description"]) == (123, "1 to 123 characters after trimming.")
    assert schemas["EditMessageRequest"]["properties"]["body"]["maxLength"] == 123
    assert schemas["SendImageRequest"]["properties"]["body"]["maxLength"] == 123
    assert of_socket["SendRequest"]["properties"]["body"]["maxLength"] == 123
    assert sdk["messageLength"] == "123"

    assert changed["found"] == changed["code"] and len(changed["code"]) == 7
    assert schemas["VerifyRequest"]["properties"]["code"]["description"].startswith("The mailed code: 7 digits")

    assert schemas["UpdateProfileRequest"]["properties"]["bio"]["maxLength"] == 456
    assert (sdk["bioLength"], sdk["searchLength"]) == ("456", "77")
    search = changed["openapi"]["paths"]["/api/v1/messages/users"]["get"]["parameters"]
    assert next(row for row in search if row["name"] == "q")["schema"]["maxLength"] == 77

    assert changed["sent"]["pinned_at"] is None
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT.*Z", changed["listed"]["pinned_at"])
    for message in (schemas["Message"], of_socket["Message"]):
        assert message["properties"]["pinned_at"] == {"type": ["string", "null"], "format": "date-time"}
        assert "pinned_at" in message["required"]


@pytest.mark.once
def test_no_limit_is_typed_by_hand_in_javascript():
    limits = texts.document()["x-limits"]
    declared = (ROOT / "static/sdk/parley.d.ts").read_text().partition("export const LIMITS: {")[2].partition("};")[0]
    assert sorted(re.findall(r"readonly (\w+):", declared)) == sorted(limits)
    for path in (ROOT / "static" / "app").rglob("*.js"):
        assert 'maxlength="' not in path.read_text(), path
    large = "|".join(f"{value:_}|{value}" for value in limits.values() if isinstance(value, int) and value > 4000)
    for path in (ROOT / "static" / "sdk").rglob("*.js"):
        assert path.name == "operations.js" or not re.search(rf"\b({large})\b", path.read_text()), path
