"""Images: validation of uploads.

Every upload is decoded, pasted into a new image and encoded again, so that no metadata and no
trailing byte of the upload survives. Limits are checked before anything is decoded (image_structure), and
decoding happens in a process of its own with limits of time and memory (image_processes, image_decoder).
"""

import hashlib
import secrets
from dataclasses import dataclass
from typing import IO

from core import image_processes
from core.exceptions import FileTooLarge, InvalidImage, UnsupportedMediaType
from core.image_structure import LimitExceeded, examine, kind_of

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


def read_upload(upload: IO[bytes]) -> bytes:
    """The bytes of an upload. FileTooLarge as soon as there are more than MAX_BYTES."""
    data = upload.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise FileTooLarge
    return data


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
    decoded = image_processes.convert(data, avatar=avatar)
    return Picture(
        mime=MIMES[decoded.kind],
        width=decoded.width,
        height=decoded.height,
        content=decoded.content,
        thumbnail=decoded.thumbnail,
        blurhash=decoded.blurhash,
        upload_digest=hashlib.sha256(data).hexdigest(),
    )


def new_token() -> str:
    """A name of 128 random bits."""
    return secrets.token_urlsafe(16)
