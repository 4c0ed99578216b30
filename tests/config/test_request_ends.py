"""A request whose end two servers could see at different places is the last of its connection, on `manage.py serve` and on
granian behind nginx: what follows it is not read as another request."""

import re
import shutil
import socket
import ssl
from pathlib import Path

import pytest

from tests.fleet.services import Proxy, system_binary
from tests.images.test_service_under_uploads import GRANIAN, granian
from tests.server import RunningServer

pytestmark = pytest.mark.once

NEXT = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
POST = b"POST /api/v1/auth/login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
UPGRADE = (
    b"GET /api/v1/realtime HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MTIzNDU2Nzg5MDEyMzQ1Ng==\r\n"
)
# With its chunks the request ends here, with its length after the request that follows.
BOTH = b"Transfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n0\r\n\r\n" % (5 + len(NEXT))

REFUSED = {
    "both lengths": POST + BOTH,
    "both lengths, the other way": POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "both lengths of a GET": b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n" + BOTH,
    "both lengths of an upgrade": UPGRADE + BOTH,
    "two lengths": POST + b"Content-Length: 2\r\nContent-Length: 45\r\n\r\n{}",
    "two lengths, the same": POST + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "a list of lengths": POST + b"Content-Length: 2, 2\r\n\r\n{}",
    "a list of different lengths": POST + b"Content-Length: 2, 45\r\n\r\n{}",
    "length with a sign": POST + b"Content-Length: +2\r\n\r\n{}",
    "negative length": POST + b"Content-Length: -2\r\n\r\n{}",
    "length with a space": POST + b"Content-Length: 2 2\r\n\r\n{}",
    "length in hexadecimal": POST + b"Content-Length: 0x2\r\n\r\n{}",
    "length with an underscore": POST + b"Content-Length: 1_0\r\n\r\n0123456789",
    "length with a fraction": POST + b"Content-Length: 2.0\r\n\r\n{}",
    "length with an exponent": POST + b"Content-Length: 2e0\r\n\r\n{}",
    "empty length": POST + b"Content-Length: \r\n\r\n",
    "length after a vertical tab": POST + b"Content-Length: \x0b2\r\n\r\n{}",
    "length in other digits": POST + "Content-Length: ٢\r\n\r\n{}".encode(),
    "chunked twice": POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "chunked, then identity": POST + b"Transfer-Encoding: chunked, identity\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "identity, then chunked": POST + b"Transfer-Encoding: identity, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "identity": POST + b"Transfer-Encoding: identity\r\n\r\n",
    "an unknown coding": POST + b"Transfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "chunked in quotes": POST + b'Transfer-Encoding: "chunked"\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    "chunked after a vertical tab": POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "empty coding": POST + b"Transfer-Encoding: \r\n\r\n",
    "chunked in HTTP/1.0": CHUNKED.replace(b"/1.1\r\n", b"/1.0\r\nConnection: keep-alive\r\n", 1)
    + b"2\r\n{}\r\n0\r\n\r\n",
    "space before the colon": POST + b"Content-Length : 2\r\n\r\n{}",
    "space before the colon of chunked": POST + b"Transfer-Encoding : chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "tab before the colon": POST + b"Content-Length\t: 2\r\n\r\n{}",
    "folded coding": POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "folded header": POST + b"X-A: a\r\n\tb\r\nContent-Length: 2\r\n\r\n{}",
    "header that begins with a space": b"GET /healthz HTTP/1.1\r\n Host: a\r\nHost: 127.0.0.1\r\n\r\n",
    "CR alone": POST + b"X-A: b\rContent-Length: 2\r\n\r\n",
    "NUL": POST + b"X-A: b\x00\r\nContent-Length: 2\r\n\r\n{}",
    "no colon": POST + b"Content-Length\r\n\r\n",
    "length of 16 digits": POST + b"Content-Length: 0000000000000002\r\n\r\n{}",
    "length of 30 digits": POST + b"Content-Length: " + b"0" * 29 + b"2\r\n\r\n{}",
    "HTTP/2.0": CHUNKED.replace(b"/1.1\r\n", b"/2.0\r\n", 1) + b"2\r\n{}\r\n0\r\n\r\n",
    "HTTP/3.0 with a length": POST.replace(b"/1.1\r\n", b"/3.0\r\n", 1) + b"Content-Length: 2\r\n\r\n{}",
    "HTTP/0.9": b"GET /healthz\r\n\r\n",
    "beginning of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "two hosts": b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: a\r\n\r\n",
}
LINES = {
    "LF alone": POST.replace(b"\r\n", b"\n") + b"Content-Length: 2\n\n{}",
    "LF alone after a header": POST + b"X-A: b\nContent-Length: 2\r\n\r\n{}",
    "LF alone at the end": POST + b"Content-Length: 2\r\n\n{}",
}
CHUNKS = {
    "size with 0x": CHUNKED + b"0x2\r\n{}\r\n0\r\n\r\n",
    "negative size": CHUNKED + b"-2\r\n{}\r\n0\r\n\r\n",
    "size with a sign": CHUNKED + b"+2\r\n{}\r\n0\r\n\r\n",
    "size with an underscore": CHUNKED + b"0_2\r\n{}\r\n0\r\n\r\n",
    "space after the size": CHUNKED + b"2 \r\n{}\r\n0\r\n\r\n",
    "space before the size": CHUNKED + b" 2\r\n{}\r\n0\r\n\r\n",
    "LF after the size": CHUNKED + b"2\n{}\n0\n\n",
    "LF in an extension": CHUNKED + b"2;a\nxx\r\n{}\r\n0\r\n\r\n",
    "CR in an extension": CHUNKED + b"2;a\rxx\r\n{}\r\n0\r\n\r\n",
    "more than the chunk": CHUNKED + b"2\r\n{}XX0\r\n\r\n",
    "no size": CHUNKED + b"\r\n{}\r\n0\r\n\r\n",
    "a size of 31 digits": CHUNKED + b"0" * 30 + b"2\r\n{}\r\n0\r\n\r\n",
    "a size beyond 64 bits": CHUNKED + b"10000000000000002\r\n{}\r\n0\r\n\r\n",
    "a size of 64 bits": CHUNKED + b"FFFFFFFFFFFFFFFE\r\n{}\r\n0\r\n\r\n",
    "LF after the last chunk": CHUNKED + b"2\r\n{}\r\n0\r\n\n",
    "LF in a trailer": CHUNKED + b"2\r\n{}\r\n0\r\nX-A: b\n\r\n",
    "folded trailer": CHUNKED + b"2\r\n{}\r\n0\r\nX-A: b\r\n c\r\n\r\n",
    "space before the colon of a trailer": CHUNKED + b"2\r\n{}\r\n0\r\nX-A : b\r\n\r\n",
}
REWRITTEN = {
    *LINES,
    "length of 16 digits",
    "length of 30 digits",
    "space after the size",
    "LF after the size",
    "a size of 31 digits",
    "LF after the last chunk",
    "LF in a trailer",
    "folded trailer",
    "space before the colon of a trailer",
}
# What the standard allows, and real clients send.
ACCEPTED = {
    "length": POST + b"Content-Length: 2\r\n\r\n{}",
    "length in lower case": POST + b"content-length:2 \r\n\r\n{}",
    "HTTP/1.2": POST.replace(b"/1.1\r\n", b"/1.2\r\n", 1) + b"Content-Length: 2\r\n\r\n{}",
    "length with zeros": POST + b"Content-Length: 002\r\n\r\n{}",
    "chunks": CHUNKED + b"1\r\n{\r\n01\r\n}\r\n0\r\n\r\n",
    "chunks in capitals": POST + b"TRANSFER-ENCODING: Chunked\r\n\r\n02\r\n{}\r\n000\r\n\r\n",
    "an extension": CHUNKED + b'2;name="value"\r\n{}\r\n0;last\r\n\r\n',
    "a trailer": CHUNKED + b"2\r\n{}\r\n0\r\nX-Sum: 1\r\n\r\n",
    "a length in another name": POST + b"X-Content-Length: 45\r\nContent_Length: 45\r\nContent-Length: 2\r\n\r\n{}",
    "body of a GET": b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\nhello",
}


