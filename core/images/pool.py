"""Validates uploaded images, and keeps up to two processes that decode them, started on demand.

Every upload is decoded, pasted into a new image and encoded again, so that no metadata and no trailing byte of the upload
survives. That happens in another process (decoder), because a thread cannot be stopped and its memory cannot be
limited; it checks what the file declares before it decodes anything (structure). Here only the first bytes are read.
A process above its limits is killed, and the next image gets a new one.
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

from django.utils.translation import gettext_lazy as _

from core.api.exceptions import FileTooLarge, InvalidImage, ServiceUnavailable, UnsupportedMediaType
from core.images.formats import foreign_format
from core.images.structure import (
    MAX_FRAMES,
    MAX_PIXELS_OF_ALL_FRAMES,
    MAX_SIDE,
    MAX_STILL_PIXELS,
    REPLY,
    REQUEST,
    Reason,
    kind_of,
)

MAX_BYTES = 5_242_880

MIMES = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp", "GIF": "image/gif"}
_MILLION = 1_000_000
REFUSALS = {
    Reason.EMPTY: (_("The file is empty."), {}),
    Reason.BROKEN: (_("The image is broken."), {}),
    Reason.CUT_OFF: (_("The image is broken: a part of the file is missing."), {}),
    Reason.CODING: (_("This kind of JPEG is not supported. Save the image as an ordinary JPEG and send it again."), {}),
    Reason.SIDE: (_("The image is too large: a side may have %(pixels)s pixels at most."), {"pixels": MAX_SIDE}),
    Reason.PIXELS: (
        _("The image is too large: it may have %(number)s megapixels at most."),
        {"number": MAX_STILL_PIXELS // _MILLION},
    ),
    Reason.FRAMES: (_("The animation is too long: it may have %(frames)s frames at most."), {"frames": MAX_FRAMES}),
    Reason.ALL_FRAMES: (
        _("The animation is too large: its frames may have %(number)s megapixels together at most."),
        {"number": MAX_PIXELS_OF_ALL_FRAMES // _MILLION},
    ),
    Reason.PARTS: (_("The image is broken: its file consists of too many parts."), {}),
    Reason.WORK: (_("Opening the image takes too much memory or time."), {}),
}
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
        raise _refused(Reason.EMPTY)
    if kind_of(data) is None:
        raise _unsupported(data)
    return _pool.convert(data, avatar=avatar)


def _refused(reason: str) -> InvalidImage:
    text, values = REFUSALS[Reason(reason)]
    return InvalidImage(text % values)


def _unsupported(data: bytes) -> UnsupportedMediaType:
    found = foreign_format(data)
    if found is None:
        return UnsupportedMediaType()
    name, is_picture = found
    if is_picture:
        text = _("%(format)s pictures are not supported. Send JPEG, PNG, WebP or GIF.")
    else:
        text = _("%(format)s files are not supported. Send JPEG, PNG, WebP or GIF.")
    return UnsupportedMediaType(text % {"format": name})


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

_PROGRAM = str(Path(__file__).with_name("decoder.py"))
# Large blocks go back to the system at once, so an idle process stays small.
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
        """InvalidImage if the process refuses the image; _ProcessEnded if it was killed, by a limit or at the deadline."""
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
            raise _refused(details["refused"])
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
        """An idle process or a new one. The length of the list is not asked: another thread may take the last one."""
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
                raise _refused(Reason.WORK) from None
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
