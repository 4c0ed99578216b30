"""Firefox as some people set it up: without site data, scripts or WebRTC, against fingerprints, with large letters."""

import io

import pytest
from PIL import Image, ImageStat

from tests.browser.client_pages import demo_people
from tests.browser.firefox import needs_firefox
from tests.browser.firefox_pages import SIDEWAYS, enter, unique, visit, write
from tests.waiting import wait_for

pytestmark = [needs_firefox, pytest.mark.once, pytest.mark.timeout(240)]

NO_SITE_DATA = {
    "blocked": {"network.cookie.cookieBehavior": 2},
    "switched off": {"dom.storage.enabled": False},
}


@pytest.fixture(params=NO_SITE_DATA)
def without_site_data(request, fox):
    with fox.preferences(NO_SITE_DATA[request.param]):
        yield fox


def sign_in_by_form(window, server, name):
    login = demo_people(server)[name]
    window.open(f"{server.base}/app/sign-in")
    window.fill("textbox", "E-mail", login["email"])
    window.type("Tab")
    window.type(login["password"])
    window.type("Enter")
    window.find("navigation", "Main")


def test_the_client_works_without_site_data(without_site_data, fox_server, fox_people, fox_chat):
    window = without_site_data.person(width=1280, height=800).open(f"{fox_server.base}/app/sign-in")
    window.sees("This browser keeps no data of this page")
    sign_in_by_form(window, fox_server, "Alice")
    window.click(window.css(f"a[href='/app/chats/{fox_chat}']"))
    text, answer = unique("kept in memory"), unique("heard")
    write(window, text)
    window.sees(text, "article")
    fox_people["Bob"].send(fox_chat, answer)
    window.sees(answer, "article")
    window.press("link", "Settings")
    window.find("heading", "Profile")
    window.press("button", "Sign out")
    window.find("button", "Open as Alice")


def test_the_documentation_works_without_site_data(without_site_data, fox_server):
    window = without_site_data.person(width=1280, height=800).open(f"{fox_server.base}/docs/reference/messages_send")
    window.press("tab", "Python")
    window.until("() => document.querySelector('[role=tab][aria-selected=true]').textContent === 'Python'")
    assert (
        window.run("() => [...document.querySelectorAll('.tab')].filter((panel) => panel.checkVisibility()).length")
        == 1
    )
    window.find("heading", "Try it")
    window.open(f"{fox_server.base}/docs/api")
    window.press("button", "Sign in as Alice")
    window.sees("The token is set for all requests below.")


def test_the_sign_in_of_staff_says_that_it_needs_a_cookie(fox, fox_server):
    # Of Django's own script for dark pages.
    fox.expected += ["403 .*/admin/", "SecurityError.*theme"]
    with fox.preferences({"network.cookie.cookieBehavior": 2}):
        window = fox.person(width=1280, height=800).open(f"{fox_server.base}/admin/")
        window.click(window.css("#id_username"))
        window.type("admin@example.com")
        window.type("Tab")
        window.type("a word of no account")
        window.press("button", "Sign in")
        window.find("heading", "The browser has sent no cookie")


def test_a_canvas_that_cannot_be_read_does_not_become_the_picture(fox, fox_server, fox_people, tmp_path):
    image = Image.new("RGB", (600, 600), (30, 160, 30))
    image.save(tmp_path / "green.png")
    with fox.preferences({"privacy.resistFingerprinting": True}):
        window = enter(fox, fox_server, "Alice", "settings")
        window.choose_file("input[type=file]", tmp_path / "green.png")
        window.sees("The picture is sent as it is, and its middle is shown.")
        window.click(window.css("dialog[open] .button.primary"))
        window.sees("Your picture is saved.")
    api = fox_people["Alice"].http
    address = api.get("/profile").json()["profile"]["avatar_url"]
    with Image.open(io.BytesIO(api.get(address.removeprefix("/api/v1")).content)) as avatar:
        stat = ImageStat.Stat(avatar.convert("RGB"))
    assert all(abs(mean - wanted) < 12 for mean, wanted in zip(stat.mean, (30, 160, 30), strict=True))
    assert max(stat.stddev) < 12
    api.delete("/profile/avatar").raise_for_status()


def expect_in_sight(window, element):
    """Without a script in the page: Firefox refuses a picture of what is not in the window."""
    clip = {"type": "element", "element": element}
    window.order("browsingContext.captureScreenshot", origin="viewport", clip=clip)


def test_without_scripts_the_first_screen_says_so_and_no_dead_form_is_there(fox, fox_server):
    with fox.preferences({"javascript.enabled": False}):
        window = fox.person(width=1280, height=800)
        for path in ("/", "/app/chats"):
            window.open(fox_server.base + path)
            expect_in_sight(window, window.css("noscript p"))
        window.open(f"{fox_server.base}/docs/api")
        window.css("#authorize")
        with pytest.raises(AssertionError, match="unable to capture screen"):
            expect_in_sight(window, window.css("main > :last-child"))
        assert window.all("button", "Sign in as Alice") == []
        assert window.all("button", "Authorize") == []


