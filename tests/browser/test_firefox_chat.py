"""Writing, reading and pictures in Firefox, and what the keyboard meets there."""

import base64
import subprocess
import sys

import pytest

from tests.browser.client_pages import DROP
from tests.browser.firefox import needs_firefox
from tests.browser.firefox_pages import AT_END, nameless_stops, picture, sign_in, unique, visit, write
from tests.server import ROOT

pytestmark = [needs_firefox, pytest.mark.once, pytest.mark.timeout(240)]

ARTICLE = """(text, part) => {
  const article = [...document.querySelectorAll("article")].find((one) => one.textContent.includes(text));
  return (part && article ? article.querySelector(part) : article) ?? null;
}"""
LAST_STATUS = "() => [...document.querySelectorAll('article [role=status]')].at(-1)?.getAttribute('aria-label')"
VALUE = "(text) => document.querySelector('.message-box')?.value === text"
FOCUSED = "(element) => element === document.activeElement"
# Firefox takes no data for a `ClipboardEvent` that a page makes.
PASTE = """(box, [name, type, bytes]) => {
  const clipboardData = new DataTransfer();
  clipboardData.items.add(new File([new Uint8Array(bytes)], name, { type }));
  const event = new ClipboardEvent("paste", { bubbles: true, cancelable: true });
  Object.defineProperty(event, "clipboardData", { value: clipboardData });
  box.dispatchEvent(event);
}"""
# The last picture is whole, and the log stands at its end.
SHOWN_AT_END = f"""(count) => {{
  const images = [...document.querySelectorAll("[role=log] article img")];
  return images.length >= count && images.at(-1).naturalWidth > 0 && !document.querySelector(".uploading") && ({AT_END})();
}}"""
IMAGES = "() => document.querySelectorAll('[role=log] article img').length"


def give(window, how, selector, path, kind="image/jpeg"):
    """The file by the script of another test: `PASTE` or `DROP`."""
    content = base64.b64encode(path.read_bytes()).decode()
    function = f"""(element, name, type, content) =>
      ({how})(element, [name, type, Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0))])"""
    window.run(function, path.name, kind, content, element=window.css(selector))


def act(window, text, item):
    """An entry of the menu of a message."""
    window.click(window.until(ARTICLE, text, ".message-actions"))
    window.press("menuitem", item)


def test_a_message_is_read_answered_edited_liked_and_deleted(pair):
    alice, bob = pair
    text, answer, better = unique("from Firefox"), unique("heard"), unique("changed")
    write(alice, text)
    alice.until(f"() => ({LAST_STATUS})() === 'Read'")
    act(bob, text, "Reply")
    bob.until(FOCUSED, element=bob.css(".message-box"))
    bob.type(answer)
    assert bob.run(VALUE, answer)
    alice.sees("typing…", ".conversation-head")
    bob.type("Enter")
    alice.sees(answer, "article")
    alice.press("button", "Go to the original message")
    alice.until(FOCUSED, element=alice.until(ARTICLE, text, None))
    # The last own message, by the keyboard.
    alice.click(alice.css(".message-box"))
    alice.type("ArrowUp")
    alice.until(VALUE, text)
    alice.type("Control+a")
    alice.type(better)
    alice.type("Enter")
    bob.sees("edited", "article")
    act(bob, better, "React")
    bob.type("ArrowRight")
    bob.type("Enter")
    alice.until(ARTICLE, better, ".reaction")
    bob.until(FOCUSED, element=bob.until(ARTICLE, better, ".message-actions"))
    act(alice, better, "Delete")
    alice.type("Tab")
    alice.type("Enter")
    bob.until(f"(text) => !({ARTICLE})(text)", better)
    alice.until(FOCUSED, element=alice.css(".message-box"))


def test_a_draft_of_two_lines_outlives_a_reload_and_the_search_finds_it(pair):
    alice, bob = pair
    word = unique("zeppelin").replace(" ", "")
    alice.click(alice.css(".message-box"))
    alice.type(word)
    alice.type("Shift+Enter")
    alice.type("two")
    # Undone and done again, as in every text box.
    alice.type("Control+z")
    alice.until(f"(text) => !({VALUE})(text)", f"{word}\ntwo")
    alice.type("Control+y")
    alice.until(VALUE, f"{word}\ntwo")
    alice.reload()
    alice.until(VALUE, f"{word}\ntwo")
    alice.click(alice.css(".message-box"))
    alice.type("Enter")
    bob.sees(word, "article")
    alice.press("button", "Search in conversation")
    alice.type(word)
    alice.sees("1 of 1")
    alice.type("Escape")
    alice.click(alice.css(".search-box input"))
    alice.type(word)
    alice.until("(word) => document.querySelector('mark')?.textContent === word", word)


def test_pictures_that_are_chosen_pasted_or_dropped_arrive_and_are_followed(pair, tmp_path):
    alice, bob = pair
    for number, (how, selector) in enumerate((("choose", ""), (PASTE, ".message-box"), (DROP, "[role=log]"))):
        # Wider than high, so that the row grows a lot.
        path = picture(tmp_path / f"{number}.jpg", (1600, 1000), (40, 90, 60 * number))
        before = [window.run(IMAGES) for window in pair]
        if how == "choose":
            alice.choose_file("input[type=file]", path)
        else:
            give(alice, how, selector, path)
        alice.find("dialog", "Send picture")
        alice.until("() => document.querySelector('dialog .picture img')?.naturalWidth > 0")
        caption = unique("the sky")
        alice.fill("textbox", "Caption", caption)
        alice.click(alice.css("dialog[open] .button.primary"))
        for window, count in zip(pair, before, strict=True):
            window.sees(caption, "article")
            window.until(SHOWN_AT_END, count + 1)
    alice.click(alice.until(ARTICLE, caption, ".image"))
    alice.until("() => document.querySelector('dialog[open] img')?.naturalWidth === 1600")
    alice.type("Escape")
    alice.until("() => !document.querySelector('dialog[open]')")
    (tmp_path / "words.txt").write_text("no picture")
    give(alice, DROP, "[role=log]", tmp_path / "words.txt", "text/plain")
    alice.sees("is not an image that this browser can read")


