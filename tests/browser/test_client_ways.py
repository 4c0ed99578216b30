"""From page to page: where the focus goes, what stays open, and what belongs to whom."""

import re
from functools import partial

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import needs_chromium, watch
from tests.browser.client_pages import Window, opened_windows

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]
INSIDE = """element => {
  const place = element.getBoundingClientRect();
  return place.left >= 0 && place.right <= innerWidth;
}"""


def test_on_a_phone_the_focus_goes_with_the_reader(windows, people, chat):
    people["Bob"].send(chat, "good morning")
    alice = windows("Alice", viewport={"width": 390, "height": 800}).open()
    entry = alice.conversation("Bob").get_by_role("link")
    entry.focus()
    alice.page.keyboard.press("Enter")
    expect(alice.page.get_by_role("heading", name="Bob Baker")).to_be_focused()
    alice.page.get_by_role("link", name="Back to the chats").focus()
    alice.page.keyboard.press("Enter")
    expect(entry).to_be_focused()


def test_a_question_goes_with_its_page(windows, chat):
    alice = windows("Alice").open()
    alice.conversation("Bob").get_by_role("link").click()
    ask = alice.page.get_by_role("button", name="Conversation actions")
    question = alice.page.get_by_role("alertdialog", name="Clear this chat?")
    ask.click()
    alice.page.get_by_role("menuitem", name="Clear").click()
    expect(question).to_be_visible()
    alice.page.go_back()
    expect(question).to_have_count(0)
    alice.page.go_forward()
    ask.click()
    alice.page.get_by_role("menuitem", name="Clear").click()
    expect(question).to_be_visible()
    elsewhere = alice.context.new_page()
    elsewhere.goto(f"{alice.base}/app/settings")
    elsewhere.get_by_role("button", name="Sign out").click()
    expect(alice.page.get_by_role("heading", name="Signed out")).to_be_visible()
    expect(question).to_have_count(0)
    # A browser that is closed while a page of it signs out may never end.
    expect(elsewhere.get_by_role("link", name="Sign in").first).to_be_visible()
    elsewhere.close()


def test_a_new_page_takes_the_focus(windows):
    alice = windows("Alice").open("settings")
    expect(alice.page.get_by_role("heading", name="Settings")).to_be_visible()
    for name in ("Calls", "Notifications", "Settings"):
        alice.page.get_by_role("link", name=name).focus()
        alice.page.keyboard.press("Enter")
        expect(alice.page.get_by_role("heading", name=name, level=1)).to_be_focused()
    alice.page.get_by_role("link", name="Help").click()
    expect(alice.page.get_by_role("heading", name="Help", exact=True)).to_be_focused()


def test_each_section_of_the_settings_is_a_page(windows):
    page = windows("Alice").open("settings/privacy").page
    sections = page.get_by_role("navigation", name="Sections")
    headings, here = page.get_by_role("heading", level=2), sections.locator("[aria-current=page]")
    expect(page.get_by_label("Who can message me")).to_be_visible()
    expect(page.get_by_role("heading", name="Privacy")).to_be_focused()
    expect(headings).to_have_text(["Privacy"])
    expect(here).to_have_text("Privacy")
    expect(page).to_have_title("Privacy · Settings · Parley")
    # By the keyboard, each one by itself, and the same one again.
    for name in ("Blocked people", "Blocked people", "Your data"):
        sections.get_by_role("button", name=name).press("Enter")
        expect(page.get_by_role("heading", name=name)).to_be_focused()
        expect(headings).to_have_text([name])
        expect(here).to_have_text(name)
    expect(page).to_have_url(re.compile("/app/settings/data$"))

    sections.get_by_role("button").first.click()
    expect(page.get_by_role("heading", name="Settings")).to_be_focused()
    expect(headings).to_have_count(9)
    expect(here).to_have_text("All settings")
    page.locator(".body").evaluate("body => { body.scrollTop = body.scrollHeight; }")
    sections.get_by_role("button", name="Devices and sessions").click()
    heading = page.get_by_role("heading", name="Devices and sessions")
    expect(heading).to_be_focused()
    expect(page.get_by_role("heading", name="Settings")).to_be_in_viewport()
    page.go_back()
    expect(headings).to_have_count(9)


