"""Pictures: what is let in, how it is stored, and the signed path that shows it.

Whatever arrives is decoded, pasted into a new image and encoded again, so that no metadata and no
trailing byte of the upload survives. Limits are checked before anything is decoded: the decoder's
own would let a file of a few kilobytes take gigabytes.
"""

import hashlib
import io
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import BoundedSemaphore
from typing import IO, Any

import blurhash
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from PIL import Image as Pillow
from PIL import ImageCms, ImageOps, ImageSequence

from accounts.exceptions import (
    FileTooLarge,
    InvalidImage,
    ServiceUnavailable,
    UnsupportedMediaType,
)

MAX_BYTES = 5_242_880
MAX_SIDE = 12_000
MAX_STILL_PIXELS = 24_000_000
MAX_FRAMES = 200
MAX_PIXELS_OF_ALL_FRAMES = 30_000_000
THUMBNAIL_SIDE = 480
AVATAR_SIDE = 512
BLURHASH_SIDE = 20
SIGNATURE_DAYS = 2

FORMATS = ("JPEG", "PNG", "WEBP", "GIF")
MIMES = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp", "GIF": "image/gif"}
EXTENSIONS = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp", "image/gif": "gif"}
SAVE_OPTIONS: dict[str, dict[str, Any]] = {
    "JPEG": {"quality": 88, "progressive": True},
    "PNG": {},
    "WEBP": {"quality": 88, "method": 3},
    "GIF": {},
}

DECODED_AT_ONCE = 2
WAIT_SECONDS = 15
_places = BoundedSemaphore(DECODED_AT_ONCE)

# Our own limits stand before the decoder's, which only warns at half of its number.
Pillow.MAX_IMAGE_PIXELS = MAX_SIDE * MAX_SIDE


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


def read_upload(upload: IO[bytes]) -> bytes:
    """The bytes of an upload. FileTooLarge as soon as there are more than MAX_BYTES."""
    data = upload.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise FileTooLarge
    return data


def picture(data: bytes) -> Picture:
    """The picture in `data`, animation kept. UnsupportedMediaType, InvalidImage, FileTooLarge."""
    return _picture(data, avatar=False)


def avatar(data: bytes) -> Picture:
    """The first frame of the picture in `data` as a square of 512 px."""
    return _picture(data, avatar=True)


def media_path(token: str, *, thumb: bool = False) -> str:
    """The path an `<img>` can use: the same all day, good for one to two days."""
    expires = _signature_end(timezone.now())
    path = f"/api/v1/media/{token}" + ("/thumb" if thumb else "")
    return f"{path}?e={expires}&s={_signature(token, thumb, expires)}"


def signature_is_valid(token: str, *, thumb: bool, expires: str, signature: str) -> bool:
    """Whether these parameters were signed by us for this picture and are still good."""
    if not expires.isascii() or not expires.isdigit() or len(expires) > 12:
        return False
    expected = _signature(token, thumb, int(expires))
    if not constant_time_compare(expected, signature):
        return False
    return timezone.now().timestamp() < int(expires)


def new_token() -> str:
    """A name of 128 random bits."""
    return secrets.token_urlsafe(16)


def _signature(token: str, thumb: bool, expires: int) -> str:
    value = f"{token}|{'thumb' if thumb else 'full'}|{expires}"
    return salted_hmac("accounts.images", value, algorithm="sha256").hexdigest()[:40]


def _signature_end(now: datetime) -> int:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return int((midnight + timedelta(days=SIGNATURE_DAYS)).timestamp())


@contextmanager
def _place() -> Iterator[None]:
    if not _places.acquire(timeout=WAIT_SECONDS):
        raise ServiceUnavailable(retry_after=5)
    try:
        yield
    finally:
        _places.release()


