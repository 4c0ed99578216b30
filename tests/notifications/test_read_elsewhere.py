"""What is read on one device leaves the screens of the others, once a minute, and only where a push was shown."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core.database.transactions import unit_of_work
from messaging.services import conversations
from notifications.models import Delivery, Notification
from notifications.services import delivery
from tests.client import ApiClient
from tests.factories import sign_in
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
CONVERSATIONS = "/api/v1/messages/conversations"
FEED = "/api/v1/notifications"


@pytest.fixture(autouse=True)
def in_this_process(settings):
    settings.NOTIFICATIONS_NOTIFY = False
    settings.NOTIFICATIONS_PUSH_GROUP_SECONDS = 60


@pytest.fixture
def phones(bob):
    """Bob's iPhone, Android phone and browser, each with a session of its own, by platform."""
    clients = {}
    for platform in ("ios", "android", "web"):
        clients[platform] = ApiClient(sign_in(bob)[1])
        clients[platform].post("/api/v1/profile/push-token", {"token": platform, "platform": platform})
    return clients


@pytest.fixture
def conversation_id(as_alice, bob):
    return start(as_alice, bob)


def start(client, other):
    return client.post(CONVERSATIONS, {"user_id": other.id}, status=201)["conversation"]["id"]


def write(client, conversation_id):
    client.post(f"{CONVERSATIONS}/{conversation_id}/messages", {"body": "hello"}, status=201)


def read(client, conversation_id):
    client.post(f"{CONVERSATIONS}/{conversation_id}/read")


def settled():
    """Nothing is due: what waits, waits for its minute."""
    soon = timezone.now() + timedelta(seconds=5)
    return not Delivery.objects.filter(state__in=["pending", "leased"], due_at__lte=soon).exists()


def minute_later():
    old = timezone.now() - timedelta(seconds=61)
    Delivery.objects.filter(state="sent").update(finished_at=old)
    Delivery.objects.filter(state="pending").update(due_at=timezone.now())


def about_reading(fcm, token):
    return [message for message in fcm.messages(token) if "notification" not in message]


def test_the_other_devices_are_told(fcm, worker, phones, as_alice, conversation_id):
    worker()
    write(as_alice, conversation_id)
    wait_for(lambda: all(fcm.messages(token) for token in phones))
    wait_for(settled)
    read(phones["android"], conversation_id)
    wait_for(lambda: len(about_reading(fcm, "ios")) == 2 and about_reading(fcm, "web"))
    wait_for(settled)
    data = {"type": "read", "conversation_id": str(conversation_id), "unread_count": "0"}
    assert about_reading(fcm, "android") == []  # it has read
    badge, background = about_reading(fcm, "ios")
    assert badge["apns"]["payload"] == {"aps": {"badge": 0}} and "data" not in badge
    assert background["apns"]["payload"] == {"aps": {"content-available": 1}} and background["data"] == data
    assert [message["data"] for message in about_reading(fcm, "web")] == [data]
    assert [one["status"] for one in fcm.requests() if one["status"] != 200] == []


def test_android_gets_data_alone(fcm, worker, phones, as_alice, conversation_id):
    worker()
    write(as_alice, conversation_id)
    wait_for(lambda: fcm.messages("android"))
    wait_for(settled)
    read(phones["ios"], conversation_id)
    [message] = wait_for(lambda: about_reading(fcm, "android"))
    assert message["data"] == {"type": "read", "conversation_id": str(conversation_id), "unread_count": "0"}
    assert message["android"] == {"priority": "normal", "ttl": "86400s"}


def test_nothing_where_no_push_was_shown(fcm, worker, phones, as_alice, conversation_id, bob):
    write(as_alice, conversation_id)
    Delivery.objects.filter(device__registration_id="web").update(state="cancelled", last_error="seen on the socket")
    worker()
    wait_for(lambda: fcm.messages("ios") and fcm.messages("android"))
    late = ApiClient(sign_in(bob)[1])
    late.post("/api/v1/profile/push-token", {"token": "late"})
    wait_for(settled)
    read(phones["android"], conversation_id)
    wait_for(lambda: about_reading(fcm, "ios"))
    wait_for(settled)
    assert about_reading(fcm, "web") == about_reading(fcm, "late") == []


def test_what_follows_within_the_minute_is_one_push_with_the_last_state(
    fcm, worker, phones, as_alice, as_charlie, conversation_id, bob, like, alice
):
    other = start(as_charlie, bob)
    worker()
    write(as_alice, conversation_id)
    write(as_charlie, other)
    for post in (1, 2):
        like(alice, bob, post)
    wait_for(lambda: len(fcm.messages("web")) == 4)
    wait_for(settled)
    read(phones["android"], conversation_id)
    wait_for(lambda: about_reading(fcm, "web"))
    wait_for(settled)
    read(phones["android"], other)
    phones["android"].post(f"{FEED}/read-all")
    assert [row.kind for row in Delivery.objects.filter(device__registration_id="web", state="pending")] == ["read"]
    assert len(about_reading(fcm, "web")) == 1
    like(alice, bob, 3)
    minute_later()
    wait_for(lambda: len(about_reading(fcm, "web")) == 2)
    first, second = (message["data"] for message in about_reading(fcm, "web"))
    assert (first["unread_count"], first["conversation_id"]) == ("3", str(conversation_id))
    rows = Notification.objects.filter(recipient=bob, is_read=True).exclude(target_id=conversation_id, kind="message")
    ids = ",".join(str(row.id) for row in rows.order_by("id"))
    assert second == {"type": "read", "notification_ids": ids, "unread_count": "1"}


