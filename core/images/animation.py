"""Composes the frames of an animation as browsers show them, and writes them again. Part of the decoding process."""

import functools
import io
import struct
import zlib
from typing import Any, cast

from PIL import Image as Pillow
from PIL import ImageChops

from core.images.pixels import Colours, clean, in_eight_bits, opened
from core.images.structure import CLEAR, NONE, PNG_START, RESTORE, Frame, Reason, Refused, Structure

# Larger frames are stored at half their size (a WebP at a quarter from WEBP_PIXELS on), because encoders copy them.
ANIMATION_PIXELS = 3_000_000
WEBP_PIXELS = 10_000_000


# Not Pillow's composition of frames: docs/decisions/pictures.md#0086
class Composed:
    """The frames of a GIF or an animated PNG, each drawn over the previous ones, as browsers do."""

    def __init__(self, data: bytes, structure: Structure) -> None:
        self._data, self._structure = data, structure
        self._number = -1
        self._canvas = Pillow.new("RGBA", (structure.width, structure.height))
        self._covered: Pillow.Image | None = None

    def at(self, number: int) -> Pillow.Image:
        """The canvas with this frame. It is not a copy: the next call changes it. Call it for one frame after the other."""
        if number <= self._number:
            raise ValueError("an earlier frame")
        while self._number < number:
            self._number += 1
            self._draw(self._structure.sequence[self._number])
        return self._canvas

    def _draw(self, frame: Frame) -> None:
        if self._number:
            self._dispose(self._structure.sequence[self._number - 1])
        box = _box(frame)
        self._covered = self._canvas.crop(box) if frame.disposal == RESTORE else None
        if self._structure.kind == "GIF":
            pixels = gif_frame(self._data, frame).convert("RGBA")
            self._canvas.paste(pixels, box, pixels)  # each pixel is opaque or transparent
        elif frame.is_over:
            self._draw_over(_png_frame(self._data, self._structure, frame), frame)
        else:
            self._canvas.paste(_png_frame(self._data, self._structure, frame), box)

    def _draw_over(self, pixels: Pillow.Image, frame: Frame) -> None:
        """Draws in strips, so that a large frame does not need a third and a fourth copy."""
        for top in range(0, frame.height, 256):
            bottom = min(top + 256, frame.height)
            box = (frame.x, frame.y + top, frame.x + frame.width, frame.y + bottom)
            strip = pixels.crop((0, top, frame.width, bottom))
            self._canvas.paste(Pillow.alpha_composite(self._canvas.crop(box), strip), box)

    def _dispose(self, frame: Frame) -> None:
        if frame.disposal == CLEAR:
            self._canvas.paste((0, 0, 0, 0), _box(frame))
        elif frame.disposal == RESTORE and self._covered is not None:
            self._canvas.paste(self._covered, _box(frame))


def _box(frame: Frame) -> tuple[int, int, int, int]:
    return (frame.x, frame.y, frame.x + frame.width, frame.y + frame.height)


def gif_frame(data: bytes, frame: Frame) -> Pillow.Image:
    """The frame on its own, with its palette: in mode P, or L."""
    size = (frame.width, frame.height)
    flags = data[10]
    palette = data[13 : 13 + (3 << (flags & 7) + 1)] if flags & 0x80 else b""
    screen = b"GIF89a" + struct.pack("<HHB2x", *size, flags) + palette
    index = frame.transparent_index
    control = b"" if index is None else bytes((0x21, 0xF9, 4, 1, 0, 0, index, 0))
    [(start, end)] = frame.parts
    descriptor = b"\x2c" + struct.pack("<4xHH", *size)
    image = opened(screen + control + descriptor + data[start + 9 : end] + b"\x3b", size)
    image.load()
    return cast(Pillow.Image, image)


def _png_frame(data: bytes, structure: Structure, frame: Frame) -> Pillow.Image:
    size = (frame.width, frame.height)
    header = struct.pack(">II", *size) + structure.chunks[b"IHDR"][8:13]
    needed = [(name, structure.chunks[name]) for name in (b"PLTE", b"tRNS") if name in structure.chunks]
    pixels = b"".join([data[start:end] for start, end in frame.parts])
    chunks = [(b"IHDR", header), *needed, (b"IDAT", pixels), (b"IEND", b"")]
    image = opened(PNG_START + b"".join(_chunk(name, body) for name, body in chunks), size)
    image.load()
    return in_eight_bits(image, structure).convert("RGBA")


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def _is_opaque(structure: Structure) -> bool:
    """Whether no pixel of an animated PNG can be transparent."""
    first = structure.sequence[0]
    return (
        structure.chunks[b"IHDR"][9] in (0, 2, 3)
        and b"tRNS" not in structure.chunks
        and (first.width, first.height) == (structure.width, structure.height)
        and all(frame.disposal == NONE for frame in structure.sequence)
    )


# Flags of a frame with a transparent colour: what is drawn stays, or its area is cleared before the next frame.
_GIF_KEPT, _GIF_CLEARED = 1 << 2 | 1, 2 << 2 | 1


