"""Addresses with letters beyond ASCII, with a mail server that has SMTPUTF8 and with one that has not."""

from email import message_from_bytes, policy

import pytest
from django.core.mail import EmailMessage

from accounts import emails
from notifications.models import Delivery
from tests.notifications.smtp_sink import SmtpSink
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

BEYOND_ASCII = [
    "jürgen@example.org",
    "иван@example.org",
    "太郎@example.org",
    "عمر@example.org",
    "ñ.o+x@xn--bcher-kva.example",
]


@pytest.fixture
def start(settings):
    sinks = []

    def started(*, smtputf8):
        sink = SmtpSink(smtputf8=smtputf8)
        settings.EMAIL_BACKEND = "notifications.services.delivery.mail.QueueingEmailBackend"
        settings.NOTIFICATIONS_NOTIFY = False
        settings.NOTIFICATIONS_SWEEP_SECONDS = 0.2
        settings.NOTIFICATIONS_MAIL_TRANSPORT = {
            "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
            "OPTIONS": {"host": "127.0.0.1", "port": sink.port, "timeout": 2},
        }
        sink.start()
        sinks.append(sink)
        return sink

    yield started
    for sink in sinks:
        sink.stop()


def deliver(worker, *addresses, sender="Parley <no-reply@parley.test>"):
    for address in addresses:
        mail = emails.render("signup_code", address, "de", {"name": "Jürgen", "code": "123456"})
        mail.from_email = sender
        mail.send()
    worker()
    wait_for(lambda: not Delivery.objects.filter(state__in=["pending", "leased"]).exists())


def test_without_smtputf8_no_other_mailbox_is_asked(start, worker):
    sink = start(smtputf8=False)
    deliver(worker, "ann@example.org", *BEYOND_ASCII, "bob@xn--bcher-kva.example")
    assert sorted(sink.asked) == ["ann@example.org", "bob@xn--bcher-kva.example"]
    dead = Delivery.objects.filter(state="dead")
    assert dead.count() == len(BEYOND_ASCII) and set(dead.values_list("tries", flat=True)) == {1}
    assert set(dead.values_list("last_error", flat=True)) == {
        "the mail server takes no address with letters beyond ASCII (it has no SMTPUTF8)"
    }
    assert Delivery.objects.filter(state="sent").count() == 2


def test_with_smtputf8_the_address_is_said_as_it_is(start, worker):
    sink = start(smtputf8=True)
    deliver(worker, "ann@example.org", *BEYOND_ASCII)
    assert sorted(sink.asked) == sorted(["ann@example.org", *BEYOND_ASCII])
    assert Delivery.objects.filter(state="sent").count() == len(BEYOND_ASCII) + 1
    texts = {recipients[0]: text for recipients, text in sink.mails}
    for address in BEYOND_ASCII:
        assert {"SMTPUTF8", "BODY=8BITMIME"} <= set(sink.mail_options[address])
        head = texts[address].partition("\r\n\r\n")[0]
        assert f"To: {address}" in head and "=?" not in head.partition("To:")[2].partition("\n")[0]
        read = message_from_bytes(texts[address].encode(), policy=policy.SMTPUTF8)
        assert "123456" in read.get_body(("plain",)).get_content()
        assert "Jürgen" in read.get_body(("html",)).get_content()
        assert read["X-Entity-Ref-ID"] and read["Message-ID"] and not read.defects
    assert "SMTPUTF8" not in sink.mail_options["ann@example.org"]


def test_names_of_senders_and_recipients_stay(start, worker):
    sink = start(smtputf8=True)
    EmailMessage(
        "Grüße", "Text", "Büro <büro@parley.test>", ["Jürgen <jürgen@example.org>"], reply_to=["hilfe@bücher.example"]
    ).send()
    worker()
    wait_for(lambda: sink.mails)
    read = message_from_bytes(sink.mails[0][1].encode(), policy=policy.SMTPUTF8)
    assert (read["From"], read["To"]) == ("Büro <büro@parley.test>", "Jürgen <jürgen@example.org>")
    assert (read["Subject"], read["Reply-To"]) == ("Grüße", "hilfe@xn--bcher-kva.example")
    assert sink.asked == ["jürgen@example.org"]


def test_a_sender_beyond_ascii_needs_smtputf8_too(start, worker):
    sink = start(smtputf8=False)
    deliver(worker, "ann@example.org", sender="büro@parley.test")
    assert sink.asked == [] and Delivery.objects.get().state == "dead"
