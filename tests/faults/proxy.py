"""A port in front of a real server that passes on, refuses, hangs or sends given bytes."""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable

from tests.server import free_port

PASS, REFUSE, HANG = "pass", "refuse", "hang"


class FaultyProxy:
    def __init__(self, to: int) -> None:
        self.to = to
        self.port = free_port()
        self.mode: str | bytes = PASS
        self.attempts = 0
        # Connections on which these bytes are sent are reset; how many have been.
        self.cut = b""
        self.resets = 0
        self._listener: socket.socket | None = None
        self._held: list[socket.socket] = []
        self.turn(PASS)

    def turn(self, mode: str | bytes) -> None:
        """Connections that are open break; new ones are handled as `mode` says. Bytes are sent, then the connection closes."""
        self._shut()
        self.mode = mode
        if mode == REFUSE:
            return
        listener = socket.create_server(("127.0.0.1", self.port), backlog=200)
        self._listener = listener
        threading.Thread(target=self._serve, args=(listener, mode), daemon=True).start()

    def close(self) -> None:
        self._shut()

    def _shut(self) -> None:
        if self._listener is not None:
            # A thread that waits in accept keeps the port until it is woken.
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None
        held, self._held = self._held, []
        for one in held:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _serve(self, listener: socket.socket, mode: str | bytes) -> None:
        while True:
            try:
                caller, _ = listener.accept()
            except OSError:
                return
            self.attempts += 1
            self._held.append(caller)
            if isinstance(mode, bytes):
                threading.Thread(target=_say, args=(caller, mode), daemon=True).start()
            elif mode == PASS:
                try:
                    inside = socket.create_connection(("127.0.0.1", self.to), timeout=5)
                except OSError:
                    caller.close()
                    continue
                inside.settimeout(None)
                self._held.append(inside)
                for one, other, watch in ((caller, inside, self._resets), (inside, caller, None)):
                    threading.Thread(target=_pour, args=(one, other, watch), daemon=True).start()

    def _resets(self, caller: socket.socket, data: bytes) -> bool:
        if not self.cut or self.cut not in data:
            return False
        # Instead of what is usual at the end of a connection.
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        caller.close()
        self.resets += 1
        return True


def _say(caller: socket.socket, words: bytes) -> None:
    with contextlib.suppress(OSError):
        caller.settimeout(0.2)
        if words.startswith(b"HTTP/"):
            caller.recv(65_536)
        caller.sendall(words)
        caller.shutdown(socket.SHUT_WR)
        while caller.recv(65_536):
            pass
    caller.close()


def _pour(
    one: socket.socket, other: socket.socket, resets: Callable[[socket.socket, bytes], bool] | None = None
) -> None:
    with contextlib.suppress(OSError):
        while data := one.recv(65_536):
            if resets and resets(one, data):
                break
            other.sendall(data)
    for end in (one, other):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
