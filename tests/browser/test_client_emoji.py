"""The emoji picker of the web client: its search, by words in the reader's language and in English."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import InputMethod, needs_chromium

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]

NAMES = re.compile(r"/emoji-[a-z-]+\.")


@pytest.fixture
def alice(windows, chat):
    return windows("Alice").open_chat(chat)


@pytest.fixture
def reader(people):
    """Sets the language of Alice."""
    alice = people["Alice"]
    yield lambda language: alice.http.patch("/profile", json={"language": language}).raise_for_status()
    alice.http.patch("/profile", json={"language": "en"})


def test_typing_in_the_picker_searches_and_enter_takes_the_first(alice):
    asked = []
    alice.page.on("request", lambda request: NAMES.search(request.url) and asked.append(request.url))
    alice.page.get_by_role("button", name="Emoji", exact=True).click()
    dialog = alice.page.get_by_role("dialog", name="Emoji")
    box = dialog.get_by_role("searchbox", name="Search emoji")
    expect(dialog.get_by_role("button").first).to_be_focused()
    # The names are loaded with the first search only.
    assert asked == []
    alice.page.keyboard.type("piz")
    expect(box).to_be_focused()
    expect(box).to_have_value("piz")
    expect(dialog.get_by_role("button")).to_have_text(["🍕"])
    expect(dialog.get_by_role("status")).to_have_text("1 emoji found")
    assert len(asked) == 1, asked
    assert alice.axe() == []
    box.fill("no such thing")
    expect(dialog.get_by_text("No emoji found")).to_be_visible()
    # Words in any order, each by its beginning.
    box.fill("heart RED")
    expect(dialog.get_by_role("button").first).to_have_text("❤️")
    alice.page.keyboard.press("ArrowDown")
    expect(dialog.get_by_role("button").first).to_be_focused()
    alice.page.keyboard.press("ArrowUp")
    expect(box).to_be_focused()
    box.fill("piz")
    expect(dialog.get_by_role("button")).to_have_count(1)
    # The keys that end a word of an input method take and close nothing.
    keys = InputMethod(alice.page)
    for key in ("Enter", "Escape", "ArrowDown"):
        keys.press(key)
    alice.page.wait_for_timeout(300)
    expect(box).to_have_value("piz")
    expect(box).to_be_focused()
    expect(alice.box).to_have_value("")
    alice.page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    expect(alice.box).to_have_value("🍕")
    alice.box.fill("")


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("de", {"lachend gesicht": "😄", "herz": "❤️", "pizza": "🍕"}),
        ("uk", {"піца": "🍕", "сердце": None, "серце": "❤️"}),
        ("tr", {"KALP": "❤️", "pızza": "🍕"}),
        ("ar", {"بيتزا": "🍕", "heart": "❤️"}),
        ("zh-hans", {"心": "❤️", "披萨": "🍕"}),
    ],
)
def test_emoji_are_found_by_words_of_the_reader_and_by_english_ones(windows, people, chat, reader, language, texts):
    alice = windows("Alice").open_chat(chat)
    reader(language)
    alice.page.reload()
    expect(alice.page.locator("html")).to_have_attribute("lang", re.compile(language, re.I))
    expect(alice.page.locator(".message-box")).to_be_visible()
    alice.page.locator(".composer-line [aria-haspopup=dialog]").click()
    box = alice.page.locator(".emoji-picker input")
    for text, emoji in texts.items():
        box.fill(text)
        if emoji is None:
            expect(alice.page.locator(".emoji-picker .emoji")).to_have_count(0)
        else:
            expect(alice.page.locator(".emoji-picker .emoji").filter(has_text=emoji)).to_have_count(1)
    assert alice.axe() == []
