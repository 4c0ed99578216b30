"""The size and frame count that an image's headers declare, read without decoding it.

A few bytes can declare gigabytes of pixels or hours of work. A file that declares more than the limits is refused
before it is decoded. Imports only the standard library, because the decoding process loads it.
"""

import struct
from dataclasses import dataclass

MAX_SIDE = 12_000
MAX_STILL_PIXELS = 24_000_000
MAX_FRAMES = 200
MAX_PIXELS_OF_ALL_FRAMES = 30_000_000
MAX_JPEG_SCANS = 64
# Of a PNG or WebP file. Real ones have as many as frames, or one for every few kilobytes.
MAX_CHUNKS = 4_000
MAX_GIF_BLOCKS = 4_000

# The messages between the server and the decoding process. A request: whether it is an avatar, and the number of bytes
# that follow. A reply: the lengths of a JSON object, a picture and a thumbnail.
REQUEST = struct.Struct(">?I")
REPLY = struct.Struct(">III")

PNG_START = b"\x89PNG\r\n\x1a\n"
GIF_STARTS = (b"GIF87a", b"GIF89a")


class LimitExceeded(Exception):
    """The file is broken, or declares more than the limits."""


@dataclass(frozen=True, slots=True)
class Structure:
    kind: str
    width: int
    height: int
    frames: int
    # Of a JPEG in several scans: the decoder keeps the coefficients until it has read the last scan.
    coefficient_bytes: int = 0


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


def examine(data: bytes, *, first_only: bool = False) -> Structure:
    """Size and number of frames; `first_only` when no more than one frame will be decoded. LimitExceeded."""
    readers = {"JPEG": _jpeg, "PNG": _png, "GIF": _gif, "WEBP": _webp}
    kind = kind_of(data)
    if kind is None:
        raise LimitExceeded("no picture")
    try:
        structure = readers[kind](data)
    except (struct.error, IndexError) as error:
        raise LimitExceeded("cut off") from error
    check_size(structure.width, structure.height)
    if structure.frames > MAX_FRAMES:
        raise LimitExceeded("too many frames")
    pixels = structure.frames * structure.width * structure.height
    if structure.frames > 1 and not first_only and pixels > MAX_PIXELS_OF_ALL_FRAMES:
        raise LimitExceeded("too many pixels in all frames")
    return structure


def check_size(width: int, height: int) -> None:
    """LimitExceeded beyond the longest side or the most pixels of one frame."""
    if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE):
        raise LimitExceeded("a side is too long")
    if width * height > MAX_STILL_PIXELS:
        raise LimitExceeded("too many pixels")


