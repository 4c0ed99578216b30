"""Image messages: what is sent, shown, repeated, refused and erased."""

from io import BytesIO

import pytest
from django.core.files.storage import default_storage
from PIL import Image as Pillow

from accounts.images import pictures
from accounts.models import Image
from messaging.models import Message
from tests.messaging.conftest import conversation_path, message_path


def upload(color="red", kind="PNG", size=(640, 320), name="photo.png"):
    file = BytesIO()
    Pillow.new("RGB", size, color).save(file, kind)
    file.seek(0)
    file.name = name
    return file


def raw(content, name="photo.png"):
    file = BytesIO(content)
    file.name = name
    return file


@pytest.fixture
def show(conversation):
    def send(client, status=201, **form):
        form.setdefault("file", upload())
        reply = client.upload(conversation_path(conversation, "/media"), status=status, **form)
        return reply["message"] if reply["ok"] else reply

    return send


def files(image):
    return [default_storage.exists(pictures.file_name(image.token, image.mime, thumb=t)) for t in (False, True)]


@pytest.mark.parametrize(
    ("charset", "text", "shown"),
    [
        ("", "déjà vu 👍".encode(), "déjà vu 👍"),
        ("", "déjà vu".encode("latin-1"), None),
        ("; charset=iso-8859-1", "déjà vu".encode("latin-1"), "déjà vu"),
        ("; charset=utf-16", "déjà vu".encode("utf-16") + b"x", None),
        ("; charset=bz2_codec", b"vu", None),
    ],
)
def test_the_text_of_an_image_is_kept_as_sent_or_refused(as_alice, conversation, charset, text, shown):
    boundary = b'--b\r\nContent-Disposition: form-data; name="'
    form = boundary + b'body"\r\n\r\n' + text + b"\r\n"
    form += boundary + b'file"; filename="a.png"\r\n\r\n' + upload().read() + b"\r\n--b--\r\n"
    kind = f"multipart/form-data; boundary=b{charset}"
    reply = as_alice.raw("POST", conversation_path(conversation, "/media"), form, content_type=kind)
    if shown is None:
        assert (reply.status_code, reply.json()["error"]) == (400, "parse_error")
        assert not Message.objects.exists() and not Image.objects.exists()
    else:
        assert (reply.status_code, reply.json()["message"]["body"]) == (201, shown)


def test_an_image_with_text(as_alice, as_bob, alice, conversation, show, thread):
    sent = show(as_alice, body=" look ", client_id="i-1")
    image = Image.objects.get()
    path = f"/api/v1/media/{image.token}"
    assert sent == {
        "id": sent["id"],
        "conversation_id": conversation,
        "sender_id": alice.id,
        "kind": "image",
        "body": "look",
        "media_url": sent["media_url"],
        "media": {
            "width": 640,
            "height": 320,
            "mime": "image/png",
            "size": image.size,
            "thumb_url": sent["media"]["thumb_url"],
            "blurhash": image.blurhash,
        },
        "reply_to_id": None,
        "reply_to": None,
        "is_edited": False,
        "edited_at": None,
        "reactions": [],
        "call": None,
        "client_id": "i-1",
        "created_at": sent["created_at"],
    }
    assert sent["media_url"].startswith(path + "?") and sent["media"]["thumb_url"].startswith(path + "/thumb?")
    assert thread(as_bob)["messages"] == [sent | {"client_id": None}]
    assert files(image) == [True, True]


def test_an_image_without_text(as_alice, as_bob, conversation, show):
    sent = show(as_alice)
    assert sent["body"] is None
    listed = as_bob.get(conversation_path(conversation))["conversation"]["last_message"]
    assert (listed["body"], listed["kind"], listed["id"]) == ("", "image", sent["id"])


def test_an_image_as_a_reply_and_replied_to(as_alice, as_bob, send_message, show):
    question = send_message(as_bob, "how does it look?")
    shown = show(as_alice, reply_to_id=str(question["id"]))
    assert shown["reply_to"]["body"] == "how does it look?"
    answer = send_message(as_bob, "nice", reply_to_id=shown["id"])
    assert answer["reply_to"] == {
        "id": shown["id"],
        "sender_id": shown["sender_id"],
        "kind": "image",
        "body": None,
        "media_url": shown["media_url"],
        "thumb_url": shown["media"]["thumb_url"],
    }


