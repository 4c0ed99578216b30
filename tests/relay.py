"""coturn with deploy/turnserver.conf, and a client that speaks just enough STUN and TURN to ask it for things."""

import base64
import hashlib
import hmac
import ipaddress
import secrets
import shutil
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest

from tests.server import ROOT, free_port

TURNSERVER = shutil.which("turnserver")
needs_turnserver = pytest.mark.skipif(TURNSERVER is None, reason="needs turnserver (apt-get install coturn)")

SHIPPED = ROOT / "deploy/turnserver.conf"
SECRET = "a secret of 32 bytes between two servers"
REALM = "chat.example.com"
START_SECONDS = 20

# RFC 5389, RFC 5766, RFC 6062 and RFC 5780.
COOKIE = 0x2112A442
BINDING, ALLOCATE, CREATE_PERMISSION = 0x0001, 0x0003, 0x0008
ERROR = 0x0110
USERNAME, INTEGRITY, ERROR_CODE, PEER, REALM_ATTRIBUTE, NONCE = 0x0006, 0x0008, 0x0009, 0x0012, 0x0014, 0x0015
MAPPED, FAMILY, TRANSPORT, OTHER_ADDRESS = 0x0001, 0x0017, 0x0019, 0x802C

UDP, TCP = 17, 6

Attributes = list[tuple[int, bytes]]


class Relay:
    """A running coturn. `more` are lines after those of the shipped file."""

    def __init__(self, folder: Path, *more: str) -> None:
        self.port = free_port()
        self.log = folder / "turn.log"
        self._configuration = folder / "turnserver.conf"
        self._configuration.write_text("\n".join([self._shipped(), *more, ""]))
        self._command = [
            TURNSERVER or "turnserver", "-c", str(self._configuration), "--log-file=stdout",
            f"--pidfile={folder / 'turn.pid'}", f"--userdb={folder / 'turn.sqlite'}",
        ]  # fmt: skip
        self._folder = folder

    def _shipped(self) -> str:
        """The shipped file with another port and secret: both are asserted to stand there."""
        text = SHIPPED.read_text()
        places = {
            "listening-port=3478\n": f"listening-port={self.port}\n",
            "static-auth-secret=REPLACE-WITH-TURN_SECRET\n": f"static-auth-secret={SECRET}\n",
        }
        for documented, ours in places.items():
            assert documented in text, f"deploy/turnserver.conf lacks {documented}"
            text = text.replace(documented, ours)
        # Without certificates it would complain about TLS.
        return f"{text}\nno-tls\nno-dtls\n"

    def __enter__(self) -> "Relay":
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=subprocess.STDOUT, cwd=self._folder)
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            assert self._process.poll() is None and time.monotonic() < deadline, self.output()
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.terminate()
        self._process.wait(10)

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def _answers(self) -> bool:
        try:
            return TurnClient(self.port, timeout=0.2).binding() is not None
        except OSError:
            time.sleep(0.05)
            return False


def has_ipv6() -> bool:
    """Whether this machine has the loopback of IPv6: without it the relay has no IPv6 address to give."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


class TurnClient:
    """One socket to the relay: one allocation at most."""

    def __init__(
        self, port: int, *, credentials: tuple[str, str] | None = None, over_tcp: bool = False, timeout: float = 5
    ) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM if over_tcp else socket.SOCK_DGRAM)
        self._socket.settimeout(timeout)
        self._socket.connect(("127.0.0.1", port))
        self._username, self._password = credentials or credentials_of("user-7")
        self._nonce = b""

    def close(self) -> None:
        self._socket.close()

    def binding(self) -> dict[int, bytes]:
        """The attributes of the reply to a plain STUN request."""
        return self._ask(BINDING, [])[1]

    def old_binding(self) -> bytes:
        """The reply to a request of RFC 3489, which has no cookie; empty when there is none."""
        self._socket.settimeout(0.5)
        self._socket.send(struct.pack("!HH", BINDING, 0) + secrets.token_bytes(16))
        try:
            return self._socket.recv(2048)
        except TimeoutError:
            return b""

    def allocate(self, *, transport: int = UDP, ipv6: bool = False) -> int:
        """0, or the code of the error."""
        attributes = [(TRANSPORT, bytes([transport, 0, 0, 0]))]
        if ipv6:
            attributes.append((FAMILY, bytes([2, 0, 0, 0])))
        return self._authenticated(ALLOCATE, attributes)

    def permission(self, peer: str) -> int:
        """0 when the relay would pass on to this peer, or the code of the error."""
        transaction = secrets.token_bytes(12)
        return self._authenticated(CREATE_PERMISSION, [(PEER, _xored(peer, transaction))], transaction)

    def _authenticated(self, method: int, attributes: Attributes, transaction: bytes = b"") -> int:
        while True:
            code, reply = self._ask(method, attributes, transaction, signed=bool(self._nonce))
            if code not in (401, 438) or reply.get(NONCE, self._nonce) == self._nonce:
                return code
            self._nonce = reply[NONCE]

    def _ask(
        self, method: int, attributes: Attributes, transaction: bytes = b"", *, signed: bool = False
    ) -> tuple[int, dict[int, bytes]]:
        transaction = transaction or secrets.token_bytes(12)
        if signed:
            names = [(USERNAME, self._username.encode()), (REALM_ATTRIBUTE, REALM.encode()), (NONCE, self._nonce)]
            attributes = [*attributes, *names]
        body = b"".join(_attribute(*attribute) for attribute in attributes)
        if signed:
            key = hashlib.md5(f"{self._username}:{REALM}:{self._password}".encode(), usedforsecurity=False).digest()
            head = struct.pack("!HHI", method, len(body) + 24, COOKIE) + transaction
            body += _attribute(INTEGRITY, hmac.new(key, head + body, hashlib.sha1).digest())
        self._socket.send(struct.pack("!HHI", method, len(body), COOKIE) + transaction + body)
        while True:
            reply = self._socket.recv(4096)
            if reply[8:20] == transaction:
                return _read(reply)


def help_text() -> str:
    """What the program says about its options."""
    done = subprocess.run([TURNSERVER or "turnserver", "--help"], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def credentials_of(label: str) -> tuple[str, str]:
    """What coturn expects for an hour, computed without the product."""
    username = f"{int(time.time()) + 3600}:{label}"
    digest = hmac.new(SECRET.encode(), username.encode(), hashlib.sha1).digest()
    return username, base64.b64encode(digest).decode()


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("!HH", kind, len(value)) + value + bytes(-len(value) % 4)


def _xored(text: str, transaction: bytes) -> bytes:
    """XOR-PEER-ADDRESS, with port 9."""
    address = ipaddress.ip_address(text)
    key = struct.pack("!I", COOKIE) + transaction
    masked = bytes(byte ^ mask for byte, mask in zip(address.packed, key, strict=False))
    return struct.pack("!BBH", 0, 1 if address.version == 4 else 2, 9 ^ (COOKIE >> 16)) + masked


def _read(reply: bytes) -> tuple[int, dict[int, bytes]]:
    kind, length = struct.unpack("!HH", reply[:4])
    found: dict[int, bytes] = {}
    at = 20
    while at < 20 + length:
        name, size = struct.unpack("!HH", reply[at : at + 4])
        found[name] = reply[at + 4 : at + 4 + size]
        at += 4 + size + (-size % 4)
    code = found.get(ERROR_CODE, bytes(4))
    return (code[2] * 100 + code[3] if kind & ERROR == ERROR else 0), found
