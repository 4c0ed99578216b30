"""The structure of an image before it is decoded, its limits, and the messages between server and decoding process.

Imports only the standard library, because the decoding process loads it.
"""

import struct
from dataclasses import dataclass, field
from enum import StrEnum

MAX_SIDE = 12_000
MAX_STILL_PIXELS = 24_000_000
MAX_FRAMES = 200
MAX_PIXELS_OF_ALL_FRAMES = 30_000_000
MAX_JPEG_SCANS = 64
# Segments of a JPEG, chunks of a PNG or WebP, blocks of a GIF. Real files have as many as frames, or one for every few
# kilobytes.
MAX_PARTS = 4_000
# A GIF stores its pixels in sub-blocks of at most 255 bytes: 5 MB are 20,600 of the longest.
MAX_GIF_SUB_BLOCKS = 50_000

# The messages between the server and the decoding process. A request: whether it is an avatar, and the number of bytes
# that follow. A reply: the lengths of a JSON object, a picture and a thumbnail.
REQUEST = struct.Struct(">?I")
REPLY = struct.Struct(">III")

PNG_START = b"\x89PNG\r\n\x1a\n"
GIF_STARTS = (b"GIF87a", b"GIF89a")


class Reason(StrEnum):
    """Why a picture is refused; core.images has a sentence for each."""

    EMPTY = "empty"
    BROKEN = "broken"
    CUT_OFF = "cut_off"
    CODING = "coding"
    SIDE = "side"
    PIXELS = "pixels"
    FRAMES = "frames"
    ALL_FRAMES = "all_frames"
    PARTS = "parts"
    WORK = "work"


class Refused(Exception):
    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a GIF or an animated PNG, as its file stores it."""

    x: int
    y: int
    width: int
    height: int
    duration_ms: int
    # How its area is treated before the next frame: NONE, CLEAR or RESTORE.
    disposal: int
    # Drawn over the earlier pixels; otherwise it replaces them.
    is_over: bool = True
    # The ranges of its data in the file: for a GIF one range from the image descriptor to the end of its sub-blocks, for
    # a PNG the bodies of its chunks.
    parts: list[tuple[int, int]] = field(default_factory=list)
    transparent_index: int | None = None


NONE, CLEAR, RESTORE = range(3)


@dataclass(frozen=True, slots=True)
class Structure:
    kind: str
    width: int
    height: int
    frames: int
    # 1 to 8, as in Exif.
    orientation: int = 1
    # Of a JPEG in several scans: the decoder keeps the coefficients until it has read the last scan.
    coefficient_bytes: int = 0
    # Of a JPEG: the segments and scans of its first picture, without thumbnails, metadata and trailing data (a film, a
    # second picture).
    parts: list[tuple[int, int]] = field(default_factory=list)
    # Of a JPEG: its end is missing.
    is_cut: bool = False
    # Of a GIF or an animated PNG.
    sequence: list[Frame] = field(default_factory=list)
    # How often an animation plays: 0 for ever, None (a GIF without this number) once.
    loop: int | None = 0
    # Of a PNG: the bodies of the small chunks that stand before its pixels.
    chunks: dict[bytes, bytes] = field(default_factory=dict)


def kind_of(data: bytes) -> str | None:
    """JPEG, PNG, GIF or WEBP by the first bytes; None for anything else."""
    if data.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if data.startswith(PNG_START):
        return "PNG"
    if data.startswith(GIF_STARTS):
        return "GIF"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WEBP"
    return None


def check_size(width: int, height: int) -> None:
    """Refused beyond the longest side or the most pixels of one frame."""
    if width < 1 or height < 1:
        raise Refused(Reason.BROKEN)
    if width > MAX_SIDE or height > MAX_SIDE:
        raise Refused(Reason.SIDE)
    if width * height > MAX_STILL_PIXELS:
        raise Refused(Reason.PIXELS)


def orientation_in(exif: bytes) -> int:
    """1 to 8 from the first directory of Exif data; 1 when it is missing or unreadable."""
    data = exif.removeprefix(b"Exif\x00\x00")
    order = {b"II": "<", b"MM": ">"}.get(data[:2])
    if order is None:
        return 1
    try:
        (offset,) = struct.unpack_from(f"{order}I", data, 4)
        (count,) = struct.unpack_from(f"{order}H", data, offset)
        for entry in range(offset + 2, offset + 2 + 12 * min(count, 1_000), 12):
            tag, kind, number = struct.unpack_from(f"{order}HHI", data, entry)
            if tag == 0x0112:
                layout = {1: "B", 3: "H", 4: "I"}.get(kind)
                value = struct.unpack_from(order + layout, data, entry + 8)[0] if layout and number == 1 else 1
                return value if 1 <= value <= 8 else 1
    except struct.error:
        pass
    return 1
