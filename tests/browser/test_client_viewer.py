"""A picture on the whole screen, with its neighbours."""

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import needs_chromium
from tests.browser.test_client_chat import picture

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]


@pytest.fixture
def pictures(people, chat):
    """Two pictures of Bob, which are the newest of the conversation."""
    sent = [
        people["Bob"].send_picture(chat, picture(size), body=text)
        for size, text in (((1600, 1200), "the bridge"), ((300, 900), "the tower"))
    ]
    yield sent
    for message in sent:
        people["Bob"].http.delete(f"/messages/messages/{message['id']}")


def test_the_arrows_lead_through_the_pictures(windows, pictures, chat):
    alice = windows("Alice").open_chat(chat)
    alice.article("the bridge").get_by_role("button", name="Open the image").click()
    viewer = alice.page.get_by_role("dialog", name="Bob Baker")
    shown = viewer.get_by_role("img")
    expect(shown).to_have_accessible_name("Image from Bob Baker: the bridge")
    expect(shown).to_have_js_property("complete", True)
    box = viewer.bounding_box()
    assert (box["width"], box["height"]) == (1280, 800)
    alice.page.keyboard.press("ArrowRight")
    expect(shown).to_have_accessible_name("Image from Bob Baker: the tower")
    expect(viewer.get_by_role("button", name="Next image")).to_have_attribute("aria-disabled", "true")
    alice.page.keyboard.press("ArrowRight")
    viewer.get_by_role("button", name="Previous image").click()
    expect(shown).to_have_accessible_name("Image from Bob Baker: the bridge")
    assert alice.axe() == []
    alice.page.keyboard.press("Escape")
    expect(viewer).to_have_count(0)
    expect(alice.article("the bridge").get_by_role("button", name="Open the image")).to_be_focused()


def test_a_picture_is_enlarged_and_saved(windows, pictures, chat):
    alice = windows("Alice", viewport={"width": 390, "height": 800}).open_chat(chat)
    alice.article("the bridge").get_by_role("button", name="Open the image").click()
    viewer = alice.page.get_by_role("dialog", name="Bob Baker")
    shown = viewer.get_by_role("img")
    expect(shown).to_have_attribute("aria-busy", "false")
    assert shown.bounding_box()["width"] > 280
    # The name is not cut off for the time.
    heading = viewer.get_by_role("heading", name="Bob Baker")
    assert heading.evaluate("(element) => element.scrollWidth <= element.clientWidth")
    assert viewer.get_by_role("time").bounding_box()["y"] > heading.bounding_box()["y"]
    viewer.get_by_role("button", name="Zoom in").click()
    assert shown.bounding_box()["width"] == 1600
    viewer.get_by_role("button", name="Zoom out").click()
    with alice.page.expect_download() as saved:
        viewer.get_by_role("link", name="Download").click()
    assert saved.value.suggested_filename.endswith(".png")


def test_a_picture_that_is_deleted_closes_its_view(windows, people, pictures, chat):
    alice = windows("Alice").open_chat(chat)
    alice.article("the tower").get_by_role("button", name="Open the image").click()
    viewer = alice.page.get_by_role("dialog", name="Bob Baker")
    expect(viewer).to_be_visible()
    people["Bob"].http.delete(f"/messages/messages/{pictures[1]['id']}").raise_for_status()
    expect(viewer).to_have_count(0)
