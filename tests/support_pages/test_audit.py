"""The audit log names every action in words."""

import ast

from accounts.services import account_status, audit
from messaging.models import Report
from tests.server import ROOT
from tests.staff import admin_client, staff

APPS = ("accounts", "messaging", "notifications", "realtime", "integrations", "portal", "server", "config")


def recorded_actions():
    """The codes that the product's source writes into the audit log."""
    for app in APPS:
        for path in (ROOT / app).rglob("*.py"):
            for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(call, ast.Call):
                    continue
                function = ast.unparse(call.func)
                if function == "audit.record":
                    code = next(keyword.value for keyword in call.keywords if keyword.arg == "action")
                elif function == "_audited":
                    code = call.args[0]
                else:
                    continue
                if isinstance(code, ast.Constant):
                    yield code.value


def test_every_recorded_action_has_a_name():
    """Beside what the source names: forms record `added` and `changed`, closed reports their state."""
    composed = {f"{form}.{what}" for form in ("user", "group") for what in ("added", "changed")}
    composed |= {f"report.{state}" for state in Report.State.values if state != Report.State.OPEN}
    actions = {*recorded_actions(), *composed}
    assert len(actions) > 20
    assert sorted(action for action in actions if audit.name_of(action) == action) == []


def test_the_audit_log_shows_actions_in_words(alice, bob):
    staff_member = staff("Auditor")
    account_status.block(user=bob, reason="spam", actor=staff_member)
    page = admin_client(staff_member).get("/admin/accounts/auditentry/?action=user.blocked").content.decode()
    assert '<span title="user.blocked">User blocked</span>' in page
    assert "Signed in to the support pages" in page and "admin.signed_in</a>" not in page
