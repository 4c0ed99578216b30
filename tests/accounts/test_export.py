"""Everything held on a person, in one zip."""

import io
import json
import zipfile

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.images import pictures
from accounts.models import Image
from accounts.services import audit, export
from tests.accounts.steps import SECOND, action_token, enable_two_step, send_second_step
from tests.factories import PASSWORD
from tests.images.corpus import jpeg

EXPORT = "/api/v1/auth/export"


def download(client, user, **headers):
    headers["X-Action-Token"] = action_token(client, user, "export_data")
    return client.raw("GET", EXPORT, headers=headers)


def files(response):
    content = b"".join(response.streaming_content)
    zipped = zipfile.ZipFile(io.BytesIO(content))
    assert zipped.testzip() is None
    return {name: zipped.read(name) for name in zipped.namelist()}


def test_it_is_a_zip_that_no_cache_keeps(alice, as_alice):
    response = download(as_alice, alice)
    assert response.status_code == 200
    assert response["Content-Type"] == "application/zip"
    assert response["Content-Disposition"].startswith('attachment; filename="parley-')
    assert response["Cache-Control"] == "no-store"
    assert "account/profile.json" in files(response)


def test_a_head_request_does_not_spend_the_action_token(alice, as_alice):
    headers = {"X-Action-Token": action_token(as_alice, alice, "export_data")}
    assert as_alice.raw("HEAD", EXPORT, headers=headers).status_code == 405
    assert files(as_alice.raw("GET", EXPORT, headers=headers))


@pytest.mark.parametrize("accept", ["application/zip", "*/*", "application/json", "text/html"])
def test_whatever_a_client_accepts_it_gets_the_zip_and_errors_as_json(alice, as_alice, accept):
    assert files(download(as_alice, alice, Accept=accept))
    body = as_alice.get(EXPORT, status=403, headers={"Accept": accept})
    assert body["error"] == "action_token_required"


def test_it_holds_everything_of_the_account(alice, bob, as_alice):
    enable_two_step(as_alice, alice, hint="the lamp")
    client = send_second_step(alice, **{"X-Device-Name": "Alice's phone"})
    client.post("/api/v1/auth/two-step", {"password": SECOND, "remember": True})
    as_alice.post("/api/v1/profile/blocks", {"user_id": bob.id})
    as_alice.patch("/api/v1/profile", {"bio": "plays the theremin"})
    audit.record(action="user.unlocked", actor=bob, target=alice, reason="asked by phone")
    held = {
        name: json.loads(value)
        for name, value in files(download(as_alice, alice)).items()
        if name.startswith("account/")
    }
    profile = held["account/profile.json"]
    assert profile["email"] == alice.email
    assert profile["bio"] == "plays the theremin"
    assert profile["second_password_hint"] == "the lamp"
    assert profile["recovery_codes_left"] == 10
    assert profile["created_at"].endswith("Z")
    assert len(held["account/sessions.json"]) == 2
    assert held["account/trusted_devices.json"][0]["device_name"] == "Alice's phone"
    assert held["account/blocks.json"][0]["blocked__username"] == bob.username
    assert held["account/log.json"][0]["reason"] == "asked by phone"


def test_it_holds_the_messages(alice, bob, as_alice, as_bob):
    start = as_alice.post("/api/v1/messages/conversations", {"user_id": bob.id}, status=201)
    conversation_path = f"/api/v1/messages/conversations/{start['conversation']['id']}"
    as_alice.post(f"{conversation_path}/messages", {"body": "my theremin is flat"}, status=201)
    as_bob.post(f"{conversation_path}/messages", {"body": "then tune it"}, status=201)
    held = b"".join(value for name, value in files(download(as_alice, alice)).items() if name.startswith("messages/"))
    assert b"my theremin is flat" in held
    assert b"then tune it" in held


def test_it_holds_the_picture_as_a_picture(alice, as_alice):
    as_alice.upload("/api/v1/profile/avatar", 200, "PUT", file=SimpleUploadedFile("me.jpg", jpeg(), "image/jpeg"))
    held = files(download(as_alice, alice))
    [name] = [name for name in held if name.startswith("account/avatar-")]
    assert name.endswith(".jpeg")
    assert held[name].startswith(b"\xff\xd8\xff")


def test_a_picture_that_is_removed_meanwhile_is_left_out(alice, as_alice):
    as_alice.upload("/api/v1/profile/avatar", 200, "PUT", file=SimpleUploadedFile("me.jpg", jpeg(), "image/jpeg"))
    [image] = Image.objects.filter(owner=alice)
    default_storage.delete(pictures.file_name(image.token, image.mime))
    held = files(download(as_alice, alice))
    assert "account/profile.json" in held and not any("avatar" in name for name in held)


def test_every_app_gives_what_it_holds(alice, as_alice):
    folders = {name.partition("/")[0] for name in files(download(as_alice, alice))}
    assert folders == {"account", "messages", "notifications", "calls"}


def test_it_holds_no_secret_and_no_address_of_other_users(alice, bob, as_alice):
    enable_two_step(as_alice, alice)
    as_alice.post("/api/v1/profile/blocks", {"user_id": bob.id})
    held = b"".join(files(download(as_alice, alice)).values()).decode()
    alice.refresh_from_db()
    for secret in (PASSWORD, SECOND, alice.password, alice.second_password, as_alice.token, bob.email):
        assert secret not in held


def test_another_app_adds_its_files(alice, as_alice, monkeypatch):
    monkeypatch.setattr(export, "_exporters", {})
    export.register("stamps", lambda user_id: iter([("album.json", {"of": user_id}), ("stamp.bin", b"\x00\x01")]))
    held = files(download(as_alice, alice))
    assert json.loads(held["stamps/album.json"]) == {"of": alice.id}
    assert held["stamps/stamp.bin"] == b"\x00\x01"


def test_rows_of_an_iterator_are_written_in_parts(alice, monkeypatch):
    """A list of any length needs the memory of a few rows, and reads like a list that was there at once."""
    alive = most = 0

    class Row(dict):
        def __init__(self, number):
            nonlocal alive, most
            super().__init__(number=number, text="one\ntwo\u2028three", more={"empty": []})
            alive += 1
            most = max(most, alive)

        def __del__(self):
            nonlocal alive
            alive -= 1

    counts = {"many.json": 3000, "one.json": 1, "none.json": 0}
    monkeypatch.setattr(export, "_exporters", {})
    export.register("rows", lambda user_id: ((name, map(Row, range(number))) for name, number in counts.items()))
    with export.archive(user_id=alice.id) as archive, zipfile.ZipFile(archive) as zipped:
        written = {name: zipped.read(f"rows/{name}").decode() for name in counts}
        assert zipped.getinfo("rows/many.json").compress_size < len(written["many.json"]) / 10
    assert most <= 2 * export.ROWS_WRITTEN_AT_ONCE
    for name, number in counts.items():
        rows = [dict(Row(index)) for index in range(number)]
        assert written[name] == json.dumps(rows, ensure_ascii=False, indent=2)
