"""The page behind the link that takes a change of the address back, as a hurried owner uses it."""

import re
import secrets
from urllib.parse import urlsplit

import httpx
import pytest

from tests.browser.account_pages import Person, codes_of
from tests.browser.chromium import needs_chromium, watch
from tests.waiting import wait_for

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(180)]


def undo_path(person, new):
    """The path of the link that a change to the address `new` mails to the old one."""
    before = len(person.mails())
    challenge = person.api.post("/auth/action-challenge", json={"action": "change_email"}).json()
    answer = {"challenge_token": challenge["challenge_token"], "code": person.code(after=before)}
    token = person.api.post("/auth/action-verify", json=answer).json()["action_token"]
    person.api.post("/auth/change-email", json={"email": new}, headers={"X-Action-Token": token})
    code = wait_for(lambda: (codes_of(person.server, new) or [None])[0], what="a code to the new address")
    assert person.api.post("/auth/change-email/verify", json={"code": code}).status_code == 200

    def link():
        mailbox = httpx.get(f"{person.server.base}/dev/mail.json", params={"to": person.email}, timeout=10).json()
        texts = "\n".join(mail["text"] for mail in mailbox["mails"])
        return next(iter(re.findall(r"\S+/email-undo/\S+", texts)), None)

    return urlsplit(wait_for(link, what="the link")).path


def test_a_double_click_takes_the_address_back_and_sets_the_password(chromium, server):
    person = Person(server, "Hana")
    path = undo_path(person, f"thief-{secrets.token_hex(4)}@example.com")
    page = chromium.new_page()
    complaints = watch(page, server.base)
    page.goto(server.base + path)
    # The reply to the first click has the form for a new password, once.
    page.get_by_role("button", name="Return to the old address").dblclick(delay=30)
    page.get_by_label("New password").fill("amber window 77")
    page.get_by_role("button", name="Set the new password").dblclick(delay=30)
    page.get_by_text("Your new password is set.").wait_for()
    assert complaints == []
    page.context.close()
    login = {"email": person.email, "password": "amber window 77"}
    assert person.api.post("/auth/login", json=login).status_code == 200
