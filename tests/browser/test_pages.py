"""Our pages in a real browser: clean under their policy, accessible, and the console sends real requests."""

import json

import httpx
import pytest
from playwright.sync_api import expect

from portal.docs import contents
from tests.browser.chromium import InputMethod, barriers, needs_chromium, watch
from tests.server import RunningServer

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(180)]

PAGES = [
    "/docs",
    "/docs/search?q=code",
    "/docs/reference/messages_send",
    "/docs/reference/auth_login",
    "/docs/reference/messages_send_image",
    *[page.address for page in contents.pages()],
    "/dev/mail/",
    "/dev/push/",
]

# The copy buttons that lie on text of their block.
COVERING = """() => [...document.querySelectorAll(".block-place")].filter((place) => {
  if (!place.offsetParent) return false;
  const button = place.querySelector(".copy").getBoundingClientRect();
  const range = document.createRange();
  range.selectNodeContents(place.querySelector("pre"));
  return [...range.getClientRects()].some((line) =>
    line.width > 0 && line.right > button.left + 1 && line.left < button.right && line.bottom > button.top + 1 && line.top < button.bottom - 1);
}).map((place) => place.textContent.slice(0, 60))"""
# Tables of three columns and more whose columns are a few letters wide.
SQUEEZED = """() => [...document.querySelectorAll(".scroll table:not(.stack):has(th:nth-child(3))")]
  .filter((table) => table.offsetWidth > 0 && table.offsetWidth < 500).map((table) => table.textContent.slice(0, 60))"""


