"""Every section of the settings, the way through them by keyboard, and every page of the account under axe."""

import re
import zipfile
from functools import partial

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browser.account_pages import PASSWORD, SECOND_PASSWORD, Person, Window
from tests.browser.chromium import needs_chromium
from tests.waiting import wait_for

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]
SECTIONS = [
    "Profile", "Language", "Notifications", "Security", "Devices and sessions", "Privacy", "Blocked people", "Your data",
]  # fmt: skip
SWITCHES = {
    "Notifications enabled": "enabled",
    "Pause push notifications": "quiet_mode",
    "Likes": "likes",
    "Comments": "comments",
    "Follows": "follows",
    "Messages": "messages",
}


@pytest.fixture
def at_settings(chromium, server):
    """A person at their settings."""
    opened = []

    def make(person, section="", **context):
        opened.append(Window(chromium, server, **context))
        window = opened[-1]
        window.sign_in(person)
        window.page.locator("nav.rail").wait_for()
        window.open(f"/app/settings{section}")
        # What the section holds stands below its heading.
        window.page.locator(".settings-sections section > :nth-child(2)").first.wait_for()
        return window

    yield make
    for window in opened:
        window.close()


def confirm(window, person, before, *, label):
    """The form of a sensitive change is sent, and the code from the mail entered."""
    dialog = window.page.get_by_role("dialog")
    dialog.get_by_role("button", name=label, exact=True).click()
    dialog.get_by_label("Code", exact=True).fill(person.code(after=before))
    dialog.get_by_role("button", name="Confirm").click()


def test_every_section_is_there_and_the_six_switches_are_kept(server, at_settings):
    person = Person(server, "Sue")
    sue = at_settings(person)
    for name in SECTIONS:
        sue.page.get_by_role("heading", name=name, exact=True).wait_for()
    section = sue.page.get_by_role("region", name="Notifications")
    # Six of the account, and one of this browser.
    expect(section.get_by_role("switch")).to_have_count(7)

    def stored():
        return person.api.get("/notifications/preferences").json()["preferences"]

    for label, name in SWITCHES.items():
        switch, expected = section.get_by_role("switch", name=label), stored()
        assert switch.is_checked() is expected[name]
        expected[name] = not expected[name]
        switch.click()
        wait_for(partial(lambda expected: stored() == expected, expected), what=f"the switch {label}")
    sue.page.reload()
    for label, name in SWITCHES.items():
        switch = section.get_by_role("switch", name=label)
        switch.wait_for()
        assert switch.is_checked() is stored()[name]


def test_the_profile_with_a_picture_cut_to_measure(server, at_settings, tmp_path):
    person = Person(server, "Paula")
    paula = at_settings(person)
    paula.fill(First_name="Paulina", About_you="Reads in the evening.")
    paula.page.get_by_role("region", name="Profile").get_by_role("button", name="Save").click()
    paula.see("Your profile is saved.")
    profile = person.api.get("/profile").json()["profile"]
    assert (profile["first_name"], profile["bio"]) == ("Paulina", "Reads in the evening.")

    picture = tmp_path / "wide.png"
    image = Image.new("RGB", (900, 300), "white")
    image.paste("red", (0, 0, 300, 300))
    image.save(picture)
    paula.page.get_by_label("Picture file").set_input_files(picture)
    part = paula.page.get_by_label("Cropped area.")
    part.focus()
    # The red square lies at the left edge: the arrow moves the frame there, and not beyond.
    for _ in range(80):
        paula.page.keyboard.press("ArrowLeft")
    paula.accessible()
    paula.page.get_by_role("dialog").get_by_role("button", name="Save").click()
    paula.see("Your picture is saved.")
    assert paula.page.locator(".picture-row img.avatar").is_visible()
    stored = person.api.get(person.api.get("/profile").json()["profile"]["avatar_url"].removeprefix("/api/v1"))
    (tmp_path / "avatar").write_bytes(stored.content)
    with Image.open(tmp_path / "avatar") as avatar:
        assert avatar.size == (512, 512)
        colour = avatar.convert("RGB").getpixel((256, 256))
        assert colour[0] > 200 > 60 > colour[2]
    paula.click("Remove the picture")
    paula.page.locator(".picture-row img.avatar").wait_for(state="detached")
    expect(paula.page.get_by_role("button", name="Choose a picture")).to_be_focused()


