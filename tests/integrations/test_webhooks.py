"""Events as webhooks: the real worker sends to real receivers on this machine."""

import json
import socket
import threading
import time
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from standardwebhooks import Webhook, WebhookVerificationError

from accounts.models import AuditEntry
from accounts.services import registration
from integrations.models import Event, WebhookTarget
from integrations.services import event_log, webhooks
from notifications.models import ChannelPause, Delivery
from server import health
from tests.integrations.receiving import SECRET, receiver
from tests.integrations.server import PREFIX, server
from tests.staff import admin_client, staff
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def happen(number=1):
    """So many accounts are created, one event each."""
    for _ in range(number):
        count = Event.objects.count()
        registration.create_user(email=f"p{count}-{time.time_ns()}@example.com", password=None, first_name=f"P{count}")


@pytest.fixture
def quick(settings):
    """Retries and pauses in fractions of a second."""
    settings.NOTIFICATIONS_WEBHOOK_RETRY_SECONDS = (0.05, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1)
    settings.NOTIFICATIONS_PAUSE_SECONDS = (0.05, 0.2)
    settings.NOTIFICATIONS_SWEEP_SECONDS = 0.1
    return settings


def states(target="shop"):
    return sorted(Delivery.objects.filter(target=target).values_list("state", flat=True))


def test_the_published_library_verifies_an_event_as_it_is(quick, worker):
    with receiver(types="account.created+text") as (shop, quick.INTEGRATIONS_WEBHOOKS):
        worker()
        happen()
        [event] = wait_for(lambda: shop.received)
        raw = json.dumps(event.body, ensure_ascii=False).encode()
        assert Webhook(SECRET).verify(raw.decode(), event.headers) == event.body
        with pytest.raises(WebhookVerificationError):
            Webhook(SECRET).verify(raw.decode().replace("P0", "Q0"), event.headers)
        assert event.body.keys() == {"type", "timestamp", "data"}
        assert event.body["data"]["user"]["first_name"] == "P0"
        assert (event.attempt, event.headers["content-type"]) == (1, "application/json")
        wait_for(lambda: states() == ["sent"])
        row = Delivery.objects.get()
        assert row.payload["status"] == 200
        [read] = server().get(f"{PREFIX}/events")["events"]
        assert (read["type"], read["webhook_id"]) == ("account.created", event.id)


def test_each_key_signs(quick, worker):
    other = "whsec_" + "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE="
    with receiver(types="*") as (shop, entry):
        quick.INTEGRATIONS_WEBHOOKS = entry.replace(SECRET, f"{other},{SECRET}")
        worker()
        happen()
        [event] = wait_for(lambda: shop.received)
        raw = json.dumps(event.body, ensure_ascii=False)
        for key in (other, SECRET):
            Webhook(key).verify(raw, event.headers)
        assert len(event.headers["webhook-signature"].split()) == 2


@pytest.mark.parametrize("status", [500, 404, 302, 0, 429, 199])
def test_a_failed_attempt_is_repeated_with_the_same_id(quick, worker, status):
    if status == 199:
        status = 400
    with receiver(types="account.created", statuses=[status, status, 204]) as (shop, quick.INTEGRATIONS_WEBHOOKS):
        worker()
        happen()
        wait_for(lambda: states() == ["sent"])
        assert len({event.id for event in shop.received}) == 1
        assert [event.attempt for event in shop.received][-1] == 3
        assert len(shop.received) == 3


def test_it_is_given_up_after_eight_attempts_and_can_be_repeated(quick, worker):
    quick.NOTIFICATIONS_WEBHOOK_RETRY_SECONDS = (0.01,) * 7
    with receiver(types="account.created", statuses=[500]) as (shop, quick.INTEGRATIONS_WEBHOOKS):
        worker()
        happen()
        wait_for(lambda: states() == ["dead"])
        assert [event.attempt for event in shop.received] == list(range(1, 9))
        assert "500" in Delivery.objects.get().last_error
        shop.statuses = [200]
        call_command("retry_deliveries", "--channel", "webhook")
        wait_for(lambda: states() == ["sent"])
        assert len({event.id for event in shop.received}) == 1


@pytest.mark.once
def test_the_waits_are_those_of_the_specification():
    from notifications.conf import Defaults

    assert Defaults().WEBHOOK_RETRY_SECONDS == (5, 30, 120, 600, 3600, 21_600, 86_400)
    assert Defaults().WEBHOOK_RETRY_JITTER == 0.2


