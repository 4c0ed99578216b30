"""Signing up, signing in, the second step and its recovery, a forgotten password, and being signed out, in a browser."""

import subprocess
import sys

import pytest

from tests.browser.account_pages import PASSWORD, SECOND_PASSWORD, Person, Window, codes_of
from tests.browser.chromium import needs_chromium
from tests.server import ROOT
from tests.waiting import wait_for

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]


@pytest.fixture
def window(chromium, server):
    opened = []

    def make(**context):
        opened.append(Window(chromium, server, **context))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


def test_a_demo_person_is_one_click_away(window):
    alice = window()
    alice.open("/")
    alice.heading("Talk to one person at a time")
    for name in ("Create account", "Sign in"):
        assert alice.page.get_by_role("link", name=name).is_visible()
    alice.click("Open as Alice")
    alice.signed_in()
    # Inside the conversation of the two.
    alice.page.get_by_role("heading", name="Bob Baker").wait_for()
    # A second window of the same browser signs in as another user.
    bob = alice.context.new_page()
    bob.goto(alice.server.base + "/app/")
    bob.get_by_role("button", name="Open as Bob").click()
    bob.get_by_role("navigation", name="Main").wait_for()
    for page, name in ((alice.page, "Alice"), (bob, "Bob")):
        page.goto(alice.server.base + "/app/settings")
        assert page.get_by_label("First name").input_value() == name


def test_signing_up_in_russian_with_the_code_from_the_mailbox(window, server):
    person, email = window(locale="ru-RU"), "olga.sign-up@example.com"
    person.expect("400 /auth/signup", "400 /auth/verify")
    person.open("/app/sign-up")
    page = person.page
    form = page.locator("form").first
    fields = form.locator("input")
    for index, value in enumerate(("Ольга", "Петрова", email, "short")):
        fields.nth(index).fill(value)
    assert form.locator("select").input_value() == "ru"
    form.locator("button[type=submit]").click()
    page.locator("[aria-invalid=true]").wait_for()
    assert page.evaluate("() => document.activeElement.name") == "password"
    fields.nth(3).fill(PASSWORD)
    form.locator("button[type=submit]").click()
    code = page.locator("input[autocomplete=one-time-code]")
    code.wait_for()
    sent = wait_for(lambda: codes_of(server, email), what="a code")[0]
    code.fill("000000" if sent != "000000" else "111111")
    page.locator("button[type=submit]").first.click()
    page.locator(".alert").wait_for()
    code.fill(sent)
    page.locator("button[type=submit]").first.click()
    page.locator("nav.rail").wait_for()
    assert page.evaluate("() => document.documentElement.lang") == "ru"


def test_the_account_decides_on_the_language(window, server):
    person = Person(server, "Samir", language="ar")
    browser_of_samir = window()
    browser_of_samir.sign_in(person)
    browser_of_samir.page.locator("nav.rail").wait_for()
    browser_of_samir.page.wait_for_function("() => document.documentElement.dir === 'rtl'")
    assert browser_of_samir.page.evaluate("() => document.documentElement.lang") == "ar"


def test_an_address_that_is_not_confirmed_comes_first(window, server):
    person = Person(server, "Nina", confirmed=False)
    nina = window()
    nina.sign_in(person)
    nina.heading("Confirm your e-mail")
    nina.open("/app/settings")
    nina.heading("Confirm your e-mail")
    nina.expect("403 /profile")
    # As a keyboard for Arabic writes them.
    nina.fill(Code=person.code().translate({ord(str(value)): 0x660 + value for value in range(10)}))
    nina.click("Confirm")
    nina.signed_in()


def test_an_address_confirmed_on_another_device_asks_for_no_code(window, server):
    person = Person(server, "Vito", confirmed=False)
    vito = window()
    # The page asks for several things before it knows that the session has ended.
    vito.expect("403 /profile", "401 *")
    vito.sign_in(person)
    vito.heading("Confirm your e-mail")
    # A confirmation ends the sessions from before it, except the one that brings its token along.
    person.api.post("/auth/verify", json={"email": person.email, "code": person.code()})
    vito.page.reload()
    vito.heading("Signed out")
    vito.page.get_by_role("link", name="Sign in").click()
    vito.sign_in(person)
    vito.heading("Chats")
    # The tab has learned it: links into the app lead where they say.
    vito.open("/app/settings")
    vito.heading("Settings")


def test_nothing_says_offline_after_the_code(window, server):
    person = Person(server, "Otto", confirmed=False)
    otto = window()
    # What the client needs for signed-in users takes its time.
    otto.page.route("**/signed_in*.js", lambda route: (otto.page.wait_for_timeout(1500), route.continue_()))
    otto.open(f"/app/verify?email={person.email}")
    otto.page.evaluate("""() => {
      window.seen = "";
      const note = () => { window.seen += document.querySelector(".banners").textContent; };
      new MutationObserver(note).observe(document.body, { childList: true, subtree: true });
    }""")
    otto.fill(Code=person.code())
    otto.click("Confirm")
    otto.signed_in()
    assert "Offline" not in otto.page.evaluate("() => window.seen")


