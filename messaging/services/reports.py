"""Report a message to staff, and close a report."""

from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied, ValidationError

from accounts.services import audit
from core.text import is_invisible
from core.transactions import unit_of_work
from messaging.conf import conf
from messaging.models import Report
from messaging.services import storage
from messaging.text import too_long

if TYPE_CHECKING:
    from accounts.models import User

REASON_LENGTH = 100


def report(*, reporter: "User", message_id: object, reason: str, comment: str | None = None) -> Report:
    """A report with a snapshot of the message. One per user and message: a second one replaces reason and
    comment of the first while that is open. MessageNotFound, ValidationError (reason, comment)."""
    with unit_of_work():
        # Locked: otherwise a message that is erased or purged at this moment would leave its text, or fail the insert.
        _locked, message = storage.lock_message(message_id, reporter.id)
        reason, comment = reason.strip(), (comment or "").strip()
        if is_invisible(reason):
            raise ValidationError({"reason": [_("This may not be blank.")]})
        if len(reason) > REASON_LENGTH:
            raise ValidationError({"reason": [too_long(REASON_LENGTH)]})
        if len(comment) > conf.REPORT_COMMENT_LENGTH:
            raise ValidationError({"comment": [too_long(conf.REPORT_COMMENT_LENGTH)]})
        row, created = Report.objects.get_or_create(
            message=message,
            reporter_id=reporter.id,
            defaults={
                "reported_id": message.sender_id,
                "reason": reason,
                "comment": comment,
                "snapshot": {
                    "message_id": message.id,
                    "conversation_id": message.conversation_id,
                    "sender_id": message.sender_id,
                    "kind": message.kind,
                    "body": message.body,
                    "created_at": message.created_at.isoformat(),
                },
            },
        )
        if not created:
            Report.objects.filter(id=row.id, state=Report.State.OPEN).update(reason=reason, comment=comment)
    return row


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
        audit.record(
            action=f"report.{state}", actor=staff, target=report.reported, reason=resolution, report_id=report.id
        )
    return report
