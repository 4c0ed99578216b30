"""Browsers that forbid, lack or change something: site data, newer functions, scripts, text, events of forms."""

import re
import secrets

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import needs_chromium, watch
from tests.browser.client_pages import demo_people

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(240)]

# What a browser does where site data is blocked, switched off, or has no room.
STORAGE = {
    "blocked": """for (const name of ["localStorage", "sessionStorage", "indexedDB"]) {
      Object.defineProperty(window, name, { get() { throw new DOMException("blocked", "SecurityError"); } });
    }""",
    "switched off": """for (const name of ["localStorage", "sessionStorage", "indexedDB"]) {
      Object.defineProperty(window, name, { get() { return null; } });
    }""",
    "full": """Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError"); };""",
}
# Newer than the oldest browsers of docs/guides/browsers.md, missing without https, or missing for long in one of them.
MISSING = {
    "AbortSignal": ["any", "timeout"],
    "URL": ["canParse", "parse"],
    "URLSearchParams.prototype": ["size"],
    "Array.prototype": ["at", "findLast", "findLastIndex", "toSorted", "toReversed", "toSpliced", "with"],
    "String.prototype": ["at", "isWellFormed", "toWellFormed"],
    "Object": ["hasOwn", "groupBy"],
    "Map": ["groupBy"],
    "Set.prototype": ["union", "intersection", "difference", "isSubsetOf"],
    "Promise": ["withResolvers", "try"],
    "Intl": ["Segmenter", "ListFormat"],
    "Crypto.prototype": ["randomUUID"],
    "Navigator.prototype": ["locks", "clipboard", "mediaDevices", "userActivation", "setAppBadge", "share"],
    "HTMLElement.prototype": ["showPopover", "hidePopover", "togglePopover", "popover"],
    "HTMLMediaElement.prototype": ["setSinkId"],
    "Element.prototype": ["moveBefore", "checkVisibility"],
    "window": [
        "structuredClone",
        "BroadcastChannel",
        "ResizeObserver",
        "requestIdleCallback",
        "scheduler",
        "navigation",
    ],
}
REMOVE = """for (const [path, names] of Object.entries(%s)) {
  const target = path.split(".").reduce((value, name) => value?.[name], window);
  for (const name of names) if (target && name in target) delete target[name];
}
delete Iterator.prototype.map;
window.Notification = class {
  static permission = "granted";
  static requestPermission = async () => "granted";
  constructor() { throw new TypeError("Illegal constructor"); }
};"""
# As a browser translates a page: another element takes the place of each text.
TRANSLATE = """(mark) => {
  const walker = document.createTreeWalker(document.getElementById("app"), NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) if (walker.currentNode.data.trim() && !walker.currentNode.parentElement.closest("font, textarea, option")) texts.push(walker.currentNode);
  for (const text of texts) {
    const [outer, inner] = [document.createElement("font"), document.createElement("font")];
    inner.textContent = `${mark}${text.data}`;
    outer.append(inner);
    text.replaceWith(outer);
  }
  return texts.length;
}"""
# Like a password manager that sets values and tells nothing of it.
FILL = """(values) => {
  for (const [name, value] of Object.entries(values)) document.querySelector(`form [name="${name}"]`).value = value;
}"""


@pytest.fixture
def visit(chromium, server):
    """`visit(init script, **options)`: a page of a new browser; what it complains about fails the test."""
    opened = []

    def page_of(script="", **options):
        context = chromium.new_context(**options)
        if script:
            context.add_init_script(script)
        page = context.new_page()
        opened.append((context, watch(page, server.base)))
        return page

    yield page_of
    complaints = [text for _context, texts in opened for text in texts]
    for context, _texts in opened:
        context.close()
    assert complaints == []


def sign_in(page, server, name="Alice"):
    login = demo_people(server)[name]
    page.goto(f"{server.base}/app/sign-in")
    page.get_by_label("E-mail").fill(login["email"])
    page.get_by_label("Password", exact=True).fill(login["password"])
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()


def talk(page, people, chat):
    """Opens the conversation with Bob by its entry, sends, and receives a link."""
    mark = secrets.token_hex(4)
    page.get_by_role("list", name="Conversations").get_by_role("listitem", name=re.compile("Bob")).get_by_role(
        "link"
    ).click()
    box = page.get_by_role("textbox", name="Message", exact=True)
    box.fill(f"from here {mark}")
    box.press("Enter")
    article = page.get_by_role("log").get_by_role("article")
    expect(
        article.filter(has_text=f"from here {mark}").get_by_role("status", name=re.compile("Sent|Delivered|Read"))
    ).to_have_count(1)
    people["Bob"].send(chat, f"from there {mark} https://example.com/{mark}")
    expect(article.filter(has_text=f"from there {mark}").get_by_role("link")).to_have_attribute(
        "href", f"https://example.com/{mark}"
    )


