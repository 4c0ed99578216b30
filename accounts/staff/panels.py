"""The top of a user's page: a few facts, and panels with the newest rows of other lists about that user. Other apps add
panels."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.admin.utils import display_for_field, display_for_value, label_for_field, lookup_field
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.text import capfirst

from accounts.models import User
from accounts.staff.lists import StaffAdmin

ROWS_SHOWN = 10
EMPTY = "–"


@dataclass(frozen=True, slots=True)
class Panel:
    """`columns` are columns of the list of `model`. Staff who may not view that list do not see the panel."""

    model: type[Model]
    rows: Callable[[User], QuerySet]
    columns: tuple[str, ...]
    position: int


_panels: list[Panel] = []


def add_panels(*panels: Panel) -> None:
    """Adds panels of an app to the page of a user."""
    _panels.extend(panels)
    _panels.sort(key=lambda panel: panel.position)


def registered() -> list[Panel]:
    """All panels, in the order of the page."""
    return list(_panels)


def panel_data(user: User, site: AdminSite, request: HttpRequest) -> list[dict[str, Any]]:
    """The panels that this staff member may see; one query each."""
    pages = [(panel, cast(StaffAdmin, site.get_model_admin(panel.model))) for panel in _panels]
    return [_panel_data(panel, page, user) for panel, page in pages if page.has_view_permission(request)]


def facts(row: Model, page: StaffAdmin, columns: tuple[str, ...]) -> list[dict[str, Any]]:
    """These columns of one row, with their names."""
    return [
        {
            "name": column,
            "label": capfirst(str(label_for_field(column, page.model, page))),
            "value": _cell(column, row, page),
        }
        for column in columns
    ]


def _panel_data(panel: Panel, page: StaffAdmin, user: User) -> dict[str, Any]:
    base = f"admin:{page.opts.app_label}_{page.opts.model_name}"
    related = page.list_select_related or ()
    rows = panel.rows(user).select_related(*cast(tuple[str, ...], related))[:ROWS_SHOWN]
    return {
        "name": page.opts.model_name,
        "title": capfirst(page.opts.verbose_name_plural),
        "path": f"{reverse(base + '_changelist')}?{urlencode({'q': user.email})}",
        "headers": [capfirst(str(label_for_field(column, panel.model, page))) for column in panel.columns],
        "rows": [
            {
                "path": reverse(f"{base}_change", args=[row.pk]),
                "cells": [_cell(column, row, page) for column in panel.columns],
            }
            for row in rows
        ],
    }


def _cell(column: str, row: Model, page: ModelAdmin) -> Any:
    field, attribute, value = lookup_field(column, row, page)
    if field is None:
        return display_for_value(value, EMPTY, getattr(attribute, "boolean", False))
    if field.is_relation:
        return EMPTY if value is None else str(value)
    return display_for_field(value, field, EMPTY)
