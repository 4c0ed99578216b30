"""Two members of staff who change the same row at once."""

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import AuditEntry
from tests.server import ON_POSTGRES
from tests.staff import admin_client, staff

CONFLICT = "Another staff member has changed this meanwhile."


@pytest.fixture
def browser(db):
    return admin_client(staff(is_superuser=True))


def opened(browser, address):
    """What the form of this page sends when nothing in it is touched."""
    form = browser.get(address).context["adminform"].form
    return {name: value for name, value in ((name, form[name].value()) for name in form.fields) if value}


def test_rights_that_a_colleague_has_just_given_are_not_taken_back(browser, alice):
    address = f"/admin/accounts/user/{alice.id}/change/"
    form = opened(browser, address) | {"is_staff": "on", "reason": "new in support"}
    support, auditor = Group.objects.get(name="Support"), Group.objects.get(name="Auditor")
    alice.groups.add(auditor)
    before = AuditEntry.objects.count()
    page = browser.post(address, form | {"groups": [support.pk]})
    assert page.status_code == 200 and CONFLICT in page.content.decode()
    alice.refresh_from_db()
    assert not alice.is_staff and list(alice.groups.all()) == [auditor]
    assert AuditEntry.objects.count() == before
    # The form shows what is there now; sent again, it is saved.
    again = page.context["adminform"].form
    assert again["groups"].value() == [auditor.pk] and not again["is_staff"].value()
    form |= {"seen": again["seen"].value(), "groups": [support.pk, auditor.pk]}
    assert browser.post(address, form).status_code == 302
    assert set(alice.groups.all()) == {support, auditor}


def test_permissions_that_a_colleague_has_just_removed_do_not_come_back(browser):
    group = Group.objects.get(name="Support")
    address = f"/admin/auth/group/{group.pk}/change/"
    form = opened(browser, address)
    form |= {"reason": "a better name", "name": "Helpers"}
    group.permissions.clear()
    page = browser.post(address, form)
    assert CONFLICT in page.content.decode()
    group.refresh_from_db()
    assert group.name == "Support" and not group.permissions.exists()


def test_other_changes_of_the_account_do_not_matter(browser, alice):
    address = f"/admin/accounts/user/{alice.id}/change/"
    form = opened(browser, address) | {"is_staff": "on", "reason": "new in support"}
    alice.first_name = "Alicia"
    alice.save(update_fields=["first_name"])
    with CaptureQueriesContext(connection) as queries:
        assert browser.post(address, form).status_code == 302
    alice.refresh_from_db()
    assert alice.is_staff
    assert not ON_POSTGRES or any("FOR NO KEY UPDATE" in q["sql"] and "accounts_user" in q["sql"] for q in queries)
