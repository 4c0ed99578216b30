"""Every action of the support pages, done through what is on the page; what became of it, and who is told."""

import zipfile
from dataclasses import dataclass, field

import pytest

from tests.browser.chromium import needs_chromium
from tests.browser.staff import barriers, choose, registered_actions
from tests.flows.people import eventually

pytestmark = [needs_chromium, pytest.mark.once, pytest.mark.timeout(180)]

ACCOUNT = "SELECT {} FROM accounts_user WHERE id = {{}}"
END = "2030-01-01T12:30"


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
    audited: str
    fields: dict[str, str] = field(default_factory=lambda: {"Reason": "asked on the phone"})
    # What the audit log must tell besides who, what and why.
    details: str = ""

    def __str__(self):
        return f"{self.model}-{self.action}"


WALKS = [
    Walk(
        "accounts/user", "block", "Block", "support", "spammer",
        ACCOUNT.format("coalesce(blocked_until, '')"), "", "2030-01-01 12:30:00", "user.blocked",
        {"Reason": "spam", "Until": END}, "2030-01-01",
    ),
    Walk(
        "accounts/user", "unblock", "Unblock", "moderator", "blocked",
        ACCOUNT.format("blocked_at IS NULL"), 0, 1, "user.unblocked",
    ),
    Walk(
        "accounts/user", "unlock", "Unlock", "support", "locked",
        ACCOUNT.format("wrong_passwords"), 5, 0, "user.unlocked",
    ),
    Walk(
        "accounts/user", "resend_code", "Send the confirmation code again", "support", "unconfirmed",
        "SELECT count(*) FROM notifications_delivery WHERE channel = 'mail' AND state = 'pending' AND recipient_id = {}",
        0, 1, "user.code_sent", {},
    ),
    Walk(
        "accounts/user", "sign_out", "Sign out everywhere", "support", "guest",
        "SELECT count(*) FROM accounts_session WHERE ended_at IS NULL AND user_id = {}", 1, 0, "user.signed_out",
    ),
    Walk(
        "accounts/user", "reset_two_step", "Turn off two-step verification", "support", "twostep",
        ACCOUNT.format("second_password = ''"), 0, 1, "user.two_step_reset",
    ),
    Walk(
        "accounts/user", "erase", "Erase", "support", "leaving",
        ACCOUNT.format("first_name"), "Leaving", "", "user.erased",
    ),
    Walk(
        "accounts/session", "end", "End these sessions", "operations", "session",
        "SELECT ended_reason FROM accounts_session WHERE id = {}", "", "staff", "session.ended", details="session_id",
    ),
    Walk(
        "accounts/trusteddevice", "forget", "Stop trusting these devices", "support", "trusted device",
        "SELECT count(*) FROM accounts_trusteddevice WHERE id = {}", 1, 0, "trusted_device.removed",
    ),
    Walk(
        "auth/group", "remove", "Remove these groups", "admin", "group",
        "SELECT count(*) FROM auth_group WHERE id = {}", 1, 0, "group.removed",
    ),
    Walk(
        "otp_totp/totpdevice", "remove", "Remove the second factor", "admin", "app",
        "SELECT count(*) FROM otp_totp_totpdevice WHERE id = {}", 1, 0, "admin.second_factor_removed",
    ),
    Walk(
        "messaging/report", "resolve", "Resolve", "moderator", "resolved",
        "SELECT state || resolution FROM messaging_report WHERE id = {}", "open", "resolvedwarned", "report.resolved",
        {"Resolution": "warned"}, "report_id",
    ),
    Walk(
        "messaging/report", "dismiss", "Dismiss", "moderator", "dismissed",
        "SELECT state || resolution FROM messaging_report WHERE id = {}", "open", "dismissedharmless",
        "report.dismissed", {"Resolution": "harmless"}, "report_id",
    ),
    Walk(
        "notifications/device", "test_push", "Send a test push", "operations", "push device",
        "SELECT count(*) FROM notifications_delivery WHERE state = 'sent' AND kind = 'test' AND device_id = {}",
        0, 1, "push.tested", {}, "device_ids",
    ),
    Walk(
        "notifications/delivery", "retry", "Try again", "operations", "dead push",
        "SELECT state FROM notifications_delivery WHERE id = {}", "dead", "sent", "retry_deliveries", details="ids",
    ),
]  # fmt: skip
# Those that answer with a page or a file of their own instead of the list.
WITH_AN_ANSWER = {
    ("messaging/message", "reveal"),
    ("messaging/report", "reveal"),
    ("accounts/user", "export"),
    ("accounts/user", "download_csv"),
    ("accounts/user", "download_json"),
    ("accounts/auditentry", "download_csv"),
    ("accounts/auditentry", "download_json"),
}


