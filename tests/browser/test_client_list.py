"""Which conversations are in the list of the web client: those with a message, a draft, or something that waits."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import needs_chromium

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]


def delete(window):
    window.page.get_by_role("button", name="Conversation actions").click()
    window.page.get_by_role("menuitem", name="Delete chat").click()
    return window.page.get_by_role("alertdialog", name="Delete this chat?")


def test_the_actions_of_a_conversation_stand_in_their_order(windows, people, chat):
    people["Alice"].send(chat, "here")
    alice = windows("Alice").open_chat(chat)
    alice.page.get_by_role("button", name="Conversation actions").click()
    expect(alice.page.get_by_role("menuitem").first).to_be_focused()
    labels = [text.strip() for text in alice.page.get_by_role("menuitem").all_inner_texts()]
    assert labels == ["Mute", "Clear chat", "Delete chat", "Block"]


@pytest.mark.parametrize("phone", [False, True])
def test_a_deleted_chat_leaves_the_list_and_comes_back_with_the_next_message(windows, people, chat, phone):
    people["Alice"].send(chat, text := f"for both {phone}")
    size = {"viewport": {"width": 390, "height": 800}, "has_touch": True} if phone else {}
    alice, bob = windows("Alice", **size).open_chat(chat), windows("Bob").open_chat(chat)
    alice.sees(text)
    delete(alice).get_by_role("button", name="Cancel").click()
    expect(alice.page.get_by_role("button", name="Conversation actions")).to_be_focused()
    alice.sees(text)
    delete(alice).get_by_role("button", name="Delete chat").click()
    expect(alice.page).to_have_url(re.compile("/app/chats$"))
    expect(alice.page.get_by_text("Chat deleted")).to_be_visible()
    expect(alice.conversation("Bob Baker")).to_have_count(0)
    assert alice.page.evaluate("() => document.activeElement !== document.body")
    bob.sees(text)
    alice.page.reload()
    expect(alice.page.get_by_role("searchbox", name="Search people")).to_be_visible()
    expect(alice.conversation("Bob Baker")).to_have_count(0)
    bob.write("again")
    expect(alice.conversation("Bob Baker")).to_contain_text("again")
    alice.conversation("Bob Baker").click()
    alice.sees("again")
    expect(alice.article(text)).to_have_count(0)


def test_a_cleared_chat_leaves_the_list_at_once_and_its_next_message_brings_it_back(windows, people, chat):
    people["Alice"].send(chat, "to be cleared")
    alice = windows("Alice").open_chat(chat)
    expect(alice.conversation("Bob Baker")).to_have_count(1)
    alice.page.get_by_role("button", name="Conversation actions").click()
    alice.page.get_by_role("menuitem", name="Clear chat").click()
    alice.page.get_by_role("alertdialog").get_by_role("button", name="Clear chat").click()
    expect(alice.conversation("Bob Baker")).to_have_count(0)
    expect(alice.box).to_be_visible()
    alice.box.fill("a draft")
    alice.page.get_by_role("link", name="Chats", exact=True).click()
    expect(alice.conversation("Bob Baker")).to_contain_text("a draft")
    alice.conversation("Bob Baker").click()
    alice.write("first again")
    expect(alice.conversation("Bob Baker")).to_contain_text("first again")


def test_what_waits_for_the_connection_is_the_last_line_of_its_row(windows, people, chat):
    people["Alice"].send(chat, "before")
    alice = windows("Alice").open_chat(chat)
    alice.sees("before")
    alice.context.set_offline(True)
    alice.write("written on a train")
    expect(alice.conversation("Bob Baker")).to_contain_text("written on a train")
    alice.context.set_offline(False)
    alice.sees_status("written on a train", re.compile("Sent|Delivered|Read"))
    # Without a connection the browser says that nothing could be loaded.
    alice.complaints.clear()


def test_the_list_shows_who_is_online_whichever_chat_is_open(windows, people, chat):
    people["Bob"].send(chat, "here I am")
    alice, bob = windows("Alice").open("chats"), windows("Bob").open("chats")
    dot = alice.page.locator(f"#chat-{chat}").get_by_title("online")
    expect(dot).to_be_visible()
    # No chat is open, and none was.
    bob.context.set_offline(True)
    expect(dot).to_have_count(0)
    bob.context.set_offline(False)
    expect(dot).to_be_visible()
    bob.complaints.clear()


def test_rows_with_and_without_unread_messages_have_their_lines_in_one_place(windows, people, chat):
    people["Bob"].send(chat, "unread")
    alice = windows("Alice").open("chats")
    row = alice.page.locator(f"#chat-{chat}")
    expect(row.locator(".count")).to_be_visible()
    lines = (
        "(row) => [...row.querySelectorAll('.entry-name, .entry-text')].map((line) => line.getBoundingClientRect().y)"
    )
    unread = row.evaluate(lines)
    people["Alice"].http.post(f"/messages/conversations/{chat}/read", json={}).raise_for_status()
    expect(row.locator(".count")).to_have_count(0)
    assert row.evaluate(lines) == pytest.approx(unread, abs=0.5)
