"""Writing in a conversation: input methods, keyboards on screens, long texts, marks and directions of all scripts."""

import io
import re
import unicodedata

import pytest
from PIL import Image, ImageChops
from playwright.sync_api import expect

from tests.browser.chromium import InputMethod, needs_chromium
from tests.waiting import wait_for

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]
DISTANCE_TO_END = "log => log.scrollHeight - log.clientHeight - log.scrollTop"
# Above, below and through the letters; in the order in which the server keeps them.
ZALGO = unicodedata.normalize("NFC", "Z" + "".join(map(chr, range(0x31B, 0x358))) + "e" + "\u0324" * 60)
# As many marks as a name has room for.
NAME = ZALGO[:30]
PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}


@pytest.fixture(autouse=True)
def empty(people, chat):
    """An empty conversation, in which nothing is unread."""
    for person in people.values():
        person.http.post(f"/messages/conversations/{chat}/clear").raise_for_status()


def read(people, chat):
    """Alice has read everything: her window opens at the end."""
    people["Alice"].http.post(f"/messages/conversations/{chat}/read", json={}).raise_for_status()


def test_the_key_that_ends_a_word_of_an_input_method_does_nothing_else(windows, people, chat):
    people["Bob"].send(chat, "a question in Japanese")
    alice = windows("Alice").open_chat(chat)
    page = alice.page
    keys = InputMethod(page)
    before = len(alice.texts())

    # The message box: neither sent, nor an edit begun, nor a reply ended.
    alice.box.fill("")
    keys.press("ArrowUp")
    alice.article("a question in Japanese").get_by_role("button", name="Message actions").click()
    page.get_by_role("menuitem", name="Reply").click()
    alice.box.fill("東京")
    for key in ("Enter", "Escape"):
        keys.press(key)
    expect(alice.box).to_have_value("東京")
    expect(page.get_by_role("button", name="Cancel reply")).to_be_visible()
    page.wait_for_timeout(300)
    assert len(alice.texts()) == before
    page.get_by_role("button", name="Cancel reply").click()
    alice.box.fill("")

    # The search in the conversation: not closed.
    page.get_by_role("button", name="Search in conversation").click()
    search = page.get_by_role("searchbox", name="Search messages")
    search.fill("question")
    for key in ("Enter", "Escape"):
        keys.press(key)
    page.wait_for_timeout(300)
    expect(search).to_have_value("question")
    page.get_by_role("button", name="Close search").click()

    # The search for people: not emptied, nothing opened, the focus stays.
    people_box = page.get_by_role("searchbox", name="Search people")
    people_box.fill("bob")
    expect(page.get_by_role("list", name="People")).to_have_attribute("aria-busy", "false")
    address = page.url
    for key in ("ArrowDown", "Enter", "Escape"):
        keys.press(key)
    expect(people_box).to_have_value("bob")
    expect(people_box).to_be_focused()
    assert page.url == address
    people_box.fill("")

    # A dialog with a text: stays, with its text.
    alice.article("a question in Japanese").get_by_role("button", name="Message actions").click()
    page.get_by_role("menuitem", name="Report").click()
    comment = page.get_by_role("textbox", name="Comment")
    comment.fill("意味")
    comment.focus()
    for key in ("Escape", "Escape"):
        keys.press(key)
    expect(comment).to_have_value("意味")
    page.keyboard.press("Escape")
    expect(comment).to_have_count(0)


def test_enter_breaks_the_line_on_a_keyboard_of_a_screen(windows, chat):
    alice = windows("Alice", **PHONE).open_chat(chat)
    alice.box.fill("")
    alice.box.press_sequentially("first line")
    alice.box.press("Enter")
    alice.box.press_sequentially("second line")
    expect(alice.box).to_have_value("first line\nsecond line")
    expect(alice.box).to_have_attribute("enterkeyhint", "enter")
    alice.page.get_by_role("button", name="Send", exact=True).tap()
    expect(alice.box).to_have_value("")
    alice.sees_status(re.compile("first line\nsecond line"), re.compile("Sent|Delivered|Read"))


