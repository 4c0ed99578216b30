"""Actions that end in a file."""

import csv
import json
import unicodedata
from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from accounts.staff.actions import Consequences, Perform, confirmed_action

MAX_ROWS = 10_000
# Spreadsheets treat a cell that starts with one of these as a formula, some also in their full-width form.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
DOWNLOAD_LABELS = {"csv": _("Download as CSV"), "json": _("Download as JSON")}


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if unicodedata.normalize("NFKC", text[:1]).startswith(FORMULA_STARTS) else text


def download(
    page: admin.ModelAdmin, rows: Iterable[dict[str, Any]], columns: tuple[str, ...], kind: str
) -> HttpResponse:
    """A file of these rows, `csv` or `json`; formulas in cells are made harmless."""
    response = HttpResponse(content_type="application/json" if kind == "json" else "text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{page.opts.model_name}.{kind}"'
    if kind == "json":
        response.write(json.dumps(list(rows), default=str, ensure_ascii=False, indent=1))
        return response
    writer = csv.writer(response)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row[column]) for column in columns])
    return response


def confirmed_download(
    *, kind: str, columns: tuple[str, ...], permission: str, consequences: Consequences, perform: Perform
) -> Any:
    """An action of lists that asks for a reason, writes the audit log by `perform`, and downloads the selected rows."""

    def file_of(page: admin.ModelAdmin, request: HttpRequest, rows: list[Any], data: dict[str, Any]) -> HttpResponse:
        return download(page, ({name: getattr(row, name) for name in columns} for row in rows), columns, kind)

    return confirmed_action(
        name=f"download_{kind}",
        label=DOWNLOAD_LABELS[kind],
        permission=permission,
        consequences=consequences,
        perform=perform,
        on_success=file_of,
        is_offered=lambda row: False,
    )


def download_action(*, kind: str, columns: tuple[str, ...], permission: str) -> Any:
    """An action that downloads the selected rows at once, for data without a need for a reason."""

    @admin.action(description=DOWNLOAD_LABELS[kind], permissions=[permission.rsplit(".", 1)[-1]])
    def action(self: admin.ModelAdmin, request: HttpRequest, queryset: QuerySet) -> HttpResponse:
        return download(self, queryset.values(*columns)[:MAX_ROWS], columns, kind)

    action.__name__ = f"download_{kind}"
    return action
