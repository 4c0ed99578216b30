"""The Python client over time: its token is renewed, its session ends, its server goes away and comes back."""

import base64
import json
import shutil
import sys
import time
import tomllib

import httpx
import pytest

from tests.faults.proxy import PASS, FaultyProxy
from tests.sdk.test_generators import FLOWS, VAR, run
from tests.sdk.test_python_client import PYTHONS, TYPED, Bot, messages, package, python, world  # noqa: F401 (fixtures)
from tests.server import ROOT
from tests.waiting import wait_for

pytestmark = [pytest.mark.once, pytest.mark.slow, pytest.mark.timeout(600)]
PROJECT = ROOT / "deploy" / "sdk" / "python" / "pyproject.toml"
# A renewal is due after ten seconds, and may take thirty.
LIFE, EXPIRING = 40, 30
AWAY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
HTML = b"Content-Type: text/html\r\nContent-Length: 13\r\nConnection: close\r\n\r\n<h1>Away</h1>"
# What a proxy answers, and what the client says after its last attempt.
PAGES = {
    AWAY: "bad_response 503 True",
    b"HTTP/1.1 502 Bad Gateway\r\n" + HTML: "bad_response 502 True",
    b"HTTP/1.1 200 OK\r\n" + HTML: "bad_response 0 True",
}
AWAY_SECONDS = 12
# Of a client that does not wait between its attempts there would be thousands.
MOST_ATTEMPTS = 30


def session_of(token):
    """The id of the session that a token belongs to."""
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["sid"]


def state(folder):
    return json.loads((folder / "bot.json").read_text())


def bot_of(package, folder, account, url):  # noqa: F811
    return Bot(package, folder, PARLEY_URL=url, PARLEY_EMAIL=account["email"], PARLEY_PASSWORD=account["password"])


def say(server, login, chat, text):
    """As a user whose token is always fresh."""
    with httpx.Client(base_url=f"{server.base}/api/v1", timeout=60) as api:
        token = api.post("/auth/login", json=login).json()["token"]
        api.headers["Authorization"] = f"Bearer {token}"
        api.post(f"/messages/conversations/{chat}/messages", json={"body": text, "client_id": text})
        wait_for(lambda: f"You said: {text}" in messages(api, chat), what=f"an answer to {text}", seconds=90)


def test_its_token_is_renewed(world, package, tmp_path):  # noqa: F811
    server, _api, chat, account = world
    alice = json.loads((tmp_path / "var" / "demo.json").read_text())[0]
    login = {"email": alice["email"], "password": alice["password"]}
    server.kill()
    server.environment |= {
        "DJANGO_SETTINGS_MODULE": "tests.sdk.short_tokens",
        "TOKEN_LIFE_SECONDS": str(LIFE),
        "TOKEN_EXPIRING_SECONDS": str(EXPIRING),
    }
    server.start()
    bot = bot_of(package, tmp_path, account, server.base)
    bot.start()
    try:
        say(server, login, chat, "first")
        begun, tokens = time.monotonic(), [state(tmp_path)["token"]]

        def is_renewed():
            if (token := state(tmp_path)["token"]) != tokens[-1]:
                tokens.append(token)
            # Longer than the first token lives.
            return len(tokens) >= 4 and time.monotonic() - begun > LIFE + 2

        wait_for(is_renewed, what="three renewals", seconds=200)
        say(server, login, chat, "last")
    finally:
        bot.kill()
    assert {session_of(token) for token in tokens} == {session_of(tokens[0])}
    assert bot.log.read_text() == ""


def interpreter(version):
    """An interpreter of this version with the libraries of the client, kept between runs; None if there is none."""
    program = python(version)
    if program is None:
        return None
    folder, wanted = VAR / "sdk-python" / version, tomllib.loads(PROJECT.read_text())["project"]["dependencies"]
    marker = folder / "installed.txt"
    if not marker.exists() or marker.read_text().splitlines() != wanted:
        run(program, "-m", "venv", "--clear", folder)
        run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", *wanted)
        marker.write_text("\n".join(wanted))
    return folder / "bin" / "python"


def test_several_tasks_get_one_token_in_every_python(world, package, tmp_path):  # noqa: F811
    server, _api, _chat, account = world
    flow = shutil.copy(FLOWS / "session.py", package)
    run(sys.executable, *TYPED, "session.py", cwd=package)
    own = {"PARLEY_URL": server.base, "PARLEY_EMAIL": account["email"], "PARLEY_PASSWORD": account["password"]}
    found = {version: program for version in PYTHONS if (program := interpreter(version))}
    print(f"run with Python {', '.join(found)}")
    assert found
    for version, program in found.items():
        (folder := tmp_path / version).mkdir()
        assert run(program, "-W", "error", flow, cwd=folder, PYTHONPATH=str(package), **own) == "done\n", version


def test_a_page_of_a_proxy_is_an_error_that_passes(package, tmp_path):  # noqa: F811
    """Whatever stands before the server may answer: the client tries again, then says what it has got."""
    proxy = FaultyProxy(1)
    program = (
        "import asyncio; from parley_client import Parley, ParleyError\n"
        "async def main():\n"
        f"    parley = Parley('http://127.0.0.1:{proxy.port}', email='a@example.com', password='a')\n"
        "    try:\n        await parley.__aenter__()\n"
        "    except ParleyError as error:\n        print(error.code, error.status, error.is_temporary)\n"
        "asyncio.run(main())"
    )
    try:
        for page, told in PAGES.items():
            proxy.turn(page)
            attempts = proxy.attempts
            assert run(sys.executable, "-c", program, cwd=tmp_path, PYTHONPATH=str(package)) == f"{told}\n"
            assert proxy.attempts - attempts == 5
    finally:
        proxy.close()


def test_it_waits_longer_and_longer_for_a_server_that_is_away(world, package, tmp_path):  # noqa: F811
    server, api, chat, account = world
    proxy = FaultyProxy(server.port)
    bot = bot_of(package, tmp_path, account, f"http://127.0.0.1:{proxy.port}")
    bot.start()

    def hears(text):
        api.post(f"/messages/conversations/{chat}/messages", json={"body": text, "client_id": text})
        wait_for(lambda: f"You said: {text}" in messages(api, chat), what=f"an answer to {text}", seconds=120)

    try:
        hears("before")
        proxy.turn(AWAY)
        before, begun, attempts = proxy.attempts, time.monotonic(), []

        def was_away():
            if proxy.attempts - before > len(attempts):
                attempts.append(time.monotonic() - begun)
            return time.monotonic() - begun > AWAY_SECONDS and len(attempts) >= 3

        # The server starts again meanwhile, as a release does.
        server.kill()
        server.start()
        wait_for(was_away, what="attempts", seconds=120)
        assert proxy.attempts - before <= MOST_ATTEMPTS * (time.monotonic() - begun) / AWAY_SECONDS
        print(f"attempts after {[round(at, 1) for at in attempts]} s")
        proxy.turn(PASS)
        hears("after")
    finally:
        bot.kill()
        proxy.close()
    assert messages(api, chat).count("You said: before") == 1
    assert "Traceback" not in bot.log.read_text()
