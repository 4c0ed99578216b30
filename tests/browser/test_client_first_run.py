"""What a new user sees: the first steps, and themselves beside every page."""

import pytest
from playwright.sync_api import expect

from tests.browser.account_pages import Person
from tests.browser.chromium import needs_chromium
from tests.browser.client_pages import Window

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]


@pytest.fixture
def newcomer(chromium, server):
    opened = []

    def open_as(person, **options):
        login = {"email": person.email, "password": person.password}
        opened.append(Window(chromium, server, login, **options))
        return opened[-1].open()

    yield open_as
    for window in opened:
        assert window.complaints == []
        window.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_first_steps_lead_somewhere_and_can_be_hidden(newcomer, server, people, width):
    person = Person(server, "Nora")
    nora = newcomer(person, viewport={"width": width, "height": 844})
    page = nora.page
    steps = page.get_by_role("region", name="Welcome, Nora")
    expect(steps.get_by_role("listitem")).to_have_count(3)
    assert nora.axe() == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    username = person.api.get("/profile").json()["profile"]["username"]
    expect(steps.get_by_text(f"@{username}")).to_be_visible()
    steps.get_by_role("button", name="Copy username").press("Enter")
    expect(steps.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == username
    steps.get_by_role("button", name="Find people").press("Enter")
    search = page.get_by_role("searchbox", name="Search people")
    expect(search).to_be_focused()
    search.fill(people["Bob"].user["username"])
    person_found = page.get_by_role("list", name="People").get_by_role("link")
    expect(person_found).to_be_visible()
    # On a phone what was found has the room.
    expect(steps).to_be_visible(visible=width > 719)
    page.keyboard.press("Escape")
    steps.get_by_role("button", name="Hide these steps").press("Enter")
    expect(steps).to_have_count(0)
    expect(search).to_be_focused()
    page.reload()
    expect(search).to_be_visible()
    page.wait_for_load_state("networkidle")
    expect(steps).to_have_count(0)


def test_the_first_steps_end_with_the_first_message(newcomer, server, people):
    person = Person(server, "Nils")
    nils = newcomer(person)
    steps = nils.page.get_by_role("region", name="Welcome, Nils")
    expect(steps).to_be_visible()
    reply = people["Bob"].http.post("/messages/conversations", json={"user_id": person.id})
    people["Bob"].send(reply.json()["conversation"]["id"], "hello Nils")
    expect(steps).to_have_count(0)


@pytest.mark.parametrize("width", [360, 1280])
def test_one_sees_who_is_signed_in(windows, width):
    alice = windows("Alice", viewport={"width": width, "height": 800}).open("calls")
    rail = alice.page.get_by_role("navigation", name="Main")
    box = rail.bounding_box()
    # One line on a phone, as wide as the window.
    assert (box["width"], box["height"] < 80) == (360, True) if width == 360 else box["width"] < 200
    own = rail.get_by_role("link", name="Alice Archer")
    assert min(own.bounding_box()["width"], own.bounding_box()["height"]) >= 44
    own.press("Enter")
    expect(alice.page.get_by_label("First name")).to_have_value("Alice")
    expect(alice.page).to_have_url(f"{alice.base}/app/settings/profile")
    # A new name is there at once.
    alice.page.get_by_label("Last name").fill("Arrow")
    alice.page.get_by_role("button", name="Save").first.click()
    expect(rail.get_by_role("link", name="Alice Arrow")).to_be_visible()
    alice.page.get_by_label("Last name").fill("Archer")
    alice.page.get_by_role("button", name="Save").first.click()
    expect(rail.get_by_role("link", name="Alice Archer")).to_be_visible()
