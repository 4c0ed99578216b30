"""The tasks by which the index page groups the lists, in their order on the page."""

from dataclasses import dataclass
from typing import Any

from django.contrib.admin import AdminSite
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True)
class Task:
    """A heading of the index page; `name` is its CSS class."""

    name: str
    label: str | Promise
    position: int


PEOPLE = Task("people", _("Users"), 1)
REPORTS = Task("reports", _("Reports and messages"), 2)
CALLS = Task("calls", _("Calls"), 3)
DELIVERY = Task("delivery", _("Delivery"), 4)
RECORDS = Task("records", _("Audit"), 5)
STAFF = Task("staff", _("Staff"), 6)
OTHER = Task("other", _("Other"), 7)


def grouped(site: AdminSite, apps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lists of Django's apps, grouped by task instead."""
    order = {model: number for number, model in enumerate(site._registry)}
    groups: dict[Task, list[dict[str, Any]]] = {}
    for row in (row for app in apps for row in app["models"]):
        page = site._registry[row["model"]]
        groups.setdefault(getattr(page, "task", OTHER), []).append(row)
    return [
        {
            "name": task.label,
            "app_label": task.name,
            "app_url": "",
            "has_module_perms": True,
            "models": sorted(
                groups[task],
                key=lambda row: (
                    not getattr(site._registry[row["model"]], "leads_task", False),
                    order[row["model"]],
                ),
            ),
        }
        for task in sorted(groups, key=lambda task: task.position)
    ]
