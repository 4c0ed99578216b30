"""Pushes through the real firebase-admin to a local FCM."""

import json
import time
from datetime import timedelta
from pathlib import Path
from typing import ClassVar

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

import notifications
from accounts.models import Session
from notifications import checks
from notifications.channels import PushChannel, Sent
from notifications.conf import PUSH_PROVIDERS, loopback_endpoint
from notifications.models import ChannelPause, Delivery, Device, Notification, Preferences
from notifications.services import delivery, devices
from tests.factories import make_user
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def in_this_process(settings):
    settings.NOTIFICATIONS_NOTIFY = False
    settings.NOTIFICATIONS_RETRY_SECONDS = (0.1, 0.1, 0.2, 0.3, 0.3)
    settings.NOTIFICATIONS_PAUSE_SECONDS = (0.3, 0.6)
    settings.NOTIFICATIONS_SWEEP_SECONDS = 0.2


def states(**which):
    return sorted(Delivery.objects.filter(**which).values_list("state", flat=True))


def done():
    return not Delivery.objects.filter(state__in=["pending", "leased"]).exists()


def message_row(recipient, actor, count=1, group="9"):
    return Notification.objects.create(
        recipient=recipient, actor=actor, kind="message", group_key=group, target_id=9, count=count
    )


def push(row):
    return delivery.enqueue_push(recipient_id=row.recipient_id, notification_id=row.id)


def test_the_whole_message(fcm, worker, alice, bob, device_of):
    device = device_of(bob)
    row = message_row(bob, alice, count=3)
    push(row)
    worker()
    wait_for(done)
    [message] = fcm.messages(device.registration_id)
    assert message == {
        "token": device.registration_id,
        "notification": {"title": "Alice Archer", "body": "3 new messages"},
        "data": {"type": "message", "notification_id": str(row.id), "conversation_id": "9"},
        "android": {
            "collapse_key": "message",
            "priority": "high",
            "ttl": "86400s",
            "notification": {"tag": "message:9", "channel_id": "message", "notification_count": 1},
        },
        "apns": {
            "headers": {
                "apns-collapse-id": "message:9",
                "apns-expiration": message["apns"]["headers"]["apns-expiration"],
                "apns-priority": "10",
                "apns-push-type": "alert",
            },
            "payload": {"aps": {"badge": 1, "sound": "default", "thread-id": "message"}},
        },
        "fcm_options": {"analytics_label": "message"},
    }
    lasts = int(message["apns"]["headers"]["apns-expiration"]) - time.time()
    assert 86_400 - 30 <= lasts <= 86_400
    sent = Delivery.objects.get()
    assert (sent.state, sent.tries) == ("sent", 1) and sent.provider_id.startswith("projects/")


def test_posts_are_named_in_the_data(fcm, worker, alice, bob, device_of, like):
    device = device_of(bob)
    like(alice, bob, 42)
    worker()
    wait_for(done)
    [message] = fcm.messages(device.registration_id)
    assert message["data"]["post_id"] == "42" and message["data"]["type"] == "post_like"
    assert message["android"]["collapse_key"] == "activity"


def test_incoming_call_is_data_only_and_short_lived(fcm, worker, alice, bob, device_of):
    device = device_of(bob)
    Preferences.objects.create(user=bob, quiet_mode=True)
    data = {"type": "incoming_call", "call_id": "7", "conversation_id": "9", "media": "audio"}
    delivery.enqueue_call_push(recipient_id=bob.id, data=data, expires_at=timezone.now() + timedelta(seconds=30))
    worker()
    wait_for(done)
    [message] = fcm.messages(device.registration_id)
    assert "notification" not in message and "notification" not in message["android"]
    assert message["data"] == data | {"quiet": "1"}
    assert message["android"]["priority"] == "high" and 20 <= int(message["android"]["ttl"][:-1]) <= 30
    assert "collapse_key" not in message["android"]
    headers = message["apns"]["headers"]
    assert (headers["apns-push-type"], headers["apns-priority"]) == ("background", "5")
    assert message["apns"]["payload"] == {"aps": {"content-available": 1}}
    assert 15 <= int(headers["apns-expiration"]) - time.time() <= 30


