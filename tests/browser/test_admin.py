"""A support agent at work: a second factor, a person found, blocked with a reason, and cut off at once."""

import base64
import json
import time

import httpx
import pytest
from django_otp.oath import totp

from tests.browser.chromium import browser, needs_chromium, watch
from tests.browser.staff import barriers
from tests.flows.people import Person
from tests.server import RunningServer

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = RunningServer(tmp_path_factory.mktemp("admin"))
    running.start(demo=True)
    yield running
    running.kill()


def demo_person(server, name):
    return next(
        person
        for person in json.loads((server.log.parent / "var" / "demo.json").read_text())
        if person["email"].startswith(name)
    )


def signed_in(server, name):
    login = demo_person(server, name)
    person = Person(server, name)
    body = person.call("POST", "/auth/login", {"email": login["email"], "password": login["password"]})
    person.email, person.token, person.id = login["email"], body["token"], body["user"]["id"]
    return person


def sign_in(page, server, login, code=""):
    page.goto(f"{server.base}/admin/")
    page.get_by_label("E-mail address").fill(login["email"])
    page.get_by_label("Password").fill(login["password"])
    if code:
        page.get_by_label("Code from your app").fill(code)
    page.get_by_role("button", name="Sign in").click()


def test_an_agent_blocks_somebody_who_is_online(server):
    login = demo_person(server, "admin")
    bob = signed_in(server, "bob")
    socket = bob.socket()
    with browser() as chromium:
        page = chromium.new_context(viewport={"width": 1280, "height": 900}).new_page()
        complaints = watch(page, server.base)
        sign_in(page, server, login | {"password": "not this one"})
        assert "password is wrong" in page.get_by_role("alert").inner_text()
        assert barriers(page) == []
        sign_in(page, server, login)
        page.locator(".secret").wait_for()
        assert barriers(page) == []
        key = base64.b32decode(page.locator(".secret").inner_text())
        page.get_by_label("Code from your app").fill(f"{totp(key):06d}")
        page.get_by_role("button", name="Confirm").click()
        page.locator(".static-codes li").first.wait_for()
        assert page.locator(".static-codes li").count() == 10
        assert barriers(page) == []
        page.get_by_role("link", name="Go on").click()
        page.locator(".figures li").first.wait_for()
        assert page.locator(".figures li").count() >= 6

        page.goto(f"{server.base}/admin/accounts/user/?q={bob.email[:6]}")
        page.locator("input.action-select").first.check()
        page.get_by_label("Action:").first.select_option("block")
        page.get_by_role("button", name="Go").first.click()
        page.locator(".asked-effects").wait_for()
        assert "Every sign-in ends at once" in page.locator(".asked-effects").inner_text()
        page.get_by_label("Reason").fill("spam")
        started = time.monotonic()
        page.get_by_role("button", name="Block").click()
        page.locator(".messagelist").wait_for()
        socket.hear_to_the_end()
        assert time.monotonic() - started < 2 + 1  # two seconds for the socket, one for the page
        assert socket.connection.close_code == 4401
        page.goto(f"{server.base}/admin/accounts/auditentry/")
        assert "user.blocked" in page.content()
        assert complaints == []
    answer = httpx.get(f"{server.base}/api/v1/auth/me", headers={"Authorization": f"Bearer {bob.token}"})
    assert (answer.status_code, answer.json()["error"]) == (403, "account_blocked")
    login = {name: demo_person(server, "bob")[name] for name in ("email", "password")}
    assert bob.http.post("/auth/login", json=login).json()["error"] == "account_blocked"
