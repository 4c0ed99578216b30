"""Conversations and reports in the admin. Message texts stay hidden until staff gives a reason to see them."""

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.admin import AdminSite, ModelAdmin
from django.db.models import Q, prefetch_related_objects
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _

from accounts.services import audit
from accounts.staff.actions import ConfirmedAction, ReasonForm, place_of
from accounts.staff.links import link_to, page_path, visible_page
from accounts.staff.lists import StaffAdmin
from accounts.staff.overview import Chart, Figure, Panel, Task, facts
from core.validators import refuse_invisible
from messaging.models import Conversation, Message, Report
from messaging.selectors.messages import first_id_since, messages_around
from messaging.services import reports
from messaging.staff.case import actions_on, case, picture_path, reveal

if TYPE_CHECKING:
    from accounts.models import User


audit.name_actions(
    {
        "message.revealed": _("Message revealed"),
        "report.dismissed": _("Report dismissed"),
        "report.noted": _("Note on a report"),
        "report.resolved": _("Report resolved"),
    }
)


class ResolutionForm(forms.Form):
    resolution = forms.CharField(label=_("Resolution"), max_length=500, validators=[refuse_invisible])


class RevealForm(ReasonForm):
    around = forms.BooleanField(label=_("Show the messages before and after, too"), required=False)


class ReportRevealForm(RevealForm):
    """Whether a report is justified is seldom seen in the message alone, so those around it are preselected."""

    around = forms.BooleanField(label=_("Show the messages before and after, too"), required=False, initial=True)


class NoteForm(ReasonForm):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["reason"].label = _("Note")


def _reveal(by: "User", message: Any, data: dict[str, Any]) -> None:
    details = {"message_id": message.id}
    # Read once: the page shows what the audit log names, even if a message arrives meanwhile.
    message.shown = [message]
    if data["around"]:
        message.shown = messages_around(message)
        details["shown"] = [shown.id for shown in message.shown]
    audit.record(action="message.revealed", actor=by, target=message.sender, reason=data["reason"], **details)


def _reveal_reported(by: "User", report: Any, data: dict[str, Any]) -> None:
    details: dict[str, Any] = {"report_id": report.id}
    reveal(report)
    report.shown = messages_around(report.message) if data["around"] and report.message else []
    if report.shown:
        details["shown"] = [shown.id for shown in report.shown]
    audit.record(action="message.revealed", actor=by, target=report.reported, reason=data["reason"], **details)


def _page_with(page: admin.ModelAdmin, request: HttpRequest, template: str, **revealed: Any) -> HttpResponse:
    context = {
        **page.admin_site.each_context(request),
        "title": _("Reveal the text"),
        "opts": page.opts,
        **revealed,
    }
    response = TemplateResponse(request, template, context)
    response["Cache-Control"] = "no-store"
    return response


def _with_links(shown: list[Any], site: AdminSite, request: HttpRequest) -> list[Any]:
    """The messages with what a page shows of them beside their columns."""
    prefetch_related_objects(shown, "revisions")
    for message in shown:
        message.sender_link, message.picture = link_to(message.sender, site, request), picture_path(message)
    return shown


def _row(page: Any, row: Any, request: HttpRequest) -> dict[str, Any]:
    """What every revealed row has: its link, and the buttons of its own page."""
    return {
        "pk": row.pk,
        "id": str(row.pk),
        "link": link_to(row, page.admin_site, request),
        "place": place_of(row),
        "list": page_path(page, "changelist"),
        "actions": [action for action in page.row_actions(request, row) if action["name"] != "reveal"],
    }


def _show(page: ModelAdmin, request: HttpRequest, rows: list[Any], data: dict[str, Any]) -> HttpResponse:
    """The messages, each with its conversation, the messages around it when they were asked for, its reports, and what
    can be done about them."""
    site = page.admin_site
    report_page: Any = visible_page(Report, site, request)
    revealed = [
        {
            **_row(page, message, request),
            "conversation": link_to(message.conversation, site, request),
            "shown": _with_links(message.shown, site, request),
            "reports": [
                {
                    **_row(report_page, report, request),
                    "row": report,
                    "reporter": report.reporter and link_to(report.reporter, site, request),
                }
                for report in (message.reports.select_related("reporter") if report_page else ())
            ],
            "person": actions_on(message.sender, site, request),
            "person_link": link_to(message.sender, site, request),
        }
        for message in rows
    ]
    return _page_with(page, request, "admin/revealed.html", rows=revealed)


def _show_reported(page: Any, request: HttpRequest, rows: list[Any], data: dict[str, Any]) -> HttpResponse:
    """One report as its whole case, with its text; several ones below each other."""
    site = page.admin_site
    for report in rows:
        _with_links(report.shown, site, request)
        report.reported_link = report.reported and link_to(report.reported, site, request)
    if len(rows) == 1:
        return _page_with(page, request, "admin/revealed_case.html", **page.case_context(request, rows[0]))
    revealed = [{**_row(page, report, request), "report": report} for report in rows]
    return _page_with(page, request, "admin/revealed.html", rows=revealed)


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
    links = MappingProxyType(
        {
            "conversation_number": ("messaging.Conversation", "conversation_id"),
            "reply_to_id": ("messaging.Message", "reply_to_id"),
        }
    )
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
    ordering = ("turn", "-id")
    figures = (
        Figure(
            _("Open reports"),
            lambda: Report.objects.filter(state=Report.State.OPEN),
            lambda: {"state__exact": Report.State.OPEN},
        ),
    )
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
        form_class=ReportRevealForm,
        max_rows=50,
        consequences=[
            _("You see the text of these messages and their earlier versions."),
            _("Your name and the reason are kept in the audit log."),
        ],
        perform=_reveal_reported,
        on_success=_show_reported,
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
    note = ConfirmedAction(
        label=_("Add a note"),
        permission="messaging.resolve_report",
        form_class=NoteForm,
        consequences=[_("The note stands in the audit log and on the page of the report. It cannot be changed.")],
        perform=lambda by, report, data: reports.note(report=report, staff=by, text=data["reason"]),
    )
    actions = ("reveal", "resolve", "dismiss", "note")

    def case_context(self, request: HttpRequest, report: Any) -> dict[str, Any]:
        """What a page needs to show a report as a case."""
        report.place = place_of(report)
        shown = case(report, self.admin_site, request)
        return {
            "case": shown,
            "facts": facts(report, self, self.fields, request),
            "row_actions": self.row_actions(request, report),
            "original": report,
            "subtitle": self.display_name(report),
        }

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any) -> Any:
        if context["original"] is not None:
            context |= self.case_context(request, context["original"])
        return super().render_change_form(request, context, *args, **options)
