"""The page of a user and the dashboard, as a support agent uses them on a desk and on a phone."""

import pytest

from tests.browser.chromium import barriers, needs_chromium

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(180)]

FITS = "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth + 1"
# The reason of the audit log and the last error of a delivery are inside the window, without scrolling.
IN_VIEW = "element => element.getBoundingClientRect().right <= innerWidth"

IS_RED = """button => {
  const danger = document.body.appendChild(document.createElement("p"));
  danger.style.color = "var(--color-danger)";
  const [wanted, used] = [danger, button].map((one) => getComputedStyle(one).color);
  danger.remove();
  return wanted === used;
}"""


def test_a_user_page_is_the_place_of_work(page_of, staff_server):
    page, complaints = page_of("support")
    path = f"{staff_server.base}/admin/accounts/user/{staff_server.rows['keyboard']}/change/"
    page.goto(path)
    assert complaints == []
    assert barriers(page) == []
    complaints.clear()  # axe tries styles of its own
    assert page.get_by_role("button", name="Block", exact=True).evaluate(IS_RED)
    page.get_by_role("button", name="Sign out everywhere").click()
    page.get_by_label("Reason").fill("lost the phone")
    page.get_by_role("button", name="Sign out everywhere").click()
    page.locator(".messagelist .success").wait_for()
    assert page.url == path
    log = page.get_by_role("region", name="Audit log")
    assert "lost the phone" in log.inner_text()
    assert complaints == []


@pytest.mark.parametrize("width", [1280, 390])
def test_the_dashboard_and_the_lists_fit_the_window(page_of, staff_server, width):
    page, complaints = page_of("auditor")
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{staff_server.base}/admin/")
    page.get_by_text("Show as a table").first.click()
    assert page.locator(".chart svg").count() == 5
    assert barriers(page) == []
    paths = ["", f"accounts/user/{staff_server.rows['ann']}/change/", "accounts/user/", "accounts/auditentry/"]
    for path in [*paths, "notifications/delivery/"]:
        page.goto(f"{staff_server.base}/admin/{path}")
        assert page.evaluate(FITS), path
        if width == 1280 and path in ("accounts/auditentry/", "notifications/delivery/"):
            column = ".column-reason" if "audit" in path else ".column-last_error"
            assert page.locator(f"th{column}").evaluate(IN_VIEW), path
    page.set_viewport_size({"width": 1280, "height": 900})
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_has_a_menu_and_a_wide_field_for_the_reason(page_of, staff_server, scheme):
    page, complaints = page_of("moderator")
    page.set_viewport_size({"width": 390, "height": 800})
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{staff_server.base}/admin/messaging/report/")
    page.locator(".phone-menu summary").click()
    assert barriers(page) == []
    complaints.clear()  # axe tries styles of its own
    page.locator(".phone-menu").get_by_role("link", name="Messages").click()
    page.wait_for_url("**/messaging/message/")
    page.goto(f"{staff_server.base}/admin/messaging/message/{staff_server.rows['message']}/change/")
    page.get_by_role("button", name="Reveal the text").click()
    reason = page.get_by_label("Reason")
    assert reason.evaluate("field => field.getBoundingClientRect().width") > 300
    reason.fill("reported")
    assert barriers(page) == []
    complaints.clear()
    page.get_by_role("button", name="Reveal the text").click()
    page.locator("blockquote").first.wait_for()
    assert page.locator("h1").last.inner_text() == "Reveal the text"
    assert page.evaluate(FITS)
    assert barriers(page) == []
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")
    assert not page.locator(".phone-menu").is_visible()


def test_filters_are_saved_and_the_search_box_has_a_key(page_of, staff_server):
    page, complaints = page_of("support")
    page.goto(f"{staff_server.base}/admin/accounts/user/?status=blocked&q=ann@example.com")
    page.get_by_label("Save this filter as").fill("Blocked people")
    page.get_by_role("button", name="Save", exact=True).click()
    page.goto(f"{staff_server.base}/admin/accounts/user/")
    page.keyboard.press("/")
    assert page.evaluate("() => document.activeElement.id") == "searchbar"
    page.keyboard.type("a/b")
    assert page.locator("#searchbar").input_value() == "a/b"
    page.get_by_role("link", name="Blocked people").click()
    page.wait_for_url("**/accounts/user/?status=blocked")
    assert (
        page.get_by_label("Save this filter as").count() == 0
        or not page.get_by_label("Save this filter as").is_visible()
    )
    assert barriers(page) == []
    complaints.clear()  # axe tries styles of its own
    page.get_by_role("button", name="Remove: Blocked people").click()
    page.reload()
    assert page.get_by_role("link", name="Blocked people").count() == 0
    assert complaints == []
