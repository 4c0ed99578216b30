"""Reads what an image's headers declare, without decoding it: its size, its frames, and where its parts lie.

A few bytes can declare gigabytes of pixels or hours of work. A file that declares more than the limits is refused
before it is decoded. Runs in the decoding process only, since a file of many small parts takes time; imports only the
standard library.
"""

import re
import struct

from core.images.structure import (
    CLEAR,
    MAX_FRAMES,
    MAX_GIF_SUB_BLOCKS,
    MAX_JPEG_SCANS,
    MAX_PARTS,
    MAX_PIXELS_OF_ALL_FRAMES,
    NONE,
    RESTORE,
    Frame,
    Reason,
    Refused,
    Structure,
    check_size,
    kind_of,
    orientation_in,
)


def examine(data: bytes, *, first_only: bool = False) -> Structure:
    """Size, frames and parts; `first_only` when no more than one frame will be decoded. Refused."""
    readers = {"JPEG": _jpeg, "PNG": _png, "GIF": _gif, "WEBP": _webp}
    kind = kind_of(data)
    if kind is None:
        raise Refused(Reason.BROKEN)
    try:
        structure = readers[kind](data)
    except (struct.error, IndexError) as error:
        raise Refused(Reason.CUT_OFF) from error
    check_size(structure.width, structure.height)
    if structure.frames > MAX_FRAMES:
        raise Refused(Reason.FRAMES)
    pixels = structure.frames * structure.width * structure.height
    if structure.frames > 1 and not first_only and pixels > MAX_PIXELS_OF_ALL_FRAMES:
        raise Refused(Reason.ALL_FRAMES)
    return structure


# --- JPEG -------------------------------------------------------------------------------------------

# Decoders skip bytes between segments.
_MARKER = re.compile(rb"\xff[\x01-\xfe]")
# The end of coded data: 0xFF followed by 0 is an escaped byte, and restart markers are part of the data.
_MARKER_AFTER_SCAN = re.compile(rb"\xff[\x01-\xcf\xd8-\xfe]")
_SOF = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
# Baseline, extended and progressive with Huffman codes: phones, cameras and browsers read these.
_USUAL_SOF = {0xC0, 0xC1, 0xC2}
_JPEG_LS = 0xF7
_DHT, _SOI, _EOI, _SOS, _DQT, _DRI, _APP0, _APP1, _APP2, _APP14 = (
    0xC4, 0xD8, 0xD9, 0xDA, 0xDB, 0xDD, 0xE0, 0xE1, 0xE2, 0xEE,
)  # fmt: skip
# Segments that the decoder needs, and how the body of an application's segment must begin.
_NEEDED = {*_USUAL_SOF, _DHT, _DQT, _DRI}
_NEEDED_APPS = {_APP0: b"JFIF\x00", _APP2: b"ICC_PROFILE\x00", _APP14: b"Adobe"}