def test_a_repeat_is_the_same_bytes(as_alice, show):
    first = show(as_alice, client_id="k", body="x")
    assert show(as_alice, status=200, client_id="k", body=" x ") == first
    for other in ({"file": upload("blue"), "body": "x"}, {"body": "y"}, {"body": "x", "reply_to_id": str(first["id"])}):
        assert show(as_alice, status=409, client_id="k", **other)["error"] == "idempotency_conflict"
    assert Message.objects.count() == Image.objects.count() == 1
    stored = [name for folder in default_storage.listdir("")[0] for name in default_storage.listdir(folder)[1]]
    token = Image.objects.get().token
    assert sum(token in name for name in stored) == 2


def test_a_text_and_an_image_do_not_share_a_client_id(as_alice, send_message, show):
    send_message(as_alice, "x", client_id="k")
    assert show(as_alice, status=409, client_id="k", body="x")["error"] == "idempotency_conflict"
    assert Image.objects.count() == 0


@pytest.mark.parametrize(
    ("file", "status", "code"),
    [
        (lambda: raw(b""), 400, "invalid_image"),
        (lambda: raw(b"\x89PNG\r\n\x1a\nbroken"), 400, "invalid_image"),
        (lambda: raw(b"<svg xmlns='http://www.w3.org/2000/svg'/>"), 415, "unsupported_media_type"),
        (lambda: raw(b"plain text", "photo.jpg"), 415, "unsupported_media_type"),
        (lambda: raw(b"\xff\xd8\xff" + b"0" * 5_242_880), 413, "file_too_large"),
    ],
)
def test_what_is_no_image_is_refused(as_alice, show, file, status, code):
    assert show(as_alice, status=status, file=file())["error"] == code
    assert Message.objects.count() == Image.objects.count() == 0


def test_a_form_without_a_file_is_refused(as_alice, conversation):
    path = conversation_path(conversation, "/media")
    for form in ({"body": "x"}, {"file": "text"}):
        refused = as_alice.upload(path, status=400, **form)
        assert (refused["error"], list(refused["fields"])) == ("validation_error", ["file"])
    assert as_alice.post(path, {"file": "x"}, status=415)["error"] == "unsupported_media_type"


@pytest.mark.parametrize(
    ("form", "field"),
    [({"body": "x" * 4097}, "body"), ({"client_id": "a b"}, "client_id"), ({"reply_to_id": "x"}, "reply_to_id")],
)
def test_odd_fields_of_the_form_are_refused_by_name(as_alice, show, form, field):
    assert list(show(as_alice, status=400, **form)["fields"]) == [field]


def test_the_text_of_an_image_may_change_and_go(as_alice, show):
    path = message_path(show(as_alice, body="look")["id"])
    assert as_alice.patch(path, {"body": "see"})["message"]["body"] == "see"
    assert as_alice.patch(path, {"body": ""})["message"]["body"] is None
    again = as_alice.patch(path, {"body": None})["message"]
    assert again["body"] is None and again["kind"] == "image"


@pytest.mark.django_db(transaction=True)
def test_deleting_the_message_erases_the_picture(as_alice, show):
    sent = show(as_alice)
    image = Image.objects.get()
    assert files(image) == [True, True]
    as_alice.delete(message_path(sent["id"]))
    assert Image.objects.count() == 0
    assert files(image) == [False, False]


@pytest.mark.django_db(transaction=True)
def test_twelve_uploads_with_one_client_id_leave_one_picture(alice, conversation):
    from tests.client import ApiClient
    from tests.factories import sign_in
    from tests.parallel import run_parallel

    token = sign_in(alice)[1]

    def send():
        path = conversation_path(conversation, "/media")
        from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

        body = encode_multipart(BOUNDARY, {"file": upload(size=(32, 32)), "client_id": "k"})
        reply = ApiClient(token).raw("POST", path, body, content_type=MULTIPART_CONTENT)
        return reply.status_code, reply.json()["message"]["id"]

    replies = run_parallel([send] * 12)
    assert sorted(status for status, _ in replies) == [200] * 11 + [201]
    assert len({message_id for _, message_id in replies}) == 1
    assert Message.objects.count() == Image.objects.count() == 1
    assert files(Image.objects.get()) == [True, True]
