"""Files that people and attackers send, each with what the intake must answer."""

import io
import random
import struct
import zlib
from collections.abc import Callable

from PIL import Image, PngImagePlugin
from PIL.ExifTags import GPS, IFD, Base

OK = "ok"
BROKEN = "invalid_image"
OTHER = "unsupported_media_type"
LARGE = "file_too_large"

FIVE_MB = 5_242_880
SECRET = b"metadata-that-must-not-survive"


def photo(width: int = 64, height: int = 48, mode: str = "RGB") -> Image.Image:
    """Noise with a gradient: no encoder can make it vanish."""
    dice = random.Random(width * 1000 + height)
    image = Image.new("RGB", (width, height))
    image.putdata(
        [((x * 255) // width, (y * 255) // height, dice.randrange(256)) for y in range(height) for x in range(width)]
    )
    return image.convert(mode)


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def jpeg() -> bytes:
    return encoded(photo(), "JPEG")


def png() -> bytes:
    return encoded(photo(), "PNG")


def webp() -> bytes:
    return encoded(photo(), "WEBP")


def gif() -> bytes:
    return encoded(photo(), "GIF")


def animated(kind: str, frames: int = 4, side: int = 24) -> bytes:
    pictures = [Image.new("RGB", (side, side), (n * 40 % 256, 200, 90)) for n in range(frames)]
    for n, picture in enumerate(pictures):
        picture.putpixel((n % side, 0), (255, 255, 255))
    return encoded(pictures[0], kind, save_all=True, append_images=pictures[1:], duration=120, loop=0)


def with_gps() -> bytes:
    exif = Image.Exif()
    exif[Base.Orientation] = 6
    exif[Base.ImageDescription] = SECRET.decode()
    exif.get_ifd(IFD.GPSInfo)[GPS.GPSLatitude] = (52.0, 31.0, 12.0)
    exif.get_ifd(IFD.GPSInfo)[GPS.GPSLatitudeRef] = "N"
    return encoded(photo(60, 40), "JPEG", exif=exif)


def with_comment() -> bytes:
    return encoded(photo(), "JPEG", comment=SECRET + b"<script>alert(1)</script>")


def png_with_text() -> bytes:
    info = PngImagePlugin.PngInfo()
    info.add_text("Comment", SECRET.decode())
    info.add_itxt("XML:com.adobe.xmp", SECRET.decode())
    return encoded(photo(), "PNG", pnginfo=info)


def gif_with_comment() -> bytes:
    return encoded(photo(), "GIF", comment=SECRET)


def webp_with_xmp() -> bytes:
    return encoded(photo(), "WEBP", xmp=SECRET)


def multi_picture() -> bytes:
    second = photo(32, 32)
    return encoded(photo(), "MPO", save_all=True, append_images=[second])


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png_claiming(width: int, height: int, bits: int = 1, colour: int = 0) -> bytes:
    """A small file that promises many pixels."""
    row = b"\x00" + b"\x00" * ((width * bits * (3 if colour == 2 else 1) + 7) // 8)
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", packed) + _chunk(b"IEND", b"")


def png_text_bomb() -> bytes:
    bomb = zlib.compress(b"A" * 80_000_000, 9)
    data = png()
    head = data[:33]
    return head + _chunk(b"zTXt", b"Comment\x00\x00" + bomb) + data[33:]


def png_profile_bomb() -> bytes:
    bomb = zlib.compress(b"A" * 80_000_000, 9)
    data = png()
    return data[:33] + _chunk(b"iCCP", b"icc\x00\x00" + bomb) + data[33:]


def gif_of_frames(frames: int, side: int) -> bytes:
    out = io.BytesIO(animated("GIF", 2, 16)).getvalue()
    head = out[:6] + struct.pack("<HH", side, side) + out[10:]
    image_block = (
        b"\x21\xf9\x04\x00\x0a\x00\x00\x00\x2c\x00\x00\x00\x00\x10\x00\x10\x00\x80\x00\x00\x00\xff\xff\xff"
        b"\x08\x0b\x00\x01\x08\x1c\x48\xb0\xa0\xc1\x83\x08\x01\x00\x00"
    )
    screen = b"GIF89a" + struct.pack("<HH", side, side) + b"\x80\x00\x00\x00\x00\x00\xff\xff\xff"
    return screen + image_block * frames + b"\x3b" if frames > 2 else head


def gif_with_frame_of(side: int, screen: int = 10, first: bool = True) -> bytes:
    """A frame that is larger than the screen: decoders enlarge the screen."""
    head = b"GIF89a" + struct.pack("<HH", screen, screen) + b"\x80\x00\x00\x00\x00\x00\xff\xff\xff"
    small = b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\x00"
    large = b"\x2c" + struct.pack("<HHHHB", 0, 0, side, side, 0) + b"\x02\x02\x44\x01\x00"
    return head + (b"" if first else small) + large + b"\x3b"


def jpeg_of_scans(scans: int, side: int = 4_800) -> bytes:
    """A progressive JPEG that repeats an empty scan: each costs a pass over all pixels."""
    data = encoded(Image.new("RGB", (side, side)), "JPEG", progressive=True, quality=20)
    scan = b"\xff\xda\x00\x08\x01\x01\x00\x01\x3f\x10\x00"
    return data[:-2] + scan * scans + data[-2:]


def png_of_chunks(chunks: int) -> bytes:
    data = png()
    return data[:33] + _chunk(b"tEXt", b"a\x00b") * chunks + data[33:]


def png_with_frame_of(side: int, frames: int = 2) -> bytes:
    """An animated PNG whose frames are larger than the picture."""
    data = png()
    control = struct.pack(">IIIIIHHBB", 1, side, side, 0, 0, 1, 10, 0, 0)
    animation = _chunk(b"acTL", struct.pack(">II", frames, 0)) + _chunk(b"fcTL", b"\x00\x00\x00\x00" + control[4:])
    return data[:33] + animation + data[33:]


def _riff(*chunks: tuple[bytes, bytes]) -> bytes:
    body = b"".join(name + struct.pack("<I", len(data)) + data + b"\x00" * (len(data) % 2) for name, data in chunks)
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


def _uint24(number: int) -> bytes:
    return struct.pack("<I", number)[:3]


def webp_animation(canvas: int, frame: int, frames: int) -> bytes:
    """An animated WebP that promises so many frames of this size on such a canvas."""
    header = b"\x02\x00\x00\x00" + _uint24(canvas - 1) * 2
    picture = encoded(Image.new("RGB", (frame, frame)), "WEBP", quality=1)[12:]
    one = b"\x00" * 6 + _uint24(frame - 1) * 2 + _uint24(100) + b"\x00" + picture
    return _riff((b"VP8X", header), (b"ANIM", b"\x00" * 6), *[(b"ANMF", one)] * frames)


def padded_to(size: int) -> bytes:
    """A sound JPEG with bytes after its end, exactly `size` long."""
    data = jpeg()
    return data + b"\x00" * (size - len(data))


# name: (maker, answer)
CORPUS: dict[str, tuple[Callable[[], bytes], str]] = {
    "jpeg": (jpeg, OK),
    "png": (png, OK),
    "webp": (webp, OK),
    "gif": (gif, OK),
    "png with alpha": (lambda: encoded(photo(mode="RGBA"), "PNG"), OK),
    "png grey with alpha": (lambda: encoded(photo(mode="LA"), "PNG"), OK),
    "png palette": (lambda: encoded(photo(mode="P"), "PNG"), OK),
    "png 16 bit": (lambda: encoded(Image.new("I;16", (20, 20), 40_000), "PNG"), OK),
    "png one bit": (lambda: encoded(photo(mode="1"), "PNG"), OK),
    "jpeg grey": (lambda: encoded(photo(mode="L"), "JPEG"), OK),
    "jpeg cmyk": (lambda: encoded(photo(mode="CMYK"), "JPEG"), OK),
    "jpeg progressive": (lambda: encoded(photo(), "JPEG", progressive=True), OK),
    "jpeg of two pictures": (multi_picture, OK),
    "gif animated": (lambda: animated("GIF"), OK),
    "webp animated": (lambda: animated("WEBP"), OK),
    "png animated": (lambda: animated("PNG"), OK),
    "jpeg with position": (with_gps, OK),
    "jpeg with comment": (with_comment, OK),
    "png with text": (png_with_text, OK),
    "gif with comment": (gif_with_comment, OK),
    "webp with xmp": (webp_with_xmp, OK),
    "jpeg then zip": (lambda: jpeg() + b"PK\x03\x04" + SECRET, OK),
    "png then html": (lambda: png() + b"<script>" + SECRET, OK),
    "gif then script": (lambda: gif() + b"/*" + SECRET, OK),
    "one pixel": (lambda: encoded(photo(1, 1), "PNG"), OK),
    "narrow and long": (lambda: encoded(Image.new("RGB", (1, 11_999)), "PNG"), OK),
    "five megabytes": (lambda: padded_to(FIVE_MB), OK),
    "five megabytes and a byte": (lambda: padded_to(FIVE_MB + 1), LARGE),
    "too long a side": (lambda: encoded(Image.new("RGB", (1, 12_001)), "PNG"), BROKEN),
    "too many pixels": (lambda: png_claiming(6_000, 5_000), BROKEN),
    "bomb of one bit": (lambda: png_claiming(11_999, 11_999), BROKEN),
    "bomb of colour": (lambda: png_claiming(8_000, 8_000, 8, 2), BROKEN),
    "bomb beyond the decoder": (lambda: png_claiming(40_000, 20_000), BROKEN),
    "webp of 13000": (lambda: encoded(Image.new("L", (13_000, 13_000)), "WEBP", quality=1), BROKEN),
    "gif of 201 frames": (lambda: gif_of_frames(201, 16), BROKEN),
    "gif of large frames": (lambda: gif_of_frames(100, 8_000), BROKEN),
    "gif bomb of 40 bytes": (lambda: gif_with_frame_of(12_000), BROKEN),
    "gif bomb that grows": (lambda: gif_with_frame_of(16_000, first=False), BROKEN),
    "jpeg bomb of scans": (lambda: jpeg_of_scans(600), BROKEN),
    "jpeg of a few scans": (lambda: jpeg_of_scans(5, 64), OK),
    "png bomb of chunks": (lambda: png_of_chunks(100_000), BROKEN),
    "png bomb of large frames": (lambda: png_with_frame_of(12_000), BROKEN),
    "png bomb of frames": (lambda: png_with_frame_of(10, 4_000_000), BROKEN),
    "webp bomb of a large canvas": (lambda: webp_animation(16_000, 8, 2), BROKEN),
    "webp bomb of frames": (lambda: webp_animation(8, 8, 5_000), BROKEN),
    "webp bomb of all frames": (lambda: webp_animation(3_000, 8, 100), BROKEN),
    "webp frame larger than the canvas": (lambda: webp_animation(8, 3_000, 2), BROKEN),
    "text bomb": (png_text_bomb, BROKEN),
    "profile bomb": (png_profile_bomb, BROKEN),
    "empty": (lambda: b"", BROKEN),
    "jpeg cut": (lambda: jpeg()[:200], BROKEN),
    "png cut": (lambda: png()[:-40], BROKEN),
    "png cut in its last chunk": (lambda: png()[:-1], BROKEN),
    "png without its last chunk": (lambda: png()[:-12], BROKEN),
    "webp cut": (lambda: webp()[: len(webp()) // 2], BROKEN),
    "gif cut": (lambda: gif()[:40], BROKEN),
    "only a jpeg's head": (lambda: b"\xff\xd8\xff\xe0", BROKEN),
    "svg": (lambda: b"<svg xmlns='http://www.w3.org/2000/svg'/>", OTHER),
    "html called png": (lambda: b"<!doctype html><script>1</script>", OTHER),
    "pdf": (lambda: b"%PDF-1.7\n", OTHER),
    "bmp": (lambda: encoded(photo(), "BMP"), OTHER),
    "tiff": (lambda: encoded(photo(), "TIFF"), OTHER),
    "avif": (lambda: encoded(photo(), "AVIF"), OTHER),
    "heic": (lambda: b"\x00\x00\x00\x18ftypheic" + b"\x00" * 64, OTHER),
    "exe": (lambda: b"MZ" + b"\x00" * 200, OTHER),
    "zip": (lambda: b"PK\x03\x04" + b"\x00" * 200, OTHER),
}
