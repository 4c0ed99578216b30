"""Two people chat in two real browsers on the real server."""

import io
import re

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browser.chromium import needs_chromium

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(300)]


@pytest.fixture(autouse=True)
def no_messages_of_the_first_try(request, people, chat):
    """A test that is repeated counts messages, and those of its first try would be among them."""
    if getattr(request.node, "execution_count", 1) > 1:
        for person in people.values():
            person.http.post(f"/messages/conversations/{chat}/clear").raise_for_status()


# How much of an upload the page has shown, until no upload is there any more.
PROGRESS = """() => new Promise((resolve) => {
  const seen = [];
  const look = () => {
    const bar = document.querySelector("article progress");
    if (bar && bar.value !== seen.at(-1)) seen.push(bar.value);
    if (!bar && seen.length) resolve(seen);
    else requestAnimationFrame(look);
  };
  look();
})"""


def picture(size=(320, 200)):
    content = io.BytesIO()
    Image.linear_gradient("L").resize(size).convert("RGB").save(content, "PNG")
    return content.getvalue()


def noise(size):
    """A picture that cannot be compressed."""
    content = io.BytesIO()
    Image.effect_noise(size, 100).save(content, "PNG")
    return content.getvalue()


def test_a_message_is_sent_then_delivered_then_read(windows, chat):
    alice = windows("Alice").open_chat(chat)
    alice.write("first of the day")
    alice.sees("first of the day")
    alice.sees_status("first of the day", "Sent")
    bob = windows("Bob").open()
    alice.sees_status("first of the day", "Delivered")
    expect(bob.conversation("Alice")).to_contain_text("unread")
    expect(bob.page).to_have_title(re.compile(r"^\(\d+\) "))
    bob.conversation("Alice").get_by_role("link").click()
    bob.sees("first of the day")
    expect(bob.page.get_by_role("heading", name="Alice Archer")).to_be_visible()
    alice.sees_status("first of the day", "Read")
    bob.box.press_sequentially("I am wri")
    expect(alice.page.locator(".conversation-head")).to_contain_text("typing…")
    bob.box.press_sequentially("ting\nsecond", delay=5)
    alice.sees("I am writing")


def test_shift_enter_breaks_the_line_and_a_draft_survives_a_reload(windows, chat):
    alice = windows("Alice").open_chat(chat)
    alice.box.press_sequentially("one")
    alice.box.press("Shift+Enter")
    alice.box.press_sequentially("two")
    alice.page.reload()
    expect(alice.box).to_have_value("one\ntwo")
    alice.box.press("Enter")
    alice.sees(re.compile("one\ntwo"))
    expect(alice.box).to_have_value("")


def test_reply_edit_react_and_delete_by_keyboard_alone(windows, people, chat):
    people["Bob"].send(chat, "what do you think")
    alice, bob = windows("Alice").open_chat(chat), windows("Bob").open_chat(chat)
    alice.sees("what do you think")
    keyboard = alice.page.keyboard

    def menu(text, item):
        alice.article(text).get_by_role("button", name="Message actions").focus()
        keyboard.press("Enter")
        expect(alice.page.get_by_role("menuitem").first).to_be_focused()
        for _ in range(8):
            if alice.page.get_by_role("menuitem", name=item).evaluate("item => item === document.activeElement"):
                break
            keyboard.press("ArrowDown")
        keyboard.press("Enter")

    menu("what do you think", "Reply")
    expect(alice.box).to_be_focused()
    keyboard.type("a fine idea")
    keyboard.press("Enter")
    expect(bob.article("a fine idea")).to_contain_text("what do you think")

    keyboard.press("ArrowUp")
    expect(alice.box).to_have_value("a fine idea")
    keyboard.type(" indeed")
    keyboard.press("Enter")
    expect(bob.article("a fine idea indeed")).to_contain_text("edited")
    keyboard.press("ArrowUp")
    keyboard.press("Escape")
    expect(alice.box).to_have_value("")

    menu("a fine idea indeed", "React")
    expect(alice.page.get_by_role("button", name="👍", exact=True)).to_be_focused()
    keyboard.press("ArrowRight")
    keyboard.press("Enter")
    expect(bob.article("a fine idea indeed").get_by_role("button", name="❤️ 1")).to_be_visible()
    expect(alice.article("a fine idea indeed").get_by_role("button", name="Message actions")).to_be_focused()

    menu("a fine idea indeed", "Delete")
    dialog = alice.page.get_by_role("alertdialog", name="Delete this message?")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(alice.article("a fine idea indeed").get_by_role("button", name="Message actions")).to_be_focused()
    menu("a fine idea indeed", "Delete")
    expect(dialog).to_be_visible()
    assert alice.axe() == []
    keyboard.press("Tab")
    keyboard.press("Enter")
    expect(bob.article("a fine idea indeed")).to_have_count(0)
    expect(alice.article("a fine idea indeed")).to_have_count(0)
    expect(alice.box).to_be_focused()


