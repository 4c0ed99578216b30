"""The first page: demo users side by side, in the language of the visitor."""

import re
import secrets

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import barriers, needs_chromium, wait_until, watch

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]

# Opens no window, or only the first one of a click, as most browsers do.
BLOCK = """(allowed) => {
  const { open } = window;
  window.open = (...rest) => (allowed-- > 0 ? open.apply(window, rest) : null);
}"""

# Keeps the windows that are opened, and where.
RECORD = """() => {
  const { open } = window;
  [window.places, window.opened] = [[], []];
  window.open = (address, name, features) => {
    window.places.push(Object.fromEntries(features.split(",").map((pair) => pair.split("=")).map(([name, value]) => [name, Number(value)])));
    window.opened.push(open.call(window, address, name, features));
    return window.opened.at(-1);
  };
}"""


@pytest.fixture
def visit(chromium, server):
    opened, complaints = [], []

    def visit(**options):
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        opened.append(context)
        context.on("page", lambda page: complaints.append(watch(page, server.base)))
        page = context.new_page()
        page.goto(server.base)
        return page

    yield visit
    for context in opened:
        context.close()
    assert [text for each in complaints for text in each] == []


def log_of(page):
    return page.get_by_role("log", name="Messages")


def test_both_stand_side_by_side_and_hear_each_other(visit):
    page = visit()
    page.evaluate(RECORD)
    page.get_by_role("button", name="Both side by side").click()
    expect(page.get_by_text("Both windows are open.")).to_be_visible()
    left, right = page.evaluate("() => window.places")
    assert left["width"] == right["width"] > 300
    assert left["left"] + left["width"] <= right["left"]
    wait_until(page, "async () => window.opened.every((one) => one.document.querySelector('.conversation-who h1'))")
    alice, bob = (
        next(window for window in page.context.pages[1:] if window.get_by_role("heading", name=name, level=1).count())
        for name in ("Bob Baker", "Alice Archer")
    )
    text = f"side by side {secrets.token_hex(3)}"
    alice.get_by_role("textbox", name="Message", exact=True).fill(text)
    alice.keyboard.press("Enter")
    expect(log_of(bob).get_by_text(text)).to_be_visible()
    # Each keeps their own session over a reload, and the page that opened them has none.
    for window, other in ((alice, "Bob Baker"), (bob, "Alice Archer")):
        window.reload()
        expect(window.get_by_role("heading", name=other, level=1)).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Open as Alice")).to_be_visible()


@pytest.mark.parametrize("allowed", [0, 1])
def test_where_windows_are_blocked_links_open_them(visit, allowed):
    page = visit()
    page.evaluate(BLOCK, allowed)
    page.get_by_role("button", name="Both side by side").click()
    expect(page.get_by_text("The browser has not opened every window.")).to_be_visible()
    links = page.get_by_role("link", name="Open as")
    expect(links).to_have_count(2 - allowed)
    assert barriers(page) == []
    for name, other in (("Alice", "Bob Baker"), ("Bob", "Alice Archer"))[allowed:]:
        with page.context.expect_page() as opened:
            page.get_by_role("link", name=f"Open as {name}").click()
        expect(opened.value.get_by_role("heading", name=other, level=1)).to_be_visible()
    expect(page.get_by_text("Both windows are open.")).to_be_visible()


def test_a_phone_has_no_room_for_two_windows(visit):
    page = visit(viewport={"width": 390, "height": 844})
    expect(page.get_by_role("button", name="Open as Alice")).to_be_visible()
    expect(page.get_by_role("button", name="Both side by side")).to_be_hidden()


def test_a_demo_user_speaks_the_language_of_the_visitor(visit, people):
    before = people["Alice"].http.get("/profile").json()["profile"]["language"]
    assert before == "en"
    page = visit(locale="ar")
    html = page.locator("html")
    expect(html).to_have_attribute("lang", "ar")
    page.locator(".demo button").first.click()
    box = page.locator(".message-box")
    expect(box).to_be_visible()
    for _ in range(2):
        # The profile, in which the account names its language, is here.
        page.wait_for_load_state("networkidle")
        expect(html).to_have_attribute("lang", "ar")
        # Where nothing is written yet, the box is that of the page.
        assert box.evaluate("box => getComputedStyle(box).direction") == "rtl"
        page.reload()
        expect(box).to_be_visible()
    assert people["Alice"].http.get("/profile").json()["profile"]["language"] == before
    # One that is chosen in the settings counts.
    page.goto(page.url.partition("/app/")[0] + "/app/settings/language")
    page.locator("select").first.select_option("de")
    expect(html).to_have_attribute("lang", "de")
    people["Alice"].http.patch("/profile", json={"language": before}).raise_for_status()
    expect(html).to_have_attribute("lang", "en")


def test_the_picture_speaks_the_language_of_the_page_and_has_its_colours(visit):
    page = visit(locale="ar", color_scheme="dark")
    shown = page.locator(".landing-picture img:visible")
    expect(shown).to_have_attribute("src", re.compile(r"/landing-ar-dark\b"))
    page.get_by_role("combobox").select_option("de")
    expect(shown).to_have_attribute("src", re.compile(r"/landing-de-dark\b"))
    wait_until(page, "() => document.querySelector('.landing-picture .dark').naturalWidth > 1000")
