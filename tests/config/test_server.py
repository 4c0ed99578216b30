"""How the server process behaves: ports, a stop that loses nothing, health with a broken database."""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import httpx
import pytest
import websockets

from server import protocols as parley_server
from tests import databases
from tests.server import ROOT, RunningServer, free_port

pytestmark = pytest.mark.once

# A small application behind our server class: slow requests, and a socket that says what it heard.
APPLICATION = """
import asyncio

async def application(scope, receive, send):
    if scope["type"] == "http":
        await asyncio.sleep(1.5)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
        await send({"type": "http.response.body", "body": b"done"})
    else:
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": str(len(message["text"]))})
        print("closed with", message["code"], flush=True)
        # What an application still says after the close must not become an error.
        try:
            await send({"type": "websocket.send", "text": "too late"})
        except OSError:
            pass
"""

SERVE = """
import logging, sys
logging.basicConfig(level=logging.INFO)
from server import protocols as server
options = server.configuration(host="127.0.0.1", port=int(sys.argv[1]), workers=1, access_log=False)
options.app = "application:application"
server.Server(options).run()
print("clean end", flush=True)
"""


@pytest.fixture
def small_server(tmp_path):
    (tmp_path / "application.py").write_text(textwrap.dedent(APPLICATION))
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(port)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(200):
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                break
        assert process.poll() is None, process.communicate()
        asyncio.run(asyncio.sleep(0.05))
    yield process, port
    process.kill()
    process.communicate()


async def test_a_stop_finishes_requests_and_closes_sockets_with_4503(small_server):
    process, port = small_server
    async with httpx.AsyncClient() as client, websockets.connect(f"ws://127.0.0.1:{port}/") as one:
        async with websockets.connect(f"ws://127.0.0.1:{port}/") as two:
            await one.send("hello")
            assert await one.recv() == "5"
            request = asyncio.create_task(client.get(f"http://127.0.0.1:{port}/slow", timeout=10))
            await asyncio.sleep(0.4)
            # Unread frames of a client must not turn the close into a broken connection.
            for _ in range(50):
                await two.send("x" * 1000)
            process.terminate()
            for socket_ in (one, two):
                with contextlib.suppress(websockets.ConnectionClosed):
                    async with asyncio.timeout(10):
                        async for _ in socket_:
                            pass
                assert socket_.close_code == parley_server.CLOSE_RESTART
            response = await request
            assert (response.status_code, response.text) == (200, "done")
    out, err = await asyncio.to_thread(process.communicate, timeout=10)
    assert process.returncode == 0, err
    assert "clean end" in out
    assert out.count("closed with 4503") == 2
    assert "Traceback" not in err


async def test_frames_of_64_kib_pass_and_one_byte_more_does_not(small_server):
    _, port = small_server
    async with websockets.connect(f"ws://127.0.0.1:{port}/", max_size=None) as connection:
        await connection.send("x" * 65_536)
        assert await connection.recv() == "65536"
        await connection.send("x" * 65_537)
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await asyncio.wait_for(connection.recv(), 10)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009


async def test_no_deflate_is_negotiated(small_server):
    _, port = small_server
    async with websockets.connect(f"ws://127.0.0.1:{port}/", compression="deflate") as connection:
        assert "Sec-WebSocket-Extensions" not in connection.response.headers


@pytest.fixture
def server(tmp_path):
    running = RunningServer(tmp_path)
    yield running
    running.kill()


def test_serve_ends_with_0_on_sigterm(server):
    server.start()
    assert httpx.get(f"{server.base}/readyz", timeout=10).json()["status"] == "ok"
    assert server.stop() == 0
    assert "Traceback" not in server.output()


def test_a_body_in_chunks_is_a_body_with_its_limit(server):
    server.start()

    def error_of(body: bytes) -> str:
        content = iter([body[:9], body[9:]])  # httpx knows no length and sends chunks, as .NET does with JSON
        headers = {"Content-Type": "application/json"}
        return httpx.post(f"{server.base}/api/v1/auth/login", content=content, headers=headers, timeout=20).json()[
            "error"
        ]

    assert error_of(b'{"email": "nobody@example.com", "password": "lantern 42"}') == "invalid_credentials"
    assert error_of(b"{") == "parse_error"
    assert error_of(b" " * 600_000) == "file_too_large"


