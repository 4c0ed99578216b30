"""The version is written once, and shown wherever a person asks which one runs."""

import json
import re
import subprocess
import sys

import pytest
from django.urls import reverse

from core.version import VERSION
from portal.docs import sdk
from portal.docs.openapi import texts
from realtime import asyncapi
from server.management.commands import doctor
from server.management.commands.serve import table
from tests.server import ROOT
from tests.staff import admin_client, staff

TOKEN = "a token of at least sixteen bytes"
# Generated files repeat it; the change log and the records of releases are about all versions.
REPEATED = ("CHANGELOG.md", "releases/", "docs/openapi.json", "static/sdk/parley/version.js", "deploy/Containerfile")
# Versions of other programs.
FOREIGN = re.compile(r"requirements.*\.(txt|in)$|package(-lock)?\.json$|^tests/")


@pytest.mark.once
@pytest.mark.parametrize("word", ["version", "--version"])
def test_the_command_prints_the_bare_number_whatever_the_settings(word):
    environment = {"SITE_URL": "no address", "DATABASE_URL": "neither"}
    done = subprocess.run(
        [sys.executable, "manage.py", word], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == (f"{VERSION}\n", "")


@pytest.mark.once
def test_it_is_written_in_one_place():
    lines = subprocess.run(["git", "grep", "-lF", f'"{VERSION}"'], cwd=ROOT, capture_output=True, text=True, check=True)
    others = [name for name in lines.stdout.split() if not name.startswith(REPEATED) and not FOREIGN.search(name)]
    assert others == ["core/version.py"]


@pytest.mark.once
def test_documents_sdk_and_image_repeat_it(db):
    assert texts.document()["info"]["version"] == VERSION
    assert json.loads((ROOT / "docs" / "openapi.json").read_text())["info"]["version"] == VERSION
    assert asyncapi.document()["info"]["version"] == VERSION
    assert sdk.version() == (sdk.FOLDER / sdk.VERSION_FILE).read_text()
    assert f'"{VERSION}"' in sdk.version()
    assert f'\nLABEL org.opencontainers.image.version="{VERSION}"\n' in (ROOT / "deploy" / "Containerfile").read_text()


@pytest.mark.once
def test_serve_and_doctor_say_it(db):
    assert re.search(rf"^  Version +{re.escape(VERSION)}$", table(host="127.0.0.1", port=8000, logins=[]), re.MULTILINE)
    assert f"Parley {VERSION}" in next(doctor.examine()).what


@pytest.mark.django_db
def test_the_token_of_metrics_reads_it_and_nobody_else(client, settings):
    settings.METRICS_TOKEN = TOKEN
    for path in ("/healthz", "/readyz", "/metrics", "/", "/docs", reverse("admin:login")):
        reply = client.get(path)
        assert VERSION not in str(reply.headers), path
        assert path == "/docs" or VERSION not in b"".join(reply).decode(), path
    operator = {"Authorization": f"Bearer {TOKEN}"}
    assert client.get("/readyz", headers=operator).json()["version"] == VERSION
    assert f'\nparley_info{{version="{VERSION}"}} 1.0\n' in client.get("/metrics", headers=operator).content.decode()


@pytest.mark.django_db
def test_it_stands_at_the_foot_of_the_support_pages():
    page = admin_client(staff("Support")).get(reverse("admin:index")).content.decode()
    assert f'<footer id="footer">Version {VERSION}</footer>' in page
