"""The quota of stored bytes: of a day and in all, under races, and what gives bytes back."""

from datetime import timedelta
from io import BytesIO
from random import Random

import pytest
import time_machine
from django.template.defaultfilters import filesizeformat
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.utils import timezone
from PIL import Image as Pillow

from accounts.images import pictures
from accounts.models import Image, StorageUse
from accounts.services import erasure, storage_quota
from accounts.services.storage_quota import MEGABYTE, use_of
from core.database.transactions import unit_of_work
from messaging.models import Message
from messaging.services import messages, purge
from tests.client import ApiClient
from tests.factories import sign_in
from tests.images import corpus
from tests.messaging.conftest import conversation_path, message_path
from tests.parallel import run_parallel
from tests.staff import admin_client, staff

ONE = corpus.encoded(corpus.photo(160, 120), "PNG")


def raw(content=ONE, name="photo.png"):
    file = BytesIO(content)
    file.name = name
    return file


@pytest.fixture
def show(conversation):
    def send(client, status=201, **form):
        reply = client.upload(conversation_path(conversation, "/media"), status=status, file=raw(), **form)
        return reply["message"] if reply["ok"] else reply

    return send


@pytest.fixture
def small(settings, alice):
    """Limits of a megabyte a day and two in all; a call says how much of them is used."""
    settings.ACCOUNTS_STORAGE_QUOTA_DAY_MB, settings.ACCOUNTS_STORAGE_QUOTA_TOTAL_MB = 1, 2

    def used(*, day: int = 0, total: int = 0, on=None):
        row = {"total_bytes": total, "day": on or timezone.now().date(), "day_bytes": day}
        StorageUse.objects.update_or_create(user_id=alice.id, defaults=row)

    return used


def size_of_one() -> int:
    return Image.objects.latest("id").size


def test_originals_are_counted(as_alice, alice, show):
    show(as_alice)
    show(as_alice)
    sizes = list(Image.objects.values_list("size", flat=True))
    assert use_of(alice.id) == (sum(sizes), sum(sizes))


def test_beyond_the_day_one_waits_for_midnight(as_alice, alice, show, small):
    midnight = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=2)
    with time_machine.travel(midnight - timedelta(hours=3), tick=False):
        small(day=MEGABYTE)
        reply = show(as_alice, status=429)
        assert (reply["error"], reply["retry_after"]) == ("storage_quota_exceeded", 3 * 3600 + 1)
        assert not Image.objects.exists() and not Message.objects.exists()
    with time_machine.travel(midnight + timedelta(seconds=1), tick=False):
        show(as_alice)
        assert use_of(alice.id)[1] == size_of_one()


def test_beyond_the_total_it_is_full(as_alice, alice, show, small):
    small(total=2 * MEGABYTE, day=MEGABYTE)
    assert show(as_alice, status=403)["error"] == "storage_full"
    small(total=2 * MEGABYTE - 10)
    assert show(as_alice, status=403)["error"] == "storage_full"
    assert not Image.objects.exists()
    assert use_of(alice.id)[0] == 2 * MEGABYTE - 10


def test_the_last_byte_fits(as_alice, alice, show, small):
    show(as_alice)
    size = size_of_one()
    small(day=MEGABYTE - size, total=2 * MEGABYTE - size)
    show(as_alice)
    assert use_of(alice.id) == (2 * MEGABYTE, MEGABYTE)
    small(day=MEGABYTE - size + 1)
    assert show(as_alice, status=429)["error"] == "storage_quota_exceeded"


def test_an_image_larger_than_the_limit_is_refused_as_the_first_one(as_alice, alice, settings, conversation):
    settings.ACCOUNTS_STORAGE_QUOTA_DAY_MB = 1
    large = corpus.encoded(Pillow.frombytes("RGB", (700, 700), Random(1).randbytes(1_470_000)), "PNG")
    path = conversation_path(conversation, "/media")
    assert as_alice.upload(path, status=429, file=raw(large))["error"] == "storage_quota_exceeded"
    assert use_of(alice.id) == (0, 0)


def test_a_text_needs_no_room(as_alice, send_message, small):
    small(total=9 * MEGABYTE, day=9 * MEGABYTE)
    send_message(as_alice, "hello")


def test_a_deletion_gives_back_for_the_total_only(as_alice, alice, show):
    first, _second = show(as_alice), show(as_alice)
    sizes = list(Image.objects.order_by("id").values_list("size", flat=True))
    as_alice.delete(message_path(first["id"]))
    assert use_of(alice.id) == (sizes[1], sum(sizes))


def test_cleared_by_both_and_purged_gives_back(as_alice, as_bob, alice, show, conversation):
    show(as_alice)
    for client in (as_alice, as_bob):
        client.post(conversation_path(conversation, "/clear"))
    assert use_of(alice.id)[0] == size_of_one()
    for rows in purge.jobs(timezone.now(), 100).values():
        assert sum(rows) >= 0
    assert not Image.objects.exists()
    assert use_of(alice.id)[0] == 0