def test_the_language_changes_the_page_at_once_and_stays(server, at_settings):
    person = Person(server, "Lara")
    lara = at_settings(person)
    lara.page.get_by_label("Language (also").select_option("ar")
    lara.page.get_by_role("heading", name="الإعدادات").wait_for()
    assert lara.page.evaluate("() => document.documentElement.dir") == "rtl"
    expect(lara.page.get_by_text("Chrome على Linux", exact=True).first).to_be_visible()
    lara.accessible()
    lara.page.reload()
    lara.page.get_by_role("heading", name="الإعدادات").wait_for()
    assert person.api.get("/profile").json()["profile"]["language"] == "ar"


def test_two_step_is_turned_on_changed_and_turned_off(server, at_settings):
    person = Person(server, "Theo")
    theo = at_settings(person, "/security")
    theo.context.grant_permissions(["clipboard-write"])
    theo.click("Turn on two-step verification")
    dialog = theo.page.get_by_role("dialog")
    dialog.get_by_label("Second password", exact=True).fill(SECOND_PASSWORD)
    dialog.get_by_label("Hint").fill("the kettle")
    confirm(theo, person, len(person.mails()), label="Turn on")
    codes = theo.page.get_by_role("list", name="Recovery codes").locator("code")
    codes.first.wait_for()
    expect(codes).to_have_count(10)
    dialog.get_by_role("button", name="Copy", exact=True).click()
    # Beside what is behind the dialog the notice could not be dismissed.
    notice = dialog.locator(".notice").filter(has_text="Copied.")
    theo.accessible()
    notice.get_by_role("button", name="Dismiss").click()
    expect(notice).to_have_count(0)
    theo.click("I have saved them")
    theo.see("On. You have 10 recovery codes left.")
    # The button that began it has given way to others.
    expect(theo.page.get_by_role("region", name="Security").locator(":focus")).to_have_count(1)

    theo.click("New recovery codes")
    confirm(theo, person, len(person.mails()), label="Continue")
    codes.first.wait_for()
    theo.click("I have saved them")

    theo.click("Turn off two-step verification")
    dialog.get_by_label("Second password", exact=True).fill(SECOND_PASSWORD)
    confirm(theo, person, len(person.mails()), label="Turn off")
    theo.see("Off. If you turn it on")
    expect(theo.page.get_by_role("button", name="Turn on two-step verification")).to_be_focused()


# As the server writes the page elsewhere than on a developer's machine.
ONLY_MESSAGES = """document.addEventListener("readystatechange", () => {
  const { dataset } = document.getElementById("app");
  dataset.options = JSON.stringify({ ...JSON.parse(dataset.options), switches: ["messages"] });
}, { once: true });"""


def test_switches_of_kinds_that_nothing_sends_are_left_out(server, at_settings):
    ned = at_settings(Person(server, "Ned"))
    ned.context.add_init_script(ONLY_MESSAGES)
    ned.open("/app/settings/notifications")
    switches = ned.page.get_by_role("switch")
    expect(switches.first).to_be_visible()
    shown = [switch.get_attribute("name") for switch in switches.all()]
    assert shown == ["enabled", "quiet_mode", "messages", None]


def test_a_dialog_begins_at_its_first_field(server, at_settings):
    dan = at_settings(Person(server, "Dan"), "/security")
    for button, name in (("Change password", "current_password"), ("Change e-mail", "email")):
        dan.click(button)
        dan.page.wait_for_function("name => document.activeElement.name === name", arg=name)
        dan.page.keyboard.press("Escape")
        dan.page.get_by_role("dialog").wait_for(state="detached")


@pytest.mark.parametrize("language", ["es", "pt", "ru", "uk"])
def test_long_labels_fit(server, at_settings, language):
    lea = at_settings(Person(server, "Lea", language=language))
    lea.page.wait_for_function("language => document.documentElement.lang === language", arg=language)
    lea.page.set_viewport_size({"width": 1440, "height": 900})
    labels = lea.page.locator(".settings-nav").locator("a, button")
    assert (
        labels.evaluate_all("all => all.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent)") == []
    )
    lea.page.set_viewport_size({"width": 360, "height": 740})
    assert lea.page.evaluate("() => document.documentElement.scrollWidth") <= 360


