"""Figures and charts on the index page, and panels on the page of a user, which the lists of the admin declare.

A page declares them as `figures`, `chart` and `panel`. Only staff who may view the list see them.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, cast
from urllib.parse import urlencode

from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.admin.utils import display_for_field, display_for_value, label_for_field, lookup_field
from django.core.cache import cache
from django.db import DatabaseError, transaction
from django.db.models import Count, Model, Q, QuerySet, TextChoices
from django.db.models.functions import TruncDate
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.staff.links import page_path

MAX_COUNT = 10_000


class Task(TextChoices):
    """The headings of the index page, which group the lists, in their order; the value is the CSS class."""

    PEOPLE = "people", _("Users")
    REPORTS = "reports", _("Reports and messages")
    CALLS = "calls", _("Calls")
    DELIVERY = "delivery", _("Delivery")
    RECORDS = "records", _("Audit")
    STAFF = "staff", _("Staff")
    OTHER = "other", _("Other")


def _declared(name: str, site: AdminSite, request: HttpRequest) -> Iterator[tuple[ModelAdmin, Any]]:
    """What the pages that this staff member may view declare under a name, in the order of the lists."""
    tasks = list(Task)

    def place(page: ModelAdmin) -> tuple[int, bool]:
        return tasks.index(getattr(page, "task", Task.OTHER)), not getattr(page, "leads_task", False)

    for page in sorted(site._registry.values(), key=place):
        if (declared := getattr(page, name, None)) and page.has_view_permission(request):
            yield page, declared


# --- Figures ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Figure:
    """The number of some rows; `query` has the parameters that leave exactly these rows in the list."""

    label: str | Promise
    rows: Callable[[], QuerySet]
    query: Callable[[], Mapping[str, object]] = dict


def today(column: str) -> dict[str, object]:
    """The parameters of a list for the rows of the current day by this column, as the choice *Today* of its filter."""
    start = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    return {f"{column}__gte": start, f"{column}__lt": start + timedelta(days=1)}


def figures(site: AdminSite, request: HttpRequest) -> list[dict[str, Any]]:
    """The figures that this staff member may see. Each counts to ten thousand only, to stay fast on large tables."""
    return [
        {
            "label": figure.label,
            "value": _capped_count(figure.rows()),
            "path": f"{page_path(page, 'changelist')}?{urlencode(figure.query())}",
        }
        for page, declared in _declared("figures", site, request)
        for figure in declared
    ]


def _capped_count(rows: QuerySet) -> int | str:
    number = len(rows.order_by().values_list("pk")[: MAX_COUNT + 1])
    return number if number <= MAX_COUNT else f"{MAX_COUNT}+"


# --- Panels -----------------------------------------------------------------------------------------------------------

ROWS_SHOWN = 10
EMPTY = "–"


@dataclass(frozen=True, slots=True)
class Panel:
    """The newest rows of the list about a user; `columns` are columns of the list."""

    rows: Callable[[User], QuerySet]
    columns: tuple[str, ...]
    position: int


def panels(user: User, site: AdminSite, request: HttpRequest) -> list[dict[str, Any]]:
    """The panels of a user's page that this staff member may see; one query each."""
    declared = sorted(_declared("panel", site, request), key=lambda pair: pair[1].position)
    return [_panel_data(panel, page, user, request) for page, panel in declared]


def facts(row: Model, page: Any, columns: tuple[str, ...], request: HttpRequest) -> list[dict[str, Any]]:
    """These columns of one row, with their names; `page` is a StaffAdmin."""
    return [
        {
            "name": column,
            "label": capfirst(str(label_for_field(column, page.model, page))),
            "value": _cell(column, row, page, request),
        }
        for column in columns
    ]


def _panel_data(panel: Panel, page: ModelAdmin, user: User, request: HttpRequest) -> dict[str, Any]:
    related = page.list_select_related or ()
    rows = panel.rows(user).select_related(*cast(tuple[str, ...], related))[:ROWS_SHOWN]
    return {
        "name": page.opts.model_name,
        "title": capfirst(page.opts.verbose_name_plural),
        "path": f"{page_path(page, 'changelist')}?{urlencode({'q': user.email})}",
        **table(rows, page, panel.columns, request),
    }


def table(
    rows: Iterable[Model], page: Any, columns: tuple[str, ...], request: HttpRequest, *, chosen: Any = None
) -> dict[str, Any]:
    """These columns of some rows as `headers` and `rows`, each with the path of its page; `page` is a StaffAdmin, and
    `chosen` the key of a row to be marked."""
    return {
        "headers": [capfirst(str(label_for_field(column, page.model, page))) for column in columns],
        "rows": [
            {
                "path": page_path(page, "change", row.pk),
                "is_chosen": chosen is not None and row.pk == chosen,
                "cells": [_cell(column, row, page, request) for column in columns],
            }
            for row in rows
        ],
    }


def _cell(column: str, row: Model, page: Any, request: HttpRequest) -> Any:
    field, attribute, value = lookup_field(page.linked(column, request), row, page)
    if field is None:
        return display_for_value(value, EMPTY, getattr(attribute, "boolean", False))
    return display_for_field(value, field, EMPTY)


# --- Charts: one grouped query each; days that are over are counted once a day, the current day once a minute ---------

logger = logging.getLogger("parley.charts")

DAYS = 30
MINUTE = 60
DAY = 24 * 3600
# A table that is too large to count in time is not counted again for this long.
PAUSE_AFTER_FAILURE = 3600

# The size of a chart in pixels.
WIDTH, HEIGHT = 600, 120
GAP = 3
MARKS = 6
# The last day has a mark, and each one that is two weeks earlier.
DAYS_BETWEEN_MARKS = 14
# The number of colours in the style sheet.
COLOURS = 7