# Each block of code, and how many pieces of it have a colour.
COLOURS = """() => [...document.querySelectorAll("#content pre > code")].filter((code) => code.textContent.trim())
  .map((code) => [code.textContent, code.querySelectorAll("[class^=code-]").length])"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = RunningServer(tmp_path_factory.mktemp("pages"))
    running.start(demo=True)
    yield running
    running.kill()


@pytest.fixture
def page(chromium):
    page = chromium.new_page()
    yield page
    page.close()


def test_paper_is_white_and_has_no_navigation(server, chromium):
    page = chromium.new_page(color_scheme="dark")
    page.goto(f"{server.base}/docs/reference/messages_send")
    ground = "() => getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.emulate_media(media="print")
    on_paper = page.evaluate(ground)
    assert [page.locator(part).first.is_visible() for part in (".top", "#side", ".copy")] == [False] * 3
    page.emulate_media(media="screen", color_scheme="light")
    assert on_paper == page.evaluate(ground) != dark


# The colours of a scheme are the same at every width, and to look at them is nearly all of the work of axe.
LOOKS = (("light", 360, {}), ("light", 1280, {"color-contrast": {"enabled": False}}), ("dark", 390, {}))


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_clean_and_accessible(server, page, path):
    complaints = watch(page, server.base)
    assert page.goto(server.base + path, wait_until="networkidle").status == 200
    for scheme, width, rules in LOOKS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        assert barriers(page, rules=rules) == [], width
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        assert page.evaluate(COVERING) == [], width
        assert page.evaluate(SQUEEZED) == [], width
    assert complaints == []


def people(server):
    """The e-mail address and password of Alice and Bob."""
    rows = json.loads((server.log.parent / "var" / "demo.json").read_text())[:2]
    return [{"email": row["email"], "password": row["password"]} for row in rows]


def sign_in(server, person):
    return httpx.post(f"{server.base}/api/v1/auth/login", json=person, timeout=20).json()


def test_the_console_sends_a_real_request(server, chromium):
    alice = people(server)[0]
    page = chromium.new_page()
    complaints = watch(page, server.base)
    page.goto(f"{server.base}/api/docs", wait_until="networkidle")
    page.get_by_role("button", name="Sign in as Alice").click()
    page.get_by_text("The token is set for all requests below.").wait_for()
    operation = page.locator("#auth_me")
    operation.locator("summary").click()
    operation.get_by_role("button", name="Send request").click()
    operation.get_by_text("Status 200,").wait_for()
    assert alice["email"] in operation.locator("pre").inner_text()
    assert complaints == []


def test_a_request_with_a_body_is_tried_on_its_own_page(server, chromium):
    alice, bob = people(server)
    token = sign_in(server, alice)["token"]
    page = chromium.new_page(viewport={"width": 390, "height": 800})
    complaints = watch(page, server.base)
    page.goto(f"{server.base}/docs/reference/messages_start_conversation", wait_until="networkidle")
    page.get_by_label("Session token").fill(token)
    page.get_by_label("Body").fill(json.dumps({"user_id": sign_in(server, bob)["user"]["id"]}))
    page.get_by_role("button", name="Send request").click()
    page.get_by_text("Status 200,").wait_for()
    assert "last_message" in page.get_by_role("region", name="Response of messages_start_conversation").inner_text()
    assert complaints == []


def test_search_tabs_copy_and_the_menu_of_phones(server, chromium):
    context = chromium.new_context(
        viewport={"width": 390, "height": 800}, permissions=["clipboard-read", "clipboard-write"]
    )
    page = context.new_page()
    complaints = watch(page, server.base)
    page.goto(f"{server.base}/docs/uploads", wait_until="networkidle")
    navigation = page.get_by_role("navigation", name="Documentation")
    assert not navigation.is_visible()
    page.get_by_role("button", name="Menu").click()
    navigation.wait_for()
    page.get_by_role("tab", name="Python").first.click()
    assert page.get_by_role("tabpanel", name="Python").first.is_visible()
    page.get_by_role("tabpanel", name="Python").get_by_role("button", name="Copy").first.click()
    page.get_by_role("button", name="Copied").wait_for()
    assert "import httpx" in page.evaluate("() => navigator.clipboard.readText()")
    page.get_by_label("Search the documentation").fill("idempotency")
    page.get_by_role("link", name="idempotency_conflict").first.click()
    page.wait_for_url("**/docs/errors#idempotency_conflict")
    page.go_back()
    page.get_by_role("tab", name="Python", selected=True).first.wait_for()  # the choice is kept
    assert complaints == []


def test_the_header_stays_and_the_navigation_shows_the_current_page(server, chromium):
    page = chromium.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{server.base}/docs")
    expect(page.get_by_role("main").get_by_role("heading").nth(1)).to_have_text("SDK or HTTP?")
    for path in ("/docs/errors", "/docs/reference/server_events_list"):
        page.goto(server.base + path)
        navigation = page.get_by_role("navigation", name="Documentation")
        current = navigation.locator("[aria-current]").last
        expect(current).to_be_in_viewport()
        page.mouse.wheel(0, 3_000)
        page.wait_for_function("() => scrollY > 500")
        assert page.get_by_role("banner").bounding_box()["y"] == 0
        expect(current).to_be_in_viewport()


def test_every_block_of_code_has_colours(server, chromium):
    page = chromium.new_page()
    complaints = watch(page, server.base)
    blocks, plain = 0, []
    # The console draws its own.
    addresses = {listed.address for listed in contents.pages()} - {"/api/docs"}
    for address in [*sorted(addresses), "/docs/reference/messages_send"]:
        page.goto(server.base + address)
        for text, colours in page.evaluate(COLOURS):
            blocks += 1
            if not colours:
                plain.append((address, text[:60]))
    assert plain == []
    assert blocks > 150
    assert complaints == []


def test_the_search_gives_the_focus_back_and_does_without_a_connection(server, chromium):
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{server.base}/api/docs", wait_until="networkidle")
    field = page.get_by_label("Search the documentation")
    for keys in ("/", "Control+k"):
        page.get_by_role("heading", level=1).click()
        assert not field.evaluate("field => field === document.activeElement")
        page.keyboard.press(keys)
        assert field.evaluate("field => field === document.activeElement")
        field.blur()
    field.fill("idempotency")
    expect(page.locator(".find-hits mark").first).to_have_text("idempotency", ignore_case=True)
    # The key that ends a word of an input method closes nothing.
    InputMethod(page).press("Escape")
    page.wait_for_timeout(300)
    expect(page.locator(".find-hits")).to_be_visible()
    expect(field).to_have_value("idempotency")
    page.get_by_role("link", name="idempotency_conflict").first.focus()
    page.keyboard.press("Escape")
    assert field.evaluate("field => field === document.activeElement")
    assert not page.locator(".find-hits").is_visible()
    failures = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    context.set_offline(True)
    field.fill("token")
    page.get_by_role("link", name="No results").wait_for()
    page.get_by_role("button", name="Sign in as Alice").click()
    page.get_by_text("The request failed").wait_for()
    assert failures == []


@pytest.mark.parametrize("width", [320, 390])
def test_twice_as_large_letters_fit_a_phone(server, chromium, width):
    context = chromium.new_context(viewport={"width": width, "height": 800})
    page = context.new_page()
    context.new_cdp_session(page).send("Page.setFontSizes", {"fontSizes": {"standard": 32, "fixed": 26}})
    for path in PAGES:
        page.goto(server.base + path)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width, path


def test_the_console_of_the_socket_shows_what_happens(server, chromium):
    alice, bob = people(server)
    token = sign_in(server, alice)["token"]
    other = sign_in(server, bob)["user"]["id"]
    headers = {"Authorization": f"Bearer {token}"}
    page = chromium.new_page()
    complaints = watch(page, server.base)
    page.goto(f"{server.base}/docs/realtime", wait_until="networkidle")
    page.get_by_label("Session token").fill(token)
    page.get_by_role("button", name="Connect").click()
    page.get_by_text("Connected. Events of this user").wait_for()
    api = httpx.Client(base_url=f"{server.base}/api/v1", headers=headers, timeout=20)
    chat = api.post("/messages/conversations", json={"user_id": other}).json()["conversation"]["id"]
    api.post(f"/messages/conversations/{chat}/messages", json={"body": "seen on the page"})
    page.locator("#watch-frames", has_text="seen on the page").wait_for()
    assert token not in page.locator("#watch-frames").inner_text()
    page.get_by_role("button", name="Disconnect").click()
    page.get_by_text("Closed with").wait_for()
    api.close()
    assert complaints == []
