"""Forms and their buttons: where the focus stays, what a list shows after a change, a code that did not arrive."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.account_pages import PASSWORD, Person, Window
from tests.browser.chromium import needs_chromium
from tests.waiting import wait_for

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]


@pytest.fixture
def window(chromium, server):
    opened = Window(chromium, server)
    yield opened
    opened.close()


def settings_of(window, person):
    window.sign_in(person)
    window.signed_in()
    window.open("/app/settings")
    window.heading("Trusted devices")
    return window.page


def test_a_button_that_was_pressed_keeps_the_focus(server, window):
    person = Person(server, "Fay")
    window.sign_in(person, password="not the password")
    window.see("The e-mail address or the password is wrong.")
    expect(window.page.get_by_role("button", name="Sign in")).to_be_focused()
    window.expect("401 /auth/login")
    page = settings_of(window, person)
    page.get_by_label("About you").fill("Likes rivers.")
    window.click("Save")
    window.see("Your profile is saved.")
    expect(page.get_by_role("button", name="Save")).to_be_focused()


def test_an_empty_field_says_what_to_enter_and_nothing_is_sent(window):
    window.open("/app/sign-up")
    window.fill(Last_name="Fern")
    window.click("Create account")
    for text in ("Enter your first name.", "Enter your e-mail address.", "Enter your password."):
        window.see(text)
    expect(window.page.get_by_label("First name")).to_be_focused()
    expect(window.page.get_by_text("Enter your last name.")).to_have_count(0)


def test_the_sessions_that_a_new_password_has_ended_are_gone_from_the_list(server, window):
    person = Person(server, "Sid")
    page = settings_of(window, person)
    # The session of the sign-up is another device.
    expect(page.get_by_role("button", name=re.compile("^End the session"))).to_have_count(1)
    before = len(person.mails())
    window.click("Change password")
    window.fill(Current_password=PASSWORD, New_password="amber kettle 7 north")
    page.keyboard.press("Enter")
    page.get_by_label("Code").fill(person.code(after=before))
    page.keyboard.press("Enter")
    window.see("Your password is changed.")
    expect(page.get_by_role("button", name=re.compile("^End the session"))).to_have_count(0)


def test_a_code_that_did_not_arrive_is_sent_again(server, window):
    person = Person(server, "Nia")
    page = settings_of(window, person)
    before = len(person.mails())
    window.click("Export data")
    window.click("Continue")
    window.heading("Export data")
    first = person.code(after=before)
    window.click("Send a new code")
    window.see("We have sent a new code.")
    page.get_by_label("Code").fill(person.code(after=before + 1))
    with page.expect_download():
        page.keyboard.press("Enter")
    wait_for(lambda: person.mails()[0] != first, what="another code")


def test_what_is_taken_is_said_at_its_field(server, window):
    person, other = Person(server, "Ivy"), Person(server, "Lea")
    window.open("/app/sign-up")
    field = window.page.get_by_label("E-mail")
    field.fill(person.email)
    window.fill(First_name="Ivy", Last_name="Fern", Password=PASSWORD)
    window.click("Create account")
    expect(field).to_have_accessible_description("This e-mail address is already registered.")
    expect(field).to_be_focused()
    window.expect("409 /auth/signup")
    page = settings_of(window, person)
    taken = other.api.get("/profile").json()["profile"]["username"]
    page.get_by_label("Username").fill(taken)
    window.click("Save")
    expect(page.get_by_label("Username")).to_have_accessible_description(re.compile("This username is taken."))
    expect(page.get_by_label("Username")).to_be_focused()
    window.expect("409 /profile")


@pytest.mark.parametrize("path", ["/app/verify", "/app/reset"])
def test_who_waits_for_a_code_is_told_where_else_to_look(window, path):
    window.open(f"{path}?email=nia@example.com")
    expect(window.page.get_by_label("Code")).to_have_accessible_description("No code? Check your spam folder, too.")


def test_text_can_be_selected_beyond_the_edge_of_a_dialog(server, window):
    page = settings_of(window, Person(server, "Dot"))
    window.click("Change e-mail")
    dialog = page.get_by_role("dialog", name="Change e-mail")
    field = dialog.get_by_label("New e-mail")
    field.fill("someone@example.com")
    box = field.bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(20, box["y"] + 10, steps=5)
    page.mouse.up()
    expect(dialog).to_be_visible()
    expect(field).to_have_value("someone@example.com")
    page.mouse.click(20, 20)
    expect(dialog).to_have_count(0)


def test_a_language_chosen_before_the_sign_in_is_that_of_the_page_at_once(window):
    window.open("/app/sign-up")
    window.fill(First_name="Eva")
    window.page.get_by_label("Language").select_option("de")
    window.heading("Konto erstellen")
    expect(window.page.get_by_label("Vorname")).to_have_value("Eva")
    window.open("/app/")
    window.page.get_by_label("Sprache").select_option("fr")
    expect(window.page.get_by_role("link", name="Créer un compte")).to_be_visible()
    window.accessible()


def test_settings_that_another_device_has_changed_are_not_put_back(server, window):
    person = Person(server, "Pia")
    page = settings_of(window, person)
    person.api.put("/profile/privacy", json={"read_receipts": False}).raise_for_status()
    page.get_by_role("switch", name="Show when I was last seen").click()

    def privacy():
        return person.api.get("/profile/privacy").json()["privacy"]

    wait_for(lambda: privacy()["show_last_seen"] is False, what="the change of privacy")
    assert privacy()["read_receipts"] is False
    expect(page.get_by_role("switch", name="Read receipts")).not_to_be_checked()

    page.get_by_label("About you").fill("Likes rivers.")
    person.api.patch("/profile", json={"last_name": "Other"}).raise_for_status()
    expect(page.get_by_label("Last name")).to_have_value("Other")
    window.click("Save")
    window.see("Your profile is saved.")
    profile = person.api.get("/profile").json()["profile"]
    assert (profile["last_name"], profile["bio"]) == ("Other", "Likes rivers.")


def test_who_signs_in_again_goes_on_where_the_session_ended(server, window):
    person = Person(server, "Ned")
    page = settings_of(window, person)
    window.click("Privacy")
    window.expect("401 *")
    person.api.post("/auth/sessions/revoke-others", json={}).raise_for_status()
    window.heading("Signed out")
    window.click("Sign in", role="link")
    window.fill(Password=PASSWORD)
    page.get_by_label("E-mail").fill(person.email)
    window.click("Sign in")
    expect(page.get_by_role("heading", name="Privacy")).to_be_focused()


# As a browser tells of the keys that an input method takes.
COMPOSING = """(box, key) => box.dispatchEvent(new KeyboardEvent("keydown", { key, isComposing: true, bubbles: true, cancelable: true }))"""


def test_the_keys_of_an_input_method_do_not_leave_a_search(windows, people, chat):
    for body in ("a heron", "another heron"):
        people["Bob"].send(chat, body)
    alice = windows("Alice").open_chat(chat)
    alice.page.get_by_role("button", name="Search in conversation").click()
    box = alice.page.get_by_role("searchbox", name="Search messages")
    box.fill("heron")
    expect(alice.page.get_by_text("1 of 2")).to_be_visible()
    for key in ("Enter", "Escape"):
        box.evaluate(COMPOSING, key)
    alice.page.wait_for_timeout(300)
    expect(alice.page.get_by_text("1 of 2")).to_be_visible()
    alice.open("chats")
    box = alice.page.get_by_role("searchbox", name="Search people")
    box.fill("bak")
    expect(alice.page.get_by_role("list", name="People")).to_have_attribute("aria-busy", "false")
    for key in ("Escape", "Enter"):
        box.evaluate(COMPOSING, key)
    alice.page.wait_for_timeout(300)
    expect(box).to_have_value("bak")
    expect(alice.page).to_have_url(re.compile("/app/chats$"))


def test_a_second_report_of_a_message_says_that_the_first_one_stays(windows, people, chat):
    people["Bob"].send(chat, "to be reported twice")
    alice = windows("Alice").open_chat(chat)

    def report(reason):
        alice.article("to be reported twice").get_by_role("button", name="Message actions").click()
        alice.page.get_by_role("menuitem", name="Report").click()
        dialog = alice.page.get_by_role("dialog", name="Report message")
        dialog.get_by_label(reason).check()
        dialog.get_by_role("button", name="Send report").click()
        expect(dialog).to_have_count(0)

    report("Insults or threats")
    expect(alice.page.locator(".notice")).to_contain_text("Thanks. Our team will review this message.")
    report("Spam")
    notice = alice.page.locator(".notice").filter(has_text="You have already reported this message")
    expect(notice).to_contain_text("Insults or threats")