def test_an_old_call_never_rings(fcm, worker, bob, device_of):
    device_of(bob)
    data = {"type": "incoming_call", "call_id": "7"}
    delivery.enqueue_call_push(recipient_id=bob.id, data=data, expires_at=timezone.now())
    worker()
    wait_for(done)
    assert states() == ["expired"] and fcm.requests() == []


def test_a_call_is_tried_until_it_expires(fcm, worker, bob, device_of):
    device = device_of(bob)
    fcm.script(device.registration_id, *["INTERNAL"] * 4)
    expires_at = timezone.now() + timedelta(seconds=60)
    delivery.enqueue_call_push(
        recipient_id=bob.id, data={"type": "incoming_call", "call_id": "7"}, expires_at=expires_at
    )
    worker()
    wait_for(done)
    assert Delivery.objects.values_list("state", "tries").get() == ("sent", 5)


def test_no_attempt_is_due_after_the_end(fcm, worker, bob, device_of):
    device = device_of(bob)
    fcm.script(device.registration_id, {"kind": "QUOTA_EXCEEDED", "retry_after": 900})
    expires_at = timezone.now() + timedelta(seconds=60)
    delivery.enqueue_call_push(
        recipient_id=bob.id, data={"type": "incoming_call", "call_id": "7"}, expires_at=expires_at
    )
    worker()
    row = wait_for(lambda: Delivery.objects.filter(state="pending", tries=1).first())
    assert row.due_at == row.expires_at


@pytest.mark.parametrize("kind", ["UNREGISTERED", "INVALID_TOKEN", "INVALID_TOKEN_FIELD"])
def test_dead_token_is_switched_off_alone(fcm, worker, alice, bob, device_of, kind):
    dead, good = device_of(bob), device_of(bob)
    fcm.script(dead.registration_id, kind)
    push(message_row(bob, alice))
    worker()
    wait_for(done)
    assert states() == ["dead", "sent"]
    assert list(Device.objects.filter(active=False)) == [dead]
    push(message_row(bob, alice, group="10"))
    wait_for(done)
    assert len(fcm.requests(dead.registration_id)) == 1 and len(fcm.messages(good.registration_id)) == 2


def test_a_refused_payload_kills_the_row_and_not_the_device(fcm, worker, alice, bob, charlie, device_of):
    one = device_of(bob)
    device_of(charlie)
    fcm.script(one.registration_id, "INVALID_PAYLOAD")
    push(message_row(bob, alice))
    push(message_row(charlie, alice))
    worker()
    wait_for(done)
    assert states(recipient=bob) == ["dead"] and states(recipient=charlie) == ["sent"]
    assert not Device.objects.filter(active=False).exists()


@pytest.mark.parametrize("kind", ["INTERNAL", "UNAVAILABLE", "QUOTA_EXCEEDED", "HTML_502", "GARBAGE", "DROP"])
def test_passing_trouble_is_tried_again(fcm, worker, alice, bob, device_of, kind):
    device = device_of(bob)
    fcm.script(device.registration_id, kind, kind)
    push(message_row(bob, alice))
    worker()
    wait_for(done)
    row = Delivery.objects.get()
    assert (row.state, row.tries) == ("sent", 3)
    assert len(fcm.requests(device.registration_id)) == 3


def test_after_six_tries_a_row_is_given_up(fcm, worker, alice, bob, device_of):
    device = device_of(bob)
    fcm.script(device.registration_id, {"kind": "INTERNAL", "forever": True})
    push(message_row(bob, alice))
    worker()
    wait_for(done)
    row = Delivery.objects.get()
    assert (row.state, row.tries) == ("dead", 6) and "500" in row.last_error
    assert len(fcm.requests(device.registration_id)) == 6
    assert Device.objects.get().active