@pytest.fixture(scope="module")
def serve(tmp_path_factory):
    running = RunningServer(tmp_path_factory.mktemp("ends"), RATELIMIT_ENABLE="0")
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def proxy(serve, tmp_path_factory):
    """The port of nginx with the shipped file, before granian."""
    if not system_binary("nginx") or not shutil.which("openssl") or not GRANIAN.exists():
        pytest.skip("needs nginx, openssl and granian")
    folder = tmp_path_factory.mktemp("proxy")
    with granian(serve) as base:
        port = int(base.rpartition(":")[2])
        nginx = Proxy(folder, http=[port, port], sockets=[serve.port, serve.port], media=folder)
        nginx.process.start()
        yield nginx
        nginx.stop()


def talk(port: int, request: bytes, *, pieces: bool = False, certificate: Path | None = None):
    """The status codes that come back for a request and another one behind it, the whole answer, and whether the server has
    closed the connection then."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    if certificate:
        connection = ssl.create_default_context(cafile=certificate).wrap_socket(connection, server_hostname="127.0.0.1")
    received, is_closed = b"", False
    with connection:
        for piece in [bytes([byte]) for byte in request] if pieces else [request]:
            try:
                connection.sendall(piece)
            except OSError:  # refused before its end
                break
        try:
            connection.sendall(NEXT)
            while statuses(received) != 2:
                piece = connection.recv(65_536)
                if not piece:
                    is_closed = True
                    break
                received += piece
        except ConnectionError:
            is_closed = True
    return re.findall(rb"HTTP/1\.1 (\d\d\d)", received), received, is_closed


def statuses(received: bytes) -> int:
    return len(re.findall(rb"HTTP/1\.1 \d\d\d", received))


@pytest.mark.parametrize("name", [*REFUSED, *LINES, *CHUNKS])
@pytest.mark.parametrize("pieces", [False, True], ids=["whole", "bytewise"])
def test_serve_refuses_it_and_closes_the_connection(serve, name, pieces):
    codes, answer, is_closed = talk(serve.port, (REFUSED | LINES | CHUNKS)[name], pieces=pieces)
    assert is_closed and len(codes) < 2, answer
    if pieces and not codes:
        return  # what was sent after the refusal has reset the connection, and its reply with it
    assert codes == [b"400"], answer
    assert b"connection: close\r\n" in answer.lower()
    assert b'"error": "parse_error"' in answer and b'"request_id": "' in answer


@pytest.mark.parametrize("name", ACCEPTED)
@pytest.mark.parametrize("pieces", [False, True], ids=["whole", "bytewise"])
def test_serve_answers_what_the_standard_allows_and_goes_on(serve, name, pieces):
    codes, answer, _ = talk(serve.port, ACCEPTED[name], pieces=pieces)
    assert codes == [b"200" if name == "body of a GET" else b"400", b"200"], answer
    assert b"parse_error" not in answer


@pytest.mark.parametrize("name", [*REFUSED, *LINES, *CHUNKS])
def test_nginx_refuses_it_or_rewrites_it(proxy, name):
    """What nginx reads more freely than the standard, it sends to granian in one form that has one end only."""
    codes, answer, is_closed = talk(proxy.port, (REFUSED | LINES | CHUNKS)[name], certificate=proxy.certificate)
    if name in REWRITTEN:
        assert codes == [b"400", b"200"] and b"validation_error" in answer and b'"status":' in answer, answer
    else:
        assert codes in ([b"400"], [b"501"], [b"505"], []) and is_closed, answer


@pytest.mark.parametrize("name", ACCEPTED)
def test_nginx_passes_on_what_the_standard_allows(proxy, name):
    codes, answer, _ = talk(proxy.port, ACCEPTED[name], certificate=proxy.certificate)
    assert codes == [b"200" if name == "body of a GET" else b"400", b"200"], answer
    assert b"parse_error" not in answer
