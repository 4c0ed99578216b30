"""The other pages in Firefox: feed, calls, documentation, console, mailbox and support, in every look, under axe."""

import pytest
from django_otp.oath import totp

from tests.browser.feed_events import like
from tests.browser.firefox import needs_firefox
from tests.browser.firefox_pages import SIDEWAYS, unique, visit
from tests.browser.server_fixtures import PASSWORD
from tests.waiting import wait_for

pytestmark = [needs_firefox, pytest.mark.once, pytest.mark.timeout(240)]

CLIENT_PAGES = ["chats", "calls", "notifications", "help"]
OPEN_PAGES = ["/", "/app/sign-in", "/app/sign-up", "/docs/", "/docs/reference/messages_send", "/docs/api", "/dev/mail/"]
DARK = {"ui.systemUsesDarkTheme": 1}
HEADING = "() => [...document.querySelectorAll('h1')].some((heading) => heading.checkVisibility())"
LUMINANCE = """() => {
  const [red, green, blue] = getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/g).map(Number);
  return (red + green + blue) / 3;
}"""


CHOOSE_ARABIC = """() => {
  const choice = document.querySelector("select");
  choice.value = "ar";
  choice.dispatchEvent(new Event("change", { bubbles: true }));
}"""


def test_the_first_page_shows_the_client_and_speaks_arabic(fox, fox_server):
    window = fox.person(width=390, height=844).open(fox_server.base)
    window.until("() => [...document.images].some((image) => image.naturalWidth > 1000)")
    window.run(CHOOSE_ARABIC)
    window.until("() => document.documentElement.dir === 'rtl'")
    assert window.run(SIDEWAYS) <= 0
    window.click(window.css(".demo button"))
    window.find("log")
    assert window.run("() => document.documentElement.lang") == "ar"
    assert window.run(SIDEWAYS) <= 0
    assert window.barriers() == []
    window.click(window.css(".conversation .message-actions"))
    window.css("[role=menuitem]")
    assert window.run(SIDEWAYS) <= 0


def test_both_demo_people_stand_side_by_side(fox, fox_server):
    window = fox.person(width=1280, height=800).open(fox_server.base)
    before = {one.context for one in fox.windows()}
    window.press("button", "Both side by side")
    halves = wait_for(
        lambda: len(new := [one for one in fox.windows() if one.context not in before]) == 2 and new, what="two windows"
    )
    for half, other in zip(halves, ("Bob Baker", "Alice Archer"), strict=True):
        half.find("heading", other)
        half.find("log", "Messages")
    window.sees("Both windows are open.")


def test_the_pages_of_the_client_are_accessible_and_never_wider_than_the_window(pair, fox_server, fox_people, fox_chat):
    alice, _ = pair
    like(fox_server, fox_people["Alice"].user["id"], fox_people["Bob"].user["id"])
    for page in (f"chats/{fox_chat}", *CLIENT_PAGES):
        visit(alice, f"{fox_server.base}/app/{page}")
        alice.until(HEADING)
        assert alice.barriers() == [], page
        alice.order("browsingContext.setViewport", viewport={"width": 390, "height": 844})
        assert alice.run(SIDEWAYS) <= 0, page
        alice.order("browsingContext.setViewport", viewport={"width": 1280, "height": 800})
    visit(alice, f"{fox_server.base}/app/notifications")
    alice.sees("likes “The river path”")


@pytest.mark.parametrize("path", OPEN_PAGES)
def test_an_open_page_is_accessible_light_and_dark(fox, fox_server, path):
    window = fox.person(width=1280, height=800).open(fox_server.base + path)
    window.until(HEADING)
    assert window.barriers() == []
    with fox.preferences(DARK):
        window.until(f"() => ({LUMINANCE})() < 60")
        assert window.barriers() == []
        window.order("browsingContext.setViewport", viewport={"width": 390, "height": 844})
        assert window.run(SIDEWAYS) <= 0


def test_forced_colours_keep_the_client_usable_and_less_motion_stops_it(pair, fox, fox_server, fox_chat):
    alice, bob = pair
    with fox.preferences({"browser.display.document_color_use": 2, "ui.prefersReducedMotion": 1}):
        visit(alice, f"{fox_server.base}/app/chats/{fox_chat}")
        alice.find("log", "Messages")
        assert alice.run("() => matchMedia('(forced-colors: active)').matches")
        assert alice.run("() => matchMedia('(prefers-reduced-motion: reduce)').matches")
        # Buttons of an icon alone have a border then.
        assert alice.run("() => getComputedStyle(document.querySelector('.icon-button')).borderTopWidth") == "1px"
        bob.press("button", "Voice call")
        alice.find("alertdialog", "Bob Baker")
        assert (
            alice.run("() => document.getAnimations().filter(({ playState }) => playState === 'running').length") == 0
        )
        alice.press("button", "Decline")
        bob.sees("Call declined")


def test_the_documentation_is_searched_copied_and_tried(fox, fox_server, fox_people, fox_chat):
    window = fox.person(width=1280, height=800).open(f"{fox_server.base}/docs/uploads")
    window.press("tab", "Python")
    window.until("() => document.querySelector('[role=tab][aria-selected=true]').textContent === 'Python'")
    window.click(window.css("[role=tabpanel]:not([hidden]) .copy"))
    window.sees("Copied", ".copy")
    window.type("/")
    window.type("recovery")
    window.until("() => document.querySelectorAll('.find-hits a mark').length > 0")
    window.type("Tab")
    window.until("() => document.activeElement.matches('.find-hits a, .find button')")
    window.open(f"{fox_server.base}/docs/api")
    window.press("button", "Sign in as Alice")
    window.sees("The token is set for all requests below.")
    window.click(window.css("#auth_me summary"))
    window.click(window.css("#auth_me button[type=submit]"))
    window.sees("Status 200", "#auth_me .try-state")
    window.open(f"{fox_server.base}/docs/realtime")
    token = fox_people["Alice"].http.headers["Authorization"].removeprefix("Bearer ")
    window.run("(field, token) => { field.value = token; }", token, element=window.css("#watch-token"))
    window.press("button", "Connect")
    window.sees("Connected. Events of this user")
    text = unique("seen on the page")
    fox_people["Bob"].send(fox_chat, text)
    window.sees(text, "#watch-frames")
    window.press("button", "Disconnect")
    window.sees("Closed with")


def test_staff_sign_in_and_see_every_list_without_a_complaint(fox, staff_server):
    window = fox.person(width=1280, height=900).open(f"{staff_server.base}/admin/")
    for name, text in (
        ("username", "auditor.staff@example.com"),
        ("password", PASSWORD),
        ("code", f"{totp(bytes.fromhex(staff_server.keys['auditor'])):06d}"),
    ):
        window.click(window.css(f"#id_{name}"))
        window.type(text)
    assert window.barriers() == []
    window.click(window.css("input[type=submit]"))
    window.css(".figures")
    lists = window.run(
        "() => [...document.querySelectorAll('#content a[href], #nav-sidebar a[href]')].map((link) => link.pathname)"
    )
    lists = sorted({path for path in lists if path.count("/") == 4})
    assert len(lists) > 10
    for path in lists:
        window.open(staff_server.base + path)
        window.css("#changelist")