@pytest.mark.parametrize("kind", STORAGE)
def test_the_client_works_without_storage_and_says_what_that_means(visit, server, people, chat, kind):
    page = visit(STORAGE[kind])
    page.goto(f"{server.base}/app/sign-in")
    expect(page.get_by_text("This browser keeps no data of this page")).to_be_visible()
    sign_in(page, server)
    talk(page, people, chat)
    page.get_by_role("link", name="Settings").click()
    page.get_by_label("Theme").select_option("dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Open as Alice")).to_be_visible()
    page.get_by_role("button", name="Open as Alice").click()
    expect(
        page.get_by_role("list", name="Conversations").get_by_role("listitem", name=re.compile("Bob"))
    ).to_be_visible()


@pytest.mark.parametrize("kind", STORAGE)
def test_the_documentation_works_without_storage(visit, server, kind):
    page = visit(STORAGE[kind])
    page.goto(f"{server.base}/docs/reference/messages_send")
    tabs = page.get_by_role("tab")
    expect(page.get_by_role("tabpanel")).to_have_count(page.get_by_role("tablist").count())
    tabs.nth(1).click()
    expect(tabs.nth(1)).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("heading", name="Try it")).to_be_visible()
    page.goto(f"{server.base}/docs/api")
    page.get_by_role("button", name="Sign in as Alice").click()
    expect(page.get_by_text("The token is set for all requests below.")).to_be_visible()


def test_the_pages_of_staff_say_that_they_need_a_cookie(chromium, server):
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{server.base}/admin/")
    context.clear_cookies()
    page.locator("form input[type=email], form input[name=username]").first.fill("admin@example.com")
    page.locator("form input[type=password]").fill("a word of no account")
    page.locator("form [type=submit]").click()
    expect(page.get_by_role("heading", name="The browser has sent no cookie")).to_be_visible()
    context.close()


def test_a_browser_without_newer_functions_signs_in_sends_receives_and_opens_links(visit, server, people, chat):
    page = visit(REMOVE % MISSING)
    sign_in(page, server)
    people["Bob"].send(chat, "a link: https://example.com/older")
    talk(page, people, chat)
    page.get_by_role("button", name="Voice call").click()
    expect(page.get_by_text("This browser cannot hold calls on this page.")).to_be_visible()
    page.get_by_role("button", name="Emoji").first.click()
    page.keyboard.press("Escape")
    for place in ("Calls", "Notifications", "Settings"):
        page.get_by_role("navigation", name="Main").get_by_role("link", name=place).click()
        expect(page.get_by_role("heading", level=1, name=place)).to_be_visible()
    # It is known to be unusable once it was tried.
    switch = page.get_by_role("switch", name="Notifications in this browser")
    switch.click()
    switch.click()
    expect(page.get_by_text("This browser cannot show notifications of this page.")).to_be_visible()
    expect(switch).not_to_be_checked()


@pytest.mark.parametrize(
    "script",
    ["HTMLScriptElement.supports = undefined;", "delete window.AbortController;", "CSS.supports = () => false;"],
    ids=["import maps", "AbortController", "color-mix"],
)
def test_a_browser_that_is_too_old_is_told_so(chromium, server, script):
    context = chromium.new_context()
    context.add_init_script(script)
    page = context.new_page()
    # Its modules do not run.
    page.route(
        re.compile(r"/static/(app|sdk|vendor)/.*\.m?js"),
        lambda route: route.fulfill(body="", content_type="text/javascript"),
    )
    page.goto(f"{server.base}/app/chats")
    expect(page.get_by_text("This browser is too old for Parley.")).to_be_visible()
    page.get_by_role("link", name="Supported browsers").click()
    expect(page.get_by_role("heading", level=1, name="Supported browsers")).to_be_visible()
    context.close()


@pytest.mark.parametrize("module", ["built/main.", "built/first."])
def test_a_client_that_cannot_start_says_so(chromium, server, module):
    context = chromium.new_context()
    page = context.new_page()
    page.route(f"**/static/{module}*", lambda route: route.abort())
    page.goto(f"{server.base}/app/sign-in")
    expect(page.get_by_role("alert")).to_have_text(re.compile("Parley could not be started."))
    page.unroute_all()
    page.get_by_role("link", name="Load again").click()
    expect(page.get_by_label("E-mail")).to_be_visible()
    context.close()


def test_without_scripts_the_first_screen_says_so_and_no_dead_form_is_there(chromium, server):
    context = chromium.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 800})
    page = context.new_page()
    for path in ("/", "/app/chats"):
        page.goto(server.base + path)
        # Not by its text, which Playwright does not look for there.
        words = page.locator("noscript p")
        expect(words).to_be_in_viewport()
        assert "This page needs JavaScript." in words.inner_text()
    for path in ("/docs/api", "/docs/realtime", "/docs/reference/messages_send"):
        page.goto(server.base + path)
        # The search is a page of its own.
        expect(page.locator("form:visible:not([role=search])")).to_have_count(0)
    context.close()