def _jpeg(data: bytes) -> Structure:
    offset, markers, scans, orientation, is_cut = 2, 0, 0, 0, False
    sizes: list[tuple[int, int, list[int]]] = []
    parts, pattern, is_progressive = [(0, 2)], _MARKER, False
    while True:
        found = pattern.search(data, offset)
        start = found.start() if found else len(data)
        if pattern is _MARKER_AFTER_SCAN:
            parts.append((offset, start))
        marker = data[start + 1] if found else _EOI
        is_cut = found is None or (marker == _SOI and scans > 0)
        if is_cut and not scans:
            raise Refused(Reason.CUT_OFF)
        if marker == _EOI or is_cut:
            break
        markers += 1
        if markers > MAX_PARTS:
            raise Refused(Reason.PARTS)
        if marker < 0xC0 or 0xD0 <= marker <= _SOI:  # without a length
            offset = start + 2
            if marker < 0xC0 and pattern is _MARKER_AFTER_SCAN:
                parts.append((start, offset))  # decoders treat it as a damaged restart
            continue
        pattern = _MARKER
        end = (
            start + 2 + max(2, *struct.unpack_from(">H", data, start + 2)) if start + 4 <= len(data) else len(data) + 1
        )
        if end > len(data):
            if not scans:
                raise Refused(Reason.CUT_OFF)
            is_cut = True
            break
        body = start + 4
        if marker in _SOF or marker == _JPEG_LS:
            if marker not in _USUAL_SOF:
                raise Refused(Reason.CODING)
            is_progressive |= marker == 0xC2
            height, width, components = struct.unpack_from(">HHB", data, body + 1)
            sizes.append((width, height, [data[body + 7 + 3 * number] for number in range(components)]))
        elif marker == _SOS:
            scans += 1
            if scans > MAX_JPEG_SCANS:
                raise Refused(Reason.PARTS)
            pattern = _MARKER_AFTER_SCAN
        elif marker == _APP1 and not orientation and data[body : body + 6] == b"Exif\x00\x00":
            orientation = orientation_in(data[body:end])
        if marker == _SOS or marker in _NEEDED or data.startswith(_NEEDED_APPS.get(marker, b"\xff\xff"), body):
            parts.append((start, end))
        offset = end
    if len(sizes) != 1 or not sizes[0][2] or not scans:
        raise Refused(Reason.BROKEN)
    [(width, height, sampling)] = sizes
    blocks = [(factors >> 4) * (factors & 15) for factors in sampling]
    max_factor = max(factors >> 4 for factors in sampling) * max(factors & 15 for factors in sampling) or 1
    keeps_coefficients = is_progressive or scans > 1
    return Structure(
        "JPEG",
        width,
        height,
        1,
        orientation=orientation or 1,
        coefficient_bytes=2 * width * height * sum(blocks) // max_factor if keeps_coefficients else 0,
        parts=parts,
        is_cut=is_cut,
    )


# --- PNG --------------------------------------------------------------------------------------------

# The maximum length of the chunks that are read.
_SMALL_CHUNKS = {b"IHDR": 13, b"PLTE": 768, b"tRNS": 256, b"cICP": 4, b"sRGB": 1, b"gAMA": 4, b"cHRM": 32}
_PNG_DISPOSALS = {1: CLEAR, 2: RESTORE}


def _png(data: bytes) -> Structure:
    width, height = struct.unpack_from(">II", data, 16)
    offset, chunks, declared, plays, orientation = 8, 0, 0, 0, 1
    has_pixels = False
    sequence: list[Frame] = []
    small: dict[bytes, bytes] = {}
    while offset + 12 <= len(data):
        length, name = struct.unpack_from(">I4s", data, offset)
        body, end = offset + 8, offset + 8 + length
        chunks += 1
        if chunks > MAX_PARTS:
            raise Refused(Reason.PARTS)
        if name == b"IHDR" and chunks > 1:
            raise Refused(Reason.BROKEN)
        if name in _SMALL_CHUNKS and not has_pixels:
            small.setdefault(name, data[body : min(end, body + _SMALL_CHUNKS[name])])
        elif name == b"acTL" and not has_pixels:
            declared, plays = struct.unpack_from(">II", data, body)
        elif name == b"IDAT":
            has_pixels = True
            if sequence:
                sequence[-1].parts.append((body, end))
        elif name == b"fdAT" and sequence:
            sequence[-1].parts.append((body + 4, end))
        elif name == b"fcTL":
            sequence.append(_png_frame(data, body, width, height))
        elif name == b"eXIf":
            orientation = orientation_in(data[body:end])
        elif name == b"IEND":
            break
        offset = end + 4
    else:
        raise Refused(Reason.CUT_OFF)
    if declared > MAX_FRAMES:
        raise Refused(Reason.FRAMES)
    # Without acTL, or with a picture that is not one of its frames, the first IDAT is all that most programs show.
    sequence = [frame for frame in sequence if frame.parts] if declared else []
    return Structure(
        "PNG", width, height, max(1, len(sequence)), orientation, sequence=sequence, loop=plays, chunks=small
    )