# Day, series and number; the series of a chart without any is "".
Counts = list[tuple[str, str, int]]


@dataclass(frozen=True, slots=True)
class Chart:
    """Rows by the day of `at`; one series for each value of `by`, named by `labels`.

    `rows(start)` returns at least the rows from there on, by an index.
    """

    name: str
    title: str | Promise
    rows: Callable[[datetime], QuerySet]
    at: str = "created_at"
    by: str = ""
    labels: Mapping[str, str | Promise] | None = None


def charts(site: AdminSite, request: HttpRequest) -> list[dict[str, Any]]:
    """The charts that this staff member may see, ready for the template."""
    now = timezone.now().astimezone(UTC)
    days = [now.date() - timedelta(days=number) for number in reversed(range(DAYS))]
    return [_chart_data(chart, days) for _page, chart in _declared("chart", site, request)]


def _chart_data(chart: Chart, days: list[date]) -> dict[str, Any]:
    labels = chart.labels or {"": chart.title}
    counts = _counts(chart, days)
    numbers = {(day, series): number for day, series, number in counts or []}
    return {"name": chart.name, "title": chart.title, "failed": counts is None} | _drawing(days, dict(labels), numbers)


def _counts(chart: Chart, days: list[date]) -> Counts | None:
    """None when the database does not answer in time."""
    key = f"chart:{chart.name}:{days[-1].isoformat()}"
    first, today = (datetime.combine(day, time.min, UTC) for day in (days[0], days[-1]))
    finished = _cached(f"{key}:finished", lambda: _count_rows(chart, first, today), DAY)
    current = _cached(f"{key}:today", lambda: _count_rows(chart, today, today + timedelta(days=1)), MINUTE)
    return None if finished is None or current is None else finished + current


def _count_rows(chart: Chart, start: datetime, end: datetime) -> Counts:
    rows = chart.rows(start).filter(Q((f"{chart.at}__gte", start), (f"{chart.at}__lt", end)))
    by = [chart.by] if chart.by else []
    days = rows.annotate(day=TruncDate(chart.at, tzinfo=UTC)).values("day", *by).annotate(number=Count("pk"))
    return [(row["day"].isoformat(), str(row.get(chart.by, "")), row["number"]) for row in days.order_by()]


def _cached(key: str, count: Callable[[], Counts], seconds: int) -> Counts | None:
    """The counts from the cache, or counted now. The page opens without a cache, too."""
    try:
        cached = cache.get(key)
        if cached is False:
            return None
        if _is_counts(cached):
            return [(day, series, number) for day, series, number in cached]
    except Exception:  # of any client behind the cache
        logger.warning("The cache does not answer.", exc_info=True)
    counts: Counts | None
    try:
        with transaction.atomic():
            counts = count()
    except DatabaseError:
        logger.warning("A chart could not be counted.", exc_info=True)
        counts, seconds = None, PAUSE_AFTER_FAILURE
    try:
        cache.set(key, False if counts is None else counts, seconds)
    except Exception:  # of any client behind the cache
        logger.warning("The cache does not answer.", exc_info=True)
    return counts


def _is_counts(value: Any) -> bool:
    """Whether the value has the shape that `_cached` stores: others may have written to the cache."""
    return isinstance(value, list) and all(
        isinstance(row, list | tuple) and [type(part) for part in row] == [str, str, int] for row in value
    )


def scale(highest: int) -> list[int]:
    """The marks of an axis from its end down to 0: round numbers, at most six of them, the first not below `highest`."""
    step = 1
    while step * (MARKS - 1) < highest:
        digits = 10 ** (len(str(step)) - 1)
        step = {1: 2, 2: 5, 5: 10}[step // digits] * digits
    end = -(-max(highest, 1) // step) * step
    return list(range(end, -1, -step))


def _drawing(
    days: list[date], labels: dict[str, str | Promise], numbers: Mapping[tuple[str, str], int]
) -> dict[str, Any]:
    """A stacked bar chart of these numbers by (day, series): rectangles for inline SVG, the marks of both axes, legend, and
    a table."""
    values_of_day = {day: [numbers.get((day.isoformat(), key), 0) for key in labels] for day in days}
    totals_of_day = {day: sum(values) for day, values in values_of_day.items()}
    peak = max(days, key=lambda day: totals_of_day[day])
    marks = scale(totals_of_day[peak])
    step = WIDTH / len(days)
    bars = []
    for position, (day, values) in enumerate(values_of_day.items()):
        top = float(HEIGHT)
        for colour, (label, value) in enumerate(zip(labels.values(), values, strict=True)):
            if value:
                height = value / marks[0] * HEIGHT
                top -= height
                bars.append(
                    {
                        "x": f"{position * step + GAP / 2:.1f}",
                        "y": f"{top:.1f}",
                        "width": f"{step - GAP:.1f}",
                        "height": f"{height:.1f}",
                        "colour": colour % COLOURS,
                        "text": f"{day.isoformat()}, {label}: {value}",
                    }
                )
    totals = [sum(column) for column in zip(*values_of_day.values(), strict=True)]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "bars": bars,
        "marks": [{"number": mark, "y": f"{HEIGHT - mark / marks[0] * HEIGHT:.1f}"} for mark in marks],
        "days": days[-1::-DAYS_BETWEEN_MARKS][::-1],
        "peak": {"day": peak, "number": totals_of_day[peak]},
        "total": sum(totals),
        "series": [
            {"label": label, "total": total, "colour": colour % COLOURS}
            for colour, (label, total) in enumerate(zip(labels.values(), totals, strict=True))
        ],
        "table": [{"day": day.isoformat(), "numbers": values} for day, values in reversed(values_of_day.items())],
    }
