"""A body that is refused is taken in, so that the answer arrives; one that comes in chunks is measured."""

import asyncio
import errno
import io
import json

import pytest
from django.test import RequestFactory

from server import concurrency_limit, middleware, request_bodies
from server.concurrency_limit import ConcurrencyLimit


def test_the_rest_of_a_refused_body_is_read_up_to_a_limit(rf: RequestFactory, monkeypatch):
    monkeypatch.setattr(middleware, "REFUSED_BODY_READ", 200_000)
    for size, left in ((150_000, 0), (500_000, 300_000)):
        source = io.BytesIO(b"x" * size)
        request = rf.generic("POST", "/", b"", **{"wsgi.input": source, "CONTENT_LENGTH": str(size)})
        middleware._read_the_rest(request)
        assert size - source.tell() == left


def test_a_body_in_chunks_gets_a_length_and_is_read_up_to_a_limit(rf: RequestFactory, monkeypatch):
    monkeypatch.setattr(middleware, "REFUSED_BODY_READ", 131_072)
    for size, taken in ((0, 0), (1_000, 1_000), (500_000, 131_072)):
        source = io.BytesIO(b"x" * size)
        request = rf.generic("POST", "/", b"", **{"wsgi.input": source, "HTTP_TRANSFER_ENCODING": "chunked"})
        middleware._read_chunked_body(request)
        assert (request.META["CONTENT_LENGTH"], len(request.read())) == (str(taken), taken)


LISTED = "https://app.example.org"
SENT = {"Host": "testserver", "Accept-Language": "de", "Origin": LISTED, "X-Request-Id": "0123456789abcdef"}


def answer_of(application, method="POST", **headers):
    """Status, headers and body of a reply over ASGI; the client sends no body."""
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    pairs = [(name.lower().replace("_", "-").encode(), value.encode()) for name, value in (SENT | headers).items()]
    scope = {"type": "http", "method": method, "path": "/api/v1/nope", "query_string": b"", "headers": pairs}
    asyncio.run(application(scope, receive, send))
    top = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], top, json.loads(b"".join(message.get("body", b"") for message in sent))


async def full(scope, receive, send):
    raise AssertionError("called")


@pytest.mark.parametrize(
    ("status", "refuse", "own"),
    [
        (413, lambda: answer_of(request_bodies.ReadBodyFirst(full), Content_Length="9000000"), {"connection"}),
        (405, lambda: answer_of(request_bodies.read_only(full)), {"connection", "allow"}),
        (503, lambda: answer_of(ConcurrencyLimit(full, slots=0)), {"retry-after"}),
    ],
)
def test_a_reply_without_a_view_is_like_all_others(client, settings, monkeypatch, status, refuse, own):
    monkeypatch.setattr(concurrency_limit, "WAIT_SECONDS", 0.01)
    settings.CORS_ALLOWED_ORIGINS = [LISTED]
    other = client.get("/api/v1/nope", headers=SENT)
    expected = {name.lower(): value for name, value in other.headers.items()}
    assert {"content-security-policy", "x-content-type-options", "access-control-allow-origin"} <= set(expected)
    answered, headers, body = refuse()
    assert answered == status and set(headers) - set(expected) == own
    length = {"content-length"}
    assert {name: headers.get(name) for name in expected if name not in length} == {
        name: value for name, value in expected.items() if name not in length
    }
    assert body["request_id"] == SENT["X-Request-Id"]


def test_a_wrong_host_is_refused_with_the_same_headers_of_security(client):
    other = client.get("/api/v1/nope")
    refused = client.get("/api/v1/nope", headers={"Host": "evil.example"})
    assert (refused.status_code, refused.json()["error"]) == (400, "parse_error")
    assert set(other.headers) - set(refused.headers) == {"Content-Language", "Vary"}


class FullDisk(io.BytesIO):
    def read(self, *args):
        raise OSError(errno.ENOSPC, "No space left on device")

    write = read


def test_a_body_that_the_disk_cannot_take_is_told_to_come_back(client, monkeypatch):
    chunked = {"wsgi.input": FullDisk(), "HTTP_TRANSFER_ENCODING": "chunked", "CONTENT_LENGTH": ""}
    replies = [client.generic("POST", "/api/v1/auth/login", **chunked).json()]
    monkeypatch.setattr(request_bodies, "SpooledTemporaryFile", lambda **_: FullDisk())
    replies.append(answer_of(request_bodies.ReadBodyFirst(full), Content_Length="5")[2])
    for reply in replies:
        assert (reply["error"], reply["retry_after"]) == ("service_unavailable", 60)
