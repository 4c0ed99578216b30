"""Clients that send or read slowly, or not at all, leave the service to the others."""

import asyncio
import contextlib
import json
import socket
import time

import httpx
import pytest

from server import request_bodies
from tests.images import corpus
from tests.server import RunningServer

pytestmark = pytest.mark.once

CLIENTS = 50
FORM = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n'


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = RunningServer(tmp_path_factory.mktemp("slow"))
    running.start(demo=True)
    yield running
    running.stop()


@contextlib.contextmanager
def connections(server, number: int, request: bytes):
    """So many connections that have sent this, and nothing after it."""
    with contextlib.ExitStack() as stack:
        opened = []
        for _ in range(number):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=30))
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.sendall(request)
            opened.append(client)
        time.sleep(0.5)
        yield opened


def head(method: str, path: str, *headers: str) -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *headers, "", ""]).encode()


def others_are_answered(server) -> None:
    for path, status in (("/healthz", 200), ("/api/v1/auth/me", 401), ("/readyz", 200)):
        started = time.monotonic()
        assert httpx.get(server.base + path, timeout=20).status_code == status
        assert time.monotonic() - started < 3, path


REQUESTS = {
    "no headers": b"",
    "half of the headers": b"GET /api/v1/auth/me HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ",
    "no body": head("POST", "/nope", "Content-Length: 1000000"),
    "no body of a login": head("POST", "/api/v1/auth/login", "Content-Type: application/json", "Content-Length: 200"),
    "half of a form": head("PUT", "/api/v1/profile/avatar", "Content-Type: multipart/form-data; boundary=b", "Content-Length: 5000000")
    + FORM,
    "no chunk": head("POST", "/api/v1/auth/login", "Transfer-Encoding: chunked", "Content-Type: application/json"),
    "a body for /healthz": head("POST", "/healthz", "Content-Length: 1000000"),
    "replies that are not read": head("GET", "/api/v1/realtime/schema"),
    "a body with a GET": head("GET", "/healthz", "Content-Length: 1000000"),
}  # fmt: skip


@pytest.mark.parametrize("name", REQUESTS)
def test_fifty_slow_clients_leave_the_service_to_the_others(server, name):
    with connections(server, CLIENTS, REQUESTS[name]):
        others_are_answered(server)


def test_a_view_has_ended_before_its_reply_is_read():
    """Ten megabytes for a client that takes nothing for a while, and then everything."""
    sent, ended, reads = [], asyncio.Event(), asyncio.Event()

    async def view(scope, receive, send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for number in range(1000):
            await send({"type": "http.response.body", "body": bytes([number % 256]) * 10_000, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        ended.set()

    async def send(message) -> None:
        await reads.wait()
        sent.append(message)

    async def never() -> None:
        await asyncio.Event().wait()

    async def both() -> None:
        scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
        answer = asyncio.create_task(request_bodies.ReadBodyFirst(view)(scope, never, send))
        await asyncio.wait_for(ended.wait(), 60)
        assert sent == []
        reads.set()
        await asyncio.wait_for(answer, 60)

    asyncio.run(both())
    body = b"".join(message.get("body", b"") for message in sent)
    assert sent[0]["type"] == "http.response.start" and sent[-1].get("more_body", False) is False
    assert body == b"".join(bytes([number % 256]) * 10_000 for number in range(1000))


def answer_of(client: socket.socket) -> tuple[int, dict]:
    data = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := client.recv(65_536):
            data += piece
    top, _, body = data.partition(b"\r\n\r\n")
    return int(top.split()[1]), json.loads(body)


@pytest.mark.parametrize(
    ("kind", "length"), [("application/json", 2_700_000), ("multipart/form-data; boundary=b", 5_400_000)]
)
def test_a_declared_length_beyond_the_limit_is_refused_at_once(server, kind, length):
    request = head("PUT", "/api/v1/profile/avatar", f"Content-Type: {kind}", f"Content-Length: {length}")
    with connections(server, 1, request) as [client]:
        status, body = answer_of(client)
    assert (status, body["ok"], body["error"]) == (413, False, "file_too_large")
    assert body["request_id"]


def test_a_body_beyond_the_limit_that_is_sent_all_the_same_gets_its_answer(server):
    answer = httpx.post(server.base + "/api/v1/auth/login", content=b"x" * 9_000_000, timeout=30)
    assert (answer.status_code, answer.json()["error"]) == (413, "file_too_large")
    pieces = (b"x" * 100_000 for _ in range(90))
    answer = httpx.post(server.base + "/api/v1/auth/login", content=pieces, timeout=30)
    assert (answer.status_code, answer.json()["error"]) == (413, "file_too_large")


def test_a_body_that_does_not_come_is_refused_in_time(server):
    request = head("POST", "/api/v1/auth/login", "Content-Type: application/json", "Content-Length: 50") + b'{"email"'
    with connections(server, 1, request) as [client]:
        status, body = answer_of(client)
    assert (status, body["error"]) == (400, "parse_error")


def test_headers_that_do_not_come_end_the_connection(server):
    with connections(server, 1, b"GET / HTTP/1.1\r\nHost:") as [client]:
        assert client.recv(1) == b""


def test_monitoring_reports_a_read_only_database(server):
    for path in ("/healthz", "/readyz", "/metrics"):
        answer = httpx.request("POST", server.base + path, content=b"x" * 100)
        assert (answer.status_code, answer.json()["error"]) == (405, "method_not_allowed")
        assert answer.headers["Allow"] == "GET, HEAD"
    assert httpx.head(server.base + "/healthz").status_code == 200


def test_bodies_arrive_whole_however_they_are_sent(server):
    """In one piece, in chunks and byte by byte; a picture and its reply, too."""
    login = {"email": "alice@example.com", "password": "wrong password"}
    body = json.dumps(login).encode()
    for content in (body, (piece for piece in (body[:5], body[5:]))):
        answer = httpx.post(
            server.base + "/api/v1/auth/login", content=content, headers={"Content-Type": "application/json"}
        )
        assert answer.json()["error"] == "invalid_credentials"
    picture = corpus.encoded(corpus.photo(900, 700), "PNG")
    refused = httpx.put(server.base + "/api/v1/profile/avatar", files={"file": ("a.png", picture)}, timeout=30)
    assert refused.json()["error"] == "token_invalid"
