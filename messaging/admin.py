"""Conversations and reports in the admin. Message texts stay hidden until staff gives a reason to see them."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _

from accounts.admin_site.actions import ConfirmedAction, ReasonForm
from accounts.admin_site.lists import StaffAdmin
from accounts.admin_site.overview import Chart, Figure, Panel, Task
from accounts.services import audit
from messaging.models import Conversation, Message, Report
from messaging.selectors.messages import first_id_since, messages_around
from messaging.services import reports

if TYPE_CHECKING:
    from accounts.models import User


audit.name_actions(
    {
        "message.revealed": _("Message revealed"),
        "report.dismissed": _("Report dismissed"),
        "report.resolved": _("Report resolved"),
    }
)


class ResolutionForm(forms.Form):
    resolution = forms.CharField(label=_("Resolution"), max_length=500)


class RevealForm(ReasonForm):
    around = forms.BooleanField(label=_("Show the messages before and after, too"), required=False)


def _reveal(by: "User", message: Any, data: dict[str, Any]) -> None:
    details = {"message_id": message.id}
    # Read once: the page shows what the audit log names, even if a message arrives meanwhile.
    message.shown = [message]
    if data["around"]:
        message.shown = messages_around(message)
        details["shown"] = [shown.id for shown in message.shown]
    audit.record(action="message.revealed", actor=by, target=message.sender, reason=data["reason"], **details)


def _page_with(page: admin.ModelAdmin, request: HttpRequest, **revealed: Any) -> HttpResponse:
    context = {
        **page.admin_site.each_context(request),
        "title": _("Reveal the text"),
        "opts": page.opts,
        **revealed,
    }
    response = TemplateResponse(request, "admin/revealed.html", context)
    response["Cache-Control"] = "no-store"
    return response


def _show(page: admin.ModelAdmin, request: HttpRequest, rows: list[Any], data: dict[str, Any]) -> HttpResponse:
    """The messages, each with its conversation, the messages around it when they were asked for, and its reports."""
    may_view_reports = request.user.has_perm("messaging.view_report")
    revealed = [
        {
            "message": message,
            "shown": message.shown,
            "reports": message.reports.select_related("reporter") if may_view_reports else (),
        }
        for message in rows
    ]
    return _page_with(page, request, rows=revealed)


def _reveal_reported(by: "User", report: Report, data: dict[str, Any]) -> None:
    audit.record(
        action="message.revealed", actor=by, target=report.reported, reason=data["reason"], report_id=report.id
    )


@admin.register(Conversation)
class ConversationAdmin(StaffAdmin):
    """Shows the participants of a conversation, never its messages."""

    task = Task.REPORTS
    list_display = ("id", "user_low", "user_high", "created_at")
    list_select_related = ("user_low", "user_high")
    search_fields = ("=id", "=user_low__email", "=user_high__email", "=user_low__id", "=user_high__id")
    fields = ("id", "user_low", "user_high", "created_at", "purged_up_to_id")


@admin.register(Message)
class MessageAdmin(StaffAdmin):
    task = Task.REPORTS
    chart = Chart("messages", _("Messages"), lambda start: Message.objects.filter(id__gte=first_id_since(start)))
    list_display = ("id", "conversation_number", "sender", "kind", "length", "created_at", "edited_at", "deleted_at")
    list_select_related = ("sender",)
    list_filter = ("kind",)
    search_fields = ("=id", "=conversation__id", "=sender__email", "=sender__id")
    fields = (
        "id", "conversation", "sender", "kind", "length", "reply_to_id", "created_at", "edited_at", "deleted_at",
    )  # fmt: skip
    reveal = ConfirmedAction(
        label=_("Reveal the text"),
        permission="messaging.reveal_message",
        form_class=RevealForm,
        max_rows=50,
        consequences=[
            _("You see the text of these messages and their earlier versions."),
            _("Your name and the reason are kept in the audit log."),
        ],
        perform=_reveal,
        on_success=_show,
    )
    actions = ("reveal",)

    @admin.display(description=_("conversation"))
    def conversation_number(self, message: Message) -> int:
        return message.conversation_id

    @admin.display(description=_("characters"))
    def length(self, message: Message) -> int:
        return len(message.body or "")


@admin.register(Report)
class ReportAdmin(StaffAdmin):
    task = Task.REPORTS
    leads_task = True
    list_display = ("id", "state", "reason", "reported", "reporter", "created_at", "resolved_by", "resolved_at")
    figures = (Figure(_("Open reports"), lambda: Report.objects.filter(state=Report.State.OPEN), "?state__exact=open"),)
    panel = Panel(
        lambda user: Report.objects.filter(Q(reported=user) | Q(reporter=user)).order_by("-id"),
        columns=list_display,
        position=4,
    )
    list_select_related = ("reported", "reporter", "resolved_by")
    # No filter by reason: it is free text, and a filter lists all values that there are.
    list_filter = ("state", "created_at")
    search_fields = ("=id", "=reason", "=reported__email", "=reporter__email")
    fields = (
        "id", "state", "reason", "comment", "message", "reported", "reporter", "created_at", "resolution",
        "resolved_by", "resolved_at",
    )  # fmt: skip
    reveal = ConfirmedAction(
        label=_("Reveal the text"),
        permission="messaging.reveal_message",
        max_rows=50,
        consequences=[_("Your name and the reason are kept in the audit log.")],
        perform=_reveal_reported,
        on_success=lambda page, request, rows, data: _page_with(page, request, reports=rows),
    )
    resolve = ConfirmedAction(
        label=_("Resolve"),
        permission="messaging.resolve_report",
        form_class=ResolutionForm,
        consequences=[_("The report is closed as justified. Nothing else happens automatically.")],
        perform=lambda by, report, data: reports.close(report=report, staff=by, state=Report.State.RESOLVED, **data),
        is_offered=lambda report: report.state != Report.State.RESOLVED,
    )
    dismiss = ConfirmedAction(
        label=_("Dismiss"),
        permission="messaging.resolve_report",
        form_class=ResolutionForm,
        consequences=[_("The report is closed as unjustified.")],
        perform=lambda by, report, data: reports.close(report=report, staff=by, state=Report.State.DISMISSED, **data),
        is_offered=lambda report: report.state != Report.State.DISMISSED,
    )
    actions = ("reveal", "resolve", "dismiss")