def test_events_leave_in_their_order(quick, worker):
    with receiver(types="account.created") as (shop, quick.INTEGRATIONS_WEBHOOKS):
        quick.NOTIFICATIONS_WEBHOOK_THREADS = 1
        happen(60)
        worker()
        wait_for(lambda: len(shop.received) == 60)
        ids = [event.body["data"]["user"]["id"] for event in shop.received]
        assert ids == sorted(ids)
        assert {event.is_genuine for event in shop.received} == {True}


def test_a_target_that_was_down_gets_everything_in_order(quick, worker):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    quick.INTEGRATIONS_WEBHOOKS = f"shop|http://127.0.0.1:{port}/|{SECRET}|account.created"
    quick.NOTIFICATIONS_WEBHOOK_THREADS = 1
    worker()
    happen(25)
    pause = wait_for(lambda: ChannelPause.objects.filter(channel="webhook:shop").first())
    assert "127.0.0.1" not in pause.reason
    happen(5)
    from portal.development.webhook_receiver import Receiver, ReceiverServer
    from tests.integrations.receiving import KEY

    shop = Receiver([KEY])
    listening = ReceiverServer(("127.0.0.1", port), shop)
    threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        wait_for(lambda: len(shop.received) == 30)
        ids = [event.body["data"]["user"]["id"] for event in shop.received]
        assert ids == sorted(ids)
        wait_for(lambda: not ChannelPause.objects.exists())
        assert set(Delivery.objects.values_list("tries", flat=True)) == {1}
    finally:
        listening.shutdown()
        listening.server_close()


@pytest.mark.slow
def test_a_target_that_hangs_delays_no_other_target_and_no_mail(quick, worker):
    quick.INTEGRATIONS_WEBHOOK_TIMEOUT_SECONDS = 3
    quick.EMAIL_BACKEND = "notifications.services.delivery.mail.QueueingEmailBackend"
    from django.core.mail import send_mail

    with (
        receiver("slow", "account.created", delay=30) as (_slow, slow),
        receiver("fast", "account.created") as (fast, entry),
    ):
        quick.INTEGRATIONS_WEBHOOKS = f"{slow} {entry}"
        worker()
        happen(20)
        send_mail("subject", "text", None, ["a@example.com"])
        started = time.monotonic()
        wait_for(lambda: len(fast.received) == 20, seconds=3)
        wait_for(lambda: Delivery.objects.filter(channel="mail", state="sent").exists(), seconds=3)
        assert time.monotonic() - started < 3
        wait_for(lambda: ChannelPause.objects.filter(channel="webhook:slow").exists(), seconds=20)
        assert not ChannelPause.objects.exclude(channel="webhook:slow").exists()


@pytest.mark.slow
def test_a_slow_drip_ends_at_the_deadline(quick, worker):
    quick.INTEGRATIONS_WEBHOOK_TIMEOUT_SECONDS = 1
    quick.NOTIFICATIONS_WEBHOOK_RETRY_SECONDS = (60,) * 7
    with socket.create_server(("127.0.0.1", 0)) as listening:
        quick.INTEGRATIONS_WEBHOOKS = f"shop|http://127.0.0.1:{listening.getsockname()[1]}/|{SECRET}|account.created"

        def drip():
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                for _ in range(100):
                    try:
                        connection.sendall(b"H")
                    except OSError:
                        return
                    time.sleep(0.2)

        threading.Thread(target=drip, daemon=True).start()
        worker()
        happen()
        row = wait_for(lambda: Delivery.objects.exclude(last_error="").first(), seconds=8)
        assert "no answer within 1 s" in row.last_error


