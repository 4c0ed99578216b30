"""The support pages in a real browser: as wide as the window, in the look of the web client, without barriers."""

import pytest
from django.contrib import admin

from tests.browser.chromium import barriers, needs_chromium

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(300)]

LISTS = sorted(model._meta.label_lower.replace(".", "/") for model in admin.site._registry)
# The frames of tables that are wider than their place, and how much wider the page is than the window.
OVERFLOW = """() => ({
  frames: [...document.querySelectorAll(".wide, .results")]
    .filter((frame) => frame.checkVisibility() && frame.scrollWidth > frame.clientWidth + 1)
    .map((frame) => [frame.className, frame.scrollWidth, frame.clientWidth]),
  page: document.documentElement.scrollWidth - innerWidth,
})"""
# What a page is drawn with: the custom properties, and what became of them.
LOOK = """(names) => {
  const root = getComputedStyle(document.documentElement);
  const body = getComputedStyle(document.body);
  const font = document.createElement("p");
  font.style.fontFamily = root.getPropertyValue("--font-body");
  return {
    tokens: Object.fromEntries(names.map((name) => [name, root.getPropertyValue(name).trim()])),
    text: body.color,
    font: body.fontFamily,
    tokenFont: font.style.fontFamily,
  };
}"""
TOKENS = ["--color-text", "--color-accent", "--color-accent-fill", "--color-border", "--radius", "--font-body"]


@pytest.fixture(scope="module")
def opened(page_of):
    return page_of("admin")


@pytest.fixture(scope="module")
def paths(staff_server):
    rows = staff_server.rows
    return {
        "": "overview",
        **{f"{path}/": path for path in LISTS},
        f"messaging/report/{rows['kept report']}/change/": "case",
        f"accounts/user/{rows['ann']}/change/": "person",
    }


def test_no_list_is_cut_on_a_desk_and_no_page_on_a_phone(opened, staff_server, paths):
    page, _complaints = opened
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for path in paths:
            page.goto(f"{staff_server.base}/admin/{path}")
            overflow = page.evaluate(OVERFLOW)
            assert overflow["page"] <= 0, (width, path)
            # A phone scrolls the frame of a table, and its shadow says so.
            assert width == 390 or overflow["frames"] == [], (width, path)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_look_as_the_web_client_does(opened, staff_server, scheme):
    page, _complaints = opened
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 1280, "height": 900})
    looks = {}
    for path in ("/admin/", "/docs/quickstart"):
        page.goto(f"{staff_server.base}{path}")
        looks[path] = page.evaluate(LOOK, TOKENS)
    assert looks["/admin/"] == looks["/docs/quickstart"]
    assert all(looks["/admin/"]["tokens"].values())
    assert looks["/admin/"]["font"] == looks["/admin/"]["tokenFont"]
    page.emulate_media(color_scheme="light")


def test_a_case_is_worked_on_one_page_without_barriers(page_of, staff_server):
    page, complaints = page_of("moderator")
    path = f"{staff_server.base}/admin/messaging/report/{staff_server.rows['kept report']}/change/"
    for scheme, width in (("light", 1280), ("dark", 390)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(path)
        page.get_by_role("heading", name="What was reported").wait_for()
        assert page.get_by_text("about kept report").count() == 0
        assert complaints == [] and barriers(page) == []

        page.get_by_role("button", name="Reveal the text").click()
        page.get_by_label("Reason").fill("checked")
        assert page.get_by_label("Show the messages before and after, too").is_checked()
        page.get_by_role("button", name="Reveal the text").click()
        page.get_by_text("about kept report").first.wait_for()
        assert page.locator("article.shown time").count() >= 4
        assert page.evaluate(OVERFLOW)["page"] <= 0
        assert page.get_by_role("button", name="Block").count() == 2
        complaints.clear()  # axe loads the style sheets again
        assert barriers(page) == []
        complaints.clear()

    page.get_by_role("button", name="Add a note").click()
    page.get_by_label("Note").fill("Both were asked.")
    page.get_by_role("button", name="Add a note").click()
    page.wait_for_url(path)
    log = page.locator("section", has=page.get_by_role("heading", name="What staff did in this case"))
    assert log.get_by_text("Both were asked.").count() == 1
    assert log.get_by_text("Message revealed").count() == 2
    assert complaints == []


def test_charts_show_their_scale(opened, staff_server):
    page, _complaints = opened
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(f"{staff_server.base}/admin/")
    for chart in page.locator(".chart").all():
        marks, drawing = chart.locator(".marks"), chart.locator("svg").bounding_box()
        assert marks.locator("li").last.inner_text() == "0"
        assert int(marks.locator("li").first.inner_text()) >= 1
        # The highest mark stands at the upper edge of the drawing, 0 at the lower one, the days below it.
        first, last = (marks.locator("li").nth(place).bounding_box() for place in (0, -1))
        assert abs(first["y"] - drawing["y"]) <= 2
        assert abs(last["y"] - drawing["y"] - drawing["height"]) <= 2
        days = chart.locator(".days").bounding_box()
        assert days["y"] >= drawing["y"] + drawing["height"]
        assert abs(days["x"] + days["width"] - drawing["x"] - drawing["width"]) <= 2
