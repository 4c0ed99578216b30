"""What the doctor says of a deployment and of PostgreSQL itself."""

import pytest
from django.core import checks
from django.db import connection

from config import environment
from server.management.commands import doctor
from tests.server import ON_POSTGRES


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite needs no autovacuum")
@pytest.mark.parametrize("debug", [True, False])
def test_a_server_without_autovacuum_is_noticed(db, settings, debug):
    settings.DEBUG = debug
    with connection.cursor() as cursor:
        cursor.execute("SHOW autovacuum")
        is_on = cursor.fetchone()[0] == "on"
    (line,) = doctor._autovacuum()
    worst = doctor.NOTE if debug else doctor.ERROR
    assert line.status == ("ok" if is_on else worst)
    assert ("autovacuum = on" in line.fix) is not is_on


def test_a_silenced_finding_of_a_deployment_is_not_missing(settings, monkeypatch):
    settings.DEBUG = False
    findings = [
        checks.Warning("silenced", id="security.W001"),
        checks.Warning("open", hint="close it", id="parley.W004"),
    ]
    monkeypatch.setattr(checks, "run_checks", lambda **options: findings)
    missing = [line for line in doctor._settings() if line.status == doctor.ERROR]
    assert [(line.what, line.fix) for line in missing] == [("parley.W004: open", "close it")]


@pytest.mark.parametrize("path", ["/etc/passwd", "/etc", "/nowhere.json", ""])
def test_a_file_that_is_no_service_account_is_found_missing_once(db, settings, path):
    settings.NOTIFICATIONS_PUSH_BACKEND, settings.NOTIFICATIONS_FCM_CREDENTIALS = "fcm", path
    lines = [line for line in (*doctor._settings(), *doctor._mail_and_push()) if "FCM" in line.what + line.fix]
    assert [(line.status, line.what.split(":")[0]) for line in lines] == [(doctor.ERROR, "notifications.E002")]


def test_mail_in_a_folder_is_looked_for_there(settings):
    settings.NOTIFICATIONS_MAIL_TRANSPORT = environment.mail("NO_URL", default="file:///srv/mails", timeout=1)
    assert next(doctor._mail_and_push()).what == "mail leaves through filebased into /srv/mails"