def test_retry_after_is_kept_and_others_are_served(fcm, worker, alice, bob, charlie, device_of):
    slow, other = device_of(bob), device_of(charlie)
    fcm.script(slow.registration_id, {"kind": "QUOTA_EXCEEDED", "retry_after": 120})
    before = timezone.now()
    push(message_row(bob, alice))
    push(message_row(charlie, alice))
    worker()
    wait_for(lambda: fcm.messages(other.registration_id))
    row = wait_for(lambda: Delivery.objects.filter(recipient=bob, state="pending", tries=1).first())
    assert timedelta(seconds=119) < row.due_at - before < timedelta(seconds=140)
    assert len(fcm.requests(slow.registration_id)) == 1


@pytest.mark.parametrize("kind", ["UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR", "PERMISSION_DENIED", "BARE_404"])
def test_refused_credentials_pause_the_channel_and_keep_the_rows(fcm, worker, alice, bob, device_of, kind):
    for _ in range(10):
        device_of(bob)
    fcm.script("*", {"kind": kind, "forever": True})
    push(message_row(bob, alice))
    worker()
    wait_for(lambda: ChannelPause.objects.filter(channel="push", failures__gte=2).exists())
    assert set(states()) <= {"pending", "leased"}
    fcm.script("*")
    wait_for(done)
    assert states() == ["sent"] * 10
    assert not ChannelPause.objects.exists() and not Device.objects.filter(active=False).exists()


def test_an_outage_with_a_wait_pauses_the_channel_and_spares_the_tries(fcm, worker, alice, device_of):
    for number in range(12):
        person = make_user(f"Pat{number}")
        device_of(person)
        push(message_row(person, alice))
    fcm.script("*", {"kind": "UNAVAILABLE", "retry_after": 1, "forever": True})
    worker()
    wait_for(lambda: ChannelPause.objects.filter(failures__gte=2).exists())
    assert set(states()) <= {"pending", "leased"}
    fcm.script("*")
    wait_for(done)
    assert states() == ["sent"] * 12 and not ChannelPause.objects.exists()
    # Those that failed before the pause, and in it, and then were sent.
    assert max(Delivery.objects.values_list("tries", flat=True)) <= 2


def test_sign_in_that_fails_pauses_the_channel(fcm, worker, alice, bob, device_of):
    device_of(bob)
    fcm.sign_in(works=False)
    push(message_row(bob, alice))
    worker()
    wait_for(lambda: ChannelPause.objects.exists())
    assert fcm.requests() == []
    fcm.sign_in(works=True)
    wait_for(done)
    assert states() == ["sent"]


def test_a_wave_of_foreign_tokens_switches_nothing_off(fcm, worker, alice, bob, charlie, device_of):
    for person in (bob, charlie):
        for _ in range(15):
            device_of(person)
    fcm.script("*", {"kind": "SENDER_ID_MISMATCH", "forever": True})
    push(message_row(bob, alice))
    push(message_row(charlie, alice))
    worker()
    wait_for(lambda: ChannelPause.objects.filter(failures__gte=2).exists())
    assert not Device.objects.filter(active=False).exists()
    fcm.script("*")
    wait_for(done)
    assert states() == ["sent"] * 30


def test_one_foreign_token_pauses_nothing(fcm, worker, settings, alice, bob, charlie, device_of):
    settings.NOTIFICATIONS_RETRY_SECONDS = (0.5,) * 5
    foreign, good = device_of(bob), device_of(charlie)
    fcm.script(foreign.registration_id, {"kind": "SENDER_ID_MISMATCH", "forever": True})
    for group in range(5):
        push(message_row(bob, alice, group=str(group)))
    worker()
    wait_for(lambda: Delivery.objects.filter(last_error="SENDER_ID_MISMATCH").count() == 5)
    assert not ChannelPause.objects.exists()
    for group in range(20):
        push(message_row(charlie, alice, group=str(group)))
    wait_for(done)
    assert states(recipient=charlie) == ["sent"] * 20 and len(fcm.messages(good.registration_id)) == 20
    assert list(Device.objects.filter(active=False)) == [foreign] and not ChannelPause.objects.exists()


