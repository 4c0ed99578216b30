"""Every tile of the overview leads to a list with exactly the rows that it counts."""

from datetime import timedelta

import pytest
from django.contrib import admin
from django.utils import timezone

from accounts.models import User
from integrations.models import WebhookTarget
from messaging.models import Report
from messaging.services import reports
from notifications.models import Delivery
from realtime.models import Call
from tests.browser.server_fixtures import fill
from tests.factories import make_user
from tests.staff import admin_client, staff

pytestmark = pytest.mark.django_db


@pytest.fixture
def counted(db):
    """For each tile a row that counts, and one beside it that does not."""
    rows, now = fill()["rows"], timezone.now()
    yesterday = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(seconds=1)
    User.objects.filter(id=make_user("Yesterday").id).update(created_at=yesterday)
    User.objects.filter(id=make_user("Past").id).update(blocked_at=now, blocked_until=now - timedelta(minutes=1))
    call = Call.objects.get(id=rows["call"])
    call.pk, call.created_at = None, yesterday
    call.save(force_insert=True)
    reporter = User.objects.get(id=rows["ben"])
    closed = Report.objects.get(id=rows["dismissed"])
    reports.close(report=closed, staff=reporter, state=Report.State.DISMISSED, resolution="nothing wrong")
    fields = {"channel": "push", "kind": "test", "recipient": reporter, "expires_at": now + timedelta(days=1)}
    for state in Delivery.State.values:
        Delivery.objects.create(dedupe_key=f"tile {state}", state=state, **fields)
    WebhookTarget.objects.create(name="in use")
    return rows


def test_each_tile_leads_to_what_it_counts(counted):
    client = admin_client(staff(is_superuser=True))
    shown = client.get("/admin/").context["overview"]
    declared = [figure for page in admin.site._registry.values() for figure in getattr(page, "figures", ())]
    assert len(shown) == len(declared) >= 9
    for figure in shown:
        assert figure["value"] > 0, figure
        answer = client.get(figure["path"])
        assert answer.status_code == 200, figure
        assert answer.context["cl"].result_count == figure["value"], figure
        if "paused" not in str(figure["label"]).lower():
            everything = client.get(figure["path"].partition("?")[0]).context["cl"].result_count
            assert everything > figure["value"], figure


def test_a_tile_of_today_is_the_choice_today_of_the_filter(counted):
    client = admin_client(staff(is_superuser=True))
    paths = {str(figure["label"]): figure["path"] for figure in client.get("/admin/").context["overview"]}
    for label in ("New accounts today", "Calls today"):
        changelist = client.get(paths[label]).context["cl"]
        chosen = [
            choice["display"]
            for spec in changelist.filter_specs
            for choice in spec.choices(changelist)
            if choice["selected"]
        ]
        assert "Today" in map(str, chosen), label


def test_a_tile_with_nothing_to_do_is_quiet(db):
    page = admin_client(staff(is_superuser=True)).get("/admin/").content.decode()
    assert '<li class="zero"><a href="/admin/messaging/report/?state__exact=open">' in page
    assert '<li><a href="/admin/accounts/user/?created_at__gte=' in page
