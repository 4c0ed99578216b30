"""Images over the API: the avatar, the paths that serve it, and the stored files."""

import io
import os
from datetime import timedelta

import pytest
import time_machine
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from PIL import Image as Pillow

from accounts.images import pictures
from accounts.images.access import media_path
from accounts.models import Image
from tests.client import ApiClient
from tests.factories import make_user, sign_in
from tests.images import corpus


def file(data: bytes, name: str = "photo.jpg") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data, "application/octet-stream")


def files_on_disk() -> set[str]:
    if not default_storage.exists(""):
        return set()
    folders, _ = default_storage.listdir("")
    return {f"{folder}/{name}" for folder in folders for name in default_storage.listdir(folder)[1]}


@pytest.fixture(autouse=True)
def empty_media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


def set_avatar(client: ApiClient, data: bytes, status: int = 200):
    return client.upload("/api/v1/profile/avatar", status=status, method="PUT", file=file(data))


def test_an_avatar_is_set_shown_and_removed(as_alice, as_bob, anonymous, alice):
    body = set_avatar(as_alice, corpus.jpeg())
    assert set(body) == {"ok", "avatar_url"}
    shown = anonymous.get(body["avatar_url"])
    assert shown.headers["Content-Type"] == "image/jpeg"
    assert shown.headers["X-Content-Type-Options"] == "nosniff"
    assert shown.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert shown.headers["Cache-Control"].startswith("private")
    with Pillow.open(io.BytesIO(b"".join(shown.streaming_content))) as image:
        assert image.size == (512, 512)
    assert as_alice.get("/api/v1/auth/me")["user"]["avatar_url"] == body["avatar_url"]
    bare = body["avatar_url"].partition("?")[0]
    assert as_bob.get(bare).status_code == 200
    assert anonymous.get(bare, status=404)["error"] == "not_found"
    assert as_alice.delete("/api/v1/profile/avatar") == {"ok": True, "avatar_url": None}
    anonymous.get(body["avatar_url"], status=404)
    assert not Image.objects.exists()


@pytest.mark.parametrize(
    "accept", ["image/*", "image/webp,image/apng", "image/png,image/svg+xml,image/*;q=0.8", "text/html", ""]
)
def test_whatever_a_client_accepts_it_gets_the_image_and_errors_as_json(as_alice, anonymous, accept):
    path = set_avatar(as_alice, corpus.jpeg())["avatar_url"]
    shown = anonymous.raw("GET", path, headers={"Accept": accept})
    assert (shown.status_code, shown.headers["Content-Type"]) == (200, "image/jpeg")
    body = anonymous.get(path.partition("?")[0], status=404, headers={"Accept": accept})
    assert body["error"] == "not_found"


@pytest.mark.django_db(transaction=True)
def test_a_new_avatar_removes_the_files_of_the_old_one(as_alice):
    set_avatar(as_alice, corpus.jpeg())
    set_avatar(as_alice, corpus.png())
    assert len(files_on_disk()) == 2
    as_alice.delete("/api/v1/profile/avatar")
    assert files_on_disk() == set()


@pytest.mark.parametrize(
    ("data", "status", "code"),
    [
        (corpus.CORPUS["five megabytes and a byte"][0], 413, "file_too_large"),
        (lambda: corpus.padded_to(7_000_000), 413, "file_too_large"),
        (corpus.CORPUS["svg"][0], 415, "unsupported_media_type"),
        (corpus.CORPUS["jpeg cut"][0], 400, "invalid_image"),
        (corpus.CORPUS["empty"][0], 400, "invalid_image"),
    ],
)
def test_what_is_no_picture_is_refused_and_leaves_nothing(as_alice, data, status, code):
    assert set_avatar(as_alice, data(), status)["error"] == code
    assert not Image.objects.exists()
    assert files_on_disk() == set()


def test_a_form_without_file_names_the_field(as_alice):
    body = as_alice.upload("/api/v1/profile/avatar", status=400, method="PUT", other="x")
    assert body["error"] == "validation_error"
    assert list(body["fields"]) == ["file"]
    body = as_alice.upload("/api/v1/profile/avatar", status=400, method="PUT", file="text")
    assert list(body["fields"]) == ["file"]
    as_alice.put("/api/v1/profile/avatar", {"file": "x"}, status=415)


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("multipart/form-data", b"no boundary"),
        (
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n'
            b"Content-Transfer-Encoding: base64\r\n\r\n!!!\r\n--b--\r\n",
        ),
    ],
)
def test_a_form_that_cannot_be_read_is_refused_in_the_language_of_the_reader(as_alice, content_type, body):
    german = {"Accept-Language": "de"}
    reply = as_alice.put("/api/v1/profile/avatar", body, status=400, content_type=content_type, headers=german)
    assert (reply["error"], reply["message"]) == ("parse_error", "Die Anfrage konnte nicht gelesen werden.")


def test_an_unconfirmed_account_has_no_avatar(db):
    client = ApiClient(sign_in(make_user(verified=False))[1])
    assert set_avatar(client, corpus.jpeg(), 403)["error"] == "email_not_verified"