def test_a_refused_change_returns_to_its_form(server, at_settings):
    person = Person(server, "Rob")
    rob = at_settings(person, "/security")
    person.turn_on_two_step()
    rob.expect("400 /auth/change-password")
    rob.click("Change password")
    dialog = rob.page.get_by_role("dialog")
    dialog.get_by_label("Current password", exact=True).fill(PASSWORD)
    # Only with the code it is told that this is the second one.
    dialog.get_by_label("New password", exact=True).fill(SECOND_PASSWORD)
    confirm(rob, person, len(person.mails()), label="Change password")
    new = dialog.get_by_label("New password", exact=True)
    expect(new).to_have_accessible_description(re.compile("Choose a password that differs from your second one."))
    expect(new).to_be_focused()
    expect(new).to_have_value(SECOND_PASSWORD)
    rob.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(rob.page.get_by_role("button", name="Change password")).to_be_focused()


def refused_at(field, text):
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description(re.compile(re.escape(text)))
    expect(field).to_be_focused()


def test_what_is_wrong_is_told_at_its_field_before_a_code_is_mailed(server, at_settings):
    person = Person(server, "Hal")
    hal = at_settings(person, "/security")
    hal.expect("401 /auth/action-challenge", "400 /auth/action-challenge", "409 /auth/action-challenge")
    dialog, asked, mails = hal.page.get_by_role("dialog"), [], len(person.mails())
    hal.page.on("request", lambda request: "/action-challenge" in request.url and asked.append(request.url))

    hal.click("Change e-mail")
    address, change = dialog.get_by_label("New e-mail"), dialog.get_by_role("button", name="Change e-mail")
    for text, words in (
        ("no address", "Enter a valid e-mail address."),
        (f" {person.email.upper()}", "This is already your e-mail address."),
    ):
        address.fill(text)
        change.click()
        refused_at(address, words)
    hal.page.keyboard.press("Escape")
    hal.click("Change password")
    old, new = (dialog.get_by_label(name, exact=True) for name in ("Current password", "New password"))
    change = dialog.get_by_role("button", name="Change password")
    old.fill(PASSWORD)
    for text, words in (("short", "At least 8 characters."), (PASSWORD, "This is already your password.")):
        new.fill(text)
        change.click()
        refused_at(new, words)
    assert asked == []

    # What only the server knows.
    new.fill("silver orchard 88")
    old.fill("not this one 1")
    change.click()
    refused_at(old, "The current password is wrong.")
    hal.page.keyboard.press("Escape")
    hal.click("Turn on two-step verification")
    second = dialog.get_by_label("Second password", exact=True)
    second.fill(PASSWORD)
    dialog.get_by_role("button", name="Turn on").click()
    refused_at(second, "Choose a password that differs from your first one.")
    hal.page.keyboard.press("Escape")
    hal.click("Change e-mail")
    address.fill(Person(server, "Taken").email)
    dialog.get_by_role("button", name="Change e-mail").click()
    refused_at(address, "already")
    assert len(person.mails()) == mails


def test_a_hint_stands_below_its_switch_on_a_phone(server, at_settings):
    page = at_settings(Person(server, "Pat"), "/privacy").page
    page.set_viewport_size({"width": 360, "height": 740})
    for switch in page.get_by_role("switch").all():
        box = switch.bounding_box()
        hint = page.locator(f"#{switch.get_attribute('aria-describedby')}").bounding_box()
        assert hint["y"] >= box["y"] + box["height"] - 1
        before = switch.is_checked()
        switch.locator("xpath=..").locator("label").click()
        expect(switch).to_be_checked(checked=not before)


# The button is pressed, and before the page is drawn something else takes the focus or is about to.
PRESS_AND_LEAVE = """async (button) => {
  button.focus();
  button.click();
  await Promise.resolve();
  document.querySelector("h1").focus();
}"""


