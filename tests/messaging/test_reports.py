"""A message is shown to staff with a snapshot of what it said."""

import pytest
from rest_framework.exceptions import PermissionDenied

from accounts.models import AuditEntry
from messaging.models import Report
from messaging.services import reports
from tests.factories import make_user
from tests.messaging.conftest import message_path


def test_a_report_keeps_what_the_message_said(as_alice, as_bob, alice, bob, send_message):
    sent = send_message(as_alice, "buy pills")
    reply = as_bob.post(message_path(sent["id"], "/report"), {"reason": "spam", "comment": " twice "}, status=201)
    report = Report.objects.get()
    assert reply == {"ok": True, "report_id": report.id}
    assert (report.reporter, report.reported, report.reason, report.comment) == (bob, alice, "spam", "twice")
    assert report.state == "open"
    as_alice.delete(message_path(sent["id"]))
    report.refresh_from_db()
    assert report.snapshot["body"] == "buy pills"


def test_a_second_report_replaces_the_words_of_the_first(as_alice, as_bob, send_message):
    path = message_path(send_message(as_alice)["id"], "/report")
    first = as_bob.post(path, {"reason": "spam"}, status=201)
    assert as_bob.post(path, {"reason": "abuse", "comment": None}, status=201) == first
    assert Report.objects.get().reason == "abuse"


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