def test_the_drafts_go_when_the_user_signs_out(window, server):
    person, other = Person(server, "Dina"), Person(server, "Omar")
    chat = person.api.post("/messages/conversations", json={"user_id": other.id}).json()["conversation"]["id"]
    dina = window()
    dina.sign_in(person)
    dina.signed_in()
    dina.open(f"/app/chats/{chat}")
    dina.page.get_by_role("textbox", name="Message", exact=True).fill("not for the next reader")
    stored = "() => JSON.stringify({ ...localStorage, ...sessionStorage }).includes('not for the next reader')"
    dina.page.wait_for_function(stored)
    dina.open("/app/settings")
    with dina.page.expect_event("load"):
        dina.click("Sign out")
    dina.page.get_by_role("link", name="Create account").wait_for()
    assert not dina.page.evaluate(stored)


def test_they_go_when_another_device_ends_the_sign_in(window, server):
    """A laptop that is lost: the draft and what waits to be sent leave it as soon as it is on line."""
    person, other = Person(server, "Dora"), Person(server, "Olaf")
    chat = person.api.post("/messages/conversations", json={"user_id": other.id}).json()["conversation"]["id"]
    lost = window()
    lost.expect("401 *")
    lost.sign_in(person)
    lost.signed_in()
    lost.open(f"/app/chats/{chat}")
    lost.page.get_by_role("textbox", name="Message", exact=True).fill("not for who finds it")
    stored = "() => JSON.stringify({ ...localStorage, ...sessionStorage }).includes('not for who finds it')"
    lost.page.wait_for_function(stored)
    assert person.api.post("/auth/sessions/revoke-others").status_code == 200
    lost.see("This session was ended on another device, by a password change, or by support.")
    assert not lost.page.evaluate(stored)


@pytest.mark.parametrize("path", ["/app/chats/%zz", "/app/chats/abc", "/app/chats/0", "/app/people/nosuch"])
def test_an_address_without_a_conversation_or_a_person(window, server, path):
    person = Person(server, "Ada")
    ada = window()
    ada.expect("404 *")
    ada.sign_in(person)
    ada.signed_in()
    ada.open(path)
    ada.see("This user doesn't exist." if "people" in path else "This conversation doesn't exist")


def test_a_wrong_password_is_said_and_nothing_is_lost(window, server):
    person = Person(server, "Wendy")
    wendy = window()
    wendy.expect("401 /auth/login")
    wendy.sign_in(person, password="something else 1")
    wendy.page.get_by_role("alert").get_by_text("password is wrong").wait_for()
    assert wendy.page.get_by_label("E-mail").input_value() == person.email
    wendy.fill(Password=PASSWORD)
    wendy.page.keyboard.press("Enter")
    wendy.signed_in()


def test_the_second_step_with_hint_and_a_remembered_device(window, server):
    person = Person(server, "Tess")
    person.turn_on_two_step()
    tess = window()
    tess.expect("401 /auth/two-step")
    tess.sign_in(person)
    tess.see("Hint: the kettle")
    tess.fill(Second_password="not that one 1")
    tess.click("Sign in")
    tess.page.get_by_role("alert").locator("visible=true").wait_for()
    tess.fill(Second_password=SECOND_PASSWORD)
    tess.page.get_by_label("Remember this device").check()
    tess.click("Sign in")
    tess.signed_in()
    tess.open("/app/settings")
    tess.see("Trusted until")
    # Signing out loads the page anew; until then the old one may show the same link.
    with tess.page.expect_event("load"):
        tess.click("Sign out")
    tess.page.get_by_role("link", name="Create account").wait_for()
    tess.sign_in(person)
    tess.signed_in()


def test_a_recovery_code_in_place_of_the_second_password(window, server):
    person = Person(server, "Rita")
    codes = person.turn_on_two_step()
    rita = window()
    rita.sign_in(person)
    rita.click("Use a recovery code", "link")
    rita.fill(Recovery_code=codes[0])
    rita.click("Sign in")
    rita.signed_in()
    rita.see("You have 9 recovery codes left.")
    # They have lost the second password: a new one needs no old one now.
    before = len(person.mails())
    rita.open("/app/settings/security")
    rita.click("Change second password")
    dialog = rita.page.get_by_role("dialog")
    dialog.get_by_label("New second password").fill("copper whistle 5 south")
    dialog.get_by_role("button", name="Change second password").click()
    dialog.get_by_label("Code", exact=True).fill(person.code(after=before))
    dialog.get_by_role("button", name="Confirm").click()
    rita.see("The second password is changed.")