def test_a_quote_follows_its_message(windows, people, chat):
    quoted = people["Alice"].send(chat, "at eight")
    alice = windows("Alice").open_chat(chat)
    reply = {"body": "I will be there", "reply_to_id": quoted["id"]}
    people["Bob"].http.post(f"/messages/conversations/{chat}/messages", json=reply).raise_for_status()
    expect(alice.article("I will be there").last).to_contain_text("at eight")
    people["Alice"].http.patch(f"/messages/messages/{quoted['id']}", json={"body": "at nine"}).raise_for_status()
    expect(alice.article("I will be there").last).to_contain_text("at nine")


def test_images_by_paste_and_drop(windows, chat):
    alice, bob = windows("Alice").open_chat(chat), windows("Bob").open_chat(chat)
    uploads = []
    alice.page.on("request", lambda request: uploads.append(request.url) if request.url.endswith("/media") else None)
    before = alice.log.locator("article .image").count()
    alice.paste_image(picture())
    alice.send_pictures()
    loaded = "count => [...document.querySelectorAll('article .image:not(.uploading) img')].length > count"
    bob.page.wait_for_function(loaded, arg=before)
    image = bob.log.locator("article .image img").last
    image.evaluate("image => image.decode()")
    assert image.evaluate("image => image.naturalWidth") == 320
    cdp = alice.context.new_cdp_session(alice.page)
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 150_000}
    cdp.send("Network.emulateNetworkConditions", slow)
    alice.drop_image(noise((500, 500)))
    alice.send_pictures()
    shown = alice.page.evaluate(PROGRESS)
    cdp.send("Network.emulateNetworkConditions", slow | {"uploadThroughput": -1})
    assert len([value for value in shown if 0 < value < 100]) >= 2
    assert shown == sorted(shown)
    bob.page.wait_for_function(loaded, arg=before + 1)
    assert len(uploads) == 2
    alice.paste_image(picture((64, 64)))
    alice.send_pictures("with a caption")
    expect(bob.article("with a caption").locator(".image")).to_have_count(1)
    assert len(uploads) == 3


def test_pictures_fit_a_phone_and_open_as_large_as_the_window(windows, people, chat):
    for size in ((1200, 900), (2000, 20), (20, 2000)):
        people["Bob"].send_picture(chat, picture(size))
    alice = windows("Alice", viewport={"width": 320, "height": 740}).open_chat(chat)
    images = alice.log.locator("article .image")
    expect(images.nth(2)).to_be_visible()
    assert alice.log.evaluate("log => log.scrollWidth <= log.clientWidth")
    alice.page.set_viewport_size({"width": 1280, "height": 800})
    alice.log.locator("article .image").nth(-3).click()
    viewer = alice.page.get_by_role("dialog").get_by_role("img", name="Image from Bob Baker")
    expect(viewer).to_have_js_property("complete", True)
    assert viewer.bounding_box()["height"] > 500
    alice.page.keyboard.press("Escape")
    alice.page.get_by_role("button", name="Emoji").click()
    picker = alice.page.get_by_role("dialog", name="Emoji")
    expect(picker).to_be_visible()
    assert picker.bounding_box()["height"] <= 330
    alice.page.keyboard.press("Escape")


def test_an_edit_keeps_the_draft_and_is_kept_by_a_picture(windows, people, chat):
    first, second = (people["Alice"].send(chat, f"the {place} wording") for place in ("first", "second"))
    alice = windows("Alice").open_chat(chat)
    alice.box.fill("a draft")
    for message in (first, second):
        article = alice.log.locator(f'[data-message-id="{message["id"]}"]')
        article.get_by_role("button", name="Message actions").click()
        alice.page.get_by_role("menuitem", name="Edit").click()
        expect(alice.box).to_have_value(message["body"])
    uploads = []
    alice.page.on("request", lambda request: uploads.append(request.url) if request.url.endswith("/media") else None)
    alice.paste_image(picture((64, 64)))
    expect(alice.page.get_by_role("textbox", name="Caption")).to_have_value("")
    assert uploads == []
    alice.send_pictures("beside an edit")
    expect(alice.article("beside an edit").locator("img[alt^='Image from']")).to_have_count(1)
    expect(alice.box).to_have_value("the second wording")
    alice.box.press("Escape")
    expect(alice.box).to_have_value("a draft")
    alice.box.fill("")