def _looks_like_ours(data: bytes) -> bool:
    return data.startswith((b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a")) or (
        data[:4] == b"RIFF" and data[8:12] == b"WEBP"
    )


def _picture(data: bytes, *, avatar: bool) -> Picture:
    if len(data) > MAX_BYTES:
        raise FileTooLarge
    if not data:
        raise InvalidImage
    if not _looks_like_ours(data):
        raise UnsupportedMediaType
    with _place():
        try:
            return _encode(data, avatar=avatar)
        except (InvalidImage, UnsupportedMediaType):
            raise
        except MemoryError as error:
            raise ServiceUnavailable(retry_after=5) from error
        except Exception as error:
            # Decoders raise whatever they like (OSError, SyntaxError, ValueError, struct.error,
            # EOFError …): for us each of them means that the file is broken.
            raise InvalidImage from error


def _encode(data: bytes, *, avatar: bool) -> Picture:
    with Pillow.open(io.BytesIO(data), formats=FORMATS) as source:
        width, height = source.size
        if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE):
            raise InvalidImage
        if width * height > MAX_STILL_PIXELS:
            raise InvalidImage
        # A phone's JPEG may carry a second picture (MPO): the first one is the photo.
        kind = "JPEG" if source.format in ("JPEG", "MPO") else str(source.format)
        frame_count = 1 if kind == "JPEG" else getattr(source, "n_frames", 1)
        if frame_count > MAX_FRAMES or (frame_count > 1 and frame_count * width * height > MAX_PIXELS_OF_ALL_FRAMES):
            raise InvalidImage
        timing: dict[str, Any] = {}
        if avatar or frame_count == 1:
            frames = [_clean(source, kind)]
        else:
            frames, timing = _animation(source, kind)
    if avatar:
        frames = [ImageOps.fit(frames[0], (AVATAR_SIDE, AVATAR_SIDE), Pillow.Resampling.LANCZOS)]
    first = frames[0]
    small = first.copy()
    small.thumbnail((THUMBNAIL_SIDE, THUMBNAIL_SIDE), Pillow.Resampling.LANCZOS)
    return Picture(
        mime=MIMES[kind],
        width=first.width,
        height=first.height,
        content=_save(frames, kind, timing),
        thumbnail=_save([small], kind, {}),
        blurhash=_blurhash(small),
        upload_digest=hashlib.sha256(data).hexdigest(),
    )


def _clean(frame: Pillow.Image, kind: str) -> Pillow.Image:
    """The pixels of a frame, upright and in sRGB, in a new image that holds nothing else."""
    frame.load()
    profile = frame.info.get("icc_profile")
    upright = ImageOps.exif_transpose(frame)
    has_alpha = "A" in upright.getbands() or "transparency" in upright.info
    mode = "RGBA" if has_alpha and kind != "JPEG" else "RGB"
    if profile and upright.mode in ("RGB", "RGBA", "CMYK", "L"):
        upright = _to_srgb(upright, profile, mode)
    pixels = upright.convert(mode)
    fresh = Pillow.new(mode, pixels.size)
    fresh.paste(pixels)
    return fresh


def _to_srgb(image: Pillow.Image, profile: bytes, mode: str) -> Pillow.Image:
    try:
        converted = ImageCms.profileToProfile(
            image,
            ImageCms.ImageCmsProfile(io.BytesIO(profile)),
            ImageCms.createProfile("sRGB"),
            outputMode=mode if image.mode != "L" else "L",
        )
    except (ImageCms.PyCMSError, OSError, ValueError):
        return image  # an odd profile costs a shade, not the picture
    return converted or image


def _animation(source: Pillow.Image, kind: str) -> tuple[list[Pillow.Image], dict[str, Any]]:
    frames: list[Pillow.Image] = []
    durations: list[int] = []
    for frame in ImageSequence.Iterator(source):
        frames.append(_clean(frame.copy(), kind))
        durations.append(int(frame.info.get("duration") or 100))
    timing: dict[str, Any] = {"duration": durations, "loop": int(source.info.get("loop", 0))}
    if kind == "GIF":
        timing["disposal"] = 2
    return frames, timing


def _save(frames: list[Pillow.Image], kind: str, timing: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    options = SAVE_OPTIONS[kind] | timing
    if len(frames) > 1:
        options |= {"save_all": True, "append_images": frames[1:]}
    frames[0].save(out, kind, **options)
    return out.getvalue()


def _blurhash(image: Pillow.Image) -> str:
    tiny = image.convert("RGB")
    tiny.thumbnail((BLURHASH_SIDE, BLURHASH_SIDE))
    rows = [[tiny.getpixel((x, y)) for x in range(tiny.width)] for y in range(tiny.height)]
    return str(blurhash.encode(rows, components_x=4, components_y=3))