def test_wrong_credentials_file_pauses_pushes_only(fcm, worker, settings, alice, bob, device_of):
    settings.NOTIFICATIONS_FCM_CREDENTIALS = "/nowhere.json"
    device_of(bob)
    push(message_row(bob, alice))
    worker()
    pause = wait_for(lambda: ChannelPause.objects.first())
    assert "PUSH_FCM_CREDENTIALS" in pause.reason and pause.channel == "push"


def test_checked_again_when_sent(fcm, worker, alice, bob, device_of):
    device = device_of(bob)
    row = message_row(bob, alice)
    push(row)
    Notification.objects.filter(id=row.id).update(is_read=True, is_open=False)
    push(message_row(bob, alice, group="10"))
    Preferences.objects.create(user=bob, messages=False)
    worker()
    wait_for(done)
    assert states() == ["cancelled", "cancelled"] and fcm.requests(device.registration_id) == []


def test_nothing_reaches_a_device_whose_sign_in_ended(fcm, worker, alice, bob, device_of):
    device = device_of(bob)
    push(message_row(bob, alice))
    Session.objects.filter(id=device.session_id).update(ended_at=timezone.now())
    worker()
    wait_for(done)
    assert states() == ["cancelled"] and fcm.requests() == []


def test_a_moved_token_gets_nothing_of_its_former_owner(fcm, worker, alice, bob, charlie, device_of):
    fcm.script("*", {"kind": "UNAVAILABLE"})
    device = device_of(bob)
    push(message_row(bob, alice))
    worker()
    wait_for(lambda: fcm.requests(device.registration_id))
    device_of(charlie, token=device.registration_id)
    wait_for(done)
    assert fcm.messages(device.registration_id) == []
    assert devices.token_digest(device.registration_id) == Device.objects.get().token_digest


@pytest.mark.skipif(
    not (Path(notifications.__file__).parent / "locale").exists(), reason="the translations are not there yet"
)
def test_the_recipients_language_with_its_plurals(fcm, worker, alice, bob, device_of):
    bob.language = "ru"
    bob.save()
    russian, german = device_of(bob), device_of(bob, locale="de-AT")
    push(message_row(bob, alice, count=3))
    worker()
    wait_for(done)
    bodies = {token: fcm.messages(token)[0]["notification"]["body"] for token in
              (russian.registration_id, german.registration_id)}  # fmt: skip
    assert bodies == {
        russian.registration_id: "3 новых сообщения",
        german.registration_id: "3 neue Nachrichten",
    }


def test_a_socket_that_saw_it_spares_the_push(fcm, worker, settings, alice, bob, device_of):
    settings.NOTIFICATIONS_PUSH_SOCKET_SECONDS = 1.0
    seen, connected, absent = (device_of(bob) for _ in range(3))
    answers = {seen.session_id: "seen", connected.session_id: "connected"}
    delivery.register_socket_statuses(lambda asked: [answers.get(one.session_id, "absent") for one in asked])
    try:
        push(message_row(bob, alice))
        worker()
        wait_for(lambda: fcm.messages(absent.registration_id))
        wait_for(done)
        sent = Delivery.objects.get(device=connected)
    finally:
        delivery.register_socket_statuses(None)
    assert fcm.messages(seen.registration_id) == [] and len(fcm.messages(connected.registration_id)) == 1
    assert sent.finished_at - sent.touched_at >= timedelta(seconds=1) and sent.tries == 1