def test_a_code_by_mail_in_place_of_the_second_password(window, server):
    person = Person(server, "Mia")
    person.turn_on_two_step()
    before = len(person.mails())
    mia = window()
    mia.sign_in(person)
    mia.click("Send a code by e-mail")
    mia.see("If the e-mail has a code, enter it instead of your second password.")
    mia.fill(Second_password=person.code(after=before))
    mia.click("Sign in")
    mia.signed_in()


def test_a_forgotten_password_is_set_anew(window, server):
    person = Person(server, "Fay")
    before = len(person.mails())
    fay = window()
    fay.open("/app/sign-in")
    fay.page.get_by_label("E-mail").fill(person.email)
    fay.click("Forgot password?", "link")
    fay.click("Send the code")
    fay.fill(Code=person.code(after=before), New_password="quiet harbour 19")
    fay.click("Set the new password")
    fay.see("Your password has been changed. Sign in with the new one.")
    fay.page.wait_for_function("() => document.activeElement.name === 'password'")
    fay.fill(Password="quiet harbour 19")
    fay.click("Sign in")
    fay.signed_in()


def test_a_change_of_the_password_signs_out_other_browsers_and_says_so(window, server):
    person = Person(server, "Carla")
    first_window, second_window = window(), window()
    for one in (first_window, second_window):
        # Any request may be under way with the old token; the browser that made the change repeats it with the new one.
        one.expect("401 *")
        one.sign_in(person)
        one.signed_in()
    before = len(person.mails())
    first_window.open("/app/settings/security")
    first_window.click("Change password")
    dialog = first_window.page.get_by_role("dialog")
    dialog.get_by_label("Current password", exact=True).fill(PASSWORD)
    dialog.get_by_label("New password", exact=True).fill("silver orchard 88")
    dialog.get_by_role("button", name="Change password").click()
    dialog.get_by_label("Code").fill(person.code(after=before))
    dialog.get_by_role("button", name="Confirm").click()
    first_window.see("Your password is changed.")
    second_window.heading("Signed out")
    second_window.see("This session was ended")
    first_window.open("/app/settings")
    first_window.signed_in()
    second_window.sign_in(person, password="silver orchard 88")
    second_window.signed_in()


def test_blocked_by_staff_is_signed_out_at_once(window, server):
    person = Person(server, "Bert")
    bert = window()
    bert.expect("403 /profile", "403 /auth/refresh", "403 /auth/me")
    bert.sign_in(person)
    bert.signed_in()
    command = [sys.executable, "manage.py", "block_user", person.email, "--reason", "spam", "--yes"]
    subprocess.run(command, cwd=ROOT, env=server.environment, check=True, capture_output=True, timeout=60)
    bert.heading("Signed out")
    bert.see("This account is blocked.")


def test_a_page_that_could_not_be_loaded_follows_the_connection(window, server):
    person = Person(server, "Ola")
    ola = window()
    ola.sign_in(person)
    ola.signed_in()
    ola.context.set_offline(True)
    ola.page.get_by_role("link", name="Calls").click()
    ola.heading("This page could not be loaded")
    # A reload would leave the client for the browser's own page.
    ola.click("Try again")
    ola.page.wait_for_timeout(500)
    ola.heading("This page could not be loaded")
    ola.context.set_offline(False)
    ola.heading("Calls")
    ola.complaints.clear()


def test_a_page_that_is_broken_is_not_loaded_again_and_again(window, server):
    person = Person(server, "Ida")
    ida = window()
    ida.sign_in(person)
    ida.signed_in()
    ida.page.route("**/pages/calls*.js", lambda route: route.abort())
    # The connection stands later than it is known that the page cannot be loaded.
    ida.page.add_init_script("""
      WebSocket.prototype.sendNow = WebSocket.prototype.send;
      WebSocket.prototype.send = function (data) { setTimeout(() => this.sendNow(data), 700); };
    """)
    loads = []
    ida.page.on("load", lambda page: loads.append(page.url))
    ida.open("/app/calls")
    ida.heading("This page could not be loaded")
    ida.page.wait_for_timeout(3000)
    assert len(loads) == 1
    ida.complaints.clear()


def test_a_text_of_the_other_direction_is_cut_off_at_its_end(window, server):
    person, other = Person(server, "Layla", language="ar"), Person(server, "Omar")
    chat = other.api.post("/messages/conversations", json={"user_id": person.id}).json()["conversation"]["id"]
    body = "It begins here and goes on for longer than the list is wide, whatever the language of its reader."
    assert other.api.post(f"/messages/conversations/{chat}/messages", json={"body": body}).status_code == 201
    layla = window(locale="ar")
    layla.open("/app/sign-in")
    layla.page.locator("input[type=email]").fill(person.email)
    layla.page.locator("input[type=password]").fill(PASSWORD)
    layla.page.locator("button[type=submit]").click()
    preview = layla.page.locator(".entry-text .cut")
    preview.wait_for()
    assert preview.evaluate("(element) => getComputedStyle(element).direction") == "ltr"
    assert preview.evaluate("(element) => element.scrollWidth > element.clientWidth && element.scrollLeft === 0")
