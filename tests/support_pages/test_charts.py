"""The charts of the overview have a scale: for eyes at the axes, for screen readers in a sentence."""

import itertools
import re
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from accounts.models import User
from accounts.staff.overview import scale
from tests.factories import make_user
from tests.staff import admin_client, staff


@pytest.mark.once
@pytest.mark.parametrize(
    ("highest", "marks"),
    [
        (0, [1, 0]),
        (1, [1, 0]),
        (3, [3, 2, 1, 0]),
        (5, [5, 4, 3, 2, 1, 0]),
        (6, [6, 4, 2, 0]),
        (11, [15, 10, 5, 0]),
        (26, [30, 20, 10, 0]),
        (101, [150, 100, 50, 0]),
        (999, [1000, 800, 600, 400, 200, 0]),
    ],
)
def test_an_axis_has_few_round_marks(highest, marks):
    assert scale(highest) == marks


@pytest.mark.once
def test_every_axis_holds_its_highest_number():
    for highest in range(3000):
        marks = scale(highest)
        assert marks[0] >= highest and marks[-1] == 0 and 2 <= len(marks) <= 6, highest
        assert len({one - other for one, other in itertools.pairwise(marks)}) == 1, highest


def test_a_chart_tells_its_unit_its_scale_and_its_highest_day(db):
    cache.clear()  # counts are kept for a day
    now = timezone.now()
    for number in range(6):
        user = make_user(f"Person{number}")
        User.objects.filter(id=user.id).update(created_at=now - timedelta(days=3))
    page = admin_client(staff(is_superuser=True)).get("/admin/").content.decode()
    chart = re.search(r'(?s)<figure class="chart" id="chart-sign-ups">.*?</figure>', page)[0]
    described = re.search(r'<svg[^>]*role="img"[^>]*aria-describedby="([^"]*)"', chart)[1].split()
    told = [re.search(rf'id="{name}">([^<]*)<', chart)[1] for name in described]
    day = now - timedelta(days=3)
    assert told[0] == "Number per day (UTC)"
    assert told[1].startswith("The scale goes from 0 to 6. Highest: 6, on ") and f"{day.day}, {day.year}" in told[1]
    marks = re.search(r'(?s)<ol class="marks".*?</ol>', chart)[0]
    assert re.findall(r"<li>(\d+)</li>", marks) == ["6", "4", "2", "0"]
    days = re.search(r'(?s)<ol class="quiet days".*?</ol>', chart)[0]
    assert len(re.findall("<li>", days)) == 3 and str(now.day) in days
    # Six of six fill the height, one of six a sixth of it.
    heights = [float(height) for height in re.findall(r'<rect[^>]* height="([\d.]+)"', chart)]
    assert max(heights) == 120.0 and min(heights) == 20.0