def test_a_browser_without_a_clipboard_says_so(windows, people, chat):
    people["Bob"].send(chat, "copy this")
    alice = windows("Alice").open_chat(chat)
    # As on a page without https.
    alice.page.evaluate("() => Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    alice.article("copy this").get_by_role("button", name="Message actions").click()
    alice.page.get_by_role("menuitem", name="Copy text").click()
    expect(alice.page.locator(".notices")).to_contain_text("The text could not be copied")


def test_clearing_is_for_one_participant_only(windows, people, chat):
    people["Alice"].send(chat, "stays with Bob")
    alice, bob = windows("Alice").open_chat(chat), windows("Bob").open_chat(chat)
    alice.sees("stays with Bob")
    alice.page.get_by_role("button", name="Conversation actions").click()
    alice.page.get_by_role("menuitem", name="Clear").click()
    alice.page.get_by_role("alertdialog").get_by_role("button", name="Cancel").click()
    expect(alice.page.get_by_role("button", name="Conversation actions")).to_be_focused()
    alice.sees("stays with Bob")
    alice.page.get_by_role("button", name="Conversation actions").click()
    alice.page.get_by_role("menuitem", name="Clear").click()
    alice.page.get_by_role("alertdialog").get_by_role("button", name="Clear").click()
    expect(alice.log.get_by_role("article")).to_have_count(0)
    alice.page.reload()
    expect(alice.log).to_be_visible()
    expect(alice.log.get_by_role("article")).to_have_count(0)
    bob.sees("stays with Bob")


def test_a_person_is_found_and_written_to(windows, people):
    alice = windows("Alice").open()
    alice.page.get_by_role("searchbox", name="Search people").fill("bak")
    alice.page.get_by_role("link", name=re.compile("Bob Baker")).first.click()
    expect(alice.page.get_by_role("heading", name="Bob Baker")).to_be_visible()
    alice.write("found you")
    alice.sees_status("found you", re.compile("Sent|Delivered|Read"))


def test_a_block_stops_both_and_can_be_undone(windows, people, chat):
    alice = windows("Alice").open_chat(chat)
    alice.page.get_by_role("button", name="Conversation actions").click()
    alice.page.get_by_role("menuitem", name="Block").click()
    alice.page.get_by_role("alertdialog", name="Block Bob Baker?").get_by_role("button", name="Block").click()
    expect(alice.page.get_by_text("You have blocked Bob Baker.")).to_be_visible()
    alice.page.get_by_role("button", name="Unblock").click()
    expect(alice.box).to_be_visible()


def test_the_buttons_of_a_conversation_are_large_enough_for_fingers_on_a_phone(windows, chat):
    alice = windows("Alice", viewport={"width": 360, "height": 740}).open_chat(chat)
    boxes = [target.bounding_box() for target in alice.page.locator(".conversation-head").locator("a, button").all()]
    assert len(boxes) == 6
    assert all(box["width"] >= 44 and box["height"] >= 44 for box in boxes)
    assert alice.page.get_by_role("heading", name="Bob Baker").bounding_box()["width"] > 60


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_chats_are_accessible(windows, people, chat, scheme):
    people["Bob"].send(chat, "with a link https://example.com/ in it")
    for width in (360, 1280):
        alice = windows("Alice", viewport={"width": width, "height": 740}, color_scheme=scheme).open_chat(chat)
        alice.sees_status("found you", re.compile("Sent|Delivered|Read")) if alice.article(
            "found you"
        ).count() else None
        assert alice.axe() == []
        alice.article("with a link").last.get_by_role("button", name="Message actions").click()
        assert alice.axe() == []
        alice.page.keyboard.press("Escape")
        assert alice.page.evaluate("() => document.documentElement.scrollWidth") <= width
        alice.open("chats")
        expect(alice.conversation("Bob")).to_be_visible()
        assert alice.axe() == []
        alice.open("notifications")
        expect(alice.page.get_by_role("heading", name="Notifications")).to_be_visible()
        assert alice.axe() == []
