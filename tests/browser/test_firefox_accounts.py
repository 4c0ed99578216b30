"""Accounts in Firefox: from the code of a new one to the sign-out, with real mails."""

import secrets

import pytest

from tests.browser.account_pages import PASSWORD, SECOND_PASSWORD, Person, codes_of
from tests.browser.firefox import needs_firefox
from tests.browser.firefox_pages import enter
from tests.waiting import wait_for

pytestmark = [needs_firefox, pytest.mark.once, pytest.mark.timeout(240)]


def into(window, name, text, form="form"):
    """Writes into a field by its name, in place of what is there."""
    window.click(window.css(f"{form} [name={name}]"))
    window.type("Control+a")
    window.type(text)


def send(window, form="form"):
    window.click(window.css(f"{form} button[type=submit]"))


def sign_in(window, server, person, password=None):
    window.open(f"{server.base}/app/sign-in")
    into(window, "email", person.email)
    into(window, "password", password or person.password)
    window.type("Enter")


@pytest.fixture
def window(fox):
    return fox.person(width=1280, height=800)


def test_an_account_is_made_with_the_code_from_the_mailbox(window, fox, fox_server):
    fox.expected.append("400 .*/auth/(signup|verify)")
    email = f"fox-{secrets.token_hex(4)}@example.com"
    window.open(f"{fox_server.base}/app/sign-up")
    for name, text in (("first_name", "Fox"), ("last_name", "Example"), ("email", email), ("password", "short")):
        into(window, name, text)
    send(window)
    window.until("() => document.activeElement.matches('[name=password][aria-invalid=true]')")
    into(window, "password", PASSWORD)
    send(window)
    window.css("input[autocomplete=one-time-code]")
    sent = wait_for(lambda: codes_of(fox_server, email), what="a code")[0]
    for code in ("000000" if sent != "000000" else "111111", sent):
        window.click(window.css("input[autocomplete=one-time-code]"))
        window.type("Control+a")
        window.type(code)
        send(window)
        if code != sent:
            window.css(".alert")
    window.find("navigation", "Main")
    window.sees("Fox", ".rail-own")


def test_a_wrong_password_and_a_forgotten_one(window, fox, fox_server):
    fox.expected.append("401 .*/auth/login")
    person = Person(fox_server, "Fay")
    sign_in(window, fox_server, person, "something else 1")
    window.sees("password is wrong", "[role=alert]")
    assert window.run("() => document.querySelector('[name=email]').value") == person.email
    window.press("link", "Forgot password?")
    before = len(person.mails())
    window.press("button", "Send the code")
    window.css("input[autocomplete=one-time-code]")
    window.click(window.css("input[autocomplete=one-time-code]"))
    window.type(person.code(after=before))
    window.click(window.css("input[autocomplete=new-password]"))
    window.type("quiet harbour 19")
    window.press("button", "Set the new password")
    window.sees("Your password has been changed. Sign in with the new one.")
    window.until("() => document.activeElement.name === 'password'")
    window.type("quiet harbour 19")
    window.type("Enter")
    window.find("navigation", "Main")


def confirm(window, person, before):
    """The form of a sensitive change is sent, and the code from the mail entered."""
    window.click(window.css("dialog[open] button[type=submit]"))
    window.click(window.css("dialog[open] input[autocomplete=one-time-code]"))
    window.type(person.code(after=before))
    window.type("Enter")


def test_the_second_step_its_recovery_and_a_new_password(window, fox, fox_server):
    fox.expected.append("401 .*")
    person = Person(fox_server, "Theo")
    codes = person.turn_on_two_step()
    other = fox.person(width=1280, height=800)
    for one in (window, other):
        sign_in(one, fox_server, person)
        one.sees("Hint: the kettle")
    window.click(window.css("form input[type=password]"))
    window.type(SECOND_PASSWORD)
    window.type("Enter")
    window.find("navigation", "Main")
    other.press("link", "Use a recovery code")
    other.click(other.css("form input"))
    other.type(codes[0])
    other.type("Enter")
    other.sees("You have 9 recovery codes left.")
    window.open(f"{fox_server.base}/app/settings/security")
    before = len(person.mails())
    window.press("button", "Change password")
    window.until("() => Boolean(document.activeElement.closest('dialog input'))")
    window.type(PASSWORD)
    window.click(window.css("dialog[open] input[autocomplete=new-password]"))
    window.type("silver orchard 88")
    confirm(window, person, before)
    window.sees("Your password is changed.")
    other.find("heading", "Signed out")
    other.sees("This session was ended")


SECTIONS = ["Profile", "Language", "Appearance", "Notifications", "Security", "Devices and sessions", "Privacy", "Blocked people", "Your data"]  # fmt: skip
CHOOSE = """(name, value) => {
  const choice = [...document.querySelectorAll("select")].find((one) => one.labels[0]?.textContent.startsWith(name));
  choice.value = value;
  choice.dispatchEvent(new Event("change", { bubbles: true }));
}"""


def test_every_section_of_the_settings_a_switch_and_the_way_out(window, fox, fox_server):
    person = Person(fox_server, "Sue")
    sign_in(window, fox_server, person)
    window.find("navigation", "Main")
    window.press("link", "Settings")
    for name in SECTIONS:
        window.find("heading", name)
    assert window.barriers() == []

    def likes():
        return person.api.get("/notifications/preferences").json()["preferences"]["likes"]

    before = likes()
    window.press("switch", "Likes")
    wait_for(lambda: likes() is not before, what="the switch")
    window.run(CHOOSE, "Theme", "dark")
    window.until("() => getComputedStyle(document.documentElement).backgroundColor === 'rgb(15, 18, 23)'")
    assert window.barriers() == []
    window.run(CHOOSE, "Language (also", "ar")
    window.until("() => document.documentElement.dir === 'rtl'")
    assert window.run("() => document.documentElement.scrollWidth - innerWidth") <= 0
    window.reload()
    window.until("() => document.documentElement.dir === 'rtl' && document.querySelector('.settings-sections')")
    person.api.patch("/profile", json={"language": "en"})
    window.find("button", "Sign out")
    window.press("button", "Sign out")
    window.find("button", "Open as Alice")
    # Nothing of the account is left.
    window.open(f"{fox_server.base}/app/settings")
    window.find("heading", "Sign in")


def test_a_sign_out_loads_no_page_in_passing(fox, fox_server):
    """Firefox would complain about its module, which is gone with the page."""
    window = enter(fox, fox_server, "Alice", "settings")
    window.press("button", "Sign out")
    window.find("button", "Open as Alice")
    assert [address for address in fox.asked if "/signin." in address or "/signed_out." in address] == []
