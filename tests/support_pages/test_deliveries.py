"""The list of deliveries says which mail or push each one was."""

import pytest
from django.core.mail import send_mail

from accounts import emails
from accounts.emails.texts import EMAIL_TEXTS
from accounts.services import account_status
from core.database.transactions import unit_of_work
from notifications import kinds
from notifications.models import Delivery
from notifications.services.delivery import mail
from tests.staff import admin_client, staff

LIST = "/admin/notifications/delivery/"


@pytest.fixture(autouse=True)
def queue(settings):
    settings.EMAIL_BACKEND = "notifications.services.delivery.mail.QueueingEmailBackend"


def test_a_queued_mail_is_recorded_with_its_kind_and_leaves_without_it(alice):
    with unit_of_work():
        emails.send_to(alice, "new_sign_in", device="Phone", address="192.0.2.7", time="12:00")
    row = Delivery.objects.get(channel="mail")
    assert (row.kind, row.recipient) == ("new_sign_in", alice)
    assert not [name for name in mail.decrypt(row.payload)["headers"] if name.startswith("X-Delivery")]


def test_every_mail_of_the_table_has_a_kind_that_fits(alice):
    longest = Delivery._meta.get_field("kind").max_length
    for kind in EMAIL_TEXTS:
        assert len(kind) <= longest and kind in kinds.DELIVERY_NAMES
    # A mail that the team's own code sends has no kind, or one of its own.
    send_mail("Hello", "…", None, [alice.email])
    message = emails.render("locked", alice.email, "en", {"name": "Alice"})
    message.extra_headers[mail.KIND_HEADER] = "x" * 100
    message.send()
    assert set(Delivery.objects.values_list("kind", flat=True)) == {kinds.OTHER_MAIL}


def test_every_kind_of_push_has_a_name():
    assert {*kinds.KINDS, *kinds.CALL_KINDS, kinds.READ, "test"} <= kinds.DELIVERY_NAMES.keys()


def test_the_list_the_row_and_the_page_of_the_person_say_which_mail_it_was(alice, anonymous):
    anonymous.post("/api/v1/auth/forgot-password", {"email": alice.email})
    account_status.reset_two_step(user=alice, actor="test")
    row = Delivery.objects.get(kind="reset_code")
    client = admin_client(staff(is_superuser=True))
    told = '<span title="reset_code">Your code for a new password</span>'
    for path in (LIST, f"{LIST}{row.pk}/change/", f"/admin/accounts/user/{alice.id}/change/"):
        assert told in client.get(path).content.decode(), path


def test_deliveries_are_filtered_by_the_kind_of_mail(alice, anonymous):
    anonymous.post("/api/v1/auth/forgot-password", {"email": alice.email})
    Delivery.objects.create(
        channel="push", kind="incoming_call", dedupe_key="call", recipient=alice,
        expires_at=Delivery.objects.get(kind="reset_code").expires_at,
    )  # fmt: skip
    client = admin_client(staff(is_superuser=True))
    for kind, name in (("reset_code", "Your code for a new password"), ("incoming_call", "Incoming call")):
        changelist = client.get(LIST, {"kind": kind}).context["cl"]
        assert [row.kind for row in changelist.result_list] == [kind]
        chosen = [
            str(choice["display"])
            for spec in changelist.filter_specs
            for choice in spec.choices(changelist)
            if choice["selected"]
        ]
        assert name in chosen
