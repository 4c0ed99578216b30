"""The support pages of messaging, notifications and calls."""

import re
from functools import partial

import pytest
from django.utils import timezone

from accounts.models import AuditEntry, Session
from accounts.services import audit
from accounts.sign_in import sessions
from messaging.models import Message, Report
from messaging.services import conversations, messages, reports
from notifications.models import Delivery, Device
from tests.factories import make_user
from tests.staff import admin_client, staff

SECRET = "a very private sentence"
REPORTS = "/admin/messaging/report/"
LISTS = [
    "messaging/conversation",
    "messaging/message",
    "messaging/report",
    "notifications/notification",
    "notifications/device",
    "notifications/delivery",
    "notifications/channelpause",
    "realtime/call",
]


@pytest.fixture
def written(alice, bob):
    """A message of Alice's to Bob, reported by Bob."""
    conversation, _ = conversations.start(starter=alice, user_id=bob.id)
    message, _ = messages.send(sender=alice, conversation_id=conversation.id, body=SECRET)
    reports.report(reporter=bob, message_id=message.id, reason="spam")
    return Message.objects.get(id=message.id)


@pytest.fixture
def moderator(db):
    return admin_client(staff("Moderator"))


def test_the_text_of_a_report_is_shown_to_who_may_reveal_it_and_says_why(written, bob, moderator):
    report = Report.objects.get()
    chosen = {"action": "reveal", "_selected_action": [report.pk]}
    revealing = chosen | {"confirmed": "1", "reason": "looking into it"}
    pages = [moderator.get(f"/admin/messaging/report/{report.pk}/change/"), moderator.post(REPORTS, chosen)]
    for group in ("Auditor", "Operations", "Support"):
        client = admin_client(staff(group))
        pages += [client.get(f"/admin/messaging/report/{report.pk}/change/"), client.post(REPORTS, revealing)]
    assert {page.status_code for page in pages} == {200, 403}
    assert not any(SECRET in page.content.decode() for page in pages)
    assert not AuditEntry.objects.filter(action="message.revealed").exists()
    messages.delete(user=written.sender, message_id=written.id)
    shown = moderator.post(REPORTS, revealing)
    assert f"<blockquote>{SECRET}</blockquote>" in shown.content.decode()
    assert "no-store" in shown.headers["Cache-Control"]
    row = AuditEntry.objects.get(action="message.revealed")
    assert (row.target, row.reason, row.details) == (written.sender, "looking into it", {"report_id": report.pk})


def test_reports_are_found_by_their_reason_and_not_listed_by_it(written, moderator):
    """Users write the reason: a filter would list every text that was ever sent."""
    page = moderator.get("/admin/messaging/report/?q=spam")
    assert page.context["cl"].result_count == 1
    assert "?reason" not in page.content.decode()
    assert moderator.get("/admin/messaging/report/?q=abuse").context["cl"].result_count == 0


def test_the_audit_log_counts_entries(db):
    auditor = admin_client(staff("Auditor"))
    audit.record(action="user.blocked")
    page = auditor.get("/admin/accounts/auditentry/").content.decode()
    assert f"{AuditEntry.objects.count()} entries" in page
    assert " audit log\n" not in page


def test_every_list_and_row_opens_and_hides_what_was_written(written, bob, as_bob):
    as_bob.post("/api/v1/profile/push-token", {"token": "token-that-stays-secret"})
    as_bob.post("/api/v1/notifications/test-push")
    client = admin_client(staff("Auditor"))
    opened = 0
    for name in LISTS:
        page = client.get(f"/admin/{name}/")
        assert page.status_code == 200, name
        texts = [page.content.decode()]
        for model in ("message", "conversation", "report", "notification", "device", "delivery"):
            if name.endswith(model):
                row = page.context["cl"].result_list[0]
                detail = client.get(f"/admin/{name}/{row.pk}/change/")
                assert detail.status_code == 200, name
                texts.append(detail.content.decode())
                opened += 1
        for text in texts:
            assert SECRET not in text
            assert "token-that-stays-secret" not in text
    assert opened == 6
    assert client.get("/admin/").status_code == 200