def test_every_registered_action_is_tested():
    assert {(walk.model, walk.action) for walk in WALKS} | WITH_AN_ANSWER == registered_actions()


def audited(staff_server, since, name, action, reason):
    """The one new row of the audit log, looked at; its target and details."""
    rows = staff_server.audited_since(since)
    assert [(row[0], row[2], row[4], row[5]) for row in rows] == [
        (action, reason, f"{name}.staff@example.com", "127.0.0.1")
    ]
    return rows[0][1], rows[0][3]


@pytest.fixture(scope="module")
def looked_at():
    """The forms that axe has seen: the page around them is one and the same."""
    return set()


@pytest.mark.parametrize("walk", WALKS, ids=str)
def test_an_action(page_of, staff_server, looked_at, walk):
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
    if tuple(walk.fields) not in looked_at:
        looked_at.add(tuple(walk.fields))
        assert barriers(page) == []
    for label, text in walk.fields.items():
        page.get_by_label(label).fill(text)
    button.click()
    assert page.locator(".messagelist .success").inner_text() == f"“{walk.label}” was applied to: {name}. Total: 1."
    assert eventually(lambda: state() == walk.after, what=f"{walk.after!r} after {walk}", seconds=10)
    reason = next(iter(walk.fields.values()), "")
    _target, details = audited(staff_server, since, walk.by, walk.audited, reason)
    assert walk.details in details
    assert complaints == []


def test_what_was_written_is_shown_to_who_says_why(page_of, staff_server):
    page, complaints = page_of("moderator")
    since = staff_server.newest_audit_id()
    choose(page, staff_server, "messaging/message", staff_server.rows["message"], "Reveal the text")
    assert "what Ann wrote" not in page.content()
    page.get_by_label("Reason").fill("reported")
    page.get_by_role("button", name="Reveal the text").click()
    assert page.locator("blockquote").inner_text() == "what Ann wrote"
    assert "the first wording" in page.locator("#content-main").inner_text()
    assert barriers(page) == []
    target, details = audited(staff_server, since, "moderator", "message.revealed", "reported")
    assert target == "ann@example.com"
    assert staff_server.rows["message"] in details
    page.get_by_role("link", name="Back to the list").click()
    page.locator("#result_list").wait_for()
    assert complaints == []


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_a_download_of_people_asks_why_and_names_each_in_the_audit_log(page_of, staff_server, kind):
    page, complaints = page_of("support")
    since = staff_server.newest_audit_id()
    choose(page, staff_server, "accounts/user", staff_server.rows["exported"], f"Download as {kind.upper()}")
    page.get_by_label("Reason").fill("asked for by the person")
    with page.expect_download() as started:
        page.get_by_role("button", name=f"Download as {kind.upper()}").click()
    assert started.value.suggested_filename == f"user.{kind}"
    assert "exported@example.com" in started.value.path().read_text()
    target, _ = audited(staff_server, since, "support", "user.exported", "asked for by the person")
    assert target == "exported@example.com"
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
    assert audited(staff_server, since, "support", "user.exported", "asked by letter")[0] == "exported@example.com"
    assert complaints == []


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_a_download_of_the_audit_log_comes_at_once(page_of, staff_server, kind):
    page, complaints = page_of("auditor")
    since = staff_server.newest_audit_id()
    with page.expect_download() as started:
        choose(page, staff_server, "accounts/auditentry", since, f"Download as {kind.upper()}", asks=False)
    assert started.value.suggested_filename == f"auditentry.{kind}"
    assert "staff@example.com" in started.value.path().read_text()
    assert staff_server.audited_since(since) == []
    assert complaints == []


@pytest.mark.parametrize(
    ("model", "row", "label", "by", "shown"),
    [
        ("accounts/user", "untouched", "Unblock", "support", "This account is not blocked."),
        (
            "accounts/user",
            "untouched",
            "Turn off two-step verification",
            "support",
            "Two-step verification is off for this account.",
        ),
        ("accounts/user", "untouched", "Send the confirmation code again", "support", "no code was sent"),
        ("accounts/user", "admin.staff", "Block", "support", "Only a superuser changes the account of a staff member."),
        ("accounts/user", "admin.staff", "Erase", "admin", "This is your own account"),
        ("notifications/delivery", "dead mail", "Try again", "operations", "Mails are not kept"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(page_of, staff_server, model, row, label, by, shown):
    page, complaints = page_of(by)
    before = staff_server.everything()
    choose(page, staff_server, model, staff_server.rows[row], label)
    if page.get_by_label("Reason").count():
        page.get_by_label("Reason").fill("asked on the phone")
    page.get_by_role("button", name=label, exact=True).click()
    assert shown in page.locator(".messagelist").inner_text()
    assert page.locator(".messagelist .success").count() == 0
    assert staff_server.everything() == before
    assert complaints == []