def test_a_dialog_returns_the_focus_to_what_has_opened_it(server, at_settings):
    page = at_settings(Person(server, "Fred"), "/security").page
    button, dialog = page.get_by_role("button", name="Change password").first, page.get_by_role("dialog")
    button.evaluate(PRESS_AND_LEAVE)
    expect(dialog.get_by_label("Current password", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(button).to_be_focused()
    # What has opened it is gone by the end.
    button.press("Enter")
    expect(dialog.get_by_label("Current password", exact=True)).to_be_focused()
    button.evaluate("button => button.remove()")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("heading", name="Security")).to_be_focused()


def test_the_address_is_changed_with_two_codes(server, at_settings):
    person = Person(server, "Emma")
    other = f"new-{person.email}"
    emma = at_settings(person, "/security")
    emma.click("Change e-mail")
    dialog = emma.page.get_by_role("dialog")
    dialog.get_by_label("New e-mail").fill(other)
    confirm(emma, person, len(person.mails()), label="Change e-mail")
    dialog.get_by_text(other).wait_for()
    person.email = other
    dialog.get_by_label("Code").fill(person.code())
    dialog.get_by_role("button", name="Confirm").click()
    emma.see(f"Your e-mail is now {other}.")
    assert person.api.get("/profile").json()["profile"]["email"] == other


def test_other_sessions_privacy_and_blocked_people(server, at_settings):
    person = Person(server, "Dora")
    for name in ("Olaf", "Odin"):
        other = Person(server, name)
        assert person.api.post("/profile/blocks", json={"user_id": other.id}).status_code in {200, 201}
    dora = at_settings(person)
    dora.page.get_by_label("Who can message me").select_option("contacts")
    dora.page.get_by_role("switch", name="Read receipts").click()
    expected = {"who_can_message": "contacts", "read_receipts": False, "show_last_seen": True, "relay_calls": False}
    wait_for(lambda: person.api.get("/profile/privacy").json()["privacy"] == expected, what="the choice of privacy")
    dora.click("Unblock Olaf Example")
    expect(dora.page.get_by_role("button", name="Unblock Odin Example")).to_be_focused()
    dora.page.keyboard.press("Enter")
    dora.see("You have not blocked anyone.")
    expect(dora.page.get_by_role("heading", name="Blocked people")).to_be_focused()
    # The session of the sign-up is another device.
    dora.click("End 1 other session")
    dora.see("You are signed in here only.")
    expect(dora.page.get_by_role("heading", name="Devices and sessions")).to_be_focused()
    assert person.api.get("/auth/me").status_code == 401


def test_a_copy_of_the_data_and_the_end_of_the_account(server, at_settings):
    person = Person(server, "Gwen")
    gwen = at_settings(person, "/data")
    gwen.click("Export data")
    with gwen.page.expect_download() as download:
        confirm(gwen, person, len(person.mails()), label="Continue")
    with zipfile.ZipFile(download.value.path()) as archive:
        assert archive.namelist()
    gwen.expect("401 *")
    gwen.page.get_by_role("button", name="Delete account").click()
    confirm(gwen, person, len(person.mails()), label="Delete account")
    gwen.heading("Signed out")
    gwen.see(re.compile(r"Your account will be erased on \w+ \d+, \d{4}\."))
    gwen.see("Sign in within 14 days to keep your account.")
    assert person.api.get("/auth/me").status_code == 401


def test_by_keyboard_alone(server, chromium):
    person = Person(server, "Kim")
    kim = Window(chromium, server)
    kim.open("/app/sign-in")
    kim.page.get_by_label("E-mail").wait_for()
    kim.page.wait_for_function("() => document.activeElement.type === 'email'")
    keyboard = kim.page.keyboard
    keyboard.type(person.email)
    keyboard.press("Tab")
    keyboard.type(PASSWORD)
    keyboard.press("Enter")
    kim.signed_in()
    kim.open("/app/settings/notifications")
    heading = "() => document.activeElement.id === 'section-notifications'"
    kim.page.get_by_role("switch", name="Pause push notifications").wait_for()
    kim.page.wait_for_function(heading)
    for _ in range(2):
        keyboard.press("Tab")
    keyboard.press("Space")
    wait_for(
        lambda: person.api.get("/notifications/preferences").json()["preferences"]["quiet_mode"],
        what="quiet mode, by the space bar",
    )
    kim.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_every_page_is_accessible(server, chromium, scheme, width):
    person = Person(server, "Axel", language="ar" if width == 360 else "en")
    axel = Window(chromium, server, color_scheme=scheme, locale="ar" if width == 360 else "en-US")
    axel.page.set_viewport_size({"width": width, "height": 800})
    for path in ("/", "/app/sign-up", "/app/verify", "/app/sign-in", "/app/forgot", "/app/reset", "/app/signed-out"):
        axel.open(path)
        axel.page.locator("#app main h1").wait_for()
        axel.accessible()
    axel.open("/app/sign-in")
    axel.page.locator("input[type=email]").fill(person.email)
    axel.page.locator("input[type=password]").fill(PASSWORD)
    axel.page.locator("button[type=submit]").click()
    axel.page.locator("nav.rail").wait_for()
    for path in ("/app/settings", "/app/settings/notifications", "/app/calls", "/app/help"):
        axel.open(path)
        axel.page.locator("#app main h1").wait_for()
        if path == "/app/settings":
            axel.page.locator(".switch").nth(8).wait_for()
        if path == "/app/settings/notifications":
            axel.page.locator(".switch").nth(6).wait_for()
        axel.accessible()
    axel.close()