def test_the_target_of_a_request_may_be_absolute_or_no_path(server):
    server.start()

    def answer(request_line: str, host: str = "127.0.0.1") -> tuple[str, dict]:
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
            client.sendall(f"{request_line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            head, _, body = b"".join(iter(lambda: client.recv(65_536), b"")).partition(b"\r\n\r\n")
        return head.split()[1].decode(), json.loads(body)

    for target in ("http://127.0.0.1/api/v1/auth/me", "HTTPS://elsewhere.example:8443/api/v1/auth/me?x=://"):
        status, body = answer(f"GET {target}")
        assert (status, body["error"]) == ("401", "token_invalid"), target
    assert answer("GET http://127.0.0.1/healthz")[0] == "200"
    for line in ("GET http://127.0.0.1/api/v1/nope", "CONNECT 127.0.0.1:443", "OPTIONS *"):
        status, body = answer(line)
        assert (status, body["error"]) == ("404", "not_found"), line
    assert answer("GET http://127.0.0.1/api/v1/auth/me", host="elsewhere.example")[0] == "400"


def test_a_client_cannot_imitate_the_header_of_the_proxy(server):
    """Every request is from another address, if the last of both headers counts: no rate would ever be used up."""
    server.environment["TRUSTED_PROXIES"] = "1"
    server.start()

    def ask(number: int) -> int:
        headers = [("X-Forwarded-For", "192.0.2.1"), ("X_Forwarded_For", f"198.51.100.{number}")]
        content = {"email": "nobody@example.com"}
        return httpx.post(
            f"{server.base}/api/v1/auth/forgot-password", json=content, headers=headers, timeout=20
        ).status_code

    assert [ask(number) for number in range(4)] == [200, 200, 200, 429]


def test_serve_takes_the_next_free_port_unless_one_is_named(server):
    databases.copy_sqlite(Path(server.environment["VAR_DIR"]))
    first = subprocess.Popen(
        [sys.executable, "manage.py", "serve", "--prepare", "--no-demo"],
        cwd=ROOT,
        env=server.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    second = None
    try:
        assert first.stdout is not None
        address = first_address(first.stdout)
        second = subprocess.Popen(
            [sys.executable, "manage.py", "serve"], cwd=ROOT, env=server.environment, stdout=subprocess.PIPE, text=True
        )
        assert second.stdout is not None
        assert first_address(second.stdout) != address
        port = address.rstrip("/").rpartition(":")[2]
        result = subprocess.run(
            [sys.executable, "manage.py", "serve", "--port", port],
            cwd=ROOT,
            env=server.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert result.returncode == 1
        assert f"Port {port} is taken" in result.stderr
    finally:
        for process in (first, second):
            if process is not None:
                process.terminate()
                process.communicate(timeout=30)


def first_address(stream):
    for line in stream:
        if "Parley" in line:
            return line.split()[-1]
    raise AssertionError("the server ended without saying where it is")


def test_without_a_database_the_process_lives_and_readyz_names_it(server):
    token = server.environment["METRICS_TOKEN"] = "a token of the operator"
    server.environment["DATABASE_URL"] = f"postgres://nobody@127.0.0.1:{free_port()}/nothing"
    command = [sys.executable, "manage.py", "serve", "--port", str(server.port), "--no-deliver"]
    process = subprocess.Popen(command, cwd=ROOT, env=server.environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        first_address(process.stdout)
        assert httpx.get(f"{server.base}/healthz", timeout=10).json() == {"ok": True, "status": "ok"}
        response = httpx.get(f"{server.base}/readyz", timeout=30, headers={"Authorization": f"Bearer {token}"})
        assert response.status_code == 503
        assert int(response.headers["Retry-After"]) >= 1
        body = response.json()
        assert body["ok"] is False
        assert body["status"] == "failed"
        assert body["message"] == "Not ready: database."
        assert body["checks"]["database"]["status"] == "failed"
        assert body["checks"]["migrations"]["status"] == "unknown"
    finally:
        process.terminate()
        process.communicate(timeout=40)


def test_more_workers_need_redis(server):
    result = subprocess.run(
        [sys.executable, "manage.py", "serve", "--workers", "2", "--port", str(server.port)],
        cwd=ROOT,
        env=server.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert result.returncode == 2
    assert "REDIS_URL" in result.stderr


def test_doctor_answers_in_json(server):
    result = subprocess.run(
        [sys.executable, "manage.py", "doctor", "--json"],
        cwd=ROOT,
        env=server.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    answer = json.loads(result.stdout)
    waiting = next(check for check in answer["checks"] if check["name"] == "migrations")
    assert (result.returncode, answer["ok"]) == (1, False)
    assert waiting["status"] == "error"
    assert waiting["detail"].endswith(" → manage.py migrate")
