"""A support agent at work: a second factor, a person found, blocked with a reason, and cut off at once."""

import base64

import httpx
import pytest
from django_otp.oath import totp

from tests.browser.account_pages import Window
from tests.browser.chromium import barriers, needs_chromium, watch
from tests.browser.server_fixtures import PASSWORD
from tests.flows.people import Person

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(180)]


def sign_in(page, password):
    page.get_by_label("E-mail address").fill("newcomer.staff@example.com")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def test_an_agent_blocks_a_user_who_is_online(staff_server, empty_chromium):
    person = Person(staff_server, "online")
    login = {"email": person.email, "password": PASSWORD}
    person.token = person.call("POST", "/auth/login", login)["token"]
    socket = person.socket()
    person.password = PASSWORD
    client = Window(empty_chromium, staff_server)
    client.expect("403 /profile", "403 /auth/refresh", "403 /auth/me")
    client.sign_in(person)
    client.signed_in()
    page = empty_chromium.new_context(viewport={"width": 1280, "height": 900}).new_page()
    complaints = watch(page, staff_server.base)
    page.goto(f"{staff_server.base}/admin/")
    box = page.locator(".sign-in").bounding_box()
    assert abs(2 * box["x"] + box["width"] - 1280) < 40  # in the middle of the window
    sign_in(page, "not this one")
    assert "password is wrong" in page.get_by_role("alert").inner_text()
    assert barriers(page) == []
    sign_in(page, PASSWORD)
    key = base64.b32decode(page.locator(".secret").inner_text())
    assert barriers(page) == []
    page.get_by_label("Code from your app").fill(f"{totp(key):06d}")
    # The reply to the first click shows the recovery codes, once.
    page.get_by_role("button", name="Confirm").dblclick(delay=30)
    page.locator(".static-codes li").first.wait_for()
    assert page.locator(".static-codes li").count() == 10
    assert barriers(page) == []
    with page.expect_download() as started:
        page.get_by_role("link", name="Download").click()
    assert started.value.path().read_text().split() == page.locator(".static-codes li").all_inner_texts()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    page.get_by_text("Copied").wait_for()
    page.get_by_role("link", name="Continue").click()
    page.locator(".figures li").first.wait_for()
    assert page.locator(".figures li").count() >= 6

    page.goto(f"{staff_server.base}/admin/accounts/user/?q={person.email}")
    page.locator("input.action-select").first.check()
    page.get_by_label("Action:").first.select_option("block")
    page.get_by_role("button", name="Go").first.click()
    page.locator(".confirm-consequences").wait_for()
    assert "All sessions end immediately" in page.locator(".confirm-consequences").inner_text()
    page.get_by_label("Reason").fill("spam")
    page.get_by_role("button", name="Block").dblclick(delay=30)
    page.locator(".messagelist .success").wait_for()
    assert page.locator(".messagelist li").count() == 1
    socket.receive_until_closed()
    assert socket.connection.close_code == 4401
    client.heading("Signed out")
    client.see("This account is blocked.")
    client.close()
    page.goto(f"{staff_server.base}/admin/accounts/auditentry/")
    assert "user.blocked" in page.content()
    assert complaints == []
    answer = httpx.get(f"{staff_server.base}/api/v1/auth/me", headers={"Authorization": f"Bearer {person.token}"})
    assert (answer.status_code, answer.json()["error"]) == (403, "account_blocked")
    assert person.http.post("/auth/login", json=login).json()["error"] == "account_blocked"
    person.close()