def test_a_section_of_the_settings_on_a_phone_has_a_way_back(windows):
    page = windows("Alice", viewport={"width": 360, "height": 740}, has_touch=True).open("settings").page
    sections = page.get_by_role("navigation", name="Sections")
    sections.get_by_role("button", name="Security").tap()
    expect(page.get_by_role("heading", name="Security")).to_be_focused()
    expect(sections).to_be_hidden()
    back = page.get_by_role("button", name="All settings")
    assert back.bounding_box()["height"] >= 44
    back.tap()
    expect(page.get_by_role("heading", name="Settings")).to_be_focused()
    expect(sections).to_be_visible()
    expect(back).to_have_count(1)
    # A list: one below the other, as wide as the page.
    boxes = [entry.bounding_box() for entry in sections.locator(":is(a, button):visible").all()]
    assert len(boxes) == 11
    assert {(box["x"], box["width"]) for box in boxes} == {(boxes[0]["x"], boxes[0]["width"])}
    assert boxes[0]["width"] > 300
    assert all(44 <= box["height"] <= 60 for box in boxes)
    assert [box["y"] for box in boxes] == sorted({box["y"] for box in boxes})
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360


def test_two_people_in_one_browser_mute_for_themselves(chromium, server, people, chat):
    people["Bob"].send(chat, "good morning")
    context = chromium.new_context()
    pages, complaints = {}, []
    for name in ("Alice", "Bob"):
        pages[name] = context.new_page()
        complaints.append(watch(pages[name], server.base))
        pages[name].goto(server.base)
        pages[name].get_by_role("button", name=f"Open as {name}").click()
        pages[name].get_by_role("list", name="Conversations").wait_for()
        pages[name].goto(f"{server.base}/app/chats/{chat}")
        pages[name].get_by_role("button", name="Conversation actions").wait_for()
    alice, bob = pages.values()
    alice.get_by_role("button", name="Conversation actions").click()
    alice.get_by_role("menuitem", name="Mute").click()
    marks = ".entry-marks .icon-mute"
    expect(alice.locator(marks)).to_have_count(1)
    bob.wait_for_timeout(300)
    expect(bob.locator(marks)).to_have_count(0)
    bob.reload()
    bob.get_by_role("button", name="Conversation actions").wait_for()
    expect(bob.locator(marks)).to_have_count(0)
    alice.reload()
    expect(alice.locator(marks)).to_have_count(1)
    context.close()
    assert complaints == [[], []]


@pytest.mark.parametrize("width", [320, 390])
def test_twice_as_large_letters_fit(windows, chat, width):
    alice = windows("Alice", viewport={"width": width, "height": 800})
    cdp = alice.context.new_cdp_session(alice.page)
    cdp.send("Page.setFontSizes", {"fontSizes": {"standard": 32, "fixed": 26}})
    for path in ("chats", f"chats/{chat}", "calls", "notifications", "settings"):
        alice.page.goto(f"{alice.base}/app/{path}")
        expect(alice.page.get_by_role("main")).to_be_visible()
        alice.page.wait_for_timeout(300)
        assert alice.page.evaluate("() => document.documentElement.scrollWidth") <= width, path


def test_enter_opens_the_first_person_that_was_found(windows, people):
    alice = windows("Alice").open("chats")
    box = alice.page.get_by_role("searchbox", name="Search people")
    box.fill(people["Bob"].user["username"])
    expect(alice.page.get_by_role("list", name="People").get_by_role("listitem")).to_have_count(1)
    expect(alice.page.get_by_role("list", name="People")).to_have_attribute("aria-busy", "false")
    box.press("Enter")
    expect(alice.page.get_by_role("heading", name="Bob Baker")).to_be_visible()


def test_the_focus_stays_in_the_conversation_when_a_block_begins_and_ends(windows, people, chat):
    alice = windows("Alice").open_chat(chat)
    expect(alice.box).to_be_focused()
    bob = people["Bob"].user["id"]
    people["Alice"].http.post("/profile/blocks", json={"user_id": bob}).raise_for_status()
    expect(alice.page.get_by_role("heading", name="Bob Baker")).to_be_focused()
    alice.page.get_by_role("button", name="Unblock").press("Enter")
    expect(alice.box).to_be_focused()


