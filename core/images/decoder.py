"""The process that decodes images. Uploads are decoded only here.

    python -I core/images/decoder.py

Reads one image after the other from standard input, writes each result to standard output, and ends when
its input does: when the server stops, or dies. The operating system limits its memory and processor time, and after its
start it cannot open a file or reach another process (confinement). Uses neither Django nor the database.
"""

import ctypes
import io
import json
import os
import resource
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import blurhash
from PIL import GifImagePlugin, ImageOps, JpegImagePlugin, PngImagePlugin, WebPImagePlugin  # noqa: F401
from PIL import Image as Pillow

from core.images.animation import WEBP_PIXELS, Composed, Frames, gif_frame, in_palette
from core.images.confinement import confine
from core.images.headers import examine
from core.images.pixels import Colours, clean, opened
from core.images.structure import MAX_STILL_PIXELS, REPLY, REQUEST, Reason, Refused, Structure

THUMBNAIL_SIDE = 480
AVATAR_SIDE = 512
BLURHASH_SIDE = 20
SAVE_OPTIONS: dict[str, dict[str, Any]] = {
    "JPEG": {"quality": 88, "progressive": True},
    "PNG": {},
    "WEBP": {"quality": 88, "method": 3},
    "GIF": {},
}

# The limit of the process's own memory; with its libraries it stays below 250 MB.
MEMORY_BYTES = 238 * 1024 * 1024
# Larger JPEG pictures, measured in pixels and coefficients, are stored at half their size.
JPEG_BYTES = 205 * 1024 * 1024
# A re-encoded image can have two and a half times the bytes of the upload; above this limit it is stored at half its size.
MAX_STORED_BYTES = 8 * 1024 * 1024
CPU_SECONDS = 12
IDLE_SECONDS = 60

# Pillow refuses images above twice this number.
Pillow.MAX_IMAGE_PIXELS = MAX_STILL_PIXELS // 2
PngImagePlugin.MAX_TEXT_MEMORY = 4 * 1024 * 1024


def main() -> None:
    # Signals that stop the server are ignored: the server finishes its requests, then closes this input.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    os.nice(5)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    Pillow.preinit()
    confine()
    source, target = sys.stdin.buffer, sys.stdout.buffer
    while select.select([source], [], [], IDLE_SECONDS)[0]:
        header = source.read(REQUEST.size)
        if len(header) < REQUEST.size:
            return
        is_avatar, length = REQUEST.unpack(header)
        data = source.read(length)
        if len(data) < length:
            return
        _limit_time()
        try:
            head, content, thumbnail = convert(data, avatar=is_avatar)
        except Exception as error:
            head, content, thumbnail = {"refused": _reason(error)}, b"", b""
        _write(target, head, content, thumbnail)
        del data, content, thumbnail


def _reason(error: Exception) -> Reason:
    """Decoders raise undocumented exceptions for broken files (SyntaxError, struct.error, EOFError …)."""
    if isinstance(error, Refused):
        return error.reason
    return Reason.WORK if isinstance(error, MemoryError) else Reason.BROKEN


def _limit_time() -> None:
    """Limits the processor time per image: the operating system kills a process that takes longer."""
    soft = int(time.process_time()) + CPU_SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _write(target: BinaryIO, head: dict[str, Any], content: bytes, thumbnail: bytes) -> None:
    head_json = json.dumps(head).encode()
    for part in (REPLY.pack(len(head_json), len(content), len(thumbnail)), head_json, content, thumbnail):
        target.write(part)
    target.flush()


def convert(data: bytes, *, avatar: bool) -> tuple[dict[str, Any], bytes, bytes]:
    """Format, bytes and thumbnail of the re-encoded image, at half its size where its bytes are too many."""
    structure = examine(data, first_only=avatar)
    if structure.kind == "JPEG":
        # Only the parts of the picture: no metadata, no thumbnails, no trailing bytes.
        data = b"".join([data[start:end] for start, end in structure.parts]) + b"\xff\xd9"
    for is_halved in (False, True):
        head, content, thumbnail = _converted(data, structure, avatar=avatar, is_halved=is_halved)
        if len(content) <= MAX_STORED_BYTES:
            return head, content, thumbnail
        del content
    raise Refused(Reason.WORK)