def test_a_growing_text_box_leaves_the_newest_message_in_sight(windows, people, chat):
    for number in range(20):
        people["Bob"].send(chat, f"Line {number} of a talk\nwith two lines")
    read(people, chat)
    alice = windows("Alice").open_chat(chat)
    last = alice.article("Line 19 of a talk").last
    expect(last).to_be_in_viewport(ratio=1)
    for number in range(12):
        alice.box.press_sequentially(f"line {number}")
        alice.box.press("Shift+Enter")
        alice.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert alice.log.evaluate(DISTANCE_TO_END) <= 2, number
    expect(last).to_be_in_viewport(ratio=1)
    # The lines that are in sight are whole ones.
    height, line = alice.box.evaluate("box => [box.clientHeight, parseFloat(getComputedStyle(box).lineHeight)]")
    assert height == pytest.approx(7 * line, abs=1)
    alice.box.fill("")
    alice.page.wait_for_timeout(100)
    assert alice.log.evaluate(DISTANCE_TO_END) <= 2


@pytest.mark.parametrize("size", [(1280, 800), (1000, 760), (720, 760), (390, 800), (320, 700)])
def test_the_question_about_notifications_covers_nothing(chromium, server, people, chat, windows, size):
    alice = windows("Alice", viewport={"width": size[0], "height": size[1]})
    # Chromium without a window answers for the user; this one has not been asked yet.
    alice.page.add_init_script("Object.defineProperty(Notification, 'permission', { get: () => 'default' });")
    alice.page.clock.install()
    for number in range(20):
        people["Bob"].send(chat, f"before it {number}")
    people["Bob"].send(chat, "the newest of all")
    read(people, chat)
    alice.open_chat(chat)
    expect(alice.article("the newest of all").last).to_be_in_viewport(ratio=1)
    alice.page.clock.fast_forward(21_000)
    hint = alice.page.get_by_role("complementary", name="Browser notifications")
    expect(hint).to_be_visible()
    expect(alice.article("the newest of all").last).to_be_in_viewport(ratio=1)
    around = hint.bounding_box()
    for other in alice.page.locator(".side, .conversation, .conversation button, article").all():
        box = other.bounding_box()
        if not box or not other.is_visible():
            continue
        beside = box["y"] >= around["y"] + around["height"] - 0.5 or box["y"] + box["height"] <= around["y"] + 0.5
        beside = beside or box["x"] >= around["x"] + around["width"] or box["x"] + box["width"] <= around["x"]
        # A row that has been scrolled out of the log is not drawn there.
        assert beside or other.evaluate("(element) => Boolean(element.closest('.log'))")
    assert alice.page.evaluate("() => document.documentElement.scrollWidth") <= size[0]
    hint.get_by_role("button", name="Not now").click()
    expect(hint).to_have_count(0)


def test_a_link_is_drawn_from_its_host_in_texts_of_both_directions(windows, people, chat):
    text = "\u202eשלום https://example.com/\u202egpj.exe שלום"
    people["Bob"].send(chat, text)
    alice = windows("Alice").open_chat(chat)
    link = alice.log.get_by_role("link", name="https://example.com/gpj.exe").last
    expect(link).to_have_attribute("href", "https://example.com/gpj.exe")
    # From left to right, character by character.
    places = link.evaluate("""link => [...link.textContent].map((_, index) => {
        const range = document.createRange();
        range.setStart(link.firstChild, index);
        range.setEnd(link.firstChild, index + 1);
        return range.getBoundingClientRect().left;
    })""")
    assert places == sorted(places)
    assert places[0] < places[-1]


def test_a_conversation_with_a_link_opens_in_an_older_browser(windows, people, chat):
    people["Bob"].send(chat, "look at https://example.com/older")
    alice = windows("Alice")
    alice.page.add_init_script("delete URL.canParse;")
    alice.open_chat(chat)
    expect(alice.log.get_by_role("link", name="https://example.com/older").last).to_be_visible()