def test_a_minimized_call_and_notices_leave_the_text_box_free(windows, chat):
    alice = windows("Alice").open_chat(chat)
    alice.page.get_by_role("button", name="Voice call", exact=True).click()
    alice.page.get_by_role("button", name="Minimize the call").click()
    alice.box.fill("during the call")
    alice.page.get_by_role("button", name="Send", exact=True).click()
    alice.sees("during the call")
    alice.page.get_by_role("button", name="Hang up").click()
    end = alice.page.locator(".call-end")
    expect(end).to_be_visible()
    head = alice.page.locator(".conversation-head").bounding_box()
    assert end.bounding_box()["y"] + end.bounding_box()["height"] <= head["y"]
    alice.article("during the call").hover()
    alice.article("during the call").get_by_role("button", name="Message actions").click()
    alice.page.get_by_role("menuitem", name="Copy text").click()
    notice = alice.page.locator(".notice").bounding_box()
    assert notice["y"] + notice["height"] <= alice.page.locator(".composer").bounding_box()["y"]


def test_an_address_without_a_page_says_so_in_the_title(windows):
    alice = windows("Alice")
    alice.open("nowhere")
    expect(alice.page).to_have_title("This page doesn't exist · Parley")


def test_the_focus_stays_in_the_log_when_a_button_of_a_message_goes(windows, people, chat):
    message = people["Bob"].send(chat, "to react to")
    reactions = f"/messages/messages/{message['id']}/reactions"
    people["Alice"].http.post(reactions, json={"emoji": "👍"}).raise_for_status()
    alice = windows("Alice").open_chat(chat)
    alice.article("to react to").get_by_role("button", name="👍").press("Enter")
    expect(alice.article("to react to")).to_be_focused()

    refusal = {"ok": False, "error": "message_permission_denied", "message": "Not from you."}
    alice.page.route("**/conversations/*/messages", lambda route: route.fulfill(status=403, json=refusal))
    alice.write("refused")
    alice.article("refused").get_by_role("button", name="Discard").press("Enter")
    expect(alice.article("refused")).to_have_count(0)
    expect(alice.log).to_be_focused()
    alice.complaints.clear()


def test_the_question_about_notifications_leaves_the_text_box_of_a_phone_free(whole_chromium, server, chat):
    # The shell without windows refuses all notifications by itself.
    with opened_windows(partial(Window, whole_chromium, server), server) as windows:
        alice = windows("Alice", viewport={"width": 320, "height": 640})
        # Not decided yet.
        alice.context.clear_permissions()
        alice.page.clock.install()
        alice.open_chat(chat)
        alice.page.clock.fast_forward(20_000)
        hint = alice.page.get_by_role("complementary", name="Browser notifications")
        expect(hint).to_be_visible()
        box = hint.bounding_box()
        assert box["y"] + box["height"] <= alice.page.locator(".composer").bounding_box()["y"]


def test_layers_fit_a_phone_with_twice_as_large_letters(windows, chat):
    alice = windows("Alice", viewport={"width": 320, "height": 700})
    cdp = alice.context.new_cdp_session(alice.page)
    cdp.send("Page.setFontSizes", {"fontSizes": {"standard": 32, "fixed": 26}})
    alice.open_chat(chat)
    alice.page.get_by_role("button", name="Conversation actions").click()
    for item in alice.page.get_by_role("menuitem").all():
        assert item.evaluate(INSIDE), item.inner_text()
    alice.page.keyboard.press("Escape")
    alice.page.get_by_role("button", name="Voice call", exact=True).click()
    call = alice.page.get_by_role("dialog", name="Call with Bob Baker")
    call.get_by_role("button", name="Devices").click()
    for box in call.get_by_role("combobox").all():
        assert box.evaluate(INSIDE)
    call.get_by_role("button", name="Minimize the call").click()
    for button in call.get_by_role("button").all():
        assert button.evaluate(INSIDE), button.inner_text()
    call.get_by_role("button", name="Hang up").click()
    alice.open("help")
    for term in alice.page.locator("kbd").all():
        assert term.evaluate(INSIDE), term.inner_text()
    alice.open("settings/security")
    alice.page.get_by_role("button", name="Change password").click()
    field = alice.page.get_by_label("Current password").bounding_box()
    shown = alice.page.get_by_role("dialog").get_by_role("button", name="Show").first.bounding_box()
    assert shown["y"] >= field["y"] + field["height"]


