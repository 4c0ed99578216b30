"""Our pages in a real browser: clean under their policy, accessible, and the API page sends real requests."""

import json

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.chromium import browser, needs_chromium, watch
from tests.server import RunningServer

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(180)]

PAGES = [
    "/",
    "/docs/quickstart",
    "/docs/errors",
    "/docs/reference",
    "/docs/reference/messages_send",
    "/docs/realtime",
    "/docs/calls",
    "/docs/changelog",
    "/dev/mail/",
    "/dev/push/",
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = RunningServer(tmp_path_factory.mktemp("pages"))
    running.start(demo=True)
    yield running
    running.kill()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_clean_and_accessible(server, scheme):
    with browser() as chromium:
        for width in (360, 1280):
            context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
            for path in PAGES:
                page = context.new_page()
                complaints = watch(page, server.base)
                assert page.goto(server.base + path, wait_until="networkidle").status == 200
                found = Axe().run(page).response["violations"]
                assert complaints == [], path
                assert [(rule["id"], [node["html"][:200] for node in rule["nodes"]]) for rule in found] == [], path
                assert page.evaluate("() => document.documentElement.scrollWidth") <= width, path
                page.close()
            context.close()


def test_try_it_out_sends_a_real_request(server):
    alice = json.loads((server.log.parent / "var" / "demo.json").read_text())[0]
    login = {"email": alice["email"], "password": alice["password"]}
    token = httpx.post(f"{server.base}/api/v1/auth/login", json=login, timeout=20).json()["token"]
    with browser() as chromium:
        page = chromium.new_page()
        complaints = watch(page, server.base)
        page.goto(f"{server.base}/api/docs", wait_until="networkidle")
        page.get_by_role("button", name="Authorize").first.click()
        dialog = page.locator(".modal-ux")
        dialog.locator("input").first.fill(token)
        dialog.get_by_role("button", name="Apply credentials").first.click()
        dialog.get_by_role("button", name="Close").last.click()
        operation = page.locator("[id$=auth_me]")
        operation.locator(".opblock-summary-control").click()
        operation.get_by_role("button", name="Try it out").click()
        operation.get_by_role("button", name="Execute").click()
        live = operation.locator(".live-responses-table .response")
        live.first.wait_for()
        assert "200" in live.first.inner_text()
        assert alice["email"] in live.first.inner_text()
        assert complaints == []


def test_the_console_of_the_live_wire_shows_what_happens(server):
    alice, bob = json.loads((server.log.parent / "var" / "demo.json").read_text())[:2]

    def sign_in(person):
        login = {"email": person["email"], "password": person["password"]}
        return httpx.post(f"{server.base}/api/v1/auth/login", json=login, timeout=20).json()

    token = sign_in(alice)["token"]
    other = sign_in(bob)["user"]["id"]
    headers = {"Authorization": f"Bearer {token}"}
    with browser() as chromium:
        page = chromium.new_page()
        complaints = watch(page, server.base)
        page.goto(f"{server.base}/docs/realtime", wait_until="networkidle")
        page.get_by_label("Token of a sign-in").fill(token)
        page.get_by_role("button", name="Connect").click()
        page.get_by_text("Connected. Whatever happens").wait_for()
        api = httpx.Client(base_url=f"{server.base}/api/v1", headers=headers, timeout=20)
        chat = api.post("/messages/conversations", json={"user_id": other}).json()["conversation"]["id"]
        api.post(f"/messages/conversations/{chat}/messages", json={"body": "seen on the page"})
        page.locator("#watch-frames", has_text="seen on the page").wait_for()
        assert token not in page.locator("#watch-frames").inner_text()
        page.get_by_role("button", name="Disconnect").click()
        page.get_by_text("Closed with").wait_for()
        api.close()
        assert complaints == []
