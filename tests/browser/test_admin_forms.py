"""The forms of the support pages, for superusers: who is staff, and what groups may do. And all of it without a mouse."""

import pytest

from tests.browser.chromium import barriers, needs_chromium
from tests.staff import registered_forms
from tests.waiting import wait_for

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(180)]


def test_these_are_all_the_forms():
    assert registered_forms() == {("change", "accounts/user"), ("add", "auth/group"), ("change", "auth/group")}


def test_a_user_becomes_staff(page_of, staff_server):
    page, complaints = page_of("admin")
    key = staff_server.rows["promoted"]
    since = staff_server.newest_audit_id()
    page.goto(f"{staff_server.base}/admin/accounts/user/{key}/change/")
    page.get_by_role("checkbox", name="Staff").check()
    page.get_by_label("Moderator").check()
    page.get_by_role("button", name="Save", exact=True).click()
    # Without a reason nothing is saved, and the page says where it is missing.
    assert "Please correct the error below." in page.locator(".errornote").inner_text()
    assert complaints == []
    assert barriers(page) == []
    complaints.clear()  # axe looks into the style sheets of forms in ways that the policy stops
    assert staff_server.ask("SELECT is_staff FROM accounts_user WHERE id = ?", key) == [(0,)]
    page.get_by_label("Reason:").fill("joins the team")
    page.get_by_role("button", name="Save", exact=True).click()
    assert "was changed successfully" in page.locator(".messagelist .success").inner_text()
    assert staff_server.ask("SELECT is_staff, is_superuser FROM accounts_user WHERE id = ?", key) == [(1, 0)]
    [(action, target, reason, details, by, _address)] = staff_server.audited_since(since)
    assert (action, target, reason) == ("user.changed", "promoted@example.com", "joins the team")
    assert '"Moderator"' in details and by == "admin.staff@example.com"

    page.goto(f"{staff_server.base}/admin/accounts/user/{key}/change/")
    page.get_by_role("link", name="In the audit log").click()
    assert "joins the team" in page.locator("#result_list").inner_text()
    assert complaints == []


def test_a_group_is_made_and_changed(page_of, staff_server):
    page, complaints = page_of("admin")
    since = staff_server.newest_audit_id()
    page.goto(f"{staff_server.base}/admin/auth/group/")
    page.get_by_role("link", name="Add group").first.click()
    page.get_by_label("Name:").fill("Night shift")
    page.get_by_label("Can block and unblock users").check()
    page.get_by_label("Reason:").fill("nights are quiet")
    page.get_by_role("button", name="Save and continue editing").dblclick(delay=30)
    page.get_by_label("Can unlock users").check()
    page.get_by_label("Reason:").fill("phones at night")
    page.get_by_role("button", name="Save", exact=True).dblclick(delay=30)
    page.locator(".messagelist .success").wait_for()
    assert [(row[0], row[1], row[2]) for row in staff_server.audited_since(since)] == [
        ("group.added", "group Night shift", "nights are quiet"),
        ("group.changed", "group Night shift", "phones at night"),
    ]
    rights = "SELECT p.codename FROM auth_permission p JOIN auth_group_permissions g ON g.permission_id = p.id"
    held = staff_server.ask(f"{rights} JOIN auth_group n ON n.id = g.group_id WHERE n.name = 'Night shift' ORDER BY 1")
    assert held == [("block_user",), ("unlock_user",)]
    assert complaints == []


def tab_to(page, wanted):
    """Tab, and nothing else, until this is what the keyboard speaks to."""
    element = wanted.element_handle()
    for _ in range(150):
        page.keyboard.press("Tab")
        if element.evaluate("element => element === document.activeElement"):
            # Who uses the keyboard must see where they are.
            outline = "element => getComputedStyle(element).outlineStyle + getComputedStyle(element).boxShadow"
            assert element.evaluate(outline) != "nonenone"
            return
    raise AssertionError(f"no way to {wanted} by Tab")


def test_a_block_without_a_mouse(page_of, staff_server):
    page, complaints = page_of("support")
    page.goto(f"{staff_server.base}/admin/")
    tab_to(page, page.get_by_role("link", name="Users", exact=True).last)
    page.keyboard.press("Enter")
    page.wait_for_url("**/accounts/user/")
    tab_to(page, page.get_by_label("Search"))
    page.keyboard.type("keyboard")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=keyboard*")
    tab_to(page, page.locator("input.action-select"))
    page.keyboard.press("Space")
    tab_to(page, page.get_by_label("Action:").last)
    page.keyboard.type("Block")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator(".confirm-consequences").wait_for()
    tab_to(page, page.get_by_label("Reason"))
    page.keyboard.type("asked on the phone")
    tab_to(page, page.get_by_role("button", name="Block", exact=True))
    page.keyboard.press("Space")
    page.locator(".messagelist .success").wait_for()
    key = staff_server.rows["keyboard"]
    reason = "SELECT blocked_reason FROM accounts_user WHERE id = ?"
    assert wait_for(lambda: staff_server.ask(reason, key) == [("asked on the phone",)], what="the block")
    assert complaints == []
