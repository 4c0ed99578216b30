"""A closed loop of clients over keep-alive connections; as little code between write and read as possible."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median


@dataclass
class Result:
    seconds: float
    times: list[float] = field(default_factory=list)
    wrong: int = 0
    last_wrong: str = ""  # its status line

    @property
    def per_second(self) -> float:
        return len(self.times) / self.seconds

    def percentile(self, share: float) -> float:
        """In milliseconds."""
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000 if ordered else 0.0

    @property
    def p50(self) -> float:
        return median(self.times) * 1000 if self.times else 0.0


def request(method: str, path: str, *, token: str = "", body: bytes = b"") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Language: en\r\n"
    if token:
        head += f"Authorization: Bearer {token}\r\n"
    if body:
        head += "Content-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def run(port: int, make: Callable[[int], bytes], *, clients: int, seconds: float, expect: bytes) -> Result:
    """`make(client)` gives the next request of a client; answers other than `expect` count as wrong."""
    return asyncio.run(run_async(port, make, clients=clients, seconds=seconds, expect=expect))


async def run_async(port: int, make: Callable[[int], bytes], *, clients: int, seconds: float, expect: bytes) -> Result:
    """The same inside a running event loop."""
    result = Result(seconds)
    until = time.perf_counter() + seconds

    async def client(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (started := time.perf_counter()) < until:
            writer.write(make(number))
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n", 1)[0])
            await reader.readexactly(length)
            result.times.append(time.perf_counter() - started)
            if not head.startswith(b"HTTP/1.1 " + expect):
                result.wrong += 1
                result.last_wrong = head.partition(b"\r\n")[0].decode()
        writer.close()

    await asyncio.gather(*(client(number) for number in range(clients)))
    return result
