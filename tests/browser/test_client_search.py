"""The search of the left pane: people, and messages of all conversations, each a link to its place."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import needs_chromium

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]


def hits(window):
    return window.page.get_by_role("list", name="Messages").get_by_role("link")


def search(window, text):
    window.page.get_by_role("searchbox", name="Search people").fill(text)
    expect(window.page.get_by_role("list", name="Messages")).to_have_attribute("aria-busy", "false")


def test_a_message_that_is_found_leads_to_its_place_and_is_marked(windows, people, chat):
    wanted = people["Bob"].send(chat, "the long way round to the zeppelin museum and back <b>home</b>")
    for number in range(90):
        people["Bob"].send(chat, f"later {number}")
    alice = windows("Alice").open("chats")
    page = alice.page
    search(alice, "Zeppelin")
    expect(page.get_by_role("heading", name="Messages")).to_be_visible()
    expect(page.get_by_text("No people found")).to_be_visible()
    expect(hits(alice)).to_have_count(1)
    expect(hits(alice).locator("mark")).to_have_text("zeppelin")
    assert alice.axe() == []
    hits(alice).click()
    message = alice.log.locator(f'[data-message-id="{wanted["id"]}"]')
    expect(message).to_be_in_viewport()
    expect(message).to_have_class(re.compile("marked"))
    # The words, too: in the log as in the list, and what is written stays text.
    expect(message.locator("mark")).to_have_text(["zeppelin"])
    expect(message).to_contain_text("to the zeppelin museum and back <b>home</b>")
    assert alice.axe() == []
    # The results stay, and the same link leads there again from the end.
    page.get_by_role("button", name=re.compile("Jump to latest")).click()
    expect(message).not_to_be_in_viewport()
    assert page.evaluate("() => location.search") == ""
    hits(alice).click()
    expect(message).to_be_in_viewport()


def test_the_keyboard_goes_from_people_to_messages_and_nothing_found_is_said(windows, people, chat):
    people["Bob"].send(chat, f"ask *{people['Bob'].user['username']}* about quinces")
    alice = windows("Alice").open("chats")
    page = alice.page
    search(alice, people["Bob"].user["username"])
    expect(page.get_by_role("list", name="People").get_by_role("link")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("list", name="People").get_by_role("link")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(hits(alice).first).to_be_focused()
    # Without the marks of the text, unless they are searched for.
    expect(hits(alice).first).to_contain_text(f"ask {people['Bob'].user['username']} about quinces")
    search(alice, f"*{people['Bob'].user['username']}*")
    expect(hits(alice).first.locator("mark")).to_have_text(f"*{people['Bob'].user['username']}*")
    search(alice, people["Bob"].user["username"])
    expect(page.get_by_role("list", name="People").get_by_role("link")).to_have_count(1)
    page.get_by_role("searchbox", name="Search people").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(hits(alice).first).to_be_focused()
    page.keyboard.press("Enter")
    expect(alice.article("about quinces")).to_be_in_viewport()
    search(alice, "no such words anywhere")
    expect(page.get_by_text("No messages found")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("list", name="Conversations")).to_be_visible()


def test_on_a_phone_the_way_back_leads_to_what_was_found(windows, people, chat):
    people["Bob"].send(chat, "gooseberries one")
    people["Bob"].send(chat, "gooseberries two")
    alice = windows("Alice", viewport={"width": 360, "height": 740}, has_touch=True).open("chats")
    search(alice, "gooseberries")
    expect(hits(alice)).to_have_count(2)
    hits(alice).nth(1).click()
    expect(alice.article("gooseberries one")).to_be_in_viewport()
    alice.page.get_by_role("link", name="Back to the chats").click()
    expect(hits(alice)).to_have_count(2)


def test_a_message_that_was_deleted_meanwhile_is_said(windows, people, chat):
    gone = people["Bob"].send(chat, "persimmon")
    alice = windows("Alice").open("chats")
    search(alice, "persimmon")
    people["Bob"].http.delete(f"/messages/messages/{gone['id']}")
    hits(alice).first.click()
    expect(alice.page.get_by_text("This message has been deleted")).to_be_visible()
    alice.write("after it")
    alice.sees("after it")


def test_the_search_in_a_conversation_marks_the_words_of_one_message(windows, people, chat):
    for text in ("an older orchid", "*Orchid* and orchids, `orchid` too"):
        people["Bob"].send(chat, text)
    alice = windows("Alice").open_chat(chat)
    page = alice.page
    marks = alice.log.locator("mark")
    page.get_by_role("button", name="Search in conversation").click()
    page.get_by_role("searchbox", name="Search messages").fill("orchid")
    expect(marks).to_have_text(["Orchid", "orchid", "orchid"])
    expect(alice.article("orchids").locator("b mark, strong mark")).to_have_count(1)
    page.get_by_role("button", name="Previous", exact=True).click()
    expect(marks).to_have_text(["orchid"])
    expect(alice.article("an older").locator("mark")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(marks).to_have_count(0)
    expect(alice.article("an older")).to_contain_text("an older orchid")