def test_an_erased_account_leaves_no_row(as_alice, as_bob, alice, bob, show):
    show(as_alice)
    show(as_bob)
    assert erasure.erase(user_id=alice.id)
    assert not StorageUse.objects.filter(user_id=alice.id).exists()
    assert use_of(bob.id)[0] == size_of_one()


def test_a_repeat_is_counted_once_and_needs_no_room(as_alice, alice, show, small):
    first = show(as_alice, client_id="k")
    counted = use_of(alice.id)
    assert show(as_alice, status=200, client_id="k") == first
    assert use_of(alice.id) == counted
    small(total=9 * MEGABYTE, day=9 * MEGABYTE)
    assert show(as_alice, status=200, client_id="k") == first


def test_a_failure_gives_back(alice, conversation, monkeypatch):
    def fail(*args, **options):
        raise RuntimeError

    monkeypatch.setattr(messages, "_announce", fail)
    with pytest.raises(RuntimeError):
        messages.send_image(sender=alice, conversation_id=conversation, upload=BytesIO(ONE))
    assert use_of(alice.id) == (0, 0)


def test_an_avatar_is_not_counted(as_alice, alice, small):
    small(total=9 * MEGABYTE, day=9 * MEGABYTE)
    for _ in range(2):
        as_alice.upload("/api/v1/profile/avatar", status=200, method="PUT", file=raw())
    as_alice.delete("/api/v1/profile/avatar")
    assert use_of(alice.id) == (9 * MEGABYTE, 9 * MEGABYTE)


def test_what_was_never_counted_does_not_make_the_total_negative(alice):
    with pictures.receive_upload(owner=alice, kind="message", upload=BytesIO(ONE)) as image:
        image.save()
    StorageUse.objects.create(user=alice, total_bytes=3, day=timezone.now().date(), day_bytes=3)
    pictures.discard([image.id])
    assert use_of(alice.id) == (0, 3)


def test_a_clock_that_is_behind_counts_to_the_day_that_has_begun(alice, db):
    for moment in ("2026-11-21T00:00:05Z", "2026-11-20T23:59:55Z", "2026-11-21T00:00:10Z"):
        with time_machine.travel(moment, tick=False), unit_of_work():
            storage_quota.count(user_id=alice.id, size=7)
    with time_machine.travel("2026-11-21T10:00:00Z", tick=False):
        assert use_of(alice.id) == (21, 21)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("limit", "code"), [("day", "storage_quota_exceeded"), ("total", "storage_full")])
def test_of_uploads_at_once_only_those_pass_for_which_there_is_room(alice, conversation, small, limit, code):
    token = sign_in(alice)[1]
    path = conversation_path(conversation, "/media")

    def send():
        body = encode_multipart(BOUNDARY, {"file": raw()})
        reply = ApiClient(token).raw("POST", path, body, content_type=MULTIPART_CONTENT)
        return reply.json().get("error", "")

    assert send() == ""
    size = size_of_one()
    full = {"day": MEGABYTE, "total": 2 * MEGABYTE}[limit]
    small(**{limit: full - 2 * size - 5})
    assert sorted(run_parallel([send] * 6)) == ["", "", *[code] * 4]
    assert {"day": use_of(alice.id)[1], "total": use_of(alice.id)[0]}[limit] == full - 5
    assert Image.objects.count() == Message.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_an_upload_and_deletions_at_once_leave_the_true_sum(alice, as_alice, conversation, show):
    sent = [show(as_alice)["id"] for _ in range(4)]
    token = sign_in(alice)[1]

    def delete(number):
        ApiClient(token).delete(message_path(number))

    def send():
        body = encode_multipart(BOUNDARY, {"file": raw()})
        path = conversation_path(conversation, "/media")
        assert ApiClient(token).raw("POST", path, body, content_type=MULTIPART_CONTENT).status_code == 201

    run_parallel([*[lambda number=number: delete(number) for number in sent], send, send])
    assert use_of(alice.id)[0] == sum(Image.objects.values_list("size", flat=True))


def test_an_upload_costs_two_statements_more(as_alice, show, django_assert_max_num_queries):
    show(as_alice)
    with django_assert_max_num_queries(15):
        show(as_alice)


def test_support_sees_how_much_a_user_stores(as_alice, alice, show):
    show(as_alice)
    support = admin_client(staff("Support"))
    page = support.get(f"/admin/accounts/user/{alice.id}/change/").content.decode()
    size = filesizeformat(size_of_one())
    assert page.count(f"{size} of 5.0\xa0GB") == 1
    assert page.count(f"{size} of 500.0\xa0MB") == 1
