"""Report a message to staff, and close a report."""

from typing import TYPE_CHECKING

from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied, ValidationError

from accounts.services import audit
from core.characters import is_invisible
from core.database.transactions import lock_in_order, unit_of_work
from core.times import json_time
from messaging.conf import REPORT_REASON_LENGTH, conf
from messaging.models import Report
from messaging.services import locking
from messaging.signals import report_closed, report_created
from messaging.text import too_long

if TYPE_CHECKING:
    from accounts.models import User

# A report has room for so many of the longest comments.
ADDED = 3


def report(*, reporter: "User", message_id: object, reason: str, comment: str | None = None) -> Report:
    """A report with a snapshot of the message. There is one per user and message: the text of a second one is added to the
    comment of the first while that is open. MessageNotFound, ValidationError (reason, comment)."""
    with unit_of_work():
        # Locked: otherwise a message that is erased or purged at this moment would leave its text, or fail the insert.
        _locked, message = locking.lock_message(message_id, reporter.id)
        reason, comment = reason.strip(), "" if is_invisible(comment or "") else (comment or "").strip()
        if is_invisible(reason):
            raise ValidationError({"reason": [_("This may not be blank.")]})
        if len(reason) > REPORT_REASON_LENGTH:
            raise ValidationError({"reason": [too_long(REPORT_REASON_LENGTH)]})
        if len(comment) > conf.REPORT_COMMENT_LENGTH:
            raise ValidationError({"comment": [too_long(conf.REPORT_COMMENT_LENGTH)]})
        row, created = Report.objects.get_or_create(
            message=message,
            reporter_id=reporter.id,
            defaults={
                "reported_id": message.sender_id,
                "reason": reason,
                "comment": comment,
                "turn": _open_between(reporter.id, message.sender_id).count(),
                "snapshot": {
                    "message_id": message.id,
                    "conversation_id": message.conversation_id,
                    "sender_id": message.sender_id,
                    "kind": message.kind,
                    "body": message.body,
                    "created_at": json_time(message.created_at),
                },
            },
        )
        if created:
            report_created.send(Report, report=row)
        else:
            _add_to(row.id, reason, comment)
            row.is_repeated = True
    return row


def _open_between(reporter_id: int | None, reported_id: int | None) -> QuerySet[Report]:
    return Report.objects.filter(reporter_id=reporter_id, reported_id=reported_id, state=Report.State.OPEN)


def _add_to(report_id: int, reason: str, comment: str) -> None:
    """Adds the text of a repeated report. The first words stay, because staff decide on them."""
    row = Report.objects.select_for_update().filter(id=report_id, state=Report.State.OPEN).first()
    added = f"{reason}: {comment}" if comment else reason
    if row is None or added in row.comment.split("\n\n") or (reason == row.reason and comment in row.comment):
        return
    whole = f"{row.comment}\n\n{added}".lstrip("\n")
    # The comment is cut at the length of a few reports.
    if len(whole) <= ADDED * conf.REPORT_COMMENT_LENGTH:
        row.comment = whole
        row.save(update_fields=["comment"])


def note(*, report: Report, staff: "User", text: str) -> None:
    """Adds a note of a staff member on a report to the audit log. Report.DoesNotExist."""
    with unit_of_work():
        row = Report.objects.select_for_update().get(id=report.id)
        audit.record(action="report.noted", actor=staff, target=row.reported, reason=text, report_id=row.id)


def close(*, report: Report, staff: "User", state: str, resolution: str = "") -> Report:
    """Closes a report as resolved (staff took action) or dismissed. A closed one is closed again in the other state
    only, as a correction: PermissionDenied. ValueError for another state."""
    if state not in (Report.State.RESOLVED, Report.State.DISMISSED):
        raise ValueError(f"a report cannot be closed as {state}")
    with unit_of_work():
        report = Report.objects.select_for_update().get(id=report.id)
        if report.state == state:
            raise PermissionDenied(_("This report has already been closed like this."))
        report.state, report.resolution = state, resolution
        report.resolved_by_id, report.resolved_at = staff.id, timezone.now()
        report.save(update_fields=["state", "resolution", "resolved_by", "resolved_at"])
        # The next report of the same user about the same person moves up.
        later = _open_between(report.reporter_id, report.reported_id).filter(turn__gt=report.turn)
        lock_in_order(later)
        later.update(turn=F("turn") - 1)
        report_closed.send(Report, report=report)
        audit.record(
            action=f"report.{state}", actor=staff, target=report.reported, reason=resolution, report_id=report.id
        )
    return report