def test_without_webrtc_a_call_is_refused_at_once_and_none_rings(fox, fox_server, fox_people, fox_chat):
    with fox.preferences({"media.peerconnection.enabled": False}):
        window = enter(fox, fox_server, "Alice", f"chats/{fox_chat}")
        before = fox_people["Bob"].http.get("/calls?limit=1").json()["calls"]
        window.press("button", "Video call")
        window.sees("This browser cannot hold calls on this page.")
        assert fox_people["Bob"].http.get("/calls?limit=1").json()["calls"] == before


RAIL = """() => [...document.querySelectorAll("nav.rail a span:not(.visually-hidden)")].filter((word) => {
  const rail = document.querySelector("nav.rail").getBoundingClientRect();
  const box = word.getBoundingClientRect();
  return box.left < rail.left || box.right > rail.right || document.querySelector("#content").getBoundingClientRect().left < rail.right;
}).map((word) => word.textContent)"""
SEARCH_ICON = """() => {
  const [box, icon] = [".search-box", ".search-box .icon"].map((name) => document.querySelector(name).getBoundingClientRect());
  return Math.abs(box.top + box.bottom - icon.top - icon.bottom) / 2;
}"""
CUT = """() => [...document.querySelectorAll(".avatar text")].filter((letters) => {
  const [text, box] = [letters.getBoundingClientRect(), letters.closest(".avatar").getBoundingClientRect()];
  return text.width === 0 || text.width > box.width - 4 || text.height > box.height;
}).map((letters) => letters.textContent)"""
SHORT_NAMES = """() => [...document.querySelectorAll(".entry-name")].filter((name) => {
  const letters = Number.parseFloat(getComputedStyle(name).fontSize);
  return name.clientWidth < Math.min(name.scrollWidth, 4 * letters);
}).map((name) => name.textContent)"""
# Of a text box with one line.
LINE_CUT = """() => {
  const box = document.querySelector(".message-box");
  return Number.parseFloat(getComputedStyle(box).lineHeight) - box.clientHeight;
}"""
ZOOM_TEXT = """(zoom) => {
  for (const window of Services.wm.getEnumerator("navigator:browser")) {
    for (const { linkedBrowser } of window.gBrowser.tabs) linkedBrowser.browsingContext.textZoom = zoom;
  }
}"""
LETTERS = {"text zoom": {}, "smallest size": {"font.minimum-size.x-western": 20}}


@pytest.mark.parametrize("kind", LETTERS)
def test_large_letters_fit(fox, fox_server, fox_chat, kind):
    with fox.preferences(LETTERS[kind]):
        window = enter(fox, fox_server, "Alice", f"chats/{fox_chat}")
        window.find("log", "Messages")
        window.css(".entry .avatar text")
        if kind == "text zoom":
            fox.itself(ZOOM_TEXT, 2)
        # 56 pixels without either.
        window.until("() => document.querySelector('nav.rail a').offsetHeight > 64")
        for found in (RAIL, CUT, SHORT_NAMES):
            assert window.run(found) == []
        assert window.run(SEARCH_ICON) < 2
        assert window.run(LINE_CUT) < 1
        assert window.run(SIDEWAYS) <= 0
        visit(window, f"{fox_server.base}/app/settings")
        window.find("heading", "Profile")
        assert window.run(RAIL) == []


SCROLL_BAR = """() => {
  const parts = [...document.querySelectorAll(".emoji-picker, .emoji-picker *")];
  const box = parts.find((part) => /auto|scroll/.test(getComputedStyle(part).overflowY));
  return box.offsetWidth - box.clientWidth;
}"""
LINES = """() => new Set([...document.querySelectorAll(".emoji-row.quick .emoji")].map((one) => one.getBoundingClientRect().top)).size"""


def test_the_first_emoji_stand_in_one_line_beside_a_scroll_bar(fox, fox_server, fox_chat):
    with fox.preferences({"ui.useOverlayScrollbars": 0, "widget.gtk.overlay-scrollbars.enabled": False}):
        window = enter(fox, fox_server, "Alice", f"chats/{fox_chat}")
        window.press("button", "Emoji")
        window.css(".emoji-row.quick .emoji")
        # It takes room, unlike in the other tests.
        assert window.run(SCROLL_BAR) > 4
        assert window.run(LINES) == 1


OPEN_PRIVATE = "(address) => { window.openTrustedLinkIn(address, 'window', { private: true }); }"
IS_PRIVATE = """() => [...Services.wm.getEnumerator("navigator:browser")].some(
  (one) => one.PrivateBrowsingUtils.isWindowPrivate(one))"""


def test_a_private_window_with_strict_protection_keeps_the_sign_in_over_a_reload(fox, fox_server, fox_people, fox_chat):
    with fox.preferences({"browser.contentblocking.category": "strict"}):
        before = {one.context for one in fox.windows()}
        fox.itself(OPEN_PRIVATE, f"{fox_server.base}/docs/")
        window = wait_for(lambda: [one for one in fox.windows() if one.context not in before], what="the window")[0]
        window.css("h1")
        sign_in_by_form(window, fox_server, "Alice")
        assert window.all("alert") == []
        visit(window, f"{fox_server.base}/app/chats/{fox_chat}")
        text, answer = unique("in private"), unique("heard")
        write(window, text)
        fox_people["Bob"].send(fox_chat, answer)
        for words in (text, answer):
            window.sees(words, "article")
        window.reload()
        window.sees(answer, "article")
        assert fox.itself(IS_PRIVATE)
