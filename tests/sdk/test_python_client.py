"""The Python distribution: typed, and its bot answers each message exactly once over kills."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.guides import blocks
from tests.sdk.test_generators import VAR, generate, run
from tests.server import ROOT, RunningServer
from tests.waiting import wait_for

pytestmark = [pytest.mark.once, pytest.mark.timeout(900)]
(BOT,) = blocks("bot", "python")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
TYPED = ["-m", "mypy", "--strict", "--config-file", os.devnull]


def python(version):
    """An interpreter of this version, or None. A shim of pyenv stands in the path although it may start nothing."""
    for program in [shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")]:
        if program and subprocess.run([program, "--version"], capture_output=True, check=False).returncode == 0:
            return program
    return None


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The folder of the generated package, with the bot beside it."""
    made = generate("python", tmp_path_factory.mktemp("client"))
    (made / "bot.py").write_text(BOT)
    return made


def test_the_bot_has_at_most_30_lines():
    assert len(BOT.splitlines()) <= 30


@pytest.mark.parametrize("version", PYTHONS)
def test_it_is_typed(package, version):
    run(sys.executable, *TYPED, "--python-version", version, "-p", "parley_client", "-m", "bot", cwd=package)


@pytest.mark.parametrize("version", PYTHONS)
def test_other_pythons_read_it(package, version):
    program = python(version)
    if program is None:
        pytest.skip(f"no Python {version}")
    run(program, "-W", "error", "-m", "compileall", "-q", "-f", "parley_client", "bot.py", cwd=package)


def test_the_wheel_is_one_that_pip_installs(package, tmp_path):
    (wheel,) = (VAR / "packages").glob("parley_client-*.whl")
    python = VAR / "sdk-tools" / "python" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--target", tmp_path, wheel)
    assert (tmp_path / "parley_client" / "py.typed").exists()
    assert (tmp_path / "parley_client" / "events.py").read_bytes() == (
        package / "parley_client" / "events.py"
    ).read_bytes()


class Bot:
    """The guide's program as a process of its own."""

    def __init__(self, package: Path, folder: Path, **environment: str) -> None:
        self.command = [sys.executable, str(package / "bot.py")]
        self.folder, self.log = folder, folder / "bot.log"
        self.environment = {**os.environ, "PYTHONPATH": str(package), **environment}
        self.process = None

    def start(self):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, cwd=self.folder, env=self.environment, stdout=log, stderr=subprocess.STDOUT
            )

    def kill(self):
        self.process.kill()
        self.process.wait(timeout=20)


@pytest.fixture
def world(tmp_path):
    """A server, its demo people, and Alice with a conversation with Bob, whose account is the bot."""
    server = RunningServer(tmp_path, RATELIMIT_ENABLE="0")
    server.start(demo=True)
    alice, bob = json.loads((tmp_path / "var" / "demo.json").read_text())[:2]
    api = httpx.Client(base_url=f"{server.base}/api/v1", timeout=60)
    ids = {}
    for person in (bob, alice):
        login = {"email": person["email"], "password": person["password"]}
        reply = api.post("/auth/login", json=login).json()
        ids[person["email"]] = reply["user"]["id"]
        api.headers["Authorization"] = f"Bearer {reply['token']}"
    chat = api.post("/messages/conversations", json={"user_id": ids[bob["email"]]}).json()["conversation"]["id"]
    yield server, api, chat, bob
    api.close()
    server.kill()


def messages(api, chat):
    found = api.get(f"/messages/conversations/{chat}/messages", params={"limit": 100}).json()["messages"]
    return [message["body"] for message in reversed(found)]


def test_the_bot_answers_each_message_once_over_kills(world, package, tmp_path):
    server, api, chat, account = world
    bot = Bot(
        package, tmp_path, PARLEY_URL=server.base, PARLEY_EMAIL=account["email"], PARLEY_PASSWORD=account["password"]
    )
    said = []

    def say(count):
        for _ in range(count):
            said.append(f"number {len(said)}")
            api.post(f"/messages/conversations/{chat}/messages", json={"body": said[-1], "client_id": f"s{len(said)}"})

    def answered():
        time.sleep(0.2)
        return [body for body in messages(api, chat) if body and body.startswith("You said: number")]

    say(2)  # before the bot has ever run
    bot.start()
    try:
        wait_for(lambda: len(answered()) >= 1, what=f"an answer\n{bot.log.read_text()}", seconds=60)
        for pause in (0.0, 0.3, 0.6, 1.0):
            say(3)
            time.sleep(pause)
            bot.kill()
            say(1)
            bot.start()
            wait_for(lambda: len(answered()) > len(said) - 4, what="the answers of this round", seconds=60)
        server.kill()
        server.start()
        say(1)
        wait_for(lambda: len(answered()) >= len(said), what=f"every answer\n{bot.log.read_text()}", seconds=60)
    finally:
        bot.kill()
    assert sorted(answered()) == sorted(f"You said: {text}" for text in said)


def test_the_bot_signs_in_by_a_server_key(world, package, tmp_path):
    server, api, chat, account = world
    made = subprocess.run(
        [sys.executable, "manage.py", "create_server_key", "bot", "--scopes", "users:read,sessions:create", "--yes"],
        cwd=ROOT, env=server.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    (key,) = re.findall(r"sk_\w{8}_[\w-]{43}", made.stdout + made.stderr)
    bot = Bot(package, tmp_path, PARLEY_URL=server.base, PARLEY_EMAIL=account["email"], PARLEY_KEY=key)
    api.post(f"/messages/conversations/{chat}/messages", json={"body": "by key", "client_id": "key-1"})
    bot.start()
    try:
        wait_for(
            lambda: "You said: by key" in messages(api, chat), what=f"an answer\n{bot.log.read_text()}", seconds=60
        )
    finally:
        bot.kill()
