"""One person in two tabs of a browser: what one tab does, the other knows."""

import pytest
from playwright.sync_api import expect

from tests.browser.account_pages import SECOND_PASSWORD, Person
from tests.browser.chromium import needs_chromium, watch
from tests.browser.client_pages import Window

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]


def second_tab(window):
    """Another tab of the same browser at the same page, its text box, and its complaints."""
    page = window.context.new_page()
    complaints = watch(page, window.base)
    page.goto(window.page.url)
    return page, page.get_by_role("textbox", name="Message", exact=True), complaints


def test_a_draft_in_two_tabs_is_sent_once(windows, chat):
    alice = windows("Alice").open_chat(chat)
    alice.box.fill("written once")
    other, box, complaints = second_tab(alice)
    expect(box).to_have_value("written once")
    box.press("End")
    box.type(" and no more")
    expect(alice.box).to_have_value("written once and no more")
    box.press("Enter")
    expect(box).to_have_value("")
    expect(alice.box).to_have_value("")
    alice.box.press("Enter")
    alice.sees("written once and no more")
    other.wait_for_timeout(500)
    alice.sees("written once and no more")
    assert complaints == []


def test_an_edit_in_one_tab_leaves_the_draft_of_both(windows, chat):
    alice = windows("Alice").open_chat(chat)
    alice.write("to be edited")
    alice.sees("to be edited")
    _, box, complaints = second_tab(alice)
    expect(box).to_have_value("")
    alice.box.press("ArrowUp")
    expect(alice.box).to_have_value("to be edited")
    box.fill("a draft meanwhile")
    expect(alice.box).to_have_value("to be edited")
    alice.box.press("Escape")
    expect(alice.box).to_have_value("a draft meanwhile")
    box.fill("")
    assert complaints == []


def test_a_draft_to_someone_never_written_to_is_found_again(windows, server):
    alice = windows("Alice")
    alice.page.goto(f"{alice.base}/app/people/{Person(server, 'Zoe').id}")
    expect(alice.page.get_by_role("heading", name="Zoe Example")).to_be_visible()
    alice.box.fill("to be thought over")
    alice.page.get_by_role("link", name="Calls").click()
    alice.page.get_by_role("link", name="Chats").click()
    expect(alice.conversation("Zoe Example")).to_contain_text("to be thought over")
    alice.page.reload()
    expect(alice.conversation("Zoe Example")).to_contain_text("to be thought over")


def test_two_step_and_sessions_that_changed_elsewhere_are_shown_on_the_way_back_to_the_tab(windows, chromium, server):
    person = Person(server, "Tom")
    tom = Window(chromium, server, {"email": person.email, "password": person.password}).open("settings")
    expect(tom.page.get_by_role("button", name="Turn on two-step verification")).to_be_visible()
    person.turn_on_two_step()
    # A real tab that is in front again fires the same event.
    tom.page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    expect(tom.page.get_by_text("On. You have 10 recovery codes left.")).to_be_visible()
    expect(tom.page.get_by_role("button", name="Turn on two-step verification")).to_have_count(0)
    # So is a sign-in elsewhere.
    sessions = tom.page.get_by_role("region", name="Devices and sessions")
    expect(sessions.get_by_role("button", name="End the session")).to_have_count(1)
    pending = person.api.post("/auth/login", json={"email": person.email, "password": person.password}).json()
    headers = {"Authorization": f"Bearer {pending['two_step_token']}"}
    person.api.post("/auth/two-step", json={"password": SECOND_PASSWORD}, headers=headers).raise_for_status()
    tom.page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    expect(sessions.get_by_role("button", name="End the session")).to_have_count(2)
    assert tom.complaints == []
    tom.close()