def _converted(
    data: bytes, structure: Structure, *, avatar: bool, is_halved: bool
) -> tuple[dict[str, Any], bytes, bytes]:
    """At most two copies of a large image exist in memory."""
    kind, colours = structure.kind, Colours(data, structure)
    options = dict(SAVE_OPTIONS[kind])
    if structure.frames > 1 and not avatar:
        animation = Frames(data, structure, colours, is_halved=is_halved)
        options |= animation.options
        image: Pillow.Image = animation
    else:
        # Not bound to a name, so that its memory is freed as soon as the cleaned image exists.
        image = clean(_still(data, structure), structure, colours, keep_palette=not avatar)
        if is_halved:
            image = _in_full_colour(image).reduce(2)
    if avatar:
        image = ImageOps.fit(image, (AVATAR_SIDE, AVATAR_SIDE), Pillow.Resampling.LANCZOS)
    small = _thumbnail(image)
    head = {"kind": kind, "width": image.width, "height": image.height, "blurhash": _blurhash(small)}
    thumbnail = _save(small, kind, SAVE_OPTIONS[kind])
    return head, _save(image, kind, options), thumbnail


def _still(data: bytes, structure: Structure) -> Pillow.Image:
    """The picture, or the first frame of an animation."""
    size = (structure.width, structure.height)
    if structure.sequence:
        first = structure.sequence[0]
        if structure.kind == "GIF" and (first.width, first.height) == size:
            return gif_frame(data, first)
        return Composed(data, structure).at(0)
    source = opened(data, size)
    if structure.kind == "WEBP":
        if source.n_frames > structure.frames:
            raise Refused(Reason.BROKEN)
        # Pillow decodes each WebP as an animation, with four copies of the picture. The library needs only one.
        if not source.is_animated and (decode := _webp_decoder) is not None:
            mode, info = ("RGBX" if source.mode == "RGB" else "RGBA"), source.info
            source.close()
            del source
            pixels = ctypes.create_string_buffer(4 * size[0] * size[1])
            if decode(data, len(data), pixels, len(pixels), 4 * size[0]):
                image = Pillow.frombuffer(mode, size, cast(bytes, pixels), "raw", mode, 0, 1)
                if size[0] * size[1] > WEBP_PIXELS:
                    image = image.reduce(2)
                image.info = info
                return image
            del pixels
            source = opened(data, size)  # an animation of one frame, or broken
    if structure.kind == "JPEG" and structure.coefficient_bytes + 4 * structure.width * structure.height > JPEG_BYTES:
        source.draft(source.mode, (structure.width // 2, structure.height // 2))
    source.load()
    if structure.is_cut:
        _check_rows(source)
    return cast(Pillow.Image, source)


# Rows at the bottom that a JPEG without its end may lack: a tenth of them, or the last row of blocks.
CUT_ROWS, CUT_ROWS_OF_SMALL = 10, 33


def _check_rows(image: Pillow.Image) -> None:
    """Refused if more than a few rows are missing: the decoder fills them with mid-grey."""
    row = max(0, min(image.height - image.height // CUT_ROWS, image.height - CUT_ROWS_OF_SMALL))
    values = image.crop((0, row, image.width, row + 1)).getextrema()
    bands = [values] if isinstance(values[0], int | float) else values
    if all(127 <= value <= 128 for band in bands for value in cast(tuple[int, int], band)):
        raise Refused(Reason.CUT_OFF)


def _find_webp_decoder() -> Callable[..., Any] | None:
    """`WebPDecodeRGBAInto` of the library that Pillow was built with, where it can be found."""
    try:
        from PIL import _webp

        decode = ctypes.CDLL(_webp.__file__).WebPDecodeRGBAInto
    except (ImportError, OSError, AttributeError):
        return None
    decode.restype = ctypes.c_void_p
    decode.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return decode


# Found at the start: later no file can be opened.
_webp_decoder = _find_webp_decoder()


def _in_full_colour(image: Pillow.Image) -> Pillow.Image:
    if image.mode != "P":
        return image
    # Of a copy: with a transparent colour the conversion changes the palette of the image.
    return image.copy().convert("RGBA") if "transparency" in image.info else image.convert("RGB")


def _thumbnail(image: Pillow.Image) -> Pillow.Image:
    image = _in_full_colour(image)
    factor = max(image.size) // (2 * THUMBNAIL_SIDE)
    small = image.reduce(factor) if factor > 1 else image.copy()
    small.thumbnail((THUMBNAIL_SIDE, THUMBNAIL_SIDE), Pillow.Resampling.LANCZOS)
    return small


def _save(image: Pillow.Image, kind: str, options: dict[str, Any]) -> bytes:
    if kind == "GIF" and isinstance(image, Frames):
        return image.as_gif()
    if kind == "GIF" and image.mode == "RGBA":
        image = in_palette(image)
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def _blurhash(image: Pillow.Image) -> str:
    tiny = image.convert("RGB")
    tiny.thumbnail((BLURHASH_SIDE, BLURHASH_SIDE))
    rows = [[tiny.getpixel((x, y)) for x in range(tiny.width)] for y in range(tiny.height)]
    return str(blurhash.encode(rows, components_x=4, components_y=3))


if __name__ == "__main__":
    main()
