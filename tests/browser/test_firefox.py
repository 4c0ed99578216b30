"""The client in Firefox, from the first page to a call: what differs between engines."""

import io
import secrets

import pytest
from PIL import Image

from tests.browser.client_pages import demo_people
from tests.browser.firefox import firefox, needs_firefox
from tests.server import RunningServer

pytestmark = [needs_firefox, pytest.mark.once, pytest.mark.timeout(300)]

# A stop of the Tab key that says nothing: Firefox stops at each box that scrolls.
NAMELESS = """() => [...document.querySelectorAll("*")].filter((element) => {
  const scrolls = /auto|scroll/.test(getComputedStyle(element).overflowY) && element.scrollHeight > element.clientHeight;
  return scrolls && element.tabIndex < 0 === false && !element.getAttribute("aria-label") && !element.matches("textarea, #content");
}).map((element) => element.className)"""
SIDEWAYS = "() => document.documentElement.scrollWidth - innerWidth"
MOVING = "() => { const { currentTime, videoWidth } = document.querySelector('video.remote') ?? {}; return currentTime > 0.5 && videoWidth > 0; }"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = RunningServer(tmp_path_factory.mktemp("firefox"), RATELIMIT_ENABLE="0")
    running.start(demo=True)
    yield running
    running.kill()


@pytest.fixture(scope="module")
def program():
    with firefox() as opened:
        yield opened


@pytest.fixture
def fox(program):
    """No page may complain."""
    program.complaints.clear()
    yield program
    complaints = list(program.complaints)
    for window in program.windows()[1:]:
        window.close()
    assert complaints == []


@pytest.fixture
def pair(fox, server):
    """Alice and Bob in their conversation, each with a browser of their own."""
    windows = []
    for name, other in (("Alice", "Bob Baker"), ("Bob", "Alice Archer")):
        windows.append(fox.person(width=1280, height=800).open(server.base))
        windows[-1].press("button", f"Open as {name}")
        windows[-1].find("heading", other)
        windows[-1].find("log", "Messages")
    return windows


def write(window, text):
    window.fill("textbox", "Message", text)
    window.type("Enter")


def test_the_first_page_shows_the_client_and_speaks_arabic(fox, server):
    window = fox.person(width=390, height=844).open(server.base)
    window.until("() => [...document.images].some((image) => image.naturalWidth > 1000)")
    window.run(
        "() => { const choice = document.querySelector('select'); choice.value = 'ar'; choice.dispatchEvent(new Event('change', { bubbles: true })); }"
    )
    window.until("() => document.documentElement.dir === 'rtl'")
    assert window.run(SIDEWAYS) <= 0
    window.click(window.css(".demo button"))
    window.find("log")
    assert window.run("() => document.documentElement.lang") == "ar"
    assert window.run(SIDEWAYS) <= 0
    assert window.run(NAMELESS) == []


def test_a_message_and_a_picture_arrive_and_are_read(pair, tmp_path):
    alice, bob = pair
    text = f"from Firefox {secrets.token_hex(3)}"
    write(alice, text)
    bob.sees(text, "article")
    answer = f"heard {secrets.token_hex(3)}"
    write(bob, answer)
    alice.sees(answer, "article")
    alice.until(
        "() => [...document.querySelectorAll('article [role=status]')].at(-1).getAttribute('aria-label') === 'Read'"
    )
    file = io.BytesIO()
    Image.new("RGB", (320, 200), (40, 90, 160)).save(file, "JPEG")
    (tmp_path / "blue.jpg").write_bytes(file.getvalue())
    alice.choose_file("input[type=file]", tmp_path / "blue.jpg")
    alice.find("dialog", "Send picture")
    alice.until("() => document.querySelector('dialog .picture img')?.naturalWidth > 0")
    caption = f"the sky {secrets.token_hex(3)}"
    alice.fill("textbox", "Caption", caption)
    alice.click(alice.css("dialog[open] .button.primary"))
    alice.lacks("dialog", "Send picture")
    for window in pair:
        window.sees(caption, "article")
        window.until(
            "() => { const log = document.querySelector('[role=log]'); const image = [...log.querySelectorAll('article img')].at(-1); return image?.naturalWidth > 0 && log.scrollHeight - log.scrollTop - log.clientHeight < 4; }"
        )
    assert alice.run(NAMELESS) == []


def test_signing_in_with_the_keyboard_settings_and_signing_out(fox, server):
    login = demo_people(server)["Alice"]
    window = fox.person(width=1280, height=800).open(f"{server.base}/app/sign-in")
    window.fill("textbox", "E-mail", login["email"])
    window.type("Tab")
    window.type(login["password"])
    window.type("Enter")
    window.find("navigation", "Main")
    window.press("link", "Alice Archer your account")
    window.until("() => document.querySelector('input[name=first_name]')?.value === 'Alice'")
    window.run(
        "() => { const all = [...document.querySelectorAll('.settings-nav button')]; all.find((one) => one.textContent === 'Appearance').click(); }"
    )
    window.find("combobox", "Theme")
    window.run(
        "() => { const choice = document.querySelector('.settings-sections select'); choice.value = 'dark'; choice.dispatchEvent(new Event('change', { bubbles: true })); }"
    )
    window.until("() => document.documentElement.dataset.theme === 'dark'")
    assert window.run("() => getComputedStyle(document.body.parentElement).backgroundColor") == "rgb(15, 18, 23)"
    for name in ("Calls", "Notifications", "Chats"):
        window.press("link", name)
        window.find("heading", name)
    window.press("link", "Settings")
    # It loads no page in passing, which Firefox would complain about.
    window.press("button", "Sign out")
    window.find("button", "Open as Alice")


def test_a_video_call_and_its_small_picture(pair):
    alice, bob = pair
    alice.press("button", "Video call")
    bob.press("button", "Accept")
    for window in pair:
        window.until(MOVING)
    alice.press("button", "Minimize the call")
    height = alice.until("() => document.querySelector('.call.small .call-stage')?.getBoundingClientRect().height")
    assert height > 100
    bob.press("button", "Hang up")
    alice.sees("Call ended")


def test_after_an_outage_messages_arrive_soon(pair, server):
    alice, bob = pair
    server.kill()
    alice.sees("Offline", ".banner")
    waiting = f"while it was away {secrets.token_hex(3)}"
    write(alice, waiting)
    # Until Firefox would hold back further sockets to this address.
    alice.run("() => new Promise((resolve) => setTimeout(resolve, 12000))")
    server.start()
    # Firefox waits up to a minute with the next socket where one has failed.
    bob.sees(waiting, "article")
    alice.until("() => !document.querySelector('.banner')")
    alice.browser.complaints.clear()
