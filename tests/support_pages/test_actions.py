"""Every action of the support pages: what it asks, what became of it, who is told, and what it refuses."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from django.apps import apps

from accounts.models import AuditEntry, Session, TrustedDevice, User
from integrations.models import ServerKey, WebhookTarget
from messaging.models import Report
from notifications.models import Delivery
from tests.browser.server_fixtures import STAFF, fill
from tests.staff import admin_client, registered_actions, staff

pytestmark = pytest.mark.django_db


@pytest.fixture
def rows(db):
    return fill()["rows"]


def client_of(role):
    """A browser of a staff member with this role of the filled database; `admin` is a superuser."""
    return admin_client(staff(STAFF[role] or None, is_superuser=not STAFF[role]))


def everything():
    """All rows of all models."""
    return {model: sorted(map(repr, model._base_manager.values_list())) for model in apps.get_models()}


@dataclass
class Walk:
    """One action, by a staff member who may do it, on one row."""

    model: str
    action: str
    label: str
    by: str
    row: str
    # What the row with this key says, and its one answer before and after.
    state: Callable[[str], object]
    before: object
    after: object
    audited: str
    fields: dict[str, str] = field(default_factory=lambda: {"reason": "asked on the phone"})
    # What the audit log must tell besides who, what and why.
    details: str = ""

    def __str__(self):
        return f"{self.model}-{self.action}"


def account(name):
    return lambda key: getattr(User.objects.get(id=key), name)


def closed(key):
    report = Report.objects.get(id=key)
    return report.state, report.resolution


def notes(key):
    return AuditEntry.objects.filter(action="report.noted", details__report_id=int(key)).count()


def open_sessions(key):
    return Session.objects.filter(user_id=key, ended_at=None).count()


def waiting_mails(key):
    return Delivery.objects.filter(channel="mail", state="pending", recipient_id=key).count()


def waiting_test_pushes(key):
    return Delivery.objects.filter(kind="test", state="pending", device_id=key).count()


def tries(key):
    delivery = Delivery.objects.get(id=key)
    return delivery.state, delivery.tries


def count(model):
    return lambda key: apps.get_model(model).objects.filter(pk=key).count()


WALKS = [
    Walk(
        "accounts/user", "block", "Block", "support", "spammer",
        account("blocked_until"), None, datetime(2030, 1, 1, 12, 30, tzinfo=UTC), "user.blocked",
        {"reason": "spam", "until": "2030-01-01T12:30"}, "2030-01-01",
    ),
    Walk(
        "accounts/user", "unblock", "Unblock", "moderator", "blocked",
        account("blocked_reason"), "noise", "", "user.unblocked",
    ),
    Walk(
        "accounts/user", "unlock", "Unlock", "support", "locked",
        account("wrong_passwords"), 5, 0, "user.unlocked",
    ),
    Walk(
        "accounts/user", "resend_code", "Send the confirmation code again", "support", "unconfirmed",
        waiting_mails, 0, 1, "user.code_sent", {},
    ),
    Walk(
        "accounts/user", "sign_out", "Sign out everywhere", "support", "guest", open_sessions, 1, 0, "user.signed_out",
    ),
    Walk(
        "accounts/user", "reset_two_step", "Turn off two-step verification", "support", "twostep",
        account("second_password"), "argon2$never-compared", "", "user.two_step_reset",
    ),
    Walk(
        "accounts/user", "erase", "Erase", "support", "leaving",
        account("first_name"), "Leaving", "", "user.erased",
    ),
    Walk(
        "accounts/session", "end", "End these sessions", "operations", "session",
        lambda key: Session.objects.get(id=key).ended_reason, "", "staff", "session.ended", details="session_id",
    ),
    Walk(
        "accounts/trusteddevice", "forget", "Stop trusting these devices", "support", "trusted device",
        lambda key: TrustedDevice.objects.filter(id=key).count(), 1, 0, "trusted_device.removed",
    ),
    Walk(
        "auth/group", "remove", "Remove these groups", "admin", "group", count("auth.Group"), 1, 0, "group.removed",
    ),
    Walk(
        "otp_totp/totpdevice", "remove", "Remove the second factor", "admin", "app",
        count("otp_totp.TOTPDevice"), 1, 0, "admin.second_factor_removed",
    ),
    Walk(
        "messaging/report", "resolve", "Resolve", "moderator", "resolved",
        closed, ("open", ""), ("resolved", "warned"), "report.resolved", {"resolution": "warned"}, "report_id",
    ),
    Walk(
        "messaging/report", "dismiss", "Dismiss", "moderator", "dismissed",
        closed, ("open", ""), ("dismissed", "harmless"), "report.dismissed", {"resolution": "harmless"}, "report_id",
    ),
    Walk(
        "messaging/report", "note", "Add a note", "moderator", "kept report",
        notes, 0, 1, "report.noted", {"reason": "talked to both"}, "report_id",
    ),
    Walk(
        "notifications/device", "test_push", "Send a test push", "operations", "push device",
        waiting_test_pushes, 0, 1, "push.tested", {}, "device_ids",
    ),
    Walk(
        "notifications/delivery", "retry", "Try again", "operations", "dead push",
        tries, ("dead", 6), ("pending", 0), "retry_deliveries", details="ids",
    ),
    Walk(
        "integrations/serverkey", "revoke", "Revoke", "admin", "server key",
        lambda key: ServerKey.objects.get(id=key).revoked_at is None, True, False, "server_key.revoked",
    ),
    Walk(
        "integrations/webhooktarget", "enable", "Switch on", "admin", "webhook target",
        lambda key: WebhookTarget.objects.get(pk=key).switched_off_at is None, False, True, "webhook.enabled", {},
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


def newest():
    return AuditEntry.objects.latest("id").id


def audited(since, action, reason):
    """The one new row of the audit log."""
    [entry] = AuditEntry.objects.filter(id__gt=since)
    assert (entry.action, entry.reason, entry.actor.first_name, entry.ip) == (action, reason, "Sam", "127.0.0.1")
    assert entry.request_id  # leads to the log lines
    return entry


@pytest.mark.parametrize("walk", WALKS, ids=str)
def test_an_action_asks_acts_and_is_audited(rows, settings, walk):
    settings.EMAIL_BACKEND = "notifications.services.delivery.mail.QueueingEmailBackend"
    client, key, path = client_of(walk.by), rows[walk.row], f"/admin/{walk.model}/"
    assert walk.state(key) == walk.before
    since = newest()
    chosen = {"action": walk.action, "_selected_action": [key], "index": "0"}
    page = client.post(path, chosen)
    [(_key, name, _state)] = page.context["rows"]
    assert " object (" not in name and len(page.context["consequences"]) > 0
    assert page.context["title"] == walk.label
    if walk.fields:
        blank = client.post(path, chosen | {"confirmed": "1", next(iter(walk.fields)): "   "})
        assert "This field is required." in blank.content.decode()
    assert (walk.state(key), newest()) == (walk.before, since)
    form = chosen | {"confirmed": "1", "seen": page.context["seen"], **walk.fields}
    done = client.post(path, form, follow=True)
    assert [str(message) for message in done.context["messages"]] == [f"Done: {walk.label} – {name}"]
    assert walk.state(key) == walk.after
    entry = audited(since, walk.audited, next(iter(walk.fields.values()), ""))
    assert walk.details in str(entry.details)


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_a_download_of_people_asks_why_and_names_each_in_the_audit_log(rows, kind):
    client, since = client_of("support"), None
    since = newest()
    form = {"action": f"download_{kind}", "_selected_action": [rows["exported"]], "index": "0"}
    assert "exported@example.com" not in client.post("/admin/accounts/user/", form).headers.get(
        "Content-Disposition", ""
    )
    answer = client.post("/admin/accounts/user/", form | {"confirmed": "1", "reason": "asked for by the person"})
    assert f'filename="user.{kind}"' in answer.headers["Content-Disposition"]
    assert "exported@example.com" in answer.content.decode()
    assert audited(since, "user.exported", "asked for by the person").target_label == "exported@example.com"


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_a_download_of_the_audit_log_comes_at_once(rows, kind):
    client = client_of("auditor")
    since = newest()
    form = {"action": f"download_{kind}", "_selected_action": [since], "index": "0"}
    answer = client.post("/admin/accounts/auditentry/", form)
    assert f'filename="auditentry.{kind}"' in answer.headers["Content-Disposition"]
    assert AuditEntry.objects.get(id=since).actor_label in answer.content.decode()
    assert newest() == since


@pytest.mark.parametrize(
    ("action", "shown"),
    [
        ("unblock", "This account is not blocked."),
        ("reset_two_step", "Two-step verification is off for this account."),
        ("resend_code", "no code was sent"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(rows, action, shown):
    client, path = client_of("support"), "/admin/accounts/user/"
    before = everything()
    chosen = {"action": action, "_selected_action": [rows["untouched"]], "index": "0"}
    assert client.post(path, chosen).context["rows"]
    client.post(path, chosen | {"confirmed": "1", "reason": "asked on the phone"})
    assert everything() == before
    [said] = client.get(path).context["messages"]
    assert shown in str(said) and said.level_tag != "success"
