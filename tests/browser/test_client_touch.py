"""What fingers do in a conversation of the web client."""

import io

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browser.chromium import needs_chromium

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]

PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}


class Finger:
    def __init__(self, window, element):
        self.page = window.page
        self.session = window.context.new_cdp_session(window.page)
        box = element.bounding_box()
        self.x, self.y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self._send("touchStart")

    def _send(self, kind, points=None):
        points = [{"x": self.x, "y": self.y}] if points is None else points
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def move(self, across, down=0):
        for _ in range(8):
            self.x, self.y = self.x + across / 8, self.y + down / 8
            self._send("touchMove")
        return self

    def hold(self, milliseconds):
        self.page.wait_for_timeout(milliseconds)
        return self

    def up(self):
        self._send("touchEnd", [])


@pytest.fixture
def alice(windows, people, chat):
    content = io.BytesIO()
    Image.new("RGB", (200, 160), "teal").save(content, "PNG")
    people["Bob"].send(chat, "a line for fingers")
    people["Bob"].send_picture(chat, content.getvalue(), body="a picture for fingers")
    return windows("Alice", **PHONE).open_chat(chat)


def context(window):
    return window.page.locator(".composer .context")


def bubble(window, text):
    return window.article(text).last.locator(".bubble")


@pytest.mark.parametrize("text", ["a line for fingers", "a picture for fingers"])
def test_a_long_press_opens_the_menu_and_nothing_else(alice, text):
    finger = Finger(alice, bubble(alice, text)).hold(700)
    menu = alice.page.get_by_role("menu", name="Message actions")
    expect(menu.get_by_role("menuitem", name="Reply")).to_be_focused()
    finger.up()
    alice.page.wait_for_timeout(300)
    expect(menu).to_be_visible()
    # The viewer has not been opened.
    expect(alice.page.get_by_role("dialog")).to_have_count(0)
    assert alice.page.evaluate("() => String(getSelection())") == ""
    menu.get_by_role("menuitem", name="Reply").tap()
    expect(context(alice)).to_contain_text(text)


def test_a_short_tap_or_a_finger_that_scrolls_opens_no_menu(alice):
    menu = alice.page.get_by_role("menu", name="Message actions")
    Finger(alice, bubble(alice, "a line for fingers")).hold(100).up()
    Finger(alice, bubble(alice, "a line for fingers")).move(0, 60).hold(700).up()
    expect(menu).to_have_count(0)
    expect(context(alice)).to_have_count(0)


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_swipe_towards_the_end_of_the_line_replies(alice, direction, motion):
    page = alice.page
    page.emulate_media(reduced_motion=motion)
    page.evaluate("(value) => { document.documentElement.dir = value; }", direction)
    forward = 1 if direction == "ltr" else -1
    line = alice.article("a line for fingers").last.locator(".bubble-line")
    for across in (-90, 30):
        Finger(alice, bubble(alice, "a line for fingers")).move(forward * across).up()
        expect(context(alice)).to_have_count(0)
    finger = Finger(alice, bubble(alice, "a line for fingers")).move(forward * 90)
    moved = line.evaluate("(element) => new DOMMatrix(getComputedStyle(element).transform).e")
    assert moved == (0 if motion == "reduce" else forward * 72)
    finger.up()
    expect(context(alice)).to_contain_text("a line for fingers")
    expect(alice.box).to_be_focused()
    assert line.evaluate("(element) => element.style.transform") == ""
    expect(alice.page.get_by_role("menu")).to_have_count(0)


def test_nothing_is_answered_while_text_is_selected(alice):
    alice.box.fill("selected")
    alice.page.evaluate("() => getSelection().selectAllChildren(document.querySelector('.conversation h1'))")
    Finger(alice, bubble(alice, "a line for fingers")).move(90).up()
    Finger(alice, bubble(alice, "a line for fingers")).hold(700).up()
    expect(context(alice)).to_have_count(0)
    expect(alice.page.get_by_role("menu")).to_have_count(0)
    alice.box.fill("")