def test_a_page_that_the_browser_translates_goes_on(windows, people, chat):
    alice = windows("Alice").open_chat(chat)
    page, mark = alice.page, secrets.token_hex(4)
    expect(alice.conversation("Bob")).to_be_visible()
    for number in range(3):
        assert page.evaluate(TRANSLATE, "»") > 10
        people["Bob"].send(chat, f"translated {mark} {number}")
        alice.sees(f"translated {mark} {number}")
        alice.write(f"answer {mark} {number}")
        alice.sees_status(f"answer {mark} {number}", re.compile("Sent|Delivered|Read"))
    assert page.evaluate(TRANSLATE, "»") > 10
    for place in ("Calls", "Notifications", "Settings", "Chats"):
        page.get_by_role("navigation", name="Main").locator(f"a[href$={place.lower()}]").click()
        expect(page.get_by_role("heading", level=1, name=place).first).to_be_visible()
        page.evaluate(TRANSLATE, "»")
    page.goto(f"{alice.base}/app/settings")
    language = page.get_by_label("Language (also")
    expect(language).to_be_visible()
    page.evaluate(TRANSLATE, "»")
    page.get_by_label(re.compile("Theme")).select_option("dark")
    page.get_by_role("button", name=re.compile("Change password")).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.evaluate(TRANSLATE, "»")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_texts_that_change_or_go_leave_nothing_of_their_translation(windows, chat):
    page = windows("Alice").open_chat(chat).page
    found = page.evaluate("""async () => {
      const { html, render, useState } = await import("/static/app/lib/html.js");
      let set;
      const Part = () => {
        const [n, change] = useState(0);
        set = change;
        return html`first ${n} ${n % 2 ? "odd" : html`<b>even</b>`} last`;
      };
      const place = document.createElement("p");
      document.body.append(place);
      render(html`<${Part} />`, place);
      const texts = [];
      for (const n of [1, 2, 3, 4]) {
        for (const text of [...place.childNodes].filter(({ nodeType }) => nodeType === 3)) {
          const font = document.createElement("font");
          font.textContent = `[${text.data}]`;
          // Some put the text itself into it.
          if (n % 2) text.replaceWith(font);
          else { text.replaceWith(font); font.append(text); }
        }
        set(n);
        await new Promise((resolve) => setTimeout(resolve, 50));
        texts.push(place.textContent.replace(/\\s+/g, " "));
      }
      place.remove();
      return texts;
    }""")
    assert found == ["first 1 odd last", "first 2 even last", "first 3 odd last", "first 4 even last"]


def test_fields_that_are_filled_without_an_event_are_read(visit, server):
    page, login = visit(), demo_people(server)["Alice"]
    page.goto(f"{server.base}/app/sign-in")
    expect(page.get_by_label("E-mail")).to_be_visible()
    # The first one silently, then the second one with an event: the first one stays.
    page.evaluate(FILL, {"email": login["email"]})
    page.get_by_label("Password", exact=True).fill("wrong")
    expect(page.get_by_label("E-mail")).to_have_value(login["email"])
    page.evaluate(FILL, {"password": login["password"]})
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_label("Password", exact=True)).to_have_value(login["password"])
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()


def test_a_form_for_a_new_password_names_its_user(visit, server, windows):
    page = visit()
    for path in ("/app/sign-up", "/app/reset", "/app/reset?email=ann%40example.org"):
        page.goto(server.base + path)
        new = page.locator("input[autocomplete=new-password]")
        expect(new).to_have_count(1)
        named = new.locator("xpath=ancestor::form").locator("input[autocomplete=username]")
        expect(named).to_have_count(1)
        assert named.input_value() == ("ann@example.org" if "email" in path else "")
    alice = windows("Alice").open("settings/security").page
    alice.get_by_role("button", name="Change password").click()
    dialog = alice.get_by_role("dialog")
    expect(dialog.locator("input[autocomplete=username]")).to_have_value(demo_people(server)["Alice"]["email"])
    expect(dialog.get_by_label("Current password")).to_be_focused()
    alice.keyboard.press("Escape")
    alice.get_by_role("button", name="Turn on two-step verification").click()
    # A password manager would keep it in the place of the first one.
    expect(alice.locator("dialog input[autocomplete*=password], dialog input[name=password]")).to_have_count(0)


@pytest.mark.parametrize(
    "typed",
    [
        "٤٨٢٩١٣",
        "４８２９１３",
        "\u202a482913\u202c",
        "482\u200b913",
        "482–913",
        "४८२९१३",
        "Your code is: 482 913.",
        "𝟜𝟠𝟚𝟡𝟙𝟛",
    ],
)
def test_the_digits_of_a_code(chromium, server, typed):
    page = chromium.new_page()
    page.route("**/api/v1/auth/verify", lambda route: route.abort())
    page.goto(f"{server.base}/app/verify?email=ann%40example.org")
    field = page.get_by_label("Code")
    field.fill(typed)
    assert field.input_value() == typed
    with page.expect_request("**/api/v1/auth/verify") as sent:
        page.get_by_role("button", name="Confirm").click()
    assert sent.value.post_data_json["code"] == "482913"
    page.close()
