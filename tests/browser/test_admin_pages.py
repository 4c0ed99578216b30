"""Every support page in a real browser: it opens, without errors, and passes axe."""

import pytest
from django.contrib import admin

from tests.browser.chromium import barriers, needs_chromium
from tests.browser.server_fixtures import DETAILS
from tests.staff import path_of, registered_actions, registered_forms

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(180)]

LISTS = sorted(path_of(model) for model in admin.site._registry)
ADDED = sorted(path for what, path in registered_forms() if what == "add")


def test_every_list_has_a_row_to_open():
    assert sorted(DETAILS) == LISTS


@pytest.fixture(scope="module")
def opened(page_of, staff_server):
    signed_in = page_of("admin")
    staff_server.rows["audit entry"] = str(staff_server.newest_audit_id())
    return signed_in


@pytest.mark.parametrize("path", ["", *(f"{path}/" for path in LISTS)])
def test_a_list_is_clean_and_offers_what_is_registered(opened, staff_server, path):
    page, complaints = opened
    complaints.clear()
    assert page.goto(f"{staff_server.base}/admin/{path}").status == 200
    assert complaints == []
    assert barriers(page) == []
    if path:
        offered = {
            option.get_attribute("value") for option in page.get_by_label("Action:").first.locator("option").all()
        }
        assert offered - {""} == {name for model, name in registered_actions() if f"{model}/" == path}


@pytest.mark.parametrize("path", LISTS)
def test_a_row_is_clean_and_says_what_it_is(opened, staff_server, path):
    page, complaints = opened
    complaints.clear()
    assert page.goto(f"{staff_server.base}/admin/{path}/{staff_server.rows[DETAILS[path]]}/change/").status == 200
    assert complaints == []
    assert barriers(page) == []
    assert " object (" not in page.locator("body").inner_text()


@pytest.mark.parametrize("path", ADDED)
def test_a_form_for_a_new_row_is_clean(opened, staff_server, path):
    page, complaints = opened
    complaints.clear()
    page.goto(f"{staff_server.base}/admin/{path}/")
    page.get_by_role("link", name="Add").first.click()
    page.wait_for_url(f"**/{path}/add/**")
    assert complaints == []
    assert barriers(page) == []
