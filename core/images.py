"""Images: validation of uploads, and the processes that decode them: two, started on demand.

Every upload is decoded, pasted into a new image and encoded again, so that no metadata and no trailing byte of the upload
survives. Limits are checked before anything is decoded (image_structure). Decoding happens in another process
(image_decoder), because a thread cannot be stopped and its memory cannot be limited. A process above its limits is killed,
and the next image gets a new one.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from core.exceptions import FileTooLarge, InvalidImage, ServiceUnavailable, UnsupportedMediaType
from core.image_structure import REPLY, REQUEST, LimitExceeded, examine, kind_of

MAX_BYTES = 5_242_880

MIMES = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp", "GIF": "image/gif"}
EXTENSIONS = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp", "image/gif": "gif"}


@dataclass(frozen=True, slots=True)
class Picture:
    """A re-encoded upload: `content` and `thumbnail` are complete files of type `mime`."""

    mime: str
    width: int
    height: int
    content: bytes
    thumbnail: bytes
    blurhash: str
    upload_digest: str


def picture(data: bytes, *, avatar: bool = False) -> Picture:
    """The picture in `data`, animation kept; for an avatar its first frame as a square of 512 px.

    UnsupportedMediaType, InvalidImage, FileTooLarge.
    """
    if len(data) > MAX_BYTES:
        raise FileTooLarge
    if not data:
        raise InvalidImage
    if kind_of(data) is None:
        raise UnsupportedMediaType
    try:
        # The decoding process checks this itself; a file refused here does not use that process.
        examine(data, first_only=avatar)
    except LimitExceeded as error:
        raise InvalidImage from error
    return _pool.convert(data, avatar=avatar)


# --- The processes that decode ---------------------------------------------------------------------

MAX_DECODERS = 2
# An upload occupies a thread while it waits, so few uploads wait, and only for a short time. Of the four threads of a
# WSGI worker two decode, one waits, and one answers other requests.
MAX_WAITING = 12
MAX_WAITING_ON_FEW_THREADS = 1
WAIT_SECONDS = 1.8
RETRY_SECONDS = 3
# Wall-clock time: a busy machine needs longer than the allowed processor time.
DEADLINE_SECONDS = 40.0

# A process that ends within this time had ended before the request, because it was idle.
IDLE_EXIT_SECONDS = 1.0

_PROGRAM = str(Path(__file__).with_name("image_decoder.py"))
# Large blocks go back to the system at once: a process that waits stays small.
_MALLOC = {"MALLOC_MMAP_THRESHOLD_": "262144", "MALLOC_TRIM_THRESHOLD_": "262144", "MALLOC_ARENA_MAX": "1"}


class _ProcessEnded(Exception):
    """The process ended before it answered."""


class _Decoder:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ.get("PATH", ""), **_MALLOC},
        )
        self.has_answered = False

    @property
    def pid(self) -> int:
        return self._process.pid

    def convert(self, data: bytes, *, avatar: bool) -> Picture:
        """InvalidImage for what the process refuses; _ProcessEnded when it was killed, by a limit or at the deadline."""
        source, target = self._process.stdin, self._process.stdout
        assert source is not None and target is not None
        guard = threading.Timer(DEADLINE_SECONDS, self._process.kill)
        guard.daemon = True
        guard.start()
        try:
            source.write(REQUEST.pack(avatar, len(data)))
            source.write(data)
            source.flush()
            lengths = REPLY.unpack(_read(target, REPLY.size))
            head, content, thumbnail = (_read(target, length) for length in lengths)
        except OSError as error:
            raise _ProcessEnded from error
        finally:
            guard.cancel()
        self.has_answered = True
        details = json.loads(head)
        if "refused" in details:
            raise InvalidImage
        mime, upload_digest = MIMES[details.pop("kind")], hashlib.sha256(data).hexdigest()
        return Picture(**details, mime=mime, content=content, thumbnail=thumbnail, upload_digest=upload_digest)

    def end(self) -> None:
        # Leaving the block closes the pipes, which may fail to write the rest of a request, and waits for the end.
        with contextlib.suppress(OSError), self._process:
            self._process.kill()


def _read(source: IO[bytes], length: int) -> bytes:
    data = source.read(length)
    if len(data) < length:
        raise _ProcessEnded
    return data


@contextlib.contextmanager
def _place_in(semaphore: threading.Semaphore, *, wait_seconds: float) -> Iterator[None]:
    if not semaphore.acquire(timeout=wait_seconds):
        raise ServiceUnavailable(retry_after=RETRY_SECONDS)
    try:
        yield
    finally:
        semaphore.release()


class _Pool:
    """The decoders of this process."""

    def __init__(self, waiting: int = MAX_WAITING) -> None:
        self.waiting = waiting
        self.idle: list[_Decoder] = []
        self.slots = threading.BoundedSemaphore(MAX_DECODERS)
        self.queue = threading.BoundedSemaphore(MAX_DECODERS + waiting)

    def convert(self, data: bytes, *, avatar: bool) -> Picture:
        """The image in `data`, decoded and re-encoded. InvalidImage, ServiceUnavailable (too many are waiting)."""
        with _place_in(self.queue, wait_seconds=0), _place_in(self.slots, wait_seconds=WAIT_SECONDS):
            return self._convert(data, avatar=avatar)

    def close(self) -> None:
        """Ends the idle processes."""
        while self.idle:
            self.idle.pop().end()

    def _take(self) -> _Decoder:
        """An idle process or a new one. Not by the length of the list: another thread may take the last one."""
        try:
            return self.idle.pop()
        except IndexError:
            return _Decoder()

    def _convert(self, data: bytes, *, avatar: bool) -> Picture:
        while True:
            try:
                decoder = self._take()
            except OSError as error:
                raise ServiceUnavailable(retry_after=RETRY_SECONDS) from error
            is_new, started = not decoder.has_answered, time.monotonic()
            try:
                converted = decoder.convert(data, avatar=avatar)
            except _ProcessEnded:
                decoder.end()
                if not is_new and time.monotonic() - started < IDLE_EXIT_SECONDS:
                    continue  # it had ended because it was idle: try a new one
                raise InvalidImage from None
            except InvalidImage:
                self.idle.append(decoder)
                raise
            except BaseException:
                decoder.end()
                raise
            self.idle.append(decoder)
            return converted


_pool = _Pool()
atexit.register(lambda: _pool.close())


def _reset_after_fork() -> None:
    """The decoders belong to the parent process: the child starts its own."""
    global _pool
    _pool = _Pool(_pool.waiting)


os.register_at_fork(after_in_child=_reset_after_fork)


def expect_few_threads() -> None:
    """For a server with few threads, called before the first upload: fewer uploads wait."""
    global _pool
    _pool = _Pool(MAX_WAITING_ON_FEW_THREADS)


def decoder_pids() -> list[int]:
    return [decoder.pid for decoder in _pool.idle]