def _jpeg(data: bytes) -> Structure:
    # Inside of coded data 0xFF is always followed by 0x00, so each of these is a scan, also in an embedded thumbnail.
    scans = data.count(b"\xff\xda")
    if scans > MAX_JPEG_SCANS:
        raise LimitExceeded("too many scans")
    offset, frames = 2, []
    while True:
        while data[offset] == 0xFF and data[offset + 1] == 0xFF:
            offset += 1
        if data[offset] != 0xFF:
            offset += 1  # decoders pass over what stands between segments
            continue
        marker = data[offset + 1]
        if marker == 0xDA or marker == 0xD9:
            break
        if marker == 0x01 or 0xD0 <= marker <= 0xD8:
            offset += 2
            continue
        (length,) = struct.unpack_from(">H", data, offset + 2)
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width, components = struct.unpack_from(">HHB", data, offset + 5)
            sampling = [data[offset + 11 + 3 * number] for number in range(components)]
            frames.append((width, height, sampling))
        offset += 2 + max(length, 2)
    if len(frames) != 1 or not frames[0][2]:
        raise LimitExceeded("not one frame")
    [(width, height, sampling)] = frames
    blocks = [(factors >> 4) * (factors & 15) for factors in sampling]
    max_factor = max(factors >> 4 for factors in sampling) * max(factors & 15 for factors in sampling) or 1
    return Structure("JPEG", width, height, 1, 2 * width * height * sum(blocks) // max_factor if scans > 1 else 0)


def _png(data: bytes) -> Structure:
    width, height = struct.unpack_from(">II", data, 16)
    offset, chunks, frames, declared, extra = 8, 0, 0, 1, 0
    while offset + 12 <= len(data):
        length, name = struct.unpack_from(">I4s", data, offset)
        chunks += 1
        if chunks > MAX_CHUNKS:
            raise LimitExceeded("too many chunks")
        if name == b"IHDR" and chunks > 1:
            raise LimitExceeded("two headers")
        if name == b"acTL":
            (declared,) = struct.unpack_from(">I", data, offset + 8)
        elif name == b"IDAT" and not frames:
            extra = 1  # a picture that is no frame of the animation is decoded, too
        elif name == b"fcTL":
            frames += 1
            frame_width, frame_height, x, y = struct.unpack_from(">IIII", data, offset + 12)
            _check_frame(frame_width, frame_height, x, y, width, height)
        elif name == b"IEND":
            break
        offset += 12 + length
    else:
        raise LimitExceeded("cut off")
    return Structure("PNG", width, height, max(frames, declared) + extra if frames else 1)


def _gif(data: bytes) -> Structure:
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    offset = 13 + (3 << ((flags & 7) + 1) if flags & 0x80 else 0)
    frames = blocks = 0
    while offset < len(data) and data[offset] != 0x3B:
        blocks += 1
        if blocks > MAX_GIF_BLOCKS:
            raise LimitExceeded("too many blocks")
        if data[offset] == 0x2C:
            x, y, frame_width, frame_height, flags = struct.unpack_from("<HHHHB", data, offset + 1)
            _check_frame(frame_width, frame_height, x, y, width, height)
            frames += 1
            offset = _after_sub_blocks(data, offset + 11 + (3 << ((flags & 7) + 1) if flags & 0x80 else 0))
        elif data[offset] == 0x21:
            offset = _after_sub_blocks(data, offset + 2)
        else:
            offset += 1  # decoders pass over what stands between blocks
    return Structure("GIF", width, height, max(1, frames))


def _after_sub_blocks(data: bytes, offset: int) -> int:
    while offset < len(data) and data[offset]:
        offset += 1 + data[offset]
    return offset + 1


def _webp(data: bytes) -> Structure:
    offset, chunks, frames = 12, 0, 0
    width = height = 0
    while offset + 8 <= len(data):
        name, length = struct.unpack_from("<4sI", data, offset)
        chunks += 1
        if chunks > MAX_CHUNKS:
            raise LimitExceeded("too many chunks")
        body = offset + 8
        if name == b"VP8X":
            width, height = _uint24(data, body + 4) + 1, _uint24(data, body + 7) + 1
        elif name == b"ANMF":
            frames += 1
            x, y = 2 * _uint24(data, body), 2 * _uint24(data, body + 3)
            _check_frame(_uint24(data, body + 6) + 1, _uint24(data, body + 9) + 1, x, y, width, height)
        elif name in (b"VP8 ", b"VP8L"):
            size = _vp8_size(data, body) if name == b"VP8 " else _vp8l_size(data, body)
            width, height = (width, height) if width else size
            _check_frame(*size, 0, 0, width, height)
        offset = body + length + (length & 1)
    return Structure("WEBP", width, height, max(1, frames))


def _uint24(data: bytes, offset: int) -> int:
    return data[offset] | data[offset + 1] << 8 | data[offset + 2] << 16


def _vp8_size(data: bytes, offset: int) -> tuple[int, int]:
    width, height = struct.unpack_from("<HH", data, offset + 6)
    return width & 0x3FFF, height & 0x3FFF


def _vp8l_size(data: bytes, offset: int) -> tuple[int, int]:
    (bits,) = struct.unpack_from("<I", data, offset + 1)
    return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1


def _check_frame(frame_width: int, frame_height: int, x: int, y: int, width: int, height: int) -> None:
    """A frame beyond its screen would make decoders enlarge the screen."""
    if frame_width < 1 or frame_height < 1 or x + frame_width > width or y + frame_height > height:
        raise LimitExceeded("a frame is larger than the picture")