def test_one_read_row_and_a_deleted_one(fcm, worker, phones, bob, like, alice):
    worker()
    for post in (1, 2):
        like(alice, bob, post)
    wait_for(lambda: len(fcm.messages("ios")) == 2)
    wait_for(settled)
    first, second = Notification.objects.filter(recipient=bob).order_by("id")
    phones["web"].post(f"{FEED}/{first.id}/read")
    wait_for(lambda: len(about_reading(fcm, "ios")) == 2)
    wait_for(settled)
    phones["web"].delete(f"{FEED}/{second.id}")
    minute_later()
    wait_for(lambda: len(about_reading(fcm, "ios")) == 4)
    data = [message["data"] for message in about_reading(fcm, "ios") if "data" in message]
    assert data == [
        {"type": "read", "notification_ids": str(first.id), "unread_count": "1"},
        {"type": "read", "notification_ids": str(second.id), "unread_count": "0"},
    ]


def test_a_newer_message_stays_on_the_screen(fcm, worker, phones, as_alice, conversation_id):
    worker()
    write(as_alice, conversation_id)
    wait_for(lambda: fcm.messages("web"))
    wait_for(settled)
    read(phones["android"], conversation_id)
    wait_for(lambda: about_reading(fcm, "web"))
    write(as_alice, conversation_id)
    wait_for(lambda: len(fcm.messages("web")) == 3)
    wait_for(settled)
    read(phones["android"], conversation_id)
    write(as_alice, conversation_id)
    minute_later()
    wait_for(lambda: not Delivery.objects.filter(kind="read", state__in=["pending", "leased"]).exists())
    assert len(about_reading(fcm, "web")) == 1


def test_a_push_that_is_being_sent_is_waited_for(fcm, worker, phones, as_alice, conversation_id):
    fcm.script("web", {"kind": "SLOW", "seconds": 2})
    worker()
    write(as_alice, conversation_id)
    wait_for(lambda: fcm.messages("ios"))
    read(phones["android"], conversation_id)
    assert fcm.messages("web") == []
    wait_for(lambda: about_reading(fcm, "web"))
    assert [message["data"]["type"] for message in fcm.messages("web")] == ["message", "read"]


def test_clearing_and_the_socket_count_as_reading(fcm, worker, phones, as_alice, conversation_id, bob):
    worker()
    write(as_alice, conversation_id)
    wait_for(lambda: fcm.messages("web"))
    wait_for(settled)
    phones["ios"].post(f"{CONVERSATIONS}/{conversation_id}/clear")
    wait_for(lambda: about_reading(fcm, "web"))
    write(as_alice, conversation_id)
    wait_for(lambda: len(fcm.messages("web")) == 3)
    wait_for(settled)
    conversations.mark_read(reader_id=bob.id, conversation_id=conversation_id)
    minute_later()
    wait_for(lambda: len(about_reading(fcm, "web")) == 2)
    wait_for(lambda: about_reading(fcm, "android"))


def test_logout_and_a_dead_token_end_it(fcm, worker, phones, as_alice, conversation_id):
    worker()
    write(as_alice, conversation_id)
    wait_for(lambda: all(fcm.messages(token) for token in phones))
    wait_for(settled)
    phones["web"].post("/api/v1/auth/logout")
    fcm.script("android", "UNREGISTERED")
    read(phones["ios"], conversation_id)
    wait_for(lambda: Delivery.objects.filter(kind="read", state="dead").exists())
    wait_for(settled)
    assert about_reading(fcm, "web") == []


def test_it_commits_with_its_cause(fcm, phones, as_alice, conversation_id, bob):
    write(as_alice, conversation_id)
    Delivery.objects.update(state="sent", finished_at=timezone.now())
    with pytest.raises(RuntimeError), unit_of_work():
        conversations.mark_read(reader_id=bob.id, conversation_id=conversation_id)
        assert Delivery.objects.filter(kind="read").count() == 3
        raise RuntimeError
    assert not Delivery.objects.filter(kind="read").exists()


@pytest.mark.slow
def test_a_full_feed_fits_into_a_push(bob, alice, device_of, like):
    device = device_of(bob)
    for post in range(1, 151):
        like(alice, bob, post)
    Delivery.objects.update(state="sent", finished_at=timezone.now())
    ids = list(Notification.objects.order_by("id").values_list("id", flat=True))
    with unit_of_work():
        delivery.enqueue_read_push(recipient_id=bob.id, notification_ids=ids, session_id=None)
    [row] = Delivery.objects.filter(kind="read", device=device)
    assert row.payload == {"ids": ids[-100:]}


def test_without_a_push_device_no_statement_more(as_alice, as_bob, conversation_id, bob, alice, like):
    """As many statements as before there were such pushes."""
    write(as_alice, conversation_id)
    read(as_bob, conversation_id)
    most = (7, 12, 6) if connection.vendor == "sqlite" else (5, 11, 5)
    assert statements(lambda: write(as_alice, conversation_id)) <= most[0]
    assert statements(lambda: read(as_bob, conversation_id)) <= most[1]
    like(alice, bob, 1)
    assert statements(lambda: as_bob.post(f"{FEED}/read-all")) <= most[2]


def statements(work):
    with CaptureQueriesContext(connection) as captured:
        work()
    return sum(not one["sql"].startswith(("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE")) for one in captured)