def test_a_second_call_of_one_person_is_refused_in_words(windows, chat):
    alice = windows("Alice").open_chat(chat)
    alice.page.get_by_role("button", name="Voice call", exact=True).click()
    alice.page.get_by_text("Calling…").wait_for()
    other = windows("Alice").open_chat(chat)
    other.page.get_by_role("button", name="Voice call", exact=True).click()
    expect(other.page.locator(".call-end")).to_contain_text("You are already in a call.")
    alice.page.get_by_role("button", name="Minimize the call").click()
    alice.page.get_by_role("button", name="Voice call", exact=True).click()
    expect(alice.page.locator(".notice")).to_contain_text("You are already in a call.")
    alice.page.get_by_role("button", name="Hang up").click()


def test_notices_cover_neither_a_long_text_nor_the_buttons_of_a_call(windows, chat):
    alice = windows("Alice").open_chat(chat)
    alice.box.fill("line\n" * 6 + "x" * 4096)
    alice.box.press("Enter")
    notice = alice.page.locator(".notices > .notice")
    expect(notice).to_contain_text("up to 4,096 characters")
    place, composer = notice.bounding_box(), alice.page.locator(".composer").bounding_box()
    assert place["y"] + place["height"] <= composer["y"]
    notice.hover()
    alice.page.get_by_role("button", name="Voice call", exact=True).press("Enter")
    call = alice.page.get_by_role("dialog", name="Call with Bob Baker")
    place, controls = call.locator(".notice").bounding_box(), call.locator(".call-controls").bounding_box()
    assert place["y"] + place["height"] <= controls["y"]
    call.get_by_role("button", name="Hang up").click()
    expect(call).to_have_count(0)
    alice.box.fill("")


def test_a_search_that_failed_offline_is_made_again_with_the_connection(windows, people):
    alice = windows("Alice").open()
    expect(alice.conversation("Bob Baker").get_by_role("link")).to_be_visible()
    alice.context.set_offline(True)
    alice.page.get_by_role("searchbox", name="Search people").fill("bak")
    expect(alice.page.get_by_role("heading", name="Messages")).to_be_visible()
    # Neither search says "Searching…" any longer: both have failed, and it is said once.
    expect(alice.page.locator(".side").get_by_text("Searching")).to_have_count(0)
    expect(alice.page.locator(".side").get_by_text("The server cannot be reached.")).to_be_visible()
    alice.context.set_offline(False)
    expect(alice.page.get_by_role("list", name="People").get_by_role("listitem")).to_have_count(1)
    alice.complaints.clear()


def test_without_a_connection_no_user_is_shown_as_online(windows, chat):
    windows("Bob").open()
    alice = windows("Alice").open_chat(chat)
    online = alice.page.locator(".conversation-head").get_by_text("online")
    expect(online).to_be_visible()
    alice.context.set_offline(True)
    expect(online).to_have_count(0)
    alice.context.set_offline(False)
    expect(online).to_be_visible()
    alice.complaints.clear()


def test_a_letter_leads_to_the_next_entry_of_a_menu_that_begins_with_it(windows, people, chat):
    people["Bob"].send(chat, "to choose for")
    alice = windows("Alice").open_chat(chat)
    alice.article("to choose for").last.focus()
    alice.page.keyboard.press("Enter")
    for name in ("Reply", "React", "Report", "Reply"):
        expect(alice.page.get_by_role("menuitem", name=name)).to_be_focused()
        alice.page.keyboard.press("r")
    alice.page.keyboard.press("Escape")


def test_the_buttons_of_a_call_are_in_sight_at_four_times_the_size(windows, chat):
    """1280 by 1024 pixels, enlarged four times."""
    alice = windows("Alice", viewport={"width": 320, "height": 256}).open_chat(chat)
    bob = windows("Bob").open_chat(chat)
    bob.page.get_by_role("button", name="Video call").click()
    ring = alice.page.get_by_role("alertdialog", name="Bob Baker")
    for name in ("Decline", "Accept"):
        expect(ring.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
    ring.get_by_role("button", name="Accept").click()
    expect(alice.page.get_by_role("timer")).to_be_visible()
    hang_up = alice.page.get_by_role("button", name="Hang up")
    expect(hang_up).to_be_in_viewport(ratio=1)
    alice.page.get_by_role("button", name="Minimize the call").click()
    expect(hang_up).to_be_in_viewport(ratio=1)
    hang_up.click()
    expect(bob.page.get_by_role("status").filter(has_text="Call ended")).to_be_visible()
