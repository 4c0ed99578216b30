"""An action with each kind of form of the support pages, done through what is on the page, and a download."""

import zipfile
from dataclasses import dataclass

import pytest

from tests.browser.chromium import barriers, needs_chromium
from tests.browser.staff import choose
from tests.waiting import wait_for

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(180)]

ACCOUNT = "SELECT {} FROM accounts_user WHERE id = {{}}"


@dataclass
class Walk:
    """One action, by a staff member who may do it, on one row of the staff_server."""

    model: str
    action: str
    label: str
    by: str
    row: str
    # What the row says before and after: a SELECT with the row's key in it, and its one answer each time.
    state: str
    before: object
    after: object
    fields: dict[str, str]

    def __str__(self):
        return f"{self.model}-{self.action}"


WALKS = [
    Walk(
        "accounts/user", "block", "Block", "support", "spammer",
        ACCOUNT.format("coalesce(blocked_until, '')"), "", "2030-01-01 12:30:00",
        {"Reason": "spam", "Until": "2030-01-01T12:30"},
    ),
    Walk(
        "accounts/user", "unblock", "Unblock", "moderator", "blocked",
        ACCOUNT.format("blocked_at IS NULL"), 0, 1, {"Reason": "asked on the phone"},
    ),
    Walk(
        "messaging/report", "resolve", "Resolve", "moderator", "resolved",
        "SELECT state || resolution FROM messaging_report WHERE id = {}", "open", "resolvedwarned",
        {"Resolution": "warned"},
    ),
    Walk(
        "notifications/device", "test_push", "Send a test push", "operations", "push device",
        "SELECT count(*) FROM notifications_delivery WHERE state = 'sent' AND kind = 'test' AND device_id = {}",
        0, 1, {},
    ),
]  # fmt: skip


@pytest.mark.parametrize("walk", WALKS, ids=str)
def test_an_action(page_of, staff_server, walk):
    page, complaints = page_of(walk.by)
    key = staff_server.rows[walk.row]

    def state():
        return staff_server.ask(walk.state.format(key))[0][0]

    assert state() == walk.before
    since = staff_server.newest_audit_id()
    choose(page, staff_server, walk.model, key, walk.label)
    name = page.locator(".confirm-rows li").inner_text()
    assert " object (" not in name
    button = page.get_by_role("button", name=walk.label, exact=True)
    if walk.fields:
        # The browser itself asks for what is missing; a reason of blanks is refused by the page.
        button.click()
        assert page.locator("input:invalid").first.evaluate("field => field === document.activeElement")
        page.get_by_label(next(iter(walk.fields))).fill("   ")
        button.click()
        assert "This field is required." in page.get_by_role("alert").inner_text()
        assert (state(), staff_server.newest_audit_id()) == (walk.before, since)
    assert complaints == []
    assert barriers(page) == []
    complaints.clear()  # axe tries styles of its own
    for label, text in walk.fields.items():
        page.get_by_label(label).fill(text)
    button.click()
    assert page.locator(".messagelist .success").inner_text() == f"Done: {walk.label} – {name}"
    assert wait_for(lambda: state() == walk.after, what=f"{walk.after!r} after {walk}", seconds=10)
    assert complaints == []


def test_the_archive_of_a_user_is_downloaded_from_the_users_page(page_of, staff_server):
    page, complaints = page_of("support")
    since = staff_server.newest_audit_id()
    page.goto(f"{staff_server.base}/admin/accounts/user/{staff_server.rows['exported']}/change/")
    page.get_by_role("button", name="Export all data").click()
    assert barriers(page) == []
    complaints.clear()  # axe tries styles of its own
    page.get_by_label("Reason").fill("asked by letter")
    with page.expect_download() as started:
        page.get_by_role("button", name="Export all data").click()
    assert started.value.suggested_filename.endswith(".zip")
    with zipfile.ZipFile(started.value.path()) as archive:
        assert "exported@example.com" in archive.read("account/profile.json").decode()
    [(action, target, reason, *_)] = staff_server.audited_since(since)
    assert (action, target, reason) == ("user.exported", "exported@example.com", "asked by letter")
    assert complaints == []
