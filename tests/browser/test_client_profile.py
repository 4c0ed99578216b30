"""The page of a person, as it opens from the header of a conversation."""

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import needs_chromium
from tests.browser.test_client_chat import picture

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]


@pytest.fixture
def page(windows, people, chat):
    people["Bob"].http.patch("/profile", json={"bio": "Plays the cello.\nالعزف"}).raise_for_status()
    people["Bob"].send(chat, "Do you know this piece?")
    return windows("Alice").open_chat(chat)


def profile_of(window, name="Bob"):
    window.page.get_by_role("heading", level=1).get_by_role("button", name=name).click()
    return window.page.get_by_role("dialog", name="Profile")


def test_the_name_opens_the_profile(page):
    profile = profile_of(page)
    expect(profile.get_by_role("heading", name="About")).to_be_visible()
    expect(profile).to_contain_text("Plays the cello.")
    expect(profile).to_contain_text("@bob")
    assert page.axe() == []
    page.page.keyboard.press("Escape")
    expect(profile).to_have_count(0)
    expect(page.page.get_by_role("heading", level=1).get_by_role("button")).to_be_focused()


def test_mute_block_and_report_are_there(page):
    profile_of(page).get_by_role("button", name="Mute").click()
    profile = profile_of(page)
    profile.get_by_role("button", name="Unmute").click()
    profile = profile_of(page)
    profile.get_by_role("button", name="Report").click()
    report = page.page.get_by_role("dialog", name="Report message")
    expect(report).to_be_visible()
    report.get_by_role("button", name="Cancel").click()
    profile_of(page).get_by_role("button", name="Block").click()
    question = page.page.get_by_role("alertdialog")
    question.get_by_role("button", name="Block").click()
    expect(page.page.get_by_role("textbox", name="Message")).to_have_count(0)
    profile = profile_of(page)
    expect(profile.get_by_role("button", name="Unblock")).to_be_visible()
    # As long as the block lasts, neither sees what the other says about themselves.
    expect(profile).not_to_contain_text("cello")
    profile.get_by_role("button", name="Unblock").click()
    expect(page.page.get_by_role("textbox", name="Message")).to_be_visible()


def test_the_pictures_of_the_conversation_are_there_and_open(windows, people, chat):
    sent = [
        people[name].send_picture(chat, picture((400, 300)), body=text)
        for name, text in (("Bob", "the bridge"), ("Alice", "the tower"))
    ]
    window = windows("Alice", viewport={"width": 390, "height": 844}).open_chat(chat)
    profile = profile_of(window)
    pictures = profile.get_by_role("list", name="Pictures").get_by_role("img")
    # The newest first.
    expect(pictures.nth(0)).to_have_accessible_name("Image from You: the tower")
    expect(pictures.nth(1)).to_have_accessible_name("Image from Bob Baker: the bridge")
    expect(pictures.nth(0)).to_have_js_property("complete", True)
    assert window.axe() == []
    profile.get_by_role("button", name="Open the image").nth(1).click()
    viewer = window.page.get_by_role("dialog", name="Bob Baker")
    expect(viewer.get_by_role("img")).to_have_accessible_name("Image from Bob Baker: the bridge")
    window.page.keyboard.press("ArrowRight")
    viewer = window.page.get_by_role("dialog", name="You")
    expect(viewer.get_by_role("img")).to_have_accessible_name("Image from You: the tower")
    window.page.keyboard.press("Escape")
    # One closes, and the focus returns to what has opened it.
    expect(viewer).to_have_count(0)
    expect(profile.get_by_role("button", name="Open the image").nth(1)).to_be_focused()
    # What is deleted meanwhile goes from here, too.
    people["Bob"].http.delete(f"/messages/messages/{sent[0]['id']}").raise_for_status()
    expect(profile.get_by_role("img", name="the bridge")).to_have_count(0)
    expect(profile.get_by_role("img", name="the tower")).to_be_visible()
