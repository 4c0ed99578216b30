"""The list of users and its filter call the status of an account by the same words."""

from datetime import timedelta

import pytest
from django.contrib import admin
from django.utils import timezone

from accounts.models import User
from accounts.services import account_status
from accounts.staff.users import AccountStatusFilter
from tests.factories import make_user
from tests.staff import admin_client, staff

# Several words may apply. `confirmed` is not among them: an account is active, or the words say what is wrong.
CHOICES = [value for value, _label, _keep in AccountStatusFilter.options if value != "verified"]


@pytest.fixture
def accounts(db):
    now = timezone.now()
    make_user("Unconfirmed", verified=False)
    make_user("Locked", locked_until=now + timedelta(hours=1))
    make_user("Unlocked", locked_until=now - timedelta(hours=1))
    make_user("Leaving", erase_after=now + timedelta(days=3))
    make_user("Blocked", blocked_at=now)
    make_user("Unblocked", blocked_at=now - timedelta(days=2), blocked_until=now - timedelta(days=1))
    make_user("Both", blocked_at=now, locked_until=now + timedelta(hours=1))
    account_status.erase(user=make_user("Erased"), actor="test")
    return admin_client(staff("Support"))


@pytest.mark.parametrize("choice", CHOICES)
def test_a_filter_leaves_the_users_whom_the_list_calls_so(accounts, choice):
    page = admin.site._registry[User]
    word = next(str(label) for value, label, _keep in AccountStatusFilter.options if value == choice)
    named = {user.id for user in User.objects.all() if word in page.status(user).split(", ")}
    shown = accounts.get("/admin/accounts/user/", {"status": choice}).context["cl"].result_list
    assert {user.id for user in shown} == named != set()
