"""The client's page: one document, strict policy, hashed files."""

import gzip
import json
import re
from html import unescape
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.test import Client

from portal.client import modules
from server.static_files import COMMENT_LINES

pytestmark = pytest.mark.once

PATHS = ["/", "/app/", "/app/chats", "/app/chats/12", "/app/settings/security", "/app/anything/below"]


@pytest.fixture
def browser(settings):
    settings.DEBUG = True
    return Client()


@pytest.mark.parametrize("path", PATHS)
def test_the_page_and_its_policy(browser, path):
    response = browser.get(path)
    assert response.status_code == 200
    directives = dict(part.strip().partition(" ")[::2] for part in response["Content-Security-Policy"].split(";"))
    nonce = directives.pop("script-src").removeprefix("'self' 'nonce-").removesuffix("'")
    assert directives == {
        "default-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data: blob:",
        "media-src": "'self' blob:",
        "connect-src": "'self'",
        "object-src": "'none'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
        "form-action": "'self'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    html = response.content.decode()
    assert f'<script type="importmap" nonce="{nonce}">' in html
    assert not re.search(r"<style|\sstyle=|\son\w+=|(?:src|href)=\"(?:https?:)?//", html)


def test_the_page_is_in_the_language_of_the_browser(browser):
    html = browser.get("/app/", headers={"Accept-Language": "de"}).content.decode()
    assert '<html lang="de"' in html
    assert 'content="Nachrichten und Anrufe zwischen zwei Personen."' in html
    assert "<p>Diese Seite braucht JavaScript." in html


def test_a_link_to_the_page_is_shown_with_words_and_a_picture(browser, settings):
    settings.SITE_URL = "https://chat.example.com"
    html = browser.get("/").content.decode()
    shown = dict(re.findall(r'<meta property="og:(\w+)" content="([^"]+)">', html))
    picture = shown.pop("image").removeprefix(settings.SITE_URL)
    assert browser.get(picture)["Content-Type"] == "image/png"
    assert shown == {
        "type": "website",
        "title": "Parley",
        "description": "Messages and calls between two people.",
        "url": "https://chat.example.com",
    }
    # A drawing is shown by no such program.
    settings.PRODUCT_LOGO = Path("logo.svg")
    assert "og:image" not in browser.get("/").content.decode()


def test_a_phone_can_put_the_client_among_its_apps(browser, settings):
    html = browser.get("/app/").content.decode()
    response = browser.get(re.search(r'<link rel="manifest" href="([^"]+)">', html)[1])
    assert response["Content-Type"] == "application/manifest+json"
    manifest = response.json()
    assert (manifest["name"], manifest["start_url"], manifest["display"]) == ("Parley", "/app/", "standalone")
    assert f'<meta name="theme-color" content="{manifest["theme_color"]}"' in html
    for icon in manifest["icons"]:
        assert browser.get(icon["src"])["Content-Type"] == icon["type"]
    settings.PRODUCT_LOGO = Path(finders.find("pages/icon.png"))
    icons = browser.get("/app/manifest.json").json()["icons"]
    assert [(icon["src"], icon["type"]) for icon in icons] == [("/logo", "image/png")]
    settings.WEB_CLIENT = False
    assert browser.get("/app/manifest.json").status_code == 404


def test_every_module_has_a_hashed_name_and_is_kept_for_ever(browser):
    html = browser.get("/app/").content.decode()
    imports = json.loads(re.search(r'<script type="importmap"[^>]*>(.*?)</script>', html)[1])["imports"]
    assert {"preact", "preact/hooks", "htm", "/static/app/main.js"} <= set(imports)
    addresses = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', html)) | set(imports.values())
    for address in addresses:
        assert re.search(r"\.[0-9a-f]{8}\.\w+$", address), address
        response = browser.get(address, headers={"Accept-Encoding": "gzip"})
        assert response.status_code == 200
        assert response["Cache-Control"] == "max-age=31536000, public, immutable"
        assert address.endswith(".png") or response["Content-Encoding"] == "gzip"


def test_few_files_hold_all_modules(browser):
    main, needed, import_map = modules.scripts()
    assert main == "built/main.js"
    assert needed == ["built/main.js", "built/first.js"]
    html = browser.get("/app/").content.decode()
    for name in needed:
        assert f'<link rel="modulepreload" href="{staticfiles_storage.url(name)}">' in html
    assert f'<script type="module" src="{staticfiles_storage.url(main)}"></script>' in html
    addresses = import_map["imports"]
    assert addresses["/static/app/pages/chats.js"] == staticfiles_storage.url("built/pages/chats.js")
    assert addresses["/static/built/first.js"] == staticfiles_storage.url("built/first.js")
    # Who imports the SDK on this page gets all of it, apart from what runs.
    assert not any(name.startswith("/static/sdk/") for name in addresses)


IMPORTED_BY_TESTS = re.compile(
    r"""const \{ ([\w, ]+) \} = await import\(['"]/static/(app/[^'"]+)|\(await import\(['"]/static/(app/[^'"]+)['"]\)\)\.(\w+)"""
)


def test_what_browser_tests_import_by_its_address_is_the_instance_that_runs():
    manifest = modules.current_manifest()
    named = {file["module"]: (modules.BUILT_FOLDER / name).read_text() for name, file in manifest.items()}
    found = 0
    for path in Path("tests/browser").glob("*.py"):
        for names, module, other, name in IMPORTED_BY_TESTS.findall(path.read_text()):
            exported = re.findall(r"(\w+)(?=, | \})", named[module or other].rpartition("export {")[2])
            for each in names.split(", ") if names else [name]:
                assert each in exported, (path.name, module or other, each)
                found += 1
    assert found > 10


@pytest.mark.parametrize("change", ["a changed source", "a source that is gone", "no files"])
def test_after_a_change_each_module_is_a_file_of_its_own(browser, monkeypatch, tmp_path, change):
    manifest = json.loads((modules.ROOT / "built/manifest.json").read_text())
    monkeypatch.setattr(modules, "BUILT_FOLDER", tmp_path)
    if change != "no files":
        sources = manifest["first.js"]["sources"]
        name = next(iter(sources))
        sources[name if change == "a changed source" else "app/gone.js"] = "00000000"
        (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    main, needed, import_map = modules.scripts()
    assert main == "app/main.js"
    assert {"app/main.js", "app/shell.js", "vendor/preact.mjs"} < set(needed)
    assert import_map["imports"]["/static/app/client.js"] == staticfiles_storage.url("app/client.js")
    assert import_map["imports"]["preact"] == staticfiles_storage.url("vendor/preact.mjs")
    assert staticfiles_storage.url("app/main.js") in browser.get("/app/").content.decode()


def test_a_browser_loads_no_lines_that_are_only_comments(browser):
    built = [path.relative_to(modules.ROOT).as_posix() for path in modules.BUILT_FOLDER.rglob("*.js")]
    for name in [*modules.modules(), *built]:
        source = (modules.ROOT / name).read_bytes()
        address = "/static/" + name.replace(".", ".00000000.")
        body = gzip.decompress(browser.get(address, headers={"Accept-Encoding": "gzip"}).content)
        # None of them is a line of a text.
        assert all(source.count(b"`", 0, line.start()) % 2 == 0 for line in COMMENT_LINES.finditer(source)), name
        kept = [line for line in body.splitlines() if line.strip().startswith((b"//", b"/**"))]
        assert kept == [] or name.startswith("vendor/"), name


@pytest.mark.parametrize("name", ["admin/js/vendor/jquery/jquery.js", "admin/js/core.js", "vendor/preact.mjs"])
def test_files_of_other_projects_are_sent_as_they_are(browser, name):
    stem, _, extension = name.rpartition(".")
    response = browser.get(f"/static/{stem}.00000000.{extension}", headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(response.content) == Path(finders.find(name)).read_bytes()


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("gzip", "gzip"),
        ("br, gzip;q=0.5", "gzip"),
        ("gzip;q=0", None),
        ("identity;q=1, gzip ; q=0.000, br", None),
        ("", None),
    ],
)
def test_a_file_is_compressed_for_who_accepts_it(browser, accepted, encoding):
    response = browser.get("/static/app/main.00000000.js", headers={"Accept-Encoding": accepted})
    assert response.get("Content-Encoding") == encoding
    assert response["Vary"].startswith("Accept-Encoding")


def test_an_older_hash_gets_the_file_of_today_and_is_kept_by_no_cache(browser):
    response = browser.get("/static/app/main.00000000.js")
    assert (response.status_code, response["Cache-Control"]) == (200, "no-cache")
    assert browser.get("/static/app/nothing.00000000.js").status_code == 404
    assert browser.get("/static/../config/settings.00000000.py").status_code == 404


def test_without_the_client_the_documentation_stands_at_the_root(browser, settings):
    settings.WEB_CLIENT = False
    assert browser.get("/").content == browser.get("/docs/", follow=True).content
    assert browser.get("/app/").status_code == 404
    assert browser.get("/app/chats").status_code == 404


def test_without_the_client_and_the_documentation_browsers_get_a_page(browser, settings):
    settings.WEB_CLIENT = settings.DOCS = False
    for path in ("/", "/app/", "/app", "/app/chats/"):
        response = browser.get(path, headers={"Accept": "text/html"}, follow=True)
        assert (response.status_code, response["Content-Type"][:9]) == (404, "text/html"), path


def test_demo_people_are_for_the_person_at_this_machine(browser, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    entry = {"title": "Alice", "email": "alice@example.com", "password": "a secret", "purpose": "talks"}
    (tmp_path / "demo.json").write_text(json.dumps([entry]))
    assert b"a secret" in browser.get("/").content
    assert b"a secret" not in browser.get("/", REMOTE_ADDR="192.0.2.7").content
    settings.DEBUG = False
    assert b"a secret" not in browser.get("/").content


def test_the_switches_of_the_kinds_that_are_sent(browser, settings):
    def switches(**request):
        html = browser.get("/app/", **request).content.decode()
        return json.loads(unescape(re.search('data-options="([^"]+)"', html)[1]))["switches"]

    assert switches() == ["likes", "comments", "follows", "messages"]
    elsewhere = {"REMOTE_ADDR": "192.0.2.7"}
    assert switches(**elsewhere) == ["messages"]
    settings.NOTIFICATIONS_EVENT_SOURCES = f"blog:{'k' * 32}:reply,message"
    assert switches(**elsewhere) == ["comments", "messages"]
    settings.NOTIFICATIONS_EVENT_SOURCES += f";shop:{'s' * 32}:*"
    assert switches(**elsewhere) == ["likes", "comments", "follows", "messages"]
