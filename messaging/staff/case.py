"""The page of a report as a case: the reported message with those around it, both people with their history, and what
staff have done so far.

It shows no text of a message, except those that a reveal has read and named in the audit log.
"""

from typing import TYPE_CHECKING, Any

from django.contrib.admin import AdminSite
from django.contrib.auth import get_user_model
from django.db.models import Count, Q
from django.http import HttpRequest
from django.utils.dateparse import parse_datetime
from django.utils.text import capfirst
from django.utils.timesince import timesince
from django.utils.translation import gettext_lazy as _

from accounts.images.access import media_path
from accounts.services import audit
from accounts.staff.links import link_to, page_path, visible_page
from accounts.staff.overview import facts, table
from messaging.models import Conversation, Message, Report
from messaging.selectors.messages import messages_around

if TYPE_CHECKING:
    from accounts.models import User

# How many earlier reports and decisions a case shows of each kind.
ROWS_SHOWN = 5
LOG_SHOWN = 20
# What is recorded about a report, with its id or that of its message.
OF_THE_CASE = ("message.revealed", "report.dismissed", "report.noted", "report.resolved")
DECISIONS = ("report.dismissed", "report.resolved", "user.blocked", "user.signed_out", "user.unblocked")
# The actions on an account that a case offers; the page of the user has all of them.
ON_PEOPLE = ("block", "unblock", "erase")

ABOUT_PERSON = ("status", "created_at", "last_seen_at")
ABOUT_BLOCK = ("blocked_until", "blocked_reason")
OF_MESSAGE = ("created_at", "sender", "kind", "length", "edited_at", "deleted_at")
OF_REPORT = ("id", "state", "reason", "created_at")
OF_ENTRY = ("created_at", "action_name", "reason", "actor_label")


def case(report: Report, site: AdminSite, request: HttpRequest) -> dict[str, Any]:
    """What the page of a report shows beside its columns. The number of queries does not depend on the rows."""
    people = _accounts(report, site, request)
    conversation = Conversation.objects.filter(id=report.snapshot.get("conversation_id")).first()
    return {
        "report": report,
        "conversation": conversation and link_to(conversation, site, request),
        "around": _around(report, site, request),
        "people": [
            _person(role, people.get(getattr(report, f"{role}_id")), report, site, request)
            for role in ("reported", "reporter")
        ],
        "log": _log(report, site, request),
    }


def reveal(report: Report) -> None:
    """Reads what a page may show as revealed from now on: the text when it was reported, its time and its picture."""
    message, sent_at = report.message, report.snapshot.get("created_at")
    report.revealed = {  # type: ignore[attr-defined]
        "text": report.reported_text,
        "at": parse_datetime(sent_at) if sent_at else None,
        "picture": picture_path(message) if message else "",
    }


def picture_path(message: Message) -> str:
    """The signed path of the picture of a message; empty without one."""
    return media_path(message.image.token) if message.image and not message.deleted_at else ""


def actions_on(user: "User", site: AdminSite, request: HttpRequest) -> dict[str, Any]:
    """The buttons for an account, as on its own page: the same actions with the same permissions."""
    page: Any = visible_page(type(user), site, request)
    offered = page.row_actions(request, user) if page else []
    return {
        "pk": user.pk,
        "list": page_path(page, "changelist") if page else "",
        "offered": [action for action in offered if action["name"] in ON_PEOPLE],
    }


def _accounts(report: Report, site: AdminSite, request: HttpRequest) -> dict[int, "User"]:
    """Both people as the list of users reads them, also in the place of the relations of the report."""
    page = site._registry[get_user_model()]
    people = page.get_queryset(request).in_bulk([report.reported_id, report.reporter_id])
    report.reported, report.reporter = people.get(report.reported_id), people.get(report.reporter_id)
    return people


def _around(report: Report, site: AdminSite, request: HttpRequest) -> dict[str, Any] | None:
    """Who wrote when, before and after the reported message. None where a reveal shows these messages with their texts, or
    this staff member may not view messages."""
    page = visible_page(Message, site, request)
    if page is None or report.message is None or getattr(report, "shown", None):
        return None
    return table(messages_around(report.message), page, OF_MESSAGE, request, chosen=report.message_id)


def _person(role: str, user: "User | None", report: Report, site: AdminSite, request: HttpRequest) -> dict[str, Any]:
    label = capfirst(str(Report._meta.get_field(role).verbose_name))  # type: ignore[union-attr]
    if user is None:
        return {"role": role, "label": label}
    page = visible_page(type(user), site, request)
    columns = ABOUT_PERSON + (ABOUT_BLOCK if user.blocked_at else ())
    shown = facts(user, page, columns, request) if page else []
    age = {"name": "age", "label": _("Account age"), "value": timesince(user.created_at, depth=1)}
    return {
        "role": role,
        "label": label,
        "name": link_to(user, site, request),
        "facts": [*shown[:1], age, *shown[1:]] if page else [],
        "actions": actions_on(user, site, request),
        "about": _reports("reported", user.pk, report, site, request),
        "by": _reports("reporter", user.pk, report, site, request),
        "decisions": _entries(user.pk, DECISIONS, Q(), ROWS_SHOWN, site, request),
    }


def _reports(role: str, user_id: int, besides: Report, site: AdminSite, request: HttpRequest) -> dict[str, Any]:
    """The earlier reports about or by a user: their number by state, and the newest of them."""
    page = site._registry[Report]
    rows = Report.objects.filter(**{f"{role}_id": user_id}, id__lt=besides.pk)
    numbers = dict(rows.order_by().values_list("state").annotate(number=Count("pk")))
    return {
        "path": f"{page_path(page, 'changelist')}?{role}__id__exact={user_id}",
        "numbers": [(state.label, numbers[state]) for state in Report.State if state in numbers],
        "table": table(rows.order_by("-id")[:ROWS_SHOWN], page, OF_REPORT, request),
    }


def _log(report: Report, site: AdminSite, request: HttpRequest) -> dict[str, Any] | None:
    """What staff did in this case, newest first; None where this staff member may not view the audit log."""
    if report.reported_id is None:
        return None
    of_case = Q(details__report_id=report.pk)
    if report.message_id is not None:
        of_case |= Q(details__message_id=report.message_id)
    return _entries(report.reported_id, OF_THE_CASE, of_case, LOG_SHOWN, site, request)


def _entries(
    user_id: int, actions: tuple[str, ...], which: Q, most: int, site: AdminSite, request: HttpRequest
) -> dict[str, Any] | None:
    rows = audit.entries_about(user_id, actions).filter(which)
    page = visible_page(rows.model, site, request)
    return table(rows[:most], page, OF_ENTRY, request) if page else None
