"""`manage.py purge_expired`: what has had its time goes, everything else stays, twice at once does no harm."""

import io
import json
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session as AdminCookie
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import AuditEntry, Code, User
from accounts.sign_in import codes
from tests.factories import make_user
from tests.parallel import run_parallel
from tests.staff import admin_client, staff


def purge(capsys, *words) -> dict:
    capsys.readouterr()
    call_command("purge_expired", "--json", *words)
    return json.loads(capsys.readouterr().out)


def left_behind(count: int) -> None:
    """Accounts that were not confirmed within the week, each with its code."""
    long_ago = timezone.now() - timedelta(days=8)
    for _ in range(count):
        user = make_user(verified=False, created_at=long_ago)
        codes.issue(user=user, purpose="signup", address=user.email)
    Code.objects.update(expires_at=long_ago)


def test_a_dry_run_tells_and_removes_nothing(alice, capsys):
    left_behind(3)
    result = purge(capsys, "--dry-run")
    assert sum(value for value in result.values() if value is not True) >= 3
    assert User.objects.count() == 4
    assert not AuditEntry.objects.exists()


def test_a_dry_run_says_where_it_stopped_counting(alice, capsys):
    left_behind(5)
    call_command("purge_expired", "--dry-run", "--json", "--limit", "3")
    out, notes = capsys.readouterr()
    assert json.loads(out)["accounts.accounts_unconfirmed"] == 3
    assert notes == "3 or more: accounts.accounts_unconfirmed. A higher --limit counts further.\n"
    call_command("purge_expired", "--dry-run", "--json", "--limit", "6")
    out, notes = capsys.readouterr()
    assert json.loads(out)["accounts.accounts_unconfirmed"] == 5
    assert notes == ""


def test_cookies_of_the_support_pages_go_when_they_have_expired(db, capsys):
    admin_client(staff("Support"))
    admin_client(staff("Auditor"))
    first = AdminCookie.objects.first()
    AdminCookie.objects.filter(pk=first.pk).update(expire_date=timezone.now() - timedelta(hours=1))
    assert purge(capsys, "--dry-run")["admin_cookies"] == 1
    assert AdminCookie.objects.count() == 2
    assert purge(capsys)["admin_cookies"] == 1
    assert not AdminCookie.objects.filter(pk=first.pk).exists() and AdminCookie.objects.count() == 1


def test_batches_go_on_until_nothing_is_left(alice, capsys):
    left_behind(5)
    purge(capsys, "--limit", "2")
    assert list(User.objects.all()) == [alice]
    assert not Code.objects.exists()
    assert AuditEntry.objects.filter(action="purge_expired").count() == 1
    assert not any(value for value in purge(capsys).values())


def test_each_kind_is_looked_for_until_it_is_gone_and_not_again_with_every_batch_of_another(alice, capsys):
    left_behind(5)
    with CaptureQueriesContext(connection) as queries:
        purge(capsys, "--limit", "1")
    long_feeds = [
        query for query in queries if "notifications_notification" in query["sql"] and "HAVING" in query["sql"]
    ]
    assert len(long_feeds) == 1


@pytest.mark.django_db(transaction=True)
def test_two_at_once_do_no_harm(alice):
    left_behind(30)
    run_parallel([lambda: call_command("purge_expired", "--json", "--limit", "4", stdout=io.StringIO())] * 2)
    assert list(User.objects.all()) == [alice]