def test_revealing_asks_for_a_reason_and_is_audited(written, moderator):
    chosen = {"action": "reveal", "_selected_action": [written.id]}
    response = moderator.post("/admin/messaging/message/", chosen).content.decode()
    assert SECRET not in response
    assert SECRET not in moderator.post("/admin/messaging/message/", chosen | {"confirmed": "1"}).content.decode()
    assert not AuditEntry.objects.filter(action="message.revealed").exists()
    messages.edit(editor=written.sender, message_id=written.id, body="other words")
    shown = moderator.post("/admin/messaging/message/", chosen | {"confirmed": "1", "reason": "reported"})
    # The earlier wording, too.
    assert SECRET in shown.content.decode() and "<blockquote>other words" in shown.content.decode()
    assert "no-store" in shown.headers["Cache-Control"]
    row = AuditEntry.objects.get(action="message.revealed")
    assert row.reason == "reported"
    assert row.details == {"message_id": written.id}


def test_the_messages_around_are_shown_on_request_and_audited(alice, bob, moderator):
    conversation, _ = conversations.start(starter=alice, user_id=bob.id)
    sent = [
        messages.send(sender=alice, conversation_id=conversation.id, body=f"<sentence {n}>")[0].id for n in range(9)
    ]
    reports.report(reporter=bob, message_id=sent[4], reason="spam", comment="every day")
    form = {"action": "reveal", "_selected_action": [sent[4]], "confirmed": "1", "reason": "reported"}
    alone = moderator.post("/admin/messaging/message/", form).content.decode()
    assert "sentence 4" in alone and "sentence 3" not in alone
    around = moderator.post("/admin/messaging/message/", form | {"around": "on"}).content.decode()
    shown = re.findall(r"&lt;sentence (\d)&gt;", around)
    assert shown == ["1", "2", "3", "4", "5", "6", "7"]
    assert f"/admin/messaging/report/{Report.objects.get().id}/change/" in around and "every day" in around
    assert f"/admin/messaging/conversation/{conversation.id}/change/" in around
    details = AuditEntry.objects.filter(action="message.revealed").order_by("id").values_list("details", flat=True)
    assert list(details) == [{"message_id": sent[4]}, {"message_id": sent[4], "shown": sent[1:8]}]


def test_a_message_that_arrives_meanwhile_is_not_shown(alice, bob, moderator, monkeypatch):
    conversation, _ = conversations.start(starter=alice, user_id=bob.id)
    send = partial(messages.send, sender=alice, conversation_id=conversation.id)
    first = send(body="<sentence 0>")[0].id
    record = audit.record

    def record_and_send(**values):
        record(**values)
        send(body="<sentence 1>")

    monkeypatch.setattr(audit, "record", record_and_send)
    form = {"action": "reveal", "_selected_action": [first], "confirmed": "1", "reason": "reported", "around": "on"}
    page = moderator.post("/admin/messaging/message/", form).content.decode()
    assert re.findall(r"&lt;sentence (\d)&gt;", page) == ["0"]
    assert AuditEntry.objects.get(action="message.revealed").details == {"message_id": first, "shown": [first]}


@pytest.mark.django_db
def test_many_rows_that_are_refused_for_one_reason_share_a_notice():
    client = admin_client(staff("Support"))
    ids = [make_user(f"Person{number}").id for number in range(12)]
    form = {"action": "unblock", "_selected_action": ids, "reason": "asked for", "confirmed": "1"}
    page = client.post("/admin/accounts/user/", form, follow=True).content.decode()
    (notice,) = re.findall(r'<li class="warning">([^<]*)</li>', page)
    assert notice.endswith(", …: This account is not blocked.")
    assert notice.count(",") == 10


def test_an_action_on_five_hundred_rows_is_confirmed(alice):
    client = admin_client(staff("Support"))
    # The page of the confirmation sends all of them back, gone ones too.
    form = {"action": "sign_out", "_selected_action": [alice.id, *range(10**6, 10**6 + 499)], "reason": "asked for"}
    assert client.post("/admin/accounts/user/", form | {"confirmed": "1"}).status_code == 302
    assert AuditEntry.objects.get(action="user.signed_out").target_id == alice.id