def test_a_broken_presence_delays_nothing(fcm, worker, alice, bob, device_of):
    device_of(bob)

    def broken(asked):
        raise RuntimeError

    delivery.register_socket_statuses(broken)
    try:
        push(message_row(bob, alice))
        worker()
        wait_for(done)
    finally:
        delivery.register_socket_statuses(None)
    assert states() == ["sent"]


def test_the_last_push_of_a_minute_has_the_final_count(fcm, worker, settings, alice, bob, device_of):
    settings.NOTIFICATIONS_PUSH_GROUP_SECONDS = 2
    device = device_of(bob)
    row = message_row(bob, alice)
    push(row)
    worker()
    wait_for(lambda: fcm.messages(device.registration_id))
    for count in range(2, 8):
        Notification.objects.filter(id=row.id).update(count=count)
        push(row)
    wait_for(done)
    assert [one["notification"]["body"] for one in fcm.messages(device.registration_id)] == [
        "1 new message", "7 new messages",
    ]  # fmt: skip


def test_pushes_of_a_group_that_waited_out_an_outage_leave_as_one(fcm, worker, alice, bob, device_of):
    device = device_of(bob)
    row = message_row(bob, alice, count=3)
    for number in range(3):
        push(row)
        # A try that failed: what happens from then on gets a row of its own.
        Delivery.objects.filter(dedupe_key__endswith=":open").update(dedupe_key=f"tried {number}")
    assert Delivery.objects.update(due_at=timezone.now()) == 3
    worker()
    wait_for(done)
    assert states() == ["cancelled", "cancelled", "sent"]
    [message] = fcm.messages(device.registration_id)
    assert message["notification"]["body"] == "3 new messages"


def test_no_token_or_text_in_rows_and_log(fcm, worker, alice, bob, device_of, caplog):
    device = device_of(bob)
    fcm.script(device.registration_id, "INTERNAL", "INVALID_PAYLOAD")
    push(message_row(bob, alice))
    worker()
    wait_for(done)
    stored = json.dumps(list(Delivery.objects.values()), default=str)
    assert device.registration_id not in stored + caplog.text


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://fcm.example.com",
        "http://127.0.0.1@evil.example",
        "http://10.0.0.1:8",
        "ftp://127.0.0.1",
        "127.0.0.1:80",
        "http://127.0.0.1:99999",
        "http://[::1",
    ],
)
def test_only_loopback_may_stand_in_for_fcm(endpoint):
    with pytest.raises(ImproperlyConfigured):
        loopback_endpoint(endpoint)


def test_outbox_holds_what_a_device_would_get(worker, settings, tmp_path, alice, bob, device_of):
    settings.NOTIFICATIONS_PUSH_BACKEND = "outbox"
    settings.NOTIFICATIONS_PUSH_OUTBOX = tmp_path / "push"
    device = device_of(bob)
    push(message_row(bob, alice))
    worker()
    wait_for(done)
    [file] = (tmp_path / "push").iterdir()
    message = json.loads(file.read_text())["message"]
    assert message["token"] == device.registration_id and message["data"]["type"] == "message"
    assert file.stat().st_mode & 0o077 == 0


class Recorder(PushChannel):
    """A push provider as an app of its own would bring it."""

    messages: ClassVar[list] = []

    def send(self, message, *, dry_run=False):
        self.messages.append(message)
        return Sent("recorder/1")


def test_a_new_provider_is_a_class_and_a_row(worker, settings, monkeypatch, alice, bob, device_of):
    monkeypatch.setitem(PUSH_PROVIDERS, "recorder", f"{__name__}.Recorder")
    settings.NOTIFICATIONS_PUSH_BACKEND = "recorder"
    device = device_of(bob)
    assert [problem.id for problem in checks.push()] == []
    push(message_row(bob, alice))
    worker()
    wait_for(done)
    assert [message.token for message in Recorder.messages] == [device.registration_id]
    assert Delivery.objects.get().provider_id == "recorder/1"
