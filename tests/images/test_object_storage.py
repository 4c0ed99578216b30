"""Pictures in a bucket of a real server with the S3 API, and what happens when it fails."""

from io import StringIO

import httpx
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.core.management.base import CommandError

from accounts.images import pictures
from accounts.models import AuditEntry, Image
from config import environment
from tests.images import corpus
from tests.object_store import Bucket

pytestmark = pytest.mark.once


@pytest.fixture
def bucket(settings):
    store = Bucket()
    settings.STORAGES = settings.STORAGES | {"default": environment.media("MEDIA_URL", store.url)}
    yield store
    store.stop()


def set_avatar(client, status=200):
    file = SimpleUploadedFile("a.png", corpus.png(), "image/png")
    return client.upload("/api/v1/profile/avatar", status, method="PUT", file=file)


def test_a_picture_goes_to_the_bucket_and_comes_back(bucket, as_alice, anonymous, transactional_db):
    address = set_avatar(as_alice)["avatar_url"]
    (image,) = Image.objects.all()
    name, thumb = pictures.file_name(image.token, image.mime), pictures.file_name(image.token, image.mime, thumb=True)
    assert bucket.names() == {name, thumb}
    reply = as_alice.raw("GET", address)
    assert (reply.status_code, reply["Content-Type"]) == (200, "image/png")
    assert b"".join(reply.streaming_content).startswith(b"\x89PNG")
    as_alice.delete("/api/v1/profile/avatar")
    assert bucket.names() == set()


def test_a_redirect_is_signed_and_short(bucket, as_alice, settings, transactional_db):
    settings.MEDIA_REDIRECT = True
    reply = as_alice.raw("GET", set_avatar(as_alice)["avatar_url"])
    assert reply.status_code == 302
    assert reply["Location"].startswith(f"http://127.0.0.1:{bucket.port}/pictures/")
    assert "X-Amz-Expires=60" in reply["Location"] and reply["Cache-Control"] == "no-store"
    assert httpx.get(reply["Location"], trust_env=False).content.startswith(b"\x89PNG")


def test_a_store_that_is_gone_is_answered_503_and_leaves_no_row(bucket, as_alice, transactional_db):
    address = set_avatar(as_alice)["avatar_url"]
    bucket.stop()
    assert as_alice.get(address, status=503)["error"] == "service_unavailable"
    before = set(Image.objects.values_list("id", flat=True))
    assert set_avatar(as_alice, 503)["error"] == "service_unavailable"
    assert set(Image.objects.values_list("id", flat=True)) == before


def test_an_object_that_was_lost_is_not_found(bucket, as_alice, transactional_db):
    address = set_avatar(as_alice)["avatar_url"]
    for name in bucket.names():
        default_storage.delete(name)
    assert as_alice.get(address, status=404)["error"] == "not_found"


def test_orphans_are_purged_from_the_bucket(bucket, as_alice, clock, transactional_db):
    set_avatar(as_alice)
    names = bucket.names()
    default_storage.save("zz/" + "z" * 32 + ".png", ContentFile(corpus.png()))
    clock.forward(days=2)
    assert pictures.purge_orphans() == 1
    assert bucket.names() == names


def test_move_media_copies_once_and_again_what_was_cut_off(bucket, as_alice, tmp_path, transactional_db):
    set_avatar(as_alice)
    for copied in (2, 0):
        out = StringIO()
        call_command("move_media", "--to", str(tmp_path / "media"), stdout=out)
        assert f"copied    {copied}" in out.getvalue()
    copies = {path.relative_to(tmp_path / "media").as_posix() for path in (tmp_path / "media").rglob("*.*")}
    assert copies == bucket.names()
    [entry] = AuditEntry.objects.filter(action="media.copied")
    assert entry.actor_label.startswith("cli:") and entry.details == {"copied": 2, "missing": 0}
    whole = (cut_off := next((tmp_path / "media").rglob("*-thumb.*"))).read_bytes()
    cut_off.write_bytes(whole[:10])
    call_command("move_media", "--to", str(tmp_path / "media"), stdout=StringIO())
    assert cut_off.read_bytes() == whole and len(list((tmp_path / "media").rglob("*.*"))) == 2
    bucket.stop()
    with pytest.raises(CommandError, match="Repeat the command to go on"):
        call_command("move_media", "--to", str(tmp_path / "elsewhere"))


@pytest.mark.parametrize("value", ["s3://", "gs://bucket", "s3://bucket/path", "s3://bucket?colour=blue"])
def test_a_wrong_address_names_the_form(value):
    with pytest.raises(ImproperlyConfigured, match="MEDIA_URL"):
        environment.media("MEDIA_URL", value)


def test_pictures_are_not_moved_to_nowhere():
    with pytest.raises(CommandError, match="argument --to: it is empty"):
        call_command("move_media", "--to", "")