@pytest.mark.parametrize("value", ["false", "False"])
def test_messages_around_that_the_audit_log_does_not_name_are_not_shown(alice, bob, moderator, value):
    conversation, _ = conversations.start(starter=alice, user_id=bob.id)
    sent = [
        messages.send(sender=alice, conversation_id=conversation.id, body=f"<sentence {n}>")[0].id for n in range(3)
    ]
    form = {"action": "reveal", "_selected_action": [sent[1]], "confirmed": "1", "reason": "reported", "around": value}
    page = moderator.post("/admin/messaging/message/", form).content.decode()
    assert re.findall(r"&lt;sentence (\d)&gt;", page) == ["1"]
    assert AuditEntry.objects.get(action="message.revealed").details == {"message_id": sent[1]}


def test_without_the_permission_nothing_is_revealed(written):
    client = admin_client(staff("Support"))
    form = {"action": "reveal", "_selected_action": [written.id], "confirmed": "1", "reason": "curious"}
    assert SECRET not in client.post("/admin/messaging/message/", form).content.decode()
    assert not AuditEntry.objects.filter(action="message.revealed").exists()


def test_a_closed_report_offers_a_correction_only(written, moderator):
    report = Report.objects.get()
    form = {"action": "resolve", "_selected_action": [report.id], "confirmed": "1", "resolution": "warned"}
    for text in ("Done: ", "This report has already been closed like this."):
        page = moderator.post("/admin/messaging/report/", form | {"from_row": "1"}, follow=True).content.decode()
        assert text in page
        assert 'value="dismiss"' in page and 'value="resolve"' not in page
    assert AuditEntry.objects.filter(action="report.resolved").count() == 1


@pytest.mark.parametrize("confirmed", ["", "1"])
def test_an_action_on_a_row_that_is_gone_says_so(moderator, confirmed):
    form = {"action": "resolve", "_selected_action": ["999"], "confirmed": confirmed, "resolution": "warned"}
    page = moderator.post("/admin/messaging/report/", form, follow=True).content.decode()
    assert "What you selected no longer exists. Nothing was changed." in page
    assert "confirm-consequences" not in page


def test_buttons_are_offered_only_where_they_act(bob, as_bob):
    as_bob.post("/api/v1/profile/push-token", {"token": "some-token"})
    device, session = Device.objects.get(), Session.objects.get(user=bob)
    now = timezone.now()
    common = {"recipient": bob, "expires_at": now, "finished_at": now}
    for state, channel, kind in (
        ("dead", "push", "test"), ("dead", "mail", "mail"), ("dead", "push", "incoming_call"), ("sent", "push", "test"),
    ):  # fmt: skip
        Delivery.objects.create(state=state, channel=channel, kind=kind, dedupe_key=f"{state} {kind}", **common)
    client = admin_client(staff("Operations"))

    def offers(row, action):
        path = f"/admin/{row._meta.app_label}/{row._meta.model_name}/{row.pk}/change/"
        return f'value="{action}"' in client.get(path).content.decode()

    retried = {row.dedupe_key for row in Delivery.objects.filter(recipient=bob) if offers(row, "retry")}
    assert retried == {"dead test"}
    assert offers(device, "test_push") and offers(session, "end")
    Device.objects.update(active=False)
    sessions.end(user=bob, session_id=session.id, reason="staff")
    assert not offers(device, "test_push") and not offers(session, "end")


def test_a_mail_and_a_call_are_not_tried_again(written, bob):
    now = timezone.now()
    given_up = {"state": "dead", "tries": 6, "recipient": bob, "expires_at": now, "finished_at": now}
    mail = Delivery.objects.create(channel="mail", kind="mail", dedupe_key="mail", **given_up)
    call = Delivery.objects.create(channel="push", kind="incoming_call", dedupe_key="call", **given_up)
    client = admin_client(staff("Operations"))
    form = {"action": "retry", "_selected_action": [mail.id, call.id], "confirmed": "1", "reason": "mended"}
    answer = client.post("/admin/notifications/delivery/", form, follow=True)
    assert answer.content.decode().count("Mails are not kept") == 2
    assert set(Delivery.objects.filter(id__in=[mail.id, call.id]).values_list("state", flat=True)) == {"dead"}
    assert not AuditEntry.objects.filter(action="retry_deliveries").exists()