# Its ink goes, its place stays.
FADE = """async (element) => {
  element.style.setProperty("color", "transparent", "important");
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


def around(page, element):
    """Pictures of what is drawn above and below an element."""
    box, width = element.bounding_box(), page.viewport_size["width"]
    above = {"x": 0, "y": max(0, box["y"] - 80), "width": width, "height": box["y"] - 4 - max(0, box["y"] - 80)}
    end = box["y"] + box["height"] + 4
    below = {"x": 0, "y": end, "width": width, "height": min(80, page.viewport_size["height"] - end)}
    pictures = [page.screenshot(clip=clip, caret="hide") for clip in (above, below) if clip["height"] > 1]
    return [Image.open(io.BytesIO(picture)).convert("RGB") for picture in pictures]


def assert_ink_stays_inside(page, locator):
    page.evaluate("() => document.activeElement.blur()")
    page.mouse.move(0, 0)
    # What the pointer was over fades away.
    page.wait_for_timeout(300)
    stacked = around(page, locator)
    locator.evaluate(FADE)
    for before, after in zip(stacked, around(page, locator), strict=True):
        changed = ImageChops.difference(before, after).convert("L").point(lambda value: 255 * (value > 48))
        # Round corners are drawn a shade apart from one time to the next.
        assert changed.histogram()[255] < 12, changed.getbbox()


def test_stacked_marks_stay_inside_their_own_row(windows, people, chat):
    bob = people["Bob"].http
    profile = bob.get("/profile").json()["profile"]
    for text in ("above it", ZALGO, "below it"):
        people["Bob"].send(chat, text)
    bob.patch("/profile", json={"first_name": NAME, "last_name": "Baker"}).raise_for_status()
    try:
        alice = windows("Alice").open_chat(chat)
        page = alice.page
        expect(alice.article("below it").last).to_be_visible()
        row = page.get_by_role("list", name="Conversations").get_by_role("listitem").filter(has_text="below it")
        shown = {
            "message": alice.log.locator(".text").filter(has_text=ZALGO).last,
            "header": page.get_by_role("heading", level=1),
            "name in the list": row.locator(".entry-name"),
        }
        for element in shown.values():
            assert_ink_stays_inside(page, element)
        people["Bob"].send(chat, ZALGO)
        preview = page.locator(".entry[aria-current] .cut")
        expect(preview).to_have_text(ZALGO)
        assert_ink_stays_inside(page, preview)
        reply = alice.article("below it").last
        reply.get_by_role("button", name="Message actions").click()
        page.get_by_role("menuitem", name="Reply").click()
        assert_ink_stays_inside(page, page.locator(".context b"))
    finally:
        names = {name: profile[name] for name in ("first_name", "last_name")}
        bob.patch("/profile", json=names).raise_for_status()
        wait_for(lambda: bob.get("/profile").json()["profile"]["first_name"] == names["first_name"], what="the name")


@pytest.mark.parametrize(
    ("languages", "expected"),
    [(["en-US"], r"9:05\sAM"), (["en-GB"], "09:05"), (["es-ES"], "9:05"), (["de-AT"], "09:05"), (["ru"], "09:05"),
     (["en-AU", "en-US"], r"9:05\sam")],
)  # fmt: skip
def test_times_are_written_as_the_locale_of_the_reader_writes_them(windows, languages, expected):
    alice = windows("Alice")
    alice.page.add_init_script(f"Object.defineProperty(navigator, 'languages', {{ get: () => {languages} }});")
    alice.open()
    shown = alice.page.evaluate(
        """async ([language]) => {
          const i18n = await import("/static/app/lib/i18n.js");
          await i18n.useLanguage(language, { remember: false });
          return i18n.time(new Date(2026, 10, 27, 9, 5));
        }""",
        languages,
    )
    assert re.fullmatch(expected, shown), shown


def test_marks_around_words_format_them_and_html_stays_text(windows, chat):
    alice = windows("Alice").open_chat(chat)
    alice.box.fill("*bold* _slanted_ `code` <img src=x onerror=alert(1)> *<b>not bold</b>*")
    alice.box.press("Enter")
    sent = alice.article("not bold")
    expect(sent.locator("strong")).to_have_text(["bold", "<b>not bold</b>"])
    expect(sent.locator("em")).to_have_text("slanted")
    expect(sent.locator("code")).to_have_text("code")
    expect(sent.locator(".text :is(img, b)")).to_have_count(0)
    # A line without formats shows the words alone: in the list, above the text box, in a quote.
    plain = "bold slanted code <img src=x onerror=alert(1)> <b>not bold</b>"
    expect(alice.page.locator(f"#chat-{chat}")).to_contain_text(plain)
    sent.get_by_role("button", name="Message actions").click()
    alice.page.get_by_role("menuitem", name="Reply").click()
    expect(alice.page.locator(".context")).to_contain_text(plain)
    alice.box.fill("an answer to the marks")
    alice.box.press("Enter")
    expect(alice.article("an answer to the marks").locator(".quote")).to_contain_text(plain)
    alice.box.fill("```\nfirst line\n  second line\n```")
    alice.box.press("Control+Enter")
    expect(alice.article("second line").locator("pre")).to_have_text("first line\n  second line")
    assert alice.axe() == []


def test_keys_find_people_go_to_the_next_chat_and_begin_a_message(windows, chat):
    alice = windows("Alice").open_chat(chat)
    search = alice.page.get_by_role("searchbox", name="Search people")
    alice.page.keyboard.press("Control+k")
    expect(search).to_be_focused()
    alice.page.get_by_role("heading", level=1).get_by_role("button").focus()
    alice.page.keyboard.type("Hello")
    expect(alice.box).to_be_focused()
    expect(alice.box).to_have_value("Hello")
    alice.open("chats")
    expect(alice.conversation("Bob")).to_be_visible()
    alice.page.keyboard.press("Alt+ArrowDown")
    expect(alice.log).to_be_visible()
    # A dialog keeps the keys for itself.
    alice.page.get_by_role("heading", level=1).get_by_role("button").click()
    expect(alice.page.get_by_role("dialog", name="Profile")).to_be_visible()
    alice.page.keyboard.type("x")
    expect(alice.box).to_have_value("Hello")
    alice.page.keyboard.press("Escape")
    alice.box.fill("")


def test_near_the_limit_the_composer_counts(windows, chat):
    alice = windows("Alice").open_chat(chat)
    alice.box.fill("x" * 3_000)
    expect(alice.page.get_by_text("characters left")).to_have_count(0)
    alice.box.fill("x" * 4_000)
    expect(alice.page.get_by_text("96 characters left")).to_be_visible()
    alice.box.fill("x" * 4_097)
    expect(alice.page.get_by_text("1 character too many")).to_be_visible()
    alice.box.fill("")


def test_a_right_click_opens_the_menu_and_its_first_line_reacts(windows, people, chat):
    message = people["Bob"].send(chat, "a message for the right click")
    alice = windows("Alice").open_chat(chat)
    article = alice.article(message["body"])
    article.click(button="right", position={"x": 5, "y": 5})
    menu = alice.page.get_by_role("menu", name="Message actions")
    expect(menu.get_by_role("menuitem", name="Reply")).to_be_focused()
    menu.get_by_role("menuitem", name="👍").click()
    expect(article.get_by_role("button", name="👍 1")).to_have_attribute("aria-pressed", "true")
    article.locator(".meta").dblclick()
    expect(alice.page.get_by_text("Reply to Bob Baker")).to_be_visible()
    assert alice.axe() == []
    alice.page.keyboard.press("Escape")
