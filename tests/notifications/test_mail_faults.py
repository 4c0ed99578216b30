"""A mail server that is down, hangs or answers nonsense loses no mail and delays no request."""

import re
import socket
from datetime import timedelta

import pytest
from django.core.mail import EmailMessage
from django.db.models import F

from notifications.models import ChannelPause, Delivery
from tests.notifications.smtp_sink import SmtpSink
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def smtp(settings):
    sink = SmtpSink()
    settings.EMAIL_BACKEND = "notifications.services.delivery.mail.QueueingEmailBackend"
    settings.NOTIFICATIONS_NOTIFY = False
    settings.NOTIFICATIONS_RETRY_SECONDS = (0.1, 0.1, 0.2, 0.3, 0.3)
    settings.NOTIFICATIONS_PAUSE_SECONDS = (0.2, 0.5)
    settings.NOTIFICATIONS_SWEEP_SECONDS = 0.2
    settings.NOTIFICATIONS_MAIL_TRANSPORT = {
        "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "OPTIONS": {"host": "127.0.0.1", "port": sink.port, "timeout": 0.5},
    }
    yield sink
    sink.stop()


def send(*addresses, code=True):
    for address in addresses:
        headers = {"X-Delivery-Priority": "code"} if code else {}
        EmailMessage("Your code", "Code: 123456", "Parley <no-reply@parley.test>", [address], headers=headers).send()


def done():
    return not Delivery.objects.filter(state__in=["pending", "leased"]).exists()


def recipients(smtp):
    return sorted(address for addresses, _ in smtp.mails for address in addresses)


def people(count):
    return [f"p{number:02d}@example.com" for number in range(count)]


def test_mail_leaves_by_smtp(smtp, worker):
    smtp.start()
    send("ann@example.com")
    worker()
    wait_for(done)
    [(addresses, text)] = smtp.mails
    assert addresses == ["ann@example.com"] and "Code: 123456" in text and "X-Delivery" not in text
    assert Delivery.objects.get().provider_id == re.search("Message-ID: (.*)", text)[1].strip()


def test_a_server_that_is_down_costs_no_try(smtp, worker):
    send(*people(10))
    worker()
    wait_for(lambda: ChannelPause.objects.filter(channel="mail", failures__gte=3).exists())
    assert not Delivery.objects.filter(state="dead").exists()
    smtp.start()
    wait_for(done)
    assert recipients(smtp) == people(10)
    assert not ChannelPause.objects.exists()
    assert not Delivery.objects.exclude(payload={}).exists()


def test_a_server_that_talks_nonsense(smtp, worker):
    smtp.garbage = True
    smtp.start()
    send(*people(5))
    worker()
    wait_for(lambda: ChannelPause.objects.exists())
    smtp.garbage = False
    wait_for(done)
    assert recipients(smtp) == people(5)


@pytest.mark.parametrize("answer", ["554 5.7.1 Relay access denied", "530 sign in first", "421 closing"])
def test_a_server_that_refuses_all_recipients_loses_no_mail(smtp, worker, answer):
    smtp.recipient_answers = dict.fromkeys(people(10), answer)
    smtp.start()
    send(*people(10))
    worker()
    wait_for(lambda: ChannelPause.objects.filter(channel="mail", failures__gte=2).exists())
    assert not Delivery.objects.filter(state="dead").exists()
    smtp.recipient_answers = {}
    wait_for(done)
    assert recipients(smtp) == people(10)


def test_a_server_that_hangs(smtp, worker):
    with socket.create_server(("127.0.0.1", smtp.port)) as silent:
        silent.listen()
        send(*people(5))
        worker()
        wait_for(lambda: ChannelPause.objects.exists())
        wait_for(lambda: ChannelPause.objects.filter(failures__gte=2).exists())
    smtp.start()
    wait_for(done)
    assert recipients(smtp) == people(5)


def test_a_server_that_takes_its_time_gets_a_mail_once(smtp, worker):
    """Longer than the time-out of a connection that opens."""
    smtp.seconds_to_accept = 2
    smtp.start()
    send("ann@example.com")
    worker()
    wait_for(done)
    assert recipients(smtp) == ["ann@example.com"]


def test_a_mail_that_is_put_off_is_tried_again_and_others_pass(smtp, worker):
    smtp.start()
    smtp.recipient_answers["late@example.com"] = "451 try again"
    send("late@example.com", "ann@example.com")
    worker()
    wait_for(lambda: recipients(smtp) == ["ann@example.com"])
    wait_for(lambda: Delivery.objects.filter(state="pending", tries__gte=2).exists())
    del smtp.recipient_answers["late@example.com"]
    wait_for(done)
    assert recipients(smtp) == ["ann@example.com", "late@example.com"]


def test_a_mail_is_tried_again_while_one_of_its_recipients_is_only_put_off(smtp, worker):
    smtp.start()
    smtp.recipient_answers = {"gone@example.com": "550 unknown", "late@example.com": "451 try again"}
    EmailMessage("News", "For both", "no-reply@parley.test", ["gone@example.com", "late@example.com"]).send()
    worker()
    wait_for(lambda: Delivery.objects.filter(state="pending", tries__gte=2).exists())
    del smtp.recipient_answers["late@example.com"]
    wait_for(done)
    assert recipients(smtp) == ["late@example.com"]


def test_an_unknown_mailbox_is_given_up_and_its_code_wiped(smtp, worker):
    smtp.start()
    smtp.recipient_answers["nobody@example.com"] = "550 no such mailbox"
    send("nobody@example.com")
    worker()
    wait_for(done)
    row = Delivery.objects.get()
    assert (row.state, row.tries, row.payload) == ("dead", 1, {})
    assert "550" in row.last_error and "nobody" not in row.last_error


def test_codes_leave_first(smtp, worker, settings):
    settings.NOTIFICATIONS_MAIL_THREADS = 1
    smtp.start()
    send(*people(3), code=False)
    Delivery.objects.update(due_at=F("due_at") - timedelta(seconds=5))
    send("code@example.com")
    worker()
    wait_for(done)
    assert smtp.mails[0][0] == ["code@example.com"]


def test_pushes_leave_while_mail_hangs(smtp, worker, settings, tmp_path, bob, device_of):
    settings.NOTIFICATIONS_PUSH_OUTBOX = tmp_path
    from notifications.services import delivery

    device_of(bob)
    with socket.create_server(("127.0.0.1", smtp.port)) as silent:
        silent.listen()
        send(*people(20))
        delivery.enqueue_test_push(recipient_id=bob.id)
        worker()
        wait_for(lambda: Delivery.objects.filter(channel="push", state="sent").exists(), 3)
    assert not Delivery.objects.filter(channel="mail", state="sent").exists()