class Frames(Pillow.Image):
    """The cleaned frames of an animation, one at a time, as Pillow's writers of sequences expect."""

    def __init__(self, data: bytes, structure: Structure, colours: Colours, *, is_halved: bool) -> None:
        super().__init__()
        self._data, self._structure, self._colours, self._is_halved = data, structure, colours, is_halved
        self._source: Any = None
        self._composed: Composed | None = None
        if structure.kind == "WEBP":
            self._source = opened(data, (structure.width, structure.height))
            if self._source.n_frames > structure.frames:
                raise Refused(Reason.BROKEN)
        self.n_frames: int = self._source.n_frames if self._source else structure.frames
        self._mode_of_all = "RGB" if structure.kind == "PNG" and _is_opaque(structure) else "RGBA"
        self._durations: list[int] = []
        self._frame = -1
        self.seek(0)

    @property
    def options(self) -> dict[str, Any]:
        """Options for saving. The durations are complete after the last frame."""
        loop = self._source.info.get("loop", 0) if self._source else self._structure.loop
        return {"save_all": True, "duration": self._durations, "loop": loop}

    def seek(self, frame: int) -> None:
        if frame >= self.n_frames:
            raise EOFError
        if frame == self._frame or (frame < self._frame and self._structure.kind == "WEBP"):
            return  # the current frame, or Pillow returns to the first one after it has written a WebP
        image, duration_ms = self._webp(frame) if self._source else self._drawn(frame)
        image = clean(image, self._structure, self._colours)
        if not self._source and image.mode != self._mode_of_all:
            image = image.convert(self._mode_of_all)
        self.im, self._mode, self._size, self._frame = image.im, image.mode, image.size, frame
        if frame == len(self._durations):
            self._durations.append(round(duration_ms) or 100)

    def tell(self) -> int:
        return self._frame

    def _drawn(self, frame: int) -> tuple[Pillow.Image, float]:
        if self._composed is None or frame <= self._frame:
            self._composed = Composed(self._data, self._structure)
        image = self._composed.at(frame)
        if image.width * image.height > ANIMATION_PIXELS or self._is_halved:
            image = image.reduce(2)
        return image, self._structure.sequence[frame].duration_ms

    def _webp(self, frame: int) -> tuple[Pillow.Image, float]:
        """The frame, at half its size (a quarter for the largest) where an animation's copies do not fit."""
        source, size = self._source, (self._structure.width, self._structure.height)
        source.seek(frame)
        if size[0] * size[1] > ANIMATION_PIXELS or self._is_halved:
            # Pillow would copy the frame twice more.
            source._seek(frame)
            pixels, _, duration_ms = source._get_next()
            mode = source.rawmode
            factor = 4 if size[0] * size[1] > WEBP_PIXELS else 2
            image = Pillow.frombuffer(mode, size, pixels, "raw", mode, 0, 1).reduce(factor)
            image.info = dict(source.info)
            return image, duration_ms
        source.load()
        if source.size != size:
            raise Refused(Reason.BROKEN)
        return source.copy(), source.info.get("duration") or 0

    def as_gif(self) -> bytes:
        """Writes only the changes of each frame. Pillow's own writer loses parts of frames that do not cover each other."""
        out: list[bytes | bytearray] = [b"GIF89a", struct.pack("<HH3x", *self.size)]
        if self._structure.loop is not None:
            out.append(b"\x21\xff\x0bNETSCAPE2.0\x03\x01" + struct.pack("<H", self._structure.loop) + b"\x00")
        before: Pillow.Image | None = None
        control = bytearray()
        for number in range(self.n_frames):
            self.seek(number)
            now = self.copy()
            fresh = now
            if before is not None:
                if _vanishes(before, now):
                    control[3] = _GIF_CLEARED  # of the frame before
                else:
                    fresh = _changes(before, now)
            image = in_palette(fresh)
            delay = min(65_535, round(self._durations[number] / 10))
            control = bytearray(struct.pack("<3BBHBx", 0x21, 0xF9, 4, _GIF_KEPT, delay, image.info["transparency"]))
            out += [control, _gif_block(image)]
            before = now
        return b"".join(out) + b"\x3b"


def _vanishes(before: Pillow.Image, now: Pillow.Image) -> bool:
    """Whether a visible pixel is transparent in the next frame, which then cannot be drawn over this one."""
    seen, still_seen = (_opaque(image) for image in (before, now))
    return ImageChops.subtract(seen, still_seen).getbbox() is not None


def _opaque(image: Pillow.Image) -> Pillow.Image:
    """255 where a GIF shows a pixel, 0 where it does not."""
    return image.getchannel("A").point(lambda alpha: 0 if alpha < 128 else 255)


def _changes(before: Pillow.Image, now: Pillow.Image) -> Pillow.Image:
    """The frame with only its changed pixels."""
    bands = ImageChops.difference(before, now).split()
    changed = functools.reduce(ImageChops.lighter, bands).point(lambda value: 255 if value else 0)
    result = now.copy()
    result.putalpha(ImageChops.multiply(changed, _opaque(now)))
    return result


def _gif_block(image: Pillow.Image) -> bytes:
    """The descriptor, palette and pixels of a frame, from a GIF of this frame alone."""
    out = io.BytesIO()
    image.save(out, "GIF", optimize=False, interlace=0)
    data = out.getvalue()
    flags = data[10]
    palette_end = 13 + (3 << (flags & 7) + 1)
    start = palette_end + (8 if data[palette_end] == 0x21 else 0)
    descriptor = data[start : start + 9] + bytes((0x80 | flags & 7,))
    return descriptor + data[13:palette_end] + data[start + 10 : -1]


def in_palette(image: Pillow.Image) -> Pillow.Image:
    """An RGBA frame with the colours of a GIF: unchanged up to 255, otherwise the nearest."""
    clear = ImageChops.invert(_opaque(image))
    image = image.convert("RGB")
    image.paste((0, 0, 0), mask=clear)
    result = image.quantize(255, Pillow.Quantize.MEDIANCUT, dither=Pillow.Dither.NONE)
    palette = result.getpalette("RGB") or []
    index = min(len(palette) // 3, 255)
    result.putpalette([*palette[: 3 * index], 0, 0, 0], "RGB")
    result.paste(index, mask=clear)
    # Also for opaque frames: some programs clear a frame without a transparent colour to the background.
    result.info["transparency"] = index
    return result