def test_a_failed_change_leaves_no_file(alice):
    with (
        pytest.raises(RuntimeError),
        pictures.receive_upload(owner=alice, kind="message", upload=io.BytesIO(corpus.png())) as image,
    ):
        image.save()
        raise RuntimeError
    assert files_on_disk() == set()


def test_a_full_disk_is_a_clear_answer(as_alice, settings):
    """Writing into a folder that takes nothing: 503, no row."""
    os.chmod(settings.MEDIA_ROOT, 0o500)
    if os.access(settings.MEDIA_ROOT, os.W_OK):  # root writes anywhere: use a device that is always full
        settings.MEDIA_ROOT = "/proc/parley"
    response = as_alice.upload("/api/v1/profile/avatar", status=503, method="PUT", file=file(corpus.jpeg()))
    assert response["error"] == "service_unavailable"
    assert not Image.objects.exists()


def test_files_without_a_row_are_purged_after_an_hour(alice):
    with pictures.receive_upload(owner=alice, kind="message", upload=io.BytesIO(corpus.png())) as image:
        image.save()
    Image.objects.all().delete()
    assert pictures.purge_orphans() == 0
    assert pictures.purge_orphans(now=timezone.now() + timedelta(hours=2)) == 2
    assert files_on_disk() == set()


def test_a_file_that_another_purge_has_just_removed_is_skipped(db, monkeypatch):
    default_storage.save(f"zz/{'z' * 22}.png", ContentFile(corpus.png()))
    modified_time = default_storage.get_modified_time

    def removed_before(name):
        default_storage.delete(name)
        return modified_time(name)

    monkeypatch.setattr(default_storage, "get_modified_time", removed_before)
    assert pictures.purge_orphans(now=timezone.now() + timedelta(hours=2)) == 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("error", [OSError, RuntimeError])
def test_a_file_that_cannot_be_removed_does_not_fail_the_request(as_alice, alice, monkeypatch, error, caplog):
    set_avatar(as_alice, corpus.jpeg())

    def fail(name):
        raise error("the store is away")

    monkeypatch.setattr(default_storage, "delete", fail)
    as_alice.delete("/api/v1/profile/avatar")
    assert not Image.objects.filter(owner=alice).exists()
    assert "the store is away" in caplog.text


def test_a_signature_ends_after_two_days_at_the_latest(as_alice, anonymous):
    path = set_avatar(as_alice, corpus.jpeg())["avatar_url"]
    with time_machine.travel(timezone.now() + timedelta(hours=23), tick=False):
        anonymous.get(path)
    with time_machine.travel(timezone.now() + timedelta(hours=49), tick=False):
        anonymous.get(path, status=404)


def test_every_parameter_of_a_path_is_signed(as_alice, anonymous):
    path = set_avatar(as_alice, corpus.jpeg())["avatar_url"]
    anonymous.get(path)
    for changed in (f"{path}&x=1", path.replace("?e=", "?e=0")):
        assert anonymous.get(changed, status=404)["error"] == "not_found"
        as_alice.get(changed)


def test_a_signature_opens_beside_a_token_that_is_no_longer_good(as_alice, anonymous):
    path = set_avatar(as_alice, corpus.jpeg())["avatar_url"]
    spoilt = {"Authorization": "Bearer gone"}
    anonymous.get(path, headers=spoilt)
    assert anonymous.get(path + "0", headers=spoilt, status=404)["error"] == "not_found"
    assert anonymous.get(path.partition("?")[0], headers=spoilt, status=401)["error"] == "token_invalid"


def test_an_image_of_a_kind_without_a_rule_is_not_shown(as_alice, anonymous):
    """As in a project that no longer has the app which stored it."""
    path = set_avatar(as_alice, corpus.jpeg())["avatar_url"]
    Image.objects.update(kind="other")
    for client, address in ((anonymous, path), (as_alice, path), (as_alice, path.partition("?")[0])):
        assert client.get(address, status=404)["error"] == "not_found"


@pytest.mark.parametrize("odd", ["%00", "..%2f..%2fetc%2fpasswd", "x" * 300, "%F0%9F%98%80", "a.b"])
def test_odd_names_are_not_found(as_alice, odd):
    assert as_alice.get(f"/api/v1/media/{odd}", status=404)["error"] == "not_found"


def test_in_production_the_front_server_sends_the_bytes(as_alice, anonymous, settings):
    settings.MEDIA_SENDFILE = "/protected/"
    path = set_avatar(as_alice, corpus.jpeg())["avatar_url"]
    answer = anonymous.get(path)
    picture = Image.objects.get()
    assert answer.headers["X-Accel-Redirect"] == f"/protected/{pictures.file_name(picture.token, picture.mime)}"
    assert answer.content == b""


def test_a_path_stays_the_same_all_day(db):
    with time_machine.travel("2026-11-20T00:00:01Z", tick=False):
        morning = media_path("abc")
    with time_machine.travel("2026-11-20T23:59:59Z", tick=False):
        assert media_path("abc") == morning
    with time_machine.travel("2026-11-21T00:00:01Z", tick=False):
        assert media_path("abc") != morning