def _png_frame(data: bytes, offset: int, width: int, height: int) -> Frame:
    _, frame_width, frame_height, x, y, delay, per_second, disposal, blend = struct.unpack_from(
        ">IIIIIHHBB", data, offset
    )
    _check_frame(frame_width, frame_height, x, y, width, height)
    duration_ms = round(1_000 * delay / (per_second or 100))
    return Frame(x, y, frame_width, frame_height, duration_ms, _PNG_DISPOSALS.get(disposal, NONE), is_over=blend == 1)


# --- GIF --------------------------------------------------------------------------------------------

# Some old programs wrote 4 for 3.
_GIF_DISPOSALS = {2: CLEAR, 3: RESTORE, 4: RESTORE}


def _gif(data: bytes) -> Structure:
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    offset = 13 + _palette_bytes(flags)
    blocks = sub_blocks = 0
    loop = transparent = None
    duration_ms = disposal = 0
    sequence: list[Frame] = []
    while offset < len(data) and data[offset] != 0x3B:
        blocks += 1
        start = offset
        if data[offset] == 0x2C:
            x, y, frame_width, frame_height, flags = struct.unpack_from("<HHHHB", data, offset + 1)
            _check_frame(frame_width, frame_height, x, y, width, height)
            offset, passed = _after_sub_blocks(data, offset + 11 + _palette_bytes(flags))
            shown = _GIF_DISPOSALS.get(disposal, NONE)
            area = (x, y, frame_width, frame_height)
            sequence.append(Frame(*area, duration_ms, shown, parts=[(start, offset)], transparent_index=transparent))
            duration_ms, disposal, transparent = 0, 0, None
        elif data[offset] == 0x21:
            if data[offset + 1 : offset + 3] == b"\xf9\x04":
                packed, hundredths, index = struct.unpack_from("<BHB", data, offset + 3)
                duration_ms, disposal = 10 * hundredths, packed >> 2 & 7
                transparent = index if packed & 1 else None
            elif data[offset + 3 : offset + 14] in (b"NETSCAPE2.0", b"ANIMEXTS1.0") and data[offset + 15] & 7 == 1:
                (loop,) = struct.unpack_from("<H", data, offset + 16)
            offset, passed = _after_sub_blocks(data, offset + 2)
        else:
            offset, passed = offset + 1, 0  # decoders skip bytes between blocks
        sub_blocks += passed
        if blocks > MAX_PARTS or sub_blocks > MAX_GIF_SUB_BLOCKS:
            raise Refused(Reason.PARTS)
    if not sequence:
        raise Refused(Reason.BROKEN)
    return Structure("GIF", width, height, len(sequence), sequence=sequence, loop=loop)


def _palette_bytes(flags: int) -> int:
    """The length of the palette that these flags of a screen or frame announce."""
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _after_sub_blocks(data: bytes, offset: int) -> tuple[int, int]:
    """The end and the number of the sub-blocks that begin here."""
    passed = 0
    while offset < len(data) and data[offset] and passed <= MAX_GIF_SUB_BLOCKS:
        offset += 1 + data[offset]
        passed += 1
    return offset + 1, passed


# --- WebP -------------------------------------------------------------------------------------------


def _webp(data: bytes) -> Structure:
    (riff_bytes,) = struct.unpack_from("<I", data, 4)
    end = min(len(data), 8 + riff_bytes)  # later bytes do not belong to the picture
    offset, chunks, frames, orientation = 12, 0, 0, 1
    width = height = 0
    while offset + 8 <= end:
        name, length = struct.unpack_from("<4sI", data, offset)
        chunks += 1
        if chunks > MAX_PARTS:
            raise Refused(Reason.PARTS)
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
        elif name == b"EXIF":
            orientation = orientation_in(data[body : body + length])
        offset = body + length + (length & 1)
    return Structure("WEBP", width, height, max(1, frames), orientation)


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
        raise Refused(Reason.BROKEN)
