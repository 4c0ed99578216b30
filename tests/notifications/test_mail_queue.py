"""Mail is queued with its cause and leaves through the real transport."""

import json
import time

import pytest
from django.core.mail import BadHeaderError, EmailMultiAlternatives, send_mail
from django.db import transaction
from django.utils import timezone

from notifications.models import Delivery
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def queueing(settings, tmp_path):
    settings.EMAIL_BACKEND = "notifications.services.delivery.mail.QueueingEmailBackend"
    settings.NOTIFICATIONS_NOTIFY = False
    settings.NOTIFICATIONS_MAIL_TRANSPORT = {
        "BACKEND": "django.core.mail.backends.filebased.EmailBackend",
        "OPTIONS": {"file_path": str(tmp_path / "mail")},
    }
    return tmp_path / "mail"


def send_code(to="ann@example.com", **headers):
    mail = EmailMultiAlternatives(
        "Your code",
        "Code: 123456",
        "Parley <no-reply@parley.test>",
        [to],
        headers={"X-Delivery-Priority": "code", **headers},
    )
    mail.attach_alternative("<b>123456</b>", "text/html")
    mail.send()


def test_mail_leaves_and_its_secret_is_wiped(queueing, worker, alice):
    worker()
    send_code(alice.email)
    wait_for(lambda: Delivery.objects.filter(state="sent").exists())
    [file] = queueing.iterdir()
    text = file.read_text()
    assert "Code: 123456" in text and "<b>123456</b>" in text and f"To: {alice.email}" in text
    assert "X-Delivery" not in text
    row = Delivery.objects.get()
    assert (row.priority, row.payload, row.recipient_id, row.tries) == (1, {}, alice.id, 1)
    assert "123456" not in json.dumps(list(Delivery.objects.values()), default=str)


def test_rollback_leaves_nothing(queueing, worker):
    worker()
    with pytest.raises(RuntimeError), transaction.atomic():
        send_code()
        raise RuntimeError
    assert Delivery.objects.count() == 0
    time.sleep(0.3)
    assert not queueing.exists()


def test_expired_mail_is_wiped_and_never_sent(queueing, worker):
    worker()
    with transaction.atomic():
        send_code()
        Delivery.objects.update(expires_at=timezone.now())
    row = wait_for(lambda: Delivery.objects.filter(state="expired").first())
    assert row.payload == {} and row.tries == 0
    assert not queueing.exists()


def test_line_breaks_in_headers_are_refused():
    with pytest.raises(BadHeaderError):
        send_mail("a\nBcc: x@example.com", "text", None, ["ann@example.com"])
    assert Delivery.objects.count() == 0


def test_a_queued_mail_adds_one_statement(django_assert_num_queries, alice):
    with transaction.atomic(), django_assert_num_queries(1):
        send_code(alice.email)
