"""The disk for pictures is full: uploads are refused in the envelope, nothing is left half, all else works."""

import os
import random
from pathlib import Path

import pytest
from PIL import Image as Pillow

from tests import small_disk
from tests.faults.conftest import FULL
from tests.images import corpus
from tests.waiting import wait_for

UPLOADS = 50 if FULL else 12
KILOBYTES = 256


@pytest.fixture
def tiny_disk(tmp_path):
    """A disk of 256 kB with a real end."""
    with small_disk.mounted(tmp_path / "media", kilobytes=KILOBYTES) as folder:
        yield folder


def noise(number):
    """A JPEG of about 60 kB that no encoder makes smaller."""
    dice = random.Random(number)
    return corpus.encoded(Pillow.frombytes("RGB", (160, 160), dice.randbytes(160 * 160 * 3)), "JPEG", quality=95)


@pytest.mark.timeout(150)
def test_a_full_disk(server, settle, tiny_disk):
    server.environment["MEDIA_ROOT"] = str(tiny_disk)
    server.start()
    books = settle(server, 1)
    pair = books.pairs[0]
    headers = {"Authorization": f"Bearer {pair.first.token}"}
    path = f"/messages/conversations/{pair.conversation_id}/media"

    def upload(number, method="POST", path=path):
        data = {"client_id": f"picture-{number}"}
        files = {"file": ("photo.jpg", noise(number), "image/jpeg")}
        return pair.first.http.request(method, path, files=files, data=data, headers=headers)

    accepted, refused = {}, []
    for number in range(UPLOADS):
        answer = upload(number)
        if answer.status_code == 201:
            accepted[number] = answer.json()["message"]
            continue
        assert answer.status_code in (503, 507), answer.text[:300]
        body = answer.json()
        assert (body["ok"], body["error"]) == (False, "service_unavailable")
        assert answer.headers["Retry-After"] == str(body["retry_after"])
        refused.append(number)
    assert accepted
    assert refused
    avatar = upload(0, "PUT", "/profile/avatar")
    assert avatar.status_code in (503, 507), avatar.text[:300]
    assert pair.first.call("GET", "/auth/me")["user"]["avatar_url"] is None
    # No row without its files, and no file without its row.
    stored = pair.second.messages(pair.conversation_id)
    assert {m["id"] for m in stored} == {m["id"] for m in accepted.values()}
    for message in stored:
        for address in (message["media_url"], message["media"]["thumb_url"]):
            shown = pair.second.http.get(server.base + address)
            assert shown.status_code == 200
            assert shown.content.startswith(b"\xff\xd8")
    assert len(files_in(tiny_disk)) == 2 * len(accepted)

    # Everything else works: texts, reading, and deleting a picture, which frees space for another one.
    books.send(pair, pair.first, "words", 1)
    pair.second.call("POST", f"/messages/conversations/{pair.conversation_id}/read", {})
    for message in accepted.values():
        pair.first.call("DELETE", f"/messages/messages/{message['id']}")
    wait_for(lambda: not files_in(tiny_disk), what="free space on the disk")
    again = upload(refused[0])
    assert again.status_code == 201, again.text[:300]
    pair.first.call("DELETE", f"/messages/messages/{again.json()['message']['id']}")
    assert [m["body"] for m in pair.second.messages(pair.conversation_id)] == ["words says 1"]


@pytest.mark.timeout(150)
def test_a_full_disk_for_bodies_that_arrive(server, settle, tiny_disk):
    server.environment["TMPDIR"] = str(tiny_disk)
    server.start()
    pair = settle(server, 1).pairs[0]
    path = f"/messages/conversations/{pair.conversation_id}/media"
    headers = {"Authorization": f"Bearer {pair.first.token}"}

    def upload(data):
        files = {"file": ("photo.jpg", data, "image/jpeg")}
        return pair.first.http.request("POST", path, files=files, headers=headers)

    small, large = noise(1), noise(1) + bytes(400_000)
    assert upload(small).status_code == 201
    wait_for(lambda: is_empty(tiny_disk), what="the end of the first upload's temporary file")
    (tiny_disk / "filler").write_bytes(bytes(KILOBYTES * 1024))
    for data in (small, large):  # one that the parser writes, and one that is written before a thread takes it
        answer = upload(data)
        assert (answer.status_code, answer.json()["error"]) == (503, "service_unavailable"), answer.text[:300]
        assert answer.headers["Retry-After"] == str(answer.json()["retry_after"])
    (tiny_disk / "filler").unlink()
    assert upload(small).status_code == 201


def is_empty(disk: Path) -> bool:
    """Files that were deleted and are still open take space, too."""
    state = os.statvfs(disk)
    return state.f_bfree == state.f_blocks


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
