"""The page of a person, as it opens from the header of a conversation."""

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import needs_chromium

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
    profile = profile_of(page)
    expect(profile.get_by_role("button", name="Unblock")).to_be_visible()
    # As long as the block lasts, neither sees what the other says about themselves.
    expect(profile).not_to_contain_text("cello")
    profile.get_by_role("button", name="Unblock").click()
    expect(page.page.get_by_role("textbox", name="Message")).to_be_visible()