def test_410_switches_a_target_off_until_it_is_enabled(quick, worker, caplog):
    with receiver(types="account.created", statuses=[200, 410, 200]) as (shop, quick.INTEGRATIONS_WEBHOOKS):
        quick.NOTIFICATIONS_WEBHOOK_THREADS = 1
        worker()
        happen()
        wait_for(lambda: len(shop.received) == 1)
        happen()
        target = wait_for(lambda: WebhookTarget.objects.exclude(switched_off_at=None).first())
        assert "410" in target.reason
        happen(3)
        # PostgreSQL shows events once every transaction that was open before them has ended.
        wait_for(lambda: len(server().get(f"{PREFIX}/events")["events"]) == 5)
        time.sleep(0.3)
        assert len(shop.received) == 2
        finding = health.webhooks()
        assert finding.state == health.DEGRADED and "enable_webhook shop" in finding.detail
        assert AuditEntry.objects.filter(action="webhook.switched_off").count() == 1
        call_command("enable_webhook", "shop")
        assert health.webhooks().state == health.OK
        happen()
        wait_for(lambda: len(shop.received) == 3)
        with pytest.raises(CommandError) as error:
            call_command("enable_webhook", "shop")
        assert error.value.returncode == 3


def test_a_test_event_reaches_one_target_only(quick, worker):
    with receiver("one", "message.created") as (one, first), receiver("two", "*") as (two, second):
        quick.INTEGRATIONS_WEBHOOKS = f"{first}\n{second}"
        worker()
        call_command("send_test_webhook", "one")
        [event] = wait_for(lambda: one.received)
        assert event.body["type"] == "test"
        assert two.received == []
    with pytest.raises(CommandError) as error:
        call_command("send_test_webhook", "three")
    assert error.value.returncode == 3


def test_a_target_gets_its_types_and_texts_only_if_it_asks(quick, worker, alice, bob):
    from messaging.services import conversations, messages

    with receiver("plain", "message.*") as (plain, first), receiver("full", "message.*+text") as (full, second):
        quick.INTEGRATIONS_WEBHOOKS = f"{first} {second}"
        worker()
        chat, _new = conversations.start(starter=alice, user_id=bob.id)
        messages.send(sender=alice, conversation_id=chat.id, body="secret words")
        [event] = wait_for(lambda: full.received)
        assert event.body["data"]["message"]["body"] == "secret words"
        [event] = wait_for(lambda: plain.received)
        assert "secret words" not in json.dumps(event.body)
        assert event.body["data"]["sender"]["id"] == alice.id
        assert "secret words" not in json.dumps(list(Event.objects.values_list("data", flat=True)))


def test_what_waits_for_a_target_that_is_no_longer_configured_stays(quick, worker):
    quick.INTEGRATIONS_WEBHOOKS = f"shop|http://127.0.0.1:9/|{SECRET}|account.created"
    happen()
    event_log.give_numbers()
    assert states() == ["pending"]
    assert health.webhooks().state == health.OK
    Delivery.objects.update(created_at=timezone.now() - timedelta(hours=1))
    assert "behind" in health.webhooks().detail
    assert health.delivery_queue().state == health.OK
    assert webhooks.figures()["shop"]["lag_seconds"] > 3000


def test_support_pages_show_targets_answers_and_events(quick, worker):
    with receiver(types="account.created", statuses=[500, 200]) as (shop, quick.INTEGRATIONS_WEBHOOKS):
        worker()
        happen()
        wait_for(lambda: states() == ["sent"])
    WebhookTarget.objects.update(switched_off_at=timezone.now(), reason="the target answers 410")
    client = admin_client(staff(is_superuser=True))
    row = WebhookTarget.objects.get()
    pages = "".join(
        client.get(path).content.decode()
        for path in (
            "/admin/integrations/webhooktarget/", f"/admin/integrations/webhooktarget/{row.id}/change/",
            "/admin/integrations/event/", f"/admin/integrations/event/{Event.objects.first().id}/change/", "/admin/",
        )
    )  # fmt: skip
    assert "account.created" in pages and "the target answers 410" in pages
    assert SECRET not in pages and "127.0.0.1" not in pages
    client.post(
        "/admin/integrations/webhooktarget/", {"action": "enable", "_selected_action": [row.id], "confirmed": "1"}
    )
    assert WebhookTarget.objects.get().switched_off_at is None


def test_doctor_names_a_target_that_gets_nothing(quick):
    from server.management.commands.doctor import examine

    def lines():
        return [line for line in examine() if "shop" in line.what]

    assert lines() == []
    quick.INTEGRATIONS_WEBHOOKS = f"shop|http://127.0.0.1:9/|{SECRET}|account.created"
    [line] = lines()
    assert line.status == health.OK
    WebhookTarget.objects.create(name="shop", switched_off_at=timezone.now(), reason="the target answers 410")
    [line] = lines()
    assert line.status == "error" and "enable_webhook shop" in line.what