QUESTION_AT_ONCE = """() => {
  const later = window.setTimeout;
  window.setTimeout = (act, wait, ...rest) => later(act, wait === 20_000 ? 0 : wait, ...rest);
}"""
COVERED = """() => {
  const hint = document.querySelector(".notify-hint");
  const parts = [...document.querySelectorAll(".composer button, .composer textarea, .conversation-head button, .entry")];
  return parts.filter((part) => {
    const box = part.getBoundingClientRect();
    return box.width > 0 && hint.contains(document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2));
  }).map((part) => part.outerHTML);
}"""


def test_the_question_about_notifications_covers_nothing(fox, fox_server, fox_chat):
    script = fox.order("script.addPreloadScript", functionDeclaration=QUESTION_AT_ONCE)["script"]
    alice = sign_in(fox.person(width=1000, height=760), fox_server, "Alice")
    visit(alice, f"{fox_server.base}/app/chats/{fox_chat}")
    alice.css(".notify-hint")
    for width in (390, 720, 1000, 1110, 1280):
        alice.order("browsingContext.setViewport", viewport={"width": width, "height": 760})
        assert alice.run(COVERED) == [], width
    alice.press("button", "Not now")
    alice.until("() => !document.querySelector('.notify-hint')")
    fox.order("script.removePreloadScript", script=script)


FILL = """
from core.database.transactions import unit_of_work
from messaging.services import messages
from accounts.models import User
sender = User.objects.get(id={user})
with unit_of_work():
    for number in range(1, 401):
        messages.send(sender=sender, conversation_id={chat}, body=f"Entry {{number}} of many")
"""
FIRST = """() => {
  const log = document.querySelector("[role=log]");
  const top = log.getBoundingClientRect().top + 1;
  return [...log.querySelectorAll("article")].find((one) => one.getBoundingClientRect().bottom > top)?.dataset.messageId;
}"""
LOG = "document.querySelector('[role=log]')"
BLANK = f"""() => {{
  const log = {LOG};
  const rows = log.querySelector(".log-rows").getBoundingClientRect();
  const box = log.getBoundingClientRect();
  return rows.top > box.top + 120 || rows.bottom < box.bottom - 120;
}}"""


def test_the_place_among_four_hundred_messages_is_kept(pair, fox_server, fox_people, fox_chat):
    alice, _ = pair
    # The place of the reader is kept where messages arrive in front of them; this is about one who comes later.
    visit(alice, f"{fox_server.base}/app/calls")
    code = FILL.format(chat=fox_chat, user=fox_people["Bob"].user["id"])
    command = [sys.executable, "manage.py", "shell", "-c", code]
    subprocess.run(command, cwd=ROOT, env=fox_server.environment, check=True, capture_output=True, timeout=120)
    last = fox_people["Bob"].send(fox_chat, "the last of many")
    fox_people["Alice"].http.post(f"/messages/conversations/{fox_chat}/read", json={"message_id": last["id"]})
    visit(alice, f"{fox_server.base}/app/chats/{fox_chat}")
    alice.sees("the last of many", "article")
    alice.until(AT_END)
    log = alice.css("[role=log]")
    for _ in range(12):
        alice.wheel(log, -900)
        assert not alice.run(BLANK)
    alice.click(log)
    alice.type("PageUp")
    alice.until(f"() => {LOG}.scrollHeight - {LOG}.scrollTop > 3000")
    # Until a scroll by a key has come to rest.
    still = alice.until(
        f"async () => {{ const before = ({FIRST})(); await new Promise((done) => setTimeout(done, 300)); return before === ({FIRST})() && before; }}"
    )
    fox_people["Bob"].send(fox_chat, unique("while reading above"))
    alice.find("button", "Jump to latest, 1 new message")
    assert alice.run(FIRST) == still
    alice.press("button", "Jump to latest, 1 new message")
    alice.until(AT_END)
    alice.sees("while reading above", "article")


def test_boxes_that_scroll_are_no_stop_without_a_name(pair, fox, fox_server):
    alice, _ = pair
    # So low that the list of chats scrolls, though there is one.
    alice.order("browsingContext.setViewport", viewport={"width": 1280, "height": 160})
    alice.until(
        "() => { const list = document.querySelector('.side-scroll'); return list.scrollHeight > list.clientHeight; }"
    )
    assert nameless_stops(alice) == []
    alice.order("browsingContext.setViewport", viewport={"width": 1280, "height": 800})
    docs = fox.person(width=1280, height=500).open(f"{fox_server.base}/docs/")
    docs.click(docs.css(".find input"))
    docs.type("recovery")
    docs.until(
        "() => { const list = document.querySelector('.find-hits'); return list.scrollHeight > list.clientHeight; }"
    )
    assert nameless_stops(docs, 3) == []
