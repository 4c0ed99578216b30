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
    """The lists of Django's apps, grouped by task instead: the one that leads its task, then in order of registration."""
    rows = {row["model"]: row for app in apps for row in app["models"]}
    groups: dict[Task, list[dict[str, Any]]] = {}
    for model, page in sorted(site._registry.items(), key=lambda item: not getattr(item[1], "leads_task", False)):
        if model in rows:
            groups.setdefault(getattr(page, "task", OTHER), []).append(rows[model])
    return [
        {"name": task.label, "app_label": task.name, "app_url": "", "has_module_perms": True, "models": groups[task]}
        for task in sorted(groups, key=lambda task: task.position)
    ]
