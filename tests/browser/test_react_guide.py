"""The app of the guide for React, as it stands there: installed from a running instance, bundled, used in a browser."""

import contextlib
import http.server
import os
import re
import secrets
import shutil
import subprocess
import threading
from functools import partial

import pytest
from playwright.sync_api import expect

from core.version import VERSION
from tests.browser.chromium import needs_chromium
from tests.browser.client_pages import Api, demo_people
from tests.node import NODE, installed, needs_npm
from tests.sdk.node import socket_flag
from tests.server import ROOT, RunningServer, free_port

pytestmark = [needs_chromium, needs_npm, pytest.mark.once, pytest.mark.timeout(900)]

GUIDE = ROOT / "docs" / "guides" / "react.md"
FILE = re.compile(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PACKAGE = ROOT / "tests" / "sdk" / "package"
REACT = ("react18", "react19")
LINES = 100
# Lines of the console that a page should not write.
KINDS = {"error", "warning"}


@pytest.fixture(scope="module")
def ports():
    """Of the app as it is published, and of its development build, in which StrictMode does everything twice."""
    return {"production": free_port(), "development": free_port()}


@pytest.fixture(scope="module")
def server(tmp_path_factory, ports):
    """It allows the origins of the app."""
    origins = ",".join(f"http://127.0.0.1:{port}" for port in ports.values())
    running = RunningServer(tmp_path_factory.mktemp("react"), RATELIMIT_ENABLE="0", CORS_ALLOWED_ORIGINS=origins)
    running.start(demo=True)
    yield running
    running.kill()


@pytest.fixture(scope="module", params=REACT)
def project(request, tmp_path_factory, server):
    """The folder of the guide's app, with this version of React and the package of the instance."""
    folder = tmp_path_factory.mktemp("app") / "project"
    react = request.param
    shutil.copytree(installed(PACKAGE / react, ROOT / "var" / f"sdk-{react}"), folder, symlinks=True)
    for name, text in FILE.findall(GUIDE.read_text(encoding="utf-8")):
        (folder / name).write_text(text, encoding="utf-8")
    for name in ("page.mjs", "render.mjs", "take_over.mjs"):
        shutil.copy(PACKAGE / name, folder)
    package = f"{server.base}/sdk/parley-{VERSION}.tgz"
    run(["npm", "install", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts", package], folder)
    return folder


@pytest.fixture(scope="module")
def apps(project, server, ports):
    """The addresses of both builds."""
    folder = project
    (folder / ".env").write_text(f"VITE_PARLEY={server.base}\n")
    run(["npx", "vite", "build", "--logLevel", "warn"], folder)
    rendered = run([NODE, *socket_flag(), "--no-warnings", "render.mjs", server.base], folder)
    (folder / "rendered.html").write_text(rendered)
    (folder / "development.config.mjs").write_text(
        'const input = ["index.html", "rendered.html"];\n'
        'export default { build: { outDir: "development", rollupOptions: { input } } };\n'
    )
    options = ["--logLevel", "warn", "--mode", "development", "--config", "development.config.mjs"]
    run(["npx", "vite", "build", *options], folder, NODE_ENV="development")
    with contextlib.ExitStack() as stack:
        for name, built in (("production", "dist"), ("development", "development")):
            handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(folder / built))
            site = stack.enter_context(http.server.ThreadingHTTPServer(("127.0.0.1", ports[name]), handler))
            threading.Thread(target=site.serve_forever, daemon=True).start()
            stack.callback(site.shutdown)
        yield {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}


def run(command, folder, **environment):
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


class Page:
    """A page of the app, its mistakes, and the sockets that it opened."""

    def __init__(self, context, address):
        self.page = context.new_page()
        self.errors, self.sockets = [], []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda line: self.errors.append(line.text) if line.type in KINDS else None)
        self.page.on("websocket", lambda socket: self.sockets.append(socket.url))
        self.page.goto(address)

    def sign_in(self, login):
        self.page.get_by_label("Email").fill(login["email"])
        self.page.get_by_label("Password").fill(login["password"])
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.page.get_by_text(re.compile(r"^online, \d+ unread"))).to_be_visible()


def test_the_guide_shows_what_it_says():
    files = dict(FILE.findall(GUIDE.read_text(encoding="utf-8")))
    assert set(files) == {"index.html", "tsconfig.json", "main.tsx"}
    assert len([line for line in files["main.tsx"].splitlines() if line]) <= LINES


def test_the_guide_compiles_under_strict(project):
    """With the guide's own configuration."""
    run(["npx", "tsc"], project)


def test_the_app_of_the_guide(chromium, server, apps):
    logins = demo_people(server)
    alice, bob = (Api(server, logins[name]) for name in ("Alice", "Bob"))
    chat = alice.chat_with(bob)
    context = chromium.new_context()
    app = Page(context, apps["production"])
    page = app.page
    page.get_by_label("Email").fill(logins["Alice"]["email"])
    page.get_by_label("Password").fill("a wrong one")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).not_to_be_empty()
    # The browser tells of the refusal by itself.
    assert all("401" in error for error in app.errors)
    app.errors.clear()
    app.sign_in(logins["Alice"])
    entry = page.get_by_role("button", name=re.compile(f"^{bob.user['first_name']}"))
    bob.send(chat, "from Bob, into the list")
    expect(entry).to_contain_text("from Bob, into the list")
    entry.click()
    log = page.get_by_role("list")
    expect(log).to_contain_text("from Bob, into the list")
    page.get_by_label("Message").fill("from the app of the guide")
    page.get_by_role("button", name="Send").click()
    sent = log.get_by_role("listitem").last
    expect(sent).to_have_text("You: from the app of the guide")
    bob.send(chat, "and an answer")
    expect(log.get_by_role("listitem").last).to_contain_text("and an answer")
    page.reload()
    expect(page.get_by_text(re.compile(r"^online, \d+ unread"))).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Email")).to_be_visible()
    assert app.errors == []
    context.close()


def test_strict_mode_and_a_page_that_a_server_rendered(chromium, server, apps):
    """React's development build runs each effect twice, and complains about a page that differs from the server's."""
    logins = demo_people(server)
    alice, bob = (Api(server, logins[name]) for name in ("Alice", "Bob"))
    chat = alice.chat_with(bob)
    context = chromium.new_context()
    app = Page(context, apps["development"])
    app.sign_in(logins["Alice"])
    app.page.get_by_role("button", name=re.compile(f"^{bob.user['first_name']}")).click()
    log = app.page.get_by_role("list")
    # The server is the same for both versions of React.
    heard, sent = (f"{word} once {secrets.token_hex(3)}" for word in ("heard", "sent"))
    bob.send(chat, heard)
    expect(log.get_by_role("listitem").last).to_contain_text(heard)
    app.page.get_by_label("Message").fill(sent)
    app.page.get_by_role("button", name="Send").click()
    expect(log.get_by_role("listitem").last).to_have_text(f"You: {sent}")
    expect(log.get_by_text(heard)).to_have_count(1)
    expect(log.get_by_text(sent)).to_have_count(1)
    assert (len(app.sockets), app.errors) == (1, [])
    app.page.close()

    rendered = Page(context, f"{apps['development']}/rendered.html")
    served = rendered.page.request.get(f"{apps['development']}/rendered.html").text()
    assert "signed out, offline, not loaded, number" in served
    shown = rendered.page.locator("p")
    expect(shown).to_have_text(re.compile(r"^Alice, online, \d+, number$"))
    expect(shown).not_to_have_attribute("data-shown", "0")
    assert (len(rendered.sockets), rendered.errors) == (1, [])
    context.close()
