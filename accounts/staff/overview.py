"""Figures and charts on the index page of the admin. Other apps add theirs in their admin modules."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.core.cache import cache
from django.db import DatabaseError, transaction
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import TruncDate
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.services.login_lockout import is_locked
from accounts.staff.lists import MAX_COUNT


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of the overview; `path` leads to the list behind it, which needs `permission`."""

    label: str | Promise
    permission: str
    count: Callable[[], int | str]
    path: str


def capped_count(rows: QuerySet) -> int | str:
    """The count, up to ten thousand, so that the overview stays fast on large tables."""
    number = len(rows.order_by().values_list("pk")[: MAX_COUNT + 1])
    return number if number <= MAX_COUNT else f"{MAX_COUNT}+"


_figures: list[Figure] = []


def add_figures(*figures: Figure) -> None:
    """Adds the figures of an app to the overview."""
    _figures.extend(figures)


def figures(request: HttpRequest) -> list[dict[str, Any]]:
    """The figures of the lists that this staff member may see."""
    return [
        {"label": figure.label, "value": figure.count(), "path": figure.path}
        for figure in _figures
        if request.user.has_perm(figure.permission)
    ]


_USERS = "/admin/accounts/user/"
_MAY_VIEW_USERS = "accounts.view_user"
add_figures(
    Figure(
        _("New accounts today"),
        _MAY_VIEW_USERS,
        lambda: capped_count(User.objects.filter(created_at__gte=timezone.now() - timedelta(days=1))),
        _USERS,
    ),
    Figure(
        _("Currently locked"),
        _MAY_VIEW_USERS,
        lambda: capped_count(User.objects.filter(is_locked(timezone.now()))),
        f"{_USERS}?status=locked",
    ),
    Figure(_("Blocked"), _MAY_VIEW_USERS, lambda: capped_count(User.objects.blocked()), f"{_USERS}?status=blocked"),
)


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
    permission: str
    position: int
    rows: Callable[[datetime], QuerySet]
    at: str = "created_at"
    by: str = ""
    labels: Mapping[str, str | Promise] | None = None


_charts: list[Chart] = []


def add_charts(*charts: Chart) -> None:
    """Adds charts of an app to the index page."""
    _charts.extend(charts)
    _charts.sort(key=lambda chart: chart.position)


def charts(request: HttpRequest) -> list[dict[str, Any]]:
    """The charts that this staff member may see, ready for the template."""
    now = timezone.now().astimezone(UTC)
    days = [now.date() - timedelta(days=number) for number in reversed(range(DAYS))]
    return [_chart_data(chart, days) for chart in _charts if request.user.has_perm(chart.permission)]


def _chart_data(chart: Chart, days: list[date]) -> dict[str, Any]:
    labels = chart.labels or {"": chart.title}
    counts = _counts(chart, days)
    numbers: Counter[tuple[str, str]] = Counter()
    for day, series, number in counts or []:
        numbers[day, series] += number
    return {"name": chart.name, "title": chart.title, "failed": counts is None} | _drawing(days, dict(labels), numbers)


def _counts(chart: Chart, days: list[date]) -> Counts | None:
    """None when the database does not answer in time."""
    key = f"chart:{chart.name}:{days[-1].isoformat()}"
    first, today = _midnight(days[0]), _midnight(days[-1])
    finished = _cached(f"{key}:finished", lambda: _count_rows(chart, first, today), DAY)
    current = _cached(f"{key}:today", lambda: _count_rows(chart, today, today + timedelta(days=1)), MINUTE)
    return None if finished is None or current is None else finished + current


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _count_rows(chart: Chart, start: datetime, end: datetime) -> Counts:
    rows = chart.rows(start).filter(Q((f"{chart.at}__gte", start), (f"{chart.at}__lt", end)))
    by = [chart.by] if chart.by else []
    days = rows.annotate(day=TruncDate(chart.at, tzinfo=UTC)).values("day", *by).annotate(number=Count("pk"))
    return [(row["day"].isoformat(), str(row.get(chart.by, "")), row["number"]) for row in days.order_by()]


def _cached(key: str, count: Callable[[], Counts], seconds: int) -> Counts | None:
    """The counts from the cache, or counted now. The page opens without a cache, too."""
    try:
        cached = cache.get(key)
    except Exception:  # of any client behind the cache
        logger.warning("The cache does not answer.", exc_info=True)
        cached = None
    if cached is not None:
        return None if cached is False else cached
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


def _drawing(
    days: list[date], labels: dict[str, str | Promise], numbers: Mapping[tuple[str, str], int]
) -> dict[str, Any]:
    """A stacked bar chart of these numbers by (day, series): rectangles for inline SVG, legend, and a table."""
    values_of_day = {day: [numbers.get((day.isoformat(), key), 0) for key in labels] for day in days}
    highest = max(map(sum, values_of_day.values()), default=0)
    step = WIDTH / len(days)
    bars = []
    for position, (day, values) in enumerate(values_of_day.items()):
        top = float(HEIGHT)
        for colour, (label, value) in enumerate(zip(labels.values(), values, strict=True)):
            if value:
                height = value / highest * HEIGHT
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
        "highest": highest,
        "first": days[0].isoformat(),
        "last": days[-1].isoformat(),
        "total": sum(totals),
        "series": [
            {"label": label, "total": total, "colour": colour % COLOURS}
            for colour, (label, total) in enumerate(zip(labels.values(), totals, strict=True))
        ],
        "table": [{"day": day.isoformat(), "numbers": values} for day, values in reversed(values_of_day.items())],
    }
