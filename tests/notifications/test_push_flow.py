"""From a request to the phone: what one person does, the other's devices are told."""

import pytest

from notifications.models import Delivery
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

TOKEN = "phone-of-bob"


@pytest.fixture(autouse=True)
def in_this_process(settings, as_bob):
    settings.NOTIFICATIONS_NOTIFY = False
    as_bob.post("/api/v1/profile/push-token", {"token": TOKEN})


@pytest.fixture
def conversation(as_alice, bob):
    return as_alice.post("/api/v1/messages/conversations", {"user_id": bob.id}, status=201)["conversation"]["id"]


def send_message(client, conversation, text="secret words"):
    return client.post(f"/api/v1/messages/conversations/{conversation}/messages", {"body": text}, status=201)


def test_a_message_is_pushed_without_its_words(fcm, worker, as_alice, as_bob, alice, conversation):
    worker()
    send_message(as_alice, conversation)
    [message] = wait_for(lambda: fcm.messages(TOKEN))
    assert message["notification"] == {"title": alice.display_name, "body": "1 new message"}
    assert message["data"]["type"] == "message"
    assert message["data"]["conversation_id"] == str(conversation)
    assert "secret" not in str(message) + str(list(Delivery.objects.values()))


def test_reading_takes_the_waiting_push_back(fcm, worker, as_alice, as_bob, conversation):
    send_message(as_alice, conversation)
    as_bob.post(f"/api/v1/messages/conversations/{conversation}/read")
    worker()
    wait_for(lambda: not Delivery.objects.filter(state__in=["pending", "leased"]).exists())
    assert fcm.requests(TOKEN) == []


def test_messages_taken_back_within_the_minute_push_nothing_again(fcm, worker, settings, as_alice, conversation):
    settings.NOTIFICATIONS_PUSH_GROUP_SECONDS = 2
    send_message(as_alice, conversation)
    worker()
    wait_for(lambda: fcm.messages(TOKEN))
    for message in [send_message(as_alice, conversation)["message"] for _ in range(3)]:
        as_alice.delete(f"/api/v1/messages/messages/{message['id']}")
    wait_for(lambda: not Delivery.objects.filter(state__in=["pending", "leased"]).exists())
    assert [message["notification"]["body"] for message in fcm.messages(TOKEN)] == ["1 new message"]


def test_logout_ends_pushes_at_once(fcm, worker, as_alice, as_bob, conversation):
    send_message(as_alice, conversation)
    as_bob.post("/api/v1/auth/logout")
    worker()
    send_message(as_alice, conversation)
    wait_for(lambda: not Delivery.objects.filter(state__in=["pending", "leased"]).exists())
    assert fcm.requests(TOKEN) == []


def test_own_test_push(fcm, worker, as_bob):
    worker()
    as_bob.post("/api/v1/notifications/test-push")
    [message] = wait_for(lambda: fcm.messages(TOKEN))
    assert message["data"] == {"type": "test"} and message["notification"]["title"]
