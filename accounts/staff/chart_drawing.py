"""Geometry of a stacked bar chart: rectangles for inline SVG, and the same numbers as a table."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from django.utils.functional import Promise

WIDTH, HEIGHT = 600, 120
GAP = 3
# So many colours has the style sheet.
COLOURS = 7


def drawing(
    days: list[date], labels: dict[str, str | Promise], numbers: Mapping[tuple[str, str], int]
) -> dict[str, Any]:
    """Bars, legend and table of these numbers by (day, series); all of them with no number at all, too."""
    of_day = {day: [numbers.get((day.isoformat(), key), 0) for key in labels] for day in days}
    highest = max(map(sum, of_day.values()), default=0)
    step = WIDTH / len(days)
    bars = []
    for position, (day, values) in enumerate(of_day.items()):
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
    totals = [sum(column) for column in zip(*of_day.values(), strict=True)]
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
        "table": [{"day": day.isoformat(), "numbers": values} for day, values in reversed(of_day.items())],
    }
