"""The name of the product comes from one setting; no page, mail or document holds it beside it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.core import mail
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from accounts import emails
from accounts.staff import sign_in
from config import environment
from tests.server import RunningServer

pytestmark = pytest.mark.once

ROOT = Path(settings.BASE_DIR)
NAMED = re.compile(r"\bParley\b")
# Identifiers of the SDK and of classes, and headers of the catalogs, which nobody reads on a page.
IDENTIFIER = re.compile(
    r"\bnew Parley\b|class Parley\b|\{ ?Parley\b|import \{[^}]*\bParley\b|import Parley\b|\bParley[,}.(]|`Parley`|Parley\[|# Parley:|Parley = |, \"Parley\", |: Parley\b|<Parley"
)
# What a visitor or a user reads: code of pages, mails, the web client and the documentation.
READ = [
    *ROOT.glob("templates/**/*.html"), *ROOT.glob("*/templates/**/*"), *ROOT.glob("static/app/**/*.js"),
    *ROOT.glob("static/pages/**/*"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/guides/*.md"), *ROOT.glob("docs/reference/*.md"),
    *(path for app in ("accounts", "core", "messaging", "notifications", "realtime", "integrations", "portal", "server")
      for path in ROOT.glob(f"{app}/**/*.py")),
    *(path for path in ROOT.glob("config/*.py") if path.name != "settings.py"),
]  # fmt: skip


def test_the_name_stands_in_one_place():
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in READ
        if path.is_file() and path.suffix in (".html", ".txt", ".js", ".md", ".py", ".css", ".svg")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if NAMED.search(IDENTIFIER.sub("", line))
    ]
    assert found == []
    assert len(READ) > 200
    lines = (ROOT / "config/settings.py").read_text().splitlines()
    assert [line for line in lines if NAMED.search(line)] == [
        'PRODUCT_NAME = environment.product_name("PRODUCT_NAME", default="Parley")'
    ]


def test_catalogs_do_not_hold_the_name():
    for path in ROOT.glob("*/locale/*/LC_MESSAGES/*.po"):
        texts = path.read_text().split("\n\n", 1)[1]
        assert not NAMED.search(texts), path


def test_mails_carry_the_name_and_lead_to_the_team(settings):
    settings.PRODUCT_NAME, settings.PRODUCT_URL = "Harbour & Co", "https://harbour.example.com/"
    settings.SUPPORT_EMAIL = "help@harbour.example.com"
    emails.render("signup_code", "ann@example.com", "de", {"name": "Ann", "code": "123456"}).send()
    [sent] = mail.outbox
    assert sent.reply_to == ["help@harbour.example.com"]
    assert "Harbour & Co\nhttps://harbour.example.com/\nhelp@harbour.example.com" in sent.body
    assert 'href="mailto:help@harbour.example.com"' in sent.alternatives[0][0]


def test_a_logo_of_ones_own(settings, tmp_path, db):
    assert Client().get("/logo").status_code == 404
    settings.PRODUCT_LOGO = tmp_path / "logo.svg"
    settings.PRODUCT_LOGO.write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    answer = Client().get("/logo")
    assert answer["Content-Type"] == "image/svg+xml"
    assert "sandbox" in answer["Content-Security-Policy"]
    assert 'href="/logo"' in Client().get("/").content.decode()
    assert 'src="/logo"' in Client().get("/docs").content.decode()


@pytest.mark.parametrize("value", ["x" * 41, "a<b", 'a"b', "a@b", "{a}", "100%", "a\\b", "a\x07b"])
def test_a_bad_name_stops_the_start(monkeypatch, value):
    monkeypatch.setenv("PRODUCT_NAME", value)
    with pytest.raises(ImproperlyConfigured, match="PRODUCT_NAME"):
        environment.product_name("PRODUCT_NAME", default="x")


@pytest.mark.parametrize(
    ("read", "name", "value"),
    [
        (environment.web_address, "PRODUCT_URL", "javascript:alert(1)"),
        (environment.web_address, "PRODUCT_URL", "https://user:pass@example.com/"),
        (environment.web_address, "PRODUCT_URL", "example.com"),
        (environment.mailbox, "SUPPORT_EMAIL", "help"),
        (environment.mailbox, "SUPPORT_EMAIL", "Help <help@example.com>"),
        (environment.mailbox, "SUPPORT_EMAIL", "a@example.com,b@example.com"),
        (environment.picture, "PRODUCT_LOGO", "/no/such/logo.svg"),
        (environment.picture, "PRODUCT_LOGO", __file__),
    ],
)
def test_other_bad_values_stop_the_start(monkeypatch, read, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=name):
        read(name)


@pytest.mark.timeout(180)
@pytest.mark.slow
def test_a_server_with_another_name_shows_it_everywhere(tmp_path):
    server = RunningServer(tmp_path, PRODUCT_NAME="Harbour Chat", SUPPORT_EMAIL="help@harbour.example.com")
    server.start()
    try:
        client = httpx.Client(base_url=server.base, follow_redirects=True)
        for path in (
            "/",
            "/docs",
            "/docs/quickstart",
            "/docs/deployment",
            "/docs/errors",
            "/docs/reference",
            "/admin/",
            "/api/v1/schema",
            "/docs/own-server",
        ):
            page = client.get(path).text
            assert "Harbour Chat" in page, path
            shown = re.sub(r"<script.*?</script>|<pre.*?</pre>|<code.*?</code>", "", page, flags=re.S)
            assert not NAMED.search(IDENTIFIER.sub("", shown)), path
        assert "Harbour Chat" in server.log.read_text()
        options = json.loads(re.search(r"data-options=\"([^\"]+)\"", client.get("/").text)[1].replace("&quot;", '"'))
        assert options["product"] == "Harbour Chat"
    finally:
        server.stop()


def test_the_sender_and_the_issuer_follow_the_name(tmp_path):
    script = "from django.conf import settings as s; print(s.DEFAULT_FROM_EMAIL, s.OTP_TOTP_ISSUER, sep='|')"
    ran = subprocess.run(
        [sys.executable, "manage.py", "shell", "-v0", "-c", script],
        env=os.environ | {"PRODUCT_NAME": "Härbour Chat", "DEBUG": "1", "VAR_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"},
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    sender, _, issuer = ran.stdout.strip().rpartition("|")
    assert issuer == "Härbour Chat"
    assert sender.endswith("<no-reply@harbour-chat.localhost>")
    assert sign_in.picture
