"""The process that decodes images: uploads are decoded in no other process.

    python -I core/image_decoder.py

Reads one image after the other from standard input, writes each result to standard output, and ends when
its input does: when the server stops, or dies. The operating system limits its memory and processor time.
Uses neither Django nor the database.
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

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import blurhash
from PIL import Image as Pillow
from PIL import ImageCms, ImageOps, PngImagePlugin

from core.image_structure import MAX_STILL_PIXELS, REPLY, REQUEST, LimitExceeded, Structure, check_size, examine

THUMBNAIL_SIDE = 480
AVATAR_SIDE = 512
BLURHASH_SIDE = 20
FORMATS = ("JPEG", "PNG", "WEBP", "GIF")
SAVE_OPTIONS: dict[str, dict[str, Any]] = {
    "JPEG": {"quality": 88, "progressive": True},
    "PNG": {},
    "WEBP": {"quality": 88, "method": 3},
    "GIF": {},
}

# The limit of the process's own memory; with its libraries it stays below 250 MB.
MEMORY_BYTES = 238 * 1024 * 1024
# Larger images are stored at half their size. A JPEG is measured by its pixels and coefficients, a WebP or an animation
# by its pixels, which their encoders copy.
JPEG_BYTES = 205 * 1024 * 1024
WEBP_PIXELS = 10_000_000
ANIMATION_PIXELS = 3_000_000
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
            # Decoders raise undocumented exceptions for broken files (SyntaxError, struct.error, EOFError,
            # MemoryError …): each of them means that the file is broken or too large.
            head, content, thumbnail = {"refused": type(error).__name__}, b"", b""
        _write(target, head, content, thumbnail)
        del data, content, thumbnail


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
    for is_halved in (False, True):
        head, content, thumbnail = _converted(data, structure, avatar=avatar, is_halved=is_halved)
        if len(content) <= MAX_STORED_BYTES:
            return head, content, thumbnail
        del content
    raise LimitExceeded("too many bytes")


def _converted(
    data: bytes, structure: Structure, *, avatar: bool, is_halved: bool
) -> tuple[dict[str, Any], bytes, bytes]:
    """At most two copies of a large image exist in memory."""
    options = dict(SAVE_OPTIONS[structure.kind])
    if not avatar and _frames_seen(data, structure) > 1:
        animation = _Frames(data, structure, is_halved=is_halved)
        options |= animation.options
        image: Pillow.Image = animation
    else:
        # Not bound to a name, so that its memory is freed as soon as the cleaned image exists.
        image = _clean(_still(data, structure), structure.kind, keep_palette=not avatar)
        if is_halved:
            image = _in_full_colour(image).reduce(2)
    if avatar:
        image = ImageOps.fit(image, (AVATAR_SIDE, AVATAR_SIDE), Pillow.Resampling.LANCZOS)
    small = _thumbnail(image)
    head = {"kind": structure.kind, "width": image.width, "height": image.height, "blurhash": _blurhash(small)}
    thumbnail = _save(small, structure.kind, SAVE_OPTIONS[structure.kind])
    return head, _save(image, structure.kind, options), thumbnail


def _frames_seen(data: bytes, structure: Structure) -> int:
    """The number of frames that the decoder sees; it must equal the number in the headers."""
    with Pillow.open(io.BytesIO(data), formats=FORMATS) as source:
        check_size(*source.size)
        # A phone's JPEG may carry a second picture (MPO): the first one is the photo.
        count = 1 if structure.kind == "JPEG" else getattr(source, "n_frames", 1)
        if source.size != (structure.width, structure.height) or count > structure.frames:
            raise LimitExceeded("the decoder sees something else")
        return int(count)


def _still(data: bytes, structure: Structure) -> Pillow.Image:
    source = Pillow.open(io.BytesIO(data), formats=FORMATS)
    if structure.kind == "WEBP" and structure.frames == 1 and (decode := _webp_decoder()) is not None:
        # Pillow decodes each WebP as an animation, with four copies of the picture. The library can do with one.
        mode, size, info = ("RGBX" if source.mode == "RGB" else "RGBA"), source.size, source.info
        source.close()
        del source
        pixels = ctypes.create_string_buffer(4 * size[0] * size[1])
        if not decode(data, len(data), pixels, len(pixels), 4 * size[0]):
            raise LimitExceeded("broken")
        image = Pillow.frombuffer(mode, size, cast(bytes, pixels), "raw", mode, 0, 1)
        if size[0] * size[1] > WEBP_PIXELS:
            image = image.reduce(2)
        image.info = info
        return image
    if structure.kind == "JPEG" and structure.coefficient_bytes + 4 * structure.width * structure.height > JPEG_BYTES:
        source.draft(source.mode, (structure.width // 2, structure.height // 2))
    source.load()
    return source


def _webp_decoder() -> Callable[..., Any] | None:
    """`WebPDecodeRGBAInto` of the library that Pillow was built with, where it can be found."""
    try:
        from PIL import _webp

        decode = ctypes.CDLL(_webp.__file__).WebPDecodeRGBAInto
    except (ImportError, OSError, AttributeError):
        return None
    decode.restype = ctypes.c_void_p
    decode.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return decode


def _clean(image: Pillow.Image, kind: str, *, keep_palette: bool = False) -> Pillow.Image:
    """The pixels of a frame, upright and in sRGB, in a new image that holds nothing else."""
    profile = image.info.get("icc_profile")
    has_alpha = "A" in image.getbands() or "transparency" in image.info
    mode = "RGBA" if has_alpha and kind != "JPEG" else "RGB"
    ImageOps.exif_transpose(image, in_place=True)
    if profile and image.mode in ("RGB", "RGBA", "CMYK", "L"):
        image = _to_srgb(image, profile, mode)
    if keep_palette and kind == "GIF" and image.mode in ("P", "L"):
        # Computing a new palette would take three more copies.
        result = Pillow.new(image.mode, image.size)
        if image.mode == "P":
            result.putpalette(image.getpalette("RGB") or [], "RGB")
        if isinstance(image.info.get("transparency"), int):
            result.info["transparency"] = image.info["transparency"]
    else:
        if image.mode != mode:
            image = image.convert(mode)
        result = Pillow.new(mode, image.size)
    result.paste(image)
    return result


def _to_srgb(image: Pillow.Image, profile: bytes, mode: str) -> Pillow.Image:
    mode = mode if image.mode != "L" else "L"
    try:
        own, srgb = ImageCms.ImageCmsProfile(io.BytesIO(profile)), ImageCms.createProfile("sRGB")
        if image.mode == mode:
            ImageCms.profileToProfile(image, own, srgb, inPlace=True)
            return image
        converted = ImageCms.profileToProfile(image, own, srgb, outputMode=mode)
    except (ImageCms.PyCMSError, OSError, ValueError):
        return image  # an invalid colour profile is ignored
    return converted or image


class _Frames(Pillow.Image):
    """The cleaned frames of an animation, one at a time, in the way in which Pillow saves sequences."""

    def __init__(self, data: bytes, structure: Structure, *, is_halved: bool) -> None:
        super().__init__()
        self._is_halved = is_halved
        self._source = Pillow.open(io.BytesIO(data), formats=FORMATS)
        self._structure = structure
        self.n_frames: int = getattr(self._source, "n_frames", 1)
        self._durations: list[int] = []
        self._frame = -1
        self.seek(0)

    @property
    def options(self) -> dict[str, Any]:
        """For saving. The durations are complete when the last frame has been seen."""
        is_gif = self._structure.kind == "GIF"
        # A GIF without `loop` plays once.
        loop = self._source.info.get("loop", None if is_gif else 0)
        return {"save_all": True, "duration": self._durations, "loop": loop} | ({"disposal": 2} if is_gif else {})

    def seek(self, frame: int) -> None:
        if frame >= self.n_frames:
            raise EOFError
        if frame == self._frame or (frame < self._frame and self._structure.kind == "WEBP"):
            return  # the frame at hand; or a WebP is written and Pillow goes back to where it began
        self._source.seek(frame)
        frame_image = _clean(self._load(frame), self._structure.kind)
        self.im, self._mode, self._size, self._frame = frame_image.im, frame_image.mode, frame_image.size, frame
        if frame == len(self._durations):
            self._durations.append(int(self._source.info.get("duration") or 100))

    def tell(self) -> int:
        return self._frame

    def _load(self, frame: int) -> Pillow.Image:
        """The frame, at half its size (a quarter for the largest WebP) where an animation's copies do not fit."""
        source: Any = self._source
        size = (self._structure.width, self._structure.height)
        is_large = size[0] * size[1] > ANIMATION_PIXELS or self._is_halved
        if is_large and self._structure.kind == "WEBP":
            # Pillow would copy the frame twice more.
            source._seek(frame)
            pixels, _, source.info["duration"] = source._get_next()
            mode = source.rawmode
            factor = 4 if size[0] * size[1] > WEBP_PIXELS else 2
            image = Pillow.frombuffer(mode, size, pixels, "raw", mode, 0, 1).reduce(factor)
            image.info = dict(source.info)
            return image
        source.load()
        if source.size != size:
            raise LimitExceeded("a frame of another size")
        if not is_large:
            return cast(Pillow.Image, source.copy())
        return _in_full_colour(source).reduce(2)


def _in_full_colour(image: Pillow.Image) -> Pillow.Image:
    if image.mode != "P":
        return image
    return image.convert("RGBA" if "transparency" in image.info else "RGB")


def _thumbnail(image: Pillow.Image) -> Pillow.Image:
    image = _in_full_colour(image)
    factor = max(image.size) // (2 * THUMBNAIL_SIDE)
    small = image.reduce(factor) if factor > 1 else image.copy()
    small.thumbnail((THUMBNAIL_SIDE, THUMBNAIL_SIDE), Pillow.Resampling.LANCZOS)
    return small


def _save(image: Pillow.Image, kind: str, options: dict[str, Any]) -> bytes:
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
