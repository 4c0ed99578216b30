"""The bare pixels of one picture: in eight bits, in sRGB, upright. Part of the decoding process."""

import io
from typing import Any

from PIL import Image as Pillow
from PIL import ImageCms

from core.images.colours import profile_of
from core.images.structure import Reason, Refused, Structure, check_size

FORMATS = ("JPEG", "PNG", "WEBP", "GIF")


def opened(data: bytes, size: tuple[int, int]) -> Any:
    """The file as Pillow reads it; its size must be the one that was examined."""
    source = Pillow.open(io.BytesIO(data), formats=FORMATS)
    check_size(*source.size)
    if source.size != size:
        raise Refused(Reason.BROKEN)
    return source


class Colours:
    """Converts the colours of a file to sRGB, by its ICC profile or by the numbers of a PNG."""

    def __init__(self, data: bytes, structure: Structure) -> None:
        with Pillow.open(io.BytesIO(data), formats=FORMATS) as source:
            profile = source.info.get("icc_profile")
        if structure.kind == "PNG" and (not profile or b"cICP" in structure.chunks):
            profile = profile_of(structure.chunks) or (None if b"cICP" in structure.chunks else profile)
        self._profile: bytes | None = profile
        self._transforms: dict[tuple[str, str], ImageCms.ImageCmsTransform | None] = {}

    def apply(self, image: Pillow.Image, mode: str) -> Pillow.Image:
        """The image in sRGB. Unchanged without a profile, and with one that is invalid or for another colour space."""
        if not self._profile:
            return image
        if image.mode == "P":
            image = image.convert(mode)
        if image.mode == "LA":
            grey, alpha = image.split()
            del image
            image = self._converted(grey, "RGB").convert("RGB")
            image.putalpha(alpha)
            return image
        if image.mode in ("RGB", "RGBA", "RGBX"):
            if transform := self._transform(image.mode, image.mode):
                transform.apply_in_place(image)
            return image
        return self._converted(image, "RGB")

    def _converted(self, image: Pillow.Image, mode: str) -> Pillow.Image:
        transform = self._transform(image.mode, mode)
        if transform is None:
            return image
        converted = transform.apply(image)
        if "transparency" in image.info:
            converted.info["transparency"] = image.info["transparency"]
        return converted

    def _transform(self, source: str, target: str) -> ImageCms.ImageCmsTransform | None:
        key = (source, target)
        if key not in self._transforms:
            try:
                own = ImageCms.ImageCmsProfile(io.BytesIO(self._profile or b""))
                transform = ImageCms.buildTransform(own, _SRGB, source, target)
            except (ImageCms.PyCMSError, OSError, ValueError):
                transform = None
            self._transforms[key] = transform
        return self._transforms[key]


_SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))

_TURNS = {
    2: Pillow.Transpose.FLIP_LEFT_RIGHT,
    3: Pillow.Transpose.ROTATE_180,
    4: Pillow.Transpose.FLIP_TOP_BOTTOM,
    5: Pillow.Transpose.TRANSPOSE,
    6: Pillow.Transpose.ROTATE_270,
    7: Pillow.Transpose.TRANSVERSE,
    8: Pillow.Transpose.ROTATE_90,
}


def clean(image: Pillow.Image, structure: Structure, colours: Colours, *, keep_palette: bool = False) -> Pillow.Image:
    """The pixels of a frame, upright and in sRGB, in a new image that holds nothing else."""
    image = in_eight_bits(image, structure)
    has_alpha = "A" in image.getbands() or "transparency" in image.info
    mode = "RGBA" if has_alpha and structure.kind != "JPEG" else "RGB"
    if mode == "RGBA" and image.mode != "P" and "transparency" in image.info:
        image = image.convert("LA" if image.mode == "L" else "RGBA")
    image = colours.apply(image, mode)
    if (turn := _TURNS.get(structure.orientation)) is not None:
        image = image.transpose(turn)
    if keep_palette and structure.kind == "GIF" and image.mode in ("P", "L"):
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


def in_eight_bits(image: Pillow.Image, structure: Structure) -> Pillow.Image:
    """Scales 16-bit grey, which Pillow would clip at 255, and a transparent colour, which has the depth of the file."""
    info = image.info
    if image.mode in ("I", "I;16"):
        image = image.point(lambda value: value * (1 / 257)).convert("L")
    if structure.kind == "PNG" and isinstance(transparent := info.get("transparency"), int | tuple):
        depth = structure.chunks[b"IHDR"][8]
        if image.mode in ("1", "P"):
            return image.convert("L") if image.mode == "1" else image
        values = transparent if isinstance(transparent, tuple) else (transparent,)
        scaled = tuple(value * 255 // ((1 << depth) - 1) for value in values)
        image.info = info | {"transparency": scaled if isinstance(transparent, tuple) else scaled[0]}
    return image
