"""A staff member in a browser: signs in with a code, uses what is on the page, and looks at what became of it."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing

from django_otp.oath import totp

from tests.browser.chromium import watch
from tests.browser.server_fixtures import PASSWORD
from tests.server import ROOT, RunningServer


class StaffServer(RunningServer):
    """A running server with a row of everything, and its database to read."""

    def fill(self):
        command = [sys.executable, "-m", "tests.browser.server_fixtures"]
        done = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        filled = json.loads(done.stdout)
        self.rows, self.keys, self.cookies = filled["rows"], filled["keys"], {}

    @property
    def database(self):
        return self.log.parent / "var" / "parley.sqlite3"

    def ask(self, statement, *values):
        """The rows of a SELECT."""
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
            return connection.execute(statement, values).fetchall()

    def everything(self):
        """All that the database holds, one statement a row."""
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
            return sorted(connection.iterdump())

    def newest_audit_id(self):
        return self.ask("SELECT coalesce(max(id), 0) FROM accounts_auditentry")[0][0]

    def audited_since(self, newest_id):
        """Action, target, reason, details, actor and address of what was added to the audit log."""
        rows = self.ask(
            "SELECT action, target_label, reason, details, actor_label, ip, request_id FROM accounts_auditentry"
            " WHERE id > ? ORDER BY id",
            newest_id,
        )
        assert all(row[6] for row in rows)  # the request id leads to the log lines
        return [row[:6] for row in rows]


def open_page(chromium, staff_server, name):
    """A page of this staff member, signed in, and what it complains about."""
    if name not in staff_server.cookies:
        context = chromium.new_context()
        page = context.new_page()
        sign_in(page, staff_server, name)
        staff_server.cookies[name] = context.storage_state()
        context.close()
    context = chromium.new_context(
        storage_state=staff_server.cookies[name], viewport={"width": 1280, "height": 900}, accept_downloads=True
    )
    page = context.new_page()
    page.set_default_timeout(15_000)
    return page, watch(page, staff_server.base)


def sign_in(page, staff_server, name):
    page.goto(f"{staff_server.base}/admin/")
    page.get_by_label("E-mail address").fill(f"{name}.staff@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Code from your app").fill(f"{totp(bytes.fromhex(staff_server.keys[name])):06d}")
    # The code is good for one request.
    page.get_by_role("button", name="Sign in").dblclick(delay=30)
    page.locator(".figures").wait_for()


def choose(page, staff_server, model, key, label, *, asks=True):
    """On the list: tick the row, choose the action, go; to the page that asks."""
    page.goto(f"{staff_server.base}/admin/{model}/")
    page.locator(f'input.action-select[value="{key}"]').check()
    page.get_by_label("Action:").first.select_option(label=label)
    page.get_by_role("button", name="Go").first.click()
    if asks:
        page.locator(".confirm-consequences li").first.wait_for()
