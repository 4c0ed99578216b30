"""A message is shown to staff with a snapshot of what it said."""

import pytest
from rest_framework.exceptions import PermissionDenied

from accounts.models import AuditEntry
from messaging.admin import ReportAdmin
from messaging.conf import conf
from messaging.models import Report
from messaging.services import reports
from tests.factories import make_user
from tests.messaging.conftest import message_path


def test_a_report_keeps_what_the_message_said(as_alice, as_bob, alice, bob, send_message):
    sent = send_message(as_alice, "buy pills")
    reply = as_bob.post(message_path(sent["id"], "/report"), {"reason": "spam", "comment": " twice "}, status=201)
    report = Report.objects.get()
    assert reply == {"ok": True, "report_id": report.id, "reason": "spam", "is_repeated": False}
    assert (report.reporter, report.reported, report.reason, report.comment) == (bob, alice, "spam", "twice")
    assert report.state == "open"
    as_alice.delete(message_path(sent["id"]))
    report.refresh_from_db()
    assert report.snapshot["body"] == "buy pills"


def test_a_second_report_is_added_to_the_first(as_alice, as_bob, send_message):
    path = message_path(send_message(as_alice)["id"], "/report")
    first = as_bob.post(path, {"reason": "Insults or threats", "comment": "see above"}, status=201)
    for again in ({"reason": "spam", "comment": None}, {"reason": "spam"}, {"reason": "abuse", "comment": "and below"}):
        assert as_bob.post(path, again, status=201) == first | {"is_repeated": True}
    for repeated in ({"reason": "Insults or threats", "comment": "see above"}, {"reason": "spam"}):
        as_bob.post(path, repeated, status=201)
    report = Report.objects.get()
    assert (report.reason, report.comment) == ("Insults or threats", "see above\n\nspam\n\nabuse: and below")


def test_what_is_added_has_an_end(as_alice, as_bob, send_message):
    path = message_path(send_message(as_alice)["id"], "/report")
    for number in range(8):
        as_bob.post(path, {"reason": "spam", "comment": f"{number}" + "x" * 1999}, status=201)
    comment = Report.objects.get().comment
    assert comment.startswith("0x") and len(comment) <= 6000


def test_reports_have_a_rate_of_their_own(as_alice, as_bob, as_charlie, send_message, settings):
    settings.RATELIMIT_ENABLE = True
    path = message_path(send_message(as_alice)["id"], "/report")
    for _ in range(20):
        as_bob.post(path, {"reason": "spam"}, status=201)
    refused = as_bob.post(path, {"reason": "spam"}, status=429)
    assert refused["error"] == "rate_limited" and 0 < refused["retry_after"] <= 3600
    # Of this user, and of reports alone.
    as_charlie.post(path, {"reason": "spam"}, status=404)
    as_bob.get("/api/v1/auth/me")


def test_the_rate_of_reports_is_a_setting(as_alice, as_bob, send_message, settings):
    settings.RATELIMIT_ENABLE = True
    settings.MESSAGING_RATES = {**conf.RATES, "report": (2, 60, True)}
    path = message_path(send_message(as_alice)["id"], "/report")
    for status in (201, 201, 429):
        as_bob.post(path, {"reason": "spam"}, status=status)


def test_the_list_begins_with_the_first_report_of_each_pair(
    as_alice, as_bob, as_charlie, alice, bob, charlie, send_message
):
    """However many one account reports, those of others stand before its second one."""
    flood = [send_message(as_alice, f"{number}")["id"] for number in range(4)]
    talk = as_alice.post("/api/v1/messages/conversations", {"user_id": charlie.id}, status=201)["conversation"]["id"]
    sent = as_alice.post(f"/api/v1/messages/conversations/{talk}/messages", {"body": "x"}, status=201)["message"]
    for message_id in flood[:2]:
        as_bob.post(message_path(message_id, "/report"), {"reason": "spam"}, status=201)
    as_charlie.post(message_path(sent["id"], "/report"), {"reason": "threat"}, status=201)
    for message_id in flood[2:]:
        as_bob.post(message_path(message_id, "/report"), {"reason": "spam"}, status=201)

    def listed():
        rows = Report.objects.filter(state="open").order_by(*ReportAdmin.ordering)
        return [(row.reporter_id, row.turn) for row in rows]

    assert listed() == [(charlie.id, 0), (bob.id, 0), (bob.id, 1), (bob.id, 2), (bob.id, 3)]
    reports.close(
        report=Report.objects.get(reporter=bob, turn=0), staff=make_user("Staff", is_staff=True), state="resolved"
    )
    assert listed() == [(charlie.id, 0), (bob.id, 0), (bob.id, 1), (bob.id, 2)]


def test_a_report_that_staff_closes_meanwhile_keeps_its_words(as_alice, as_bob, send_message, monkeypatch):
    path = message_path(send_message(as_alice)["id"], "/report")
    as_bob.post(path, {"reason": "spam"}, status=201)
    staff = make_user("Staff", is_staff=True)
    read = Report.objects.get_or_create

    def read_and_close(**values):
        row, created = read(**values)
        reports.close(report=row, staff=staff, state="resolved")
        return row, created

    monkeypatch.setattr(Report.objects, "get_or_create", read_and_close)
    as_bob.post(path, {"reason": "abuse"}, status=201)
    assert Report.objects.get().reason == "spam"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "reason"), ({"reason": ""}, "reason"), ({"reason": "  "}, "reason"), ({"reason": "\u200b"}, "reason"),
        ({"reason": 5}, "reason"), ({"reason": None}, "reason"), ({"reason": "x" * 101}, "reason"), ({"reason": "a\x00"}, "reason"),
        ({"reason": "x", "comment": 5}, "comment"), ({"reason": "x", "comment": "x" * 2001}, "comment"),
    ],
)  # fmt: skip
def test_a_report_needs_a_reason(as_alice, as_bob, send_message, body, field):
    refused = as_bob.post(message_path(send_message(as_alice)["id"], "/report"), body, status=400)
    assert (refused["error"], list(refused["fields"])) == ("validation_error", [field])


def test_staff_closes_a_report_once_looked_at(as_alice, as_bob, send_message):
    as_bob.post(message_path(send_message(as_alice)["id"], "/report"), {"reason": "spam"}, status=201)
    staff = make_user("Staff", is_staff=True)
    closed = reports.close(report=Report.objects.get(), staff=staff, state="resolved", resolution="warned")
    assert (closed.state, closed.resolved_by, closed.resolution) == ("resolved", staff, "warned")
    with pytest.raises(ValueError):
        reports.close(report=closed, staff=staff, state="open")


def test_a_closed_report_is_closed_once_and_corrected_in_the_other_state(as_alice, as_bob, send_message):
    as_bob.post(message_path(send_message(as_alice)["id"], "/report"), {"reason": "spam"}, status=201)
    first, second = make_user("First", is_staff=True), make_user("Second", is_staff=True)
    report = reports.close(report=Report.objects.get(), staff=first, state="resolved", resolution="warned")
    with pytest.raises(PermissionDenied):
        reports.close(report=report, staff=second, state="resolved", resolution="again")
    report.refresh_from_db()
    assert (report.resolved_by, report.resolution) == (first, "warned")
    corrected = reports.close(report=report, staff=second, state="dismissed", resolution="a mistake")
    assert (corrected.state, corrected.resolved_by) == ("dismissed", second)
    assert list(AuditEntry.objects.order_by("id").values_list("action", flat=True)) == [
        "report.resolved",
        "report.dismissed",
    ]
