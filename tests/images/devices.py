"""Pictures as phones, cameras, scanners, messengers and drawing programs write them, each with what a person must see.

The bytes are put together here. What must be seen stands beside them as a picture, or as the frames of an animation.
"""

import itertools
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageOps

from tests.images.corpus import SECRET, encoded, gif_of_frames

WIDTH, HEIGHT = 96, 64
RED, GREEN, BLUE, CLEAR = (230, 40, 30, 255), (30, 180, 60, 255), (40, 60, 220, 255), (0, 0, 0, 0)


@dataclass(frozen=True)
class Shown:
    """The frames with their milliseconds, and how often they play (0: for ever, None: once)."""

    frames: list[tuple[Image.Image, int]]
    loop: int | None = 0


@dataclass(frozen=True)
class File:
    make: Callable[[], bytes]
    shown: Callable[[], Image.Image | Shown]
    # The largest mean difference of a channel: lossy formats and profiles move colours a little.
    tolerance: float = 6.0


def scene(width: int = WIDTH, height: int = HEIGHT) -> Image.Image:
    """Smooth, and different in each corner: a turn, a mirror or a swapped channel shows."""
    across = Image.linear_gradient("L").rotate(90).resize((width, height))
    down = Image.linear_gradient("L").resize((width, height))
    image = Image.merge("RGB", (across, down, ImageOps.invert(across).point(lambda value: value // 2)))
    ImageDraw.Draw(image).rectangle((4, 4, width // 3, height // 4), fill=(250, 240, 20))
    return image


def photo(**options: object) -> bytes:
    return encoded(scene(), "JPEG", quality=92, subsampling=0, **options)


# --- JPEG -------------------------------------------------------------------------------------------


def segment(marker: int, body: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


def exif(orientation: object = 1, *, kind: int = 3, order: str = "<", count: int = 1) -> bytes:
    """An Exif segment with an orientation, a maker's note and a thumbnail's directory that leads nowhere."""
    value = struct.pack(order + {1: "B3x", 3: "H2x", 4: "I", 2: "I"}[kind], orientation)
    note = SECRET * 40
    entries = struct.pack(order + "HHI", 0x0112, kind, count) + value
    entries += struct.pack(order + "HHII", 0x927C, 7, len(note), 8 + 2 + 24 + 4)
    head = (b"II*\x00" if order == "<" else b"MM\x00*") + struct.pack(order + "I", 8)
    body = head + struct.pack(order + "H", 2) + entries + struct.pack(order + "I", 0xFFFFFF) + note
    return segment(0xE1, b"Exif\x00\x00" + body)


def with_segments(*segments: bytes, data: bytes | None = None) -> bytes:
    data = data or photo()
    return data[:2] + b"".join(segments) + data[2:]


def xmp(text: str) -> bytes:
    return segment(0xE1, b"http://ns.adobe.com/xap/1.0/\x00" + text.encode())


def film(size: int = 300_000) -> bytes:
    """A film as phones append it: its bytes look like every marker of a JPEG."""
    noise = bytes(itertools.islice(itertools.cycle(range(256)), size // 3)) + b"\xff\xda\xff\xd8\xff\xc0" * (size // 9)
    return struct.pack(">I4s4sI4s", 24, b"ftyp", b"mp42", 0, b"isom") + b"\x00" * 4 + noise + SECRET


MOTION_XMP = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description xmlns:GCamera="http://ns.google.com/photos/1.0/camera/" GCamera:MotionPhoto="1"'
    ' GCamera:MotionPhotoVersion="1" GCamera:MicroVideoOffset="300000"/></rdf:RDF></x:xmpmeta>'
)
GAIN_MAP_XMP = '<x:xmpmeta xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0"/>'


def mpf(sizes: list[int], *, number: int | None = None) -> bytes:
    """The index of a file with several pictures (CIPA DC-007); `number`: what it claims, when it is wrong."""
    entries = b"".join(
        struct.pack("<IIIHH", 0x030000 if n == 0 else 0, size, n * 999, 0, 0) for n, size in enumerate(sizes)
    )
    count = len(sizes) if number is None else number
    directory = struct.pack("<H", 3)
    directory += struct.pack("<HHI4s", 0xB000, 7, 4, b"0100") + struct.pack("<HHII", 0xB001, 4, 1, count)
    directory += struct.pack("<HHII", 0xB002, 7, len(entries), 50) + struct.pack("<I", 0)
    return segment(0xE2, b"MPF\x00II*\x00" + struct.pack("<I", 8) + directory + entries)


def second(size: int = 40) -> bytes:
    return encoded(Image.new("L", (size, size), 90), "JPEG")


def scanner() -> bytes:
    """300 dpi, a JFXX thumbnail, a progressive thumbnail in Exif, and application segments of 64 KB each."""
    thumbnail = encoded(scene(64, 40), "JPEG", progressive=True)
    jfxx = segment(0xE0, b"JFXX\x00\x10" + thumbnail[:60_000])
    huge = [segment(0xE0 + number, SECRET + bytes(65_000)) for number in (4, 5, 13)]
    many = [segment(0xED, b"Photoshop 3.0\x00" + thumbnail * 4) for _ in range(9)]
    data = photo(dpi=(300, 300))
    return with_segments(jfxx, *huge, *many, exif(1), segment(0xFE, b"scanned " + SECRET), data=data)


def filled() -> bytes:
    """Fill bytes before markers, and zeros between segments."""
    data = photo()
    first = 4 + struct.unpack_from(">H", data, 4)[0]
    return data[:2] + b"\xff" * 300 + data[2:first] + b"\x00" * 40 + b"\xff" * 7 + data[first:]


def adobe(transform: int) -> bytes:
    return segment(0xEE, b"Adobe" + struct.pack(">HHHB", 100, 0, 0, transform))


def cmyk() -> Image.Image:
    """With a black channel of its own: a swap of inverted and plain inks shows."""
    ink = scene().convert("CMYK").split()
    black = Image.linear_gradient("L").resize((WIDTH, HEIGHT)).point(lambda value: value // 3)
    return Image.merge("CMYK", (*ink[:3], black))


def ycck() -> bytes:
    """CMYK stored as YCCK, as Photoshop does: inverted, with Adobe's transform 2."""
    inks = cmyk().split()
    luma = Image.merge("RGB", inks[:3]).convert("YCbCr").split()
    data = encoded(_raw_cmyk(Image.merge("CMYK", (*luma, ImageOps.invert(inks[3])))), "JPEG", quality=95, subsampling=0)
    place = data.index(b"Adobe")
    return data[: place + 11] + b"\x02" + data[place + 12 :]


def _raw_cmyk(stored: Image.Image) -> Image.Image:
    """Pillow inverts CMYK when it writes: what goes in inverted stands in the file as it is."""
    return Image.merge("CMYK", [ImageOps.invert(band) for band in stored.split()])


# Display P3 as phones embed it (its columns under D50), with the curve of sRGB; Adobe RGB with its gamma.
P3_D50 = ((0.51512, 0.24120, -0.00105), (0.29198, 0.69225, 0.04189), (0.15710, 0.06657, 0.78407))
ADOBE_D50 = ((0.60974, 0.31111, 0.01947), (0.20528, 0.62567, 0.06087), (0.14919, 0.06322, 0.74457))
SRGB_PARAMETERS = (2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)


def _fixed(*numbers: float) -> bytes:
    return b"".join(struct.pack(">i", round(number * 65_536)) for number in numbers)


def profile(columns: tuple[tuple[float, ...], ...] | None, curve: tuple[float, ...]) -> bytes:
    """An ICC profile (version 4): of colours, or without columns of greys."""
    body_of_curve = b"para" + bytes(4) + struct.pack(">HH", 3 if len(curve) > 1 else 0, 0) + _fixed(*curve)
    white = b"XYZ " + bytes(4) + _fixed(0.9642, 1.0, 0.8249)
    tags = {b"wtpt": white}
    if columns is None:
        tags[b"kTRC"] = body_of_curve
    else:
        for name, column in zip("rgb", columns, strict=True):
            tags[f"{name}XYZ".encode()] = b"XYZ " + bytes(4) + _fixed(*column)
            tags[f"{name}TRC".encode()] = body_of_curve
    offset, table, bodies = 132 + 12 * len(tags), b"", b""
    for name, body in tags.items():
        table += struct.pack(">4sII", name, offset + len(bodies), len(body))
        bodies += body + bytes(-len(body) % 4)
    rest = struct.pack(">I", len(tags)) + table + bodies
    space = b"GRAY" if columns is None else b"RGB "
    head = struct.pack(">I4xI4s4s4s12x4s28x", 128 + len(rest), 0x04000000, b"mntr", space, b"XYZ ", b"acsp")
    return (head + _fixed(0.9642, 1.0, 0.8249)).ljust(128, b"\x00") + rest


P3, ADOBE_RGB = profile(P3_D50, SRGB_PARAMETERS), profile(ADOBE_D50, (2.19921875,))
LINEAR_GREY = profile(None, (1.0,))


def _to_linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _from_linear(value: float) -> float:
    value = min(1.0, max(0.0, value))
    return 12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055


def _seen(image: Image.Image, columns: tuple[tuple[float, ...], ...], curve: Callable[[float], float]) -> Image.Image:
    """What these numbers look like in sRGB, by the definition of the colour spaces."""
    back = ((3.1338561, -1.6168667, -0.4906146), (-0.9787684, 1.9161415, 0.0334540), (0.0719453, -0.2289914, 1.4052427))
    known: dict[tuple[int, ...], tuple[int, ...]] = {}

    def seen(pixel: tuple[int, ...]) -> tuple[int, ...]:
        if pixel not in known:
            light = [curve(value / 255) for value in pixel]
            xyz = [sum(columns[m][n] * light[m] for m in range(3)) for n in range(3)]
            known[pixel] = tuple(
                round(255 * _from_linear(sum(a * b for a, b in zip(row, xyz, strict=True)))) for row in back
            )
        return known[pixel]

    result = Image.new("RGB", image.size)
    result.putdata([seen(pixel) for pixel in image.get_flattened_data()])
    return result


def in_p3() -> Image.Image:
    return _seen(scene(), P3_D50, _to_linear)


def in_adobe() -> Image.Image:
    return _seen(scene(), ADOBE_D50, lambda value: value**2.19921875)


# --- PNG --------------------------------------------------------------------------------------------


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png_of(width: int, height: int, depth: int, colour: int, rows: list[bytes], *chunks: tuple[bytes, bytes]) -> bytes:
    """A PNG of unfiltered rows, with chunks before its pixels."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\x00" + row for row in rows))
    parts = [(b"IHDR", header), *chunks, (b"IDAT", pixels), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


def grey_scene() -> Image.Image:
    return scene().convert("L")


def _rows(image: Image.Image) -> list[bytes]:
    data, width = image.tobytes(), image.width * len(image.getbands())
    return [data[start : start + width] for start in range(0, len(data), width)]


def sixteen_bits(image: Image.Image, *chunks: tuple[bytes, bytes], colour: int) -> bytes:
    rows = [b"".join(bytes((value, value)) for value in row) for row in _rows(image)]
    return png_of(image.width, image.height, 16, colour, rows, *chunks)


def with_chunks(*chunks: tuple[bytes, bytes], data: bytes | None = None) -> bytes:
    data = data or encoded(scene(), "PNG")
    return data[:33] + b"".join(chunk(*part) for part in chunks) + data[33:]


def interlaced() -> bytes:
    """Adam7, which Pillow does not write."""
    image, packed = scene(), b""
    passes = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
    for left, top, across, down in passes:
        for y in range(top, HEIGHT, down):
            packed += b"\x00" + b"".join(bytes(image.getpixel((x, y))) for x in range(left, WIDTH, across))
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 1)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(packed)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


def faded(mode: str) -> Image.Image:
    """With every degree of transparency."""
    image = scene().convert(mode.removesuffix("A") or "L")
    image.putalpha(Image.linear_gradient("L").resize((WIDTH, HEIGHT)))
    return image


def keyed(colour: tuple[int, int, int] = (250, 240, 20)) -> Image.Image:
    """The scene with one colour transparent."""
    image = scene().convert("RGBA")
    image.putdata([CLEAR if pixel[:3] == colour else pixel for pixel in image.get_flattened_data()])
    return image


def screenshot() -> Image.Image:
    image = Image.new("RGB", (117, 253), (245, 246, 248))
    draw = ImageDraw.Draw(image)
    for line in range(12):
        draw.rectangle((8, 10 + 20 * line, 30 + line * 6, 20 + 20 * line), fill=(10 * line, 120, 255 - 10 * line))
    return image


# --- Animations: three cells of one colour each -----------------------------------------------------

CELL = 16
Cells = tuple[tuple[int, int, int, int], ...]


def cells(*colours: tuple[int, int, int, int]) -> Image.Image:
    image = Image.new("RGBA", (CELL * len(colours), CELL))
    for place, colour in enumerate(colours):
        image.paste(colour, (place * CELL, 0, (place + 1) * CELL, CELL))
    return image


PALETTE = [*RED[:3], *GREEN[:3], *BLUE[:3], 9, 9, 9]
R, G, B, NO = 0, 1, 2, 3
COLOURS = {R: RED, G: GREEN, B: BLUE, NO: CLEAR}


def _lzw(indices: bytes) -> bytes:
    """Uncompressed: each pixel a code of three bits, and the table cleared before codes grow."""
    bits: list[int] = []
    for start in range(0, len(indices), 2):
        bits += [4, *indices[start : start + 2]]
    bits.append(5)
    number = int("".join(f"{code:03b}" for code in reversed(bits)), 2)
    packed = number.to_bytes((3 * len(bits) + 7) // 8, "little")
    blocks = b"".join(bytes((len(part),)) + part for part in (packed[n : n + 255] for n in range(0, len(packed), 255)))
    return b"\x02" + blocks + b"\x00"


@dataclass(frozen=True)
class GifFrame:
    """Cells from `first` on, of the colours R, G, B or NO (transparent)."""

    cells: tuple[int, ...]
    first: int = 0
    disposal: int = 0
    delay: int = 12
    interlaced: bool = False


def gif_of(
    *frames: GifFrame, loop: int | None = 0, wide: int = 3, background: int = 0, trailer: bytes = b"\x3b"
) -> bytes:
    data = b"GIF89a" + struct.pack("<HHBBB", wide * CELL, CELL, 0x91, background, 0) + bytes(PALETTE)
    if loop is not None:
        data += b"\x21\xff\x0bNETSCAPE2.0\x03\x01" + struct.pack("<H", loop) + b"\x00"
    for frame in frames:
        row = b"".join(bytes((cell,)) * CELL for cell in frame.cells)
        packed = frame.disposal << 2 | (NO in frame.cells)
        data += b"\x21\xf9\x04" + struct.pack("<BHB", packed, frame.delay, NO) + b"\x00"
        size = (frame.first * CELL, 0, len(frame.cells) * CELL, CELL)
        data += b"\x2c" + struct.pack("<HHHHB", *size, 0x40 if frame.interlaced else 0) + _lzw(row * CELL)
    return data + trailer


def plays(*frames: tuple[int, ...], loop: int | None = 0, ms: int = 120) -> Shown:
    return Shown([(cells(*(COLOURS[cell] for cell in frame)), ms) for frame in frames], loop)


def apng_of(
    frames: list[tuple[Image.Image, int, int, int, int]],
    *,
    default: Image.Image | None = None,
    size: tuple[int, int] = (3 * CELL, CELL),
    delay: tuple[int, int] = (12, 100),
    loop: int = 0,
) -> bytes:
    """Frames as (image, x, y, disposal, blending); `default`: a picture for programs that show no animation."""
    sequence = itertools.count()

    def control(frame: tuple[Image.Image, int, int, int, int]) -> bytes:
        image, x, y, disposal, blending = frame
        numbers = (next(sequence), *image.size, x, y, *delay, disposal, blending)
        return chunk(b"fcTL", struct.pack(">IIIIIHHBB", *numbers))

    def pixels(image: Image.Image) -> bytes:
        return zlib.compress(b"".join(b"\x00" + row for row in _rows(image.convert("RGBA"))))

    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", *size, 8, 6, 0, 0, 0))
    data += chunk(b"acTL", struct.pack(">II", len(frames), loop))
    if default is not None:
        data += chunk(b"IDAT", pixels(default))
    for number, frame in enumerate(frames):
        data += control(frame)
        if number == 0 and default is None:
            data += chunk(b"IDAT", pixels(frame[0]))
        else:
            packed = pixels(frame[0])
            for part in (packed[:20], packed[20:]):  # programs write many chunks for one frame
                data += chunk(b"fdAT", struct.pack(">I", next(sequence)) + part)
    return data + chunk(b"IEND", b"")


def webp_of(*frames: tuple[int, ...], loop: int = 0, ms: int = 120) -> bytes:
    pictures = [cells(*(COLOURS[cell] for cell in frame)) for frame in frames]
    return encoded(
        pictures[0], "WEBP", save_all=True, append_images=pictures[1:], duration=ms, loop=loop, lossless=True
    )


ALL, SWAPPED = cells(RED, GREEN, BLUE), cells(BLUE, RED, GREEN)
HALF_GREEN = (30, 180, 60, 128)


def _gif_disposal(disposal: int) -> bytes:
    return gif_of(GifFrame((R, R, R), disposal=1), GifFrame((G,), 1, disposal), GifFrame((B,), 2, 1))


def _apng_disposal(disposal: int) -> bytes:
    whole = cells(RED, RED, RED)
    return apng_of([(whole, 0, 0, 0, 0), (cells(GREEN), CELL, 0, disposal, 0), (cells(BLUE), 2 * CELL, 0, 0, 0)])


def turned(method: Image.Transpose) -> Callable[[], Image.Image]:
    return lambda: scene().transpose(method)


_ORIENTATIONS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
SIDEWAYS = turned(Image.Transpose.ROTATE_270)

DEVICES: dict[str, File] = {
    # Phones.
    "motion photo of a Pixel": File(lambda: with_segments(exif(6), xmp(MOTION_XMP)) + film(), SIDEWAYS),
    "motion photo of a Galaxy": File(lambda: with_segments(exif(1)) + b"MotionPhoto_Data" + film() + b"SEFH\x6a\x00\x00\x00" + SECRET + b"SEFT", scene),
    "trailer of a Galaxy": File(lambda: photo() + b"\x00\x00\x01\x0a\x0e\x00\x00\x00Image_UTC_Data1700000000000SEFHe\x00\x00\x00\x01\x00\x00\x00SEFT", scene),
    "Ultra HDR": File(lambda: with_segments(xmp(GAIN_MAP_XMP), mpf([9_000, 1_000])) + with_segments(xmp(GAIN_MAP_XMP), data=second()), scene),
    "Ultra HDR with a film": File(lambda: with_segments(exif(6), mpf([9_000, 1_000])) + second() + film(), SIDEWAYS),
    "portrait with a depth map": File(lambda: with_segments(xmp('<x GDepth:Format="RangeInverse"/>'), mpf([9_000, 900, 900])) + second() + second(64), scene),
    "two pictures without an index": File(lambda: photo() + second(), scene),
    "MPO": File(lambda: encoded(scene(), "MPO", save_all=True, append_images=[Image.new("RGB", (80, 50))], quality=92), scene),
    "index of pictures with a wrong number": File(lambda: with_segments(mpf([9_000, 1_000], number=9)) + second(), scene),
    "index of pictures that ends early": File(lambda: with_segments(segment(0xE2, b"MPF\x00II*\x00\x08\x00\x00\x00\x03")), scene),
    "burst": File(lambda: photo() + photo() * 5, scene),
    **{f"orientation {n}": File(lambda n=n: with_segments(exif(n)), turned(turn)) for n, turn in _ORIENTATIONS.items()},
    **{f"orientation {n}, big endian": File(lambda n=n: with_segments(exif(n, order=">")), turned(turn)) for n, turn in _ORIENTATIONS.items()},
    **{f"odd orientation {n}": File(lambda n=n: with_segments(exif(n)), scene) for n in (0, 9, 255, 65_535)},
    "orientation of two numbers": File(lambda: with_segments(exif(6, count=2)), scene),
    "orientation as text": File(lambda: with_segments(exif(0x36, kind=2)), scene),
    "Exif twice": File(lambda: with_segments(exif(6), exif(8)), SIDEWAYS),
    "Exif that is cut off": File(lambda: with_segments(exif(6)[:2] + struct.pack(">H", 22) + exif(6)[4:24]), scene),
    "Exif of junk": File(lambda: with_segments(segment(0xE1, b"Exif\x00\x00" + bytes(range(200)))), scene),
    "Exif without an order": File(lambda: with_segments(segment(0xE1, b"Exif\x00\x00XX*\x00\x08\x00\x00\x00")), scene),
    "Exif of a directory that leads beyond": File(lambda: with_segments(segment(0xE1, b"Exif\x00\x00II*\x00\xf0\xff\xff\xff")), scene),
    "empty Exif": File(lambda: with_segments(segment(0xE1, b"Exif\x00\x00")), scene),
    "Exif after the picture's tables": File(lambda: photo().replace(b"\xff\xc0", exif(6) + b"\xff\xc0", 1), SIDEWAYS),
    "Display P3 of a phone": File(lambda: photo(icc_profile=P3), in_p3, 6),
    "Display P3, sideways": File(lambda: with_segments(exif(6), data=photo(icc_profile=P3)), lambda: in_p3().transpose(Image.Transpose.ROTATE_270), 6),
    # Cameras, scanners, programs.
    "Adobe RGB": File(lambda: photo(icc_profile=ADOBE_RGB), in_adobe, 6),
    "profile of junk": File(lambda: photo(icc_profile=bytes(range(256)) * 3), scene),
    "grey with a profile of colours": File(lambda: encoded(grey_scene(), "JPEG", quality=92, icc_profile=P3), grey_scene),
    "colours with a profile of greys": File(lambda: photo(icc_profile=LINEAR_GREY), scene),
    "linear grey": File(lambda: encoded(grey_scene(), "JPEG", quality=95, icc_profile=LINEAR_GREY), lambda: grey_scene().point(lambda value: round(255 * _from_linear(value / 255)))),
    "scan": File(scanner, scene),
    "fill bytes": File(filled, scene),
    "progressive": File(lambda: photo(progressive=True), scene),
    "restart markers": File(lambda: photo(restart_marker_blocks=1), scene),
    "restart markers, progressive": File(lambda: photo(restart_marker_rows=1, progressive=True), scene),
    "CMYK of Adobe": File(lambda: encoded(cmyk(), "JPEG", quality=95, subsampling=0), lambda: cmyk().convert("RGB")),
    "YCCK of Adobe": File(ycck, lambda: cmyk().convert("RGB")),
    "RGB that is not YCbCr": File(lambda: encoded(scene(), "JPEG", quality=92, keep_rgb=True), scene),
    "without a JFIF header": File(lambda: photo()[:2] + photo()[20:], scene),
    "grey JPEG": File(lambda: encoded(grey_scene(), "JPEG", quality=92), grey_scene),
    "start of image twice": File(lambda: b"\xff\xd8" + photo(), scene),
    # Messengers.
    "WhatsApp": File(lambda: encoded(scene(), "JPEG", quality=75, progressive=True, optimize=True), scene, 8),
    "Telegram": File(lambda: encoded(scene(), "JPEG", quality=87, optimize=True), scene, 6),
    "a sticker": File(lambda: encoded(faded("RGBA"), "WEBP", quality=92, exact=True), lambda: faded("RGBA"), 8),
    # Files that lost their end.
    "without its end marker": File(lambda: photo()[:-2], scene),
    "a few bytes short": File(lambda: photo()[:-9], scene),
    "cut in the marker": File(lambda: photo()[:-1], scene),
    "zeros instead of the end": File(lambda: photo()[:-2] + bytes(600), scene),
    "progressive, a few bytes short": File(lambda: photo(progressive=True)[:-9], scene),
    # PNG.
    "16-bit grey": File(lambda: sixteen_bits(grey_scene(), colour=0), grey_scene, 1),
    "16-bit colours": File(lambda: sixteen_bits(scene(), colour=2), scene, 1),
    "16-bit grey with alpha": File(lambda: sixteen_bits(faded("LA"), colour=4), lambda: faded("LA"), 1),
    "16-bit colours with alpha": File(lambda: sixteen_bits(faded("RGBA"), colour=6), lambda: faded("RGBA"), 1),
    "16-bit colours, one transparent": File(lambda: sixteen_bits(scene(), (b"tRNS", b"\xfa\xfa\xf0\xf0\x14\x14"), colour=2), keyed, 1),
    "16-bit grey, one transparent": File(lambda: sixteen_bits(grey_scene(), (b"tRNS", b"\xda\xda"), colour=0), lambda: _grey_keyed(218), 1),
    "8-bit colours, one transparent": File(lambda: with_chunks((b"tRNS", b"\x00\xfa\x00\xf0\x00\x14")), keyed, 1),
    "8-bit grey, one transparent": File(lambda: with_chunks((b"tRNS", b"\x00\xda"), data=encoded(grey_scene(), "PNG")), lambda: _grey_keyed(218), 1),
    "2-bit grey, one transparent": File(lambda: png_of(4, 1, 2, 0, [b"\x1b"], (b"tRNS", b"\x00\x02")), lambda: _pixels((0, 255), (85, 255), (0, 0), (255, 255)), 1),
    "1-bit grey, one transparent": File(lambda: png_of(8, 1, 1, 0, [b"\x55"], (b"tRNS", b"\x00\x01")), lambda: _pixels(*[(0, 255), (0, 0)] * 4), 1),
    "1 bit": File(lambda: encoded(grey_scene().convert("1"), "PNG"), lambda: grey_scene().convert("1").convert("L"), 1),
    "4-bit palette": File(lambda: encoded(scene().quantize(12), "PNG"), lambda: scene().quantize(12).convert("RGB"), 1),
    "palette with degrees of transparency": File(lambda: _faded_palette()[0], lambda: _faded_palette()[1], 1),
    "grey with alpha": File(lambda: encoded(faded("LA"), "PNG"), lambda: faded("LA"), 1),
    "interlaced": File(interlaced, scene, 1),
    "PNG sideways": File(lambda: with_chunks((b"eXIf", exif(6)[10:])), SIDEWAYS, 1),
    "PNG in Display P3": File(lambda: encoded(scene(), "PNG", icc_profile=P3), in_p3, 2),
    "PNG in Display P3 with alpha": File(lambda: encoded(faded("RGBA"), "PNG", icc_profile=P3), lambda: _faded(in_p3()), 2),
    "palette in Display P3": File(lambda: encoded(scene().quantize(200), "PNG", icc_profile=P3), lambda: _seen(scene().quantize(200).convert("RGB"), P3_D50, _to_linear), 2),
    "grey with alpha and a linear profile": File(lambda: encoded(faded("LA"), "PNG", icc_profile=LINEAR_GREY), lambda: _faded(grey_scene().point(lambda value: round(255 * _from_linear(value / 255)))), 3),
    "cICP of Display P3": File(lambda: with_chunks((b"cICP", bytes((12, 13, 0, 1)))), in_p3, 2),
    "cICP of sRGB beside another profile": File(lambda: with_chunks((b"cICP", bytes((1, 13, 0, 1))), data=encoded(scene(), "PNG", icc_profile=P3)), scene, 1),
    "linear light": File(lambda: with_chunks((b"gAMA", struct.pack(">I", 100_000))), lambda: scene().point([round(255 * _from_linear(n / 255)) for n in range(256)] * 3), 2),
    "gamma of sRGB": File(lambda: with_chunks((b"gAMA", struct.pack(">I", 45_455))), scene, 1),
    "gamma and primaries of sRGB": File(lambda: with_chunks((b"gAMA", struct.pack(">I", 45_455)), (b"cHRM", _primaries(0.64, 0.33, 0.3, 0.6, 0.15, 0.06))), scene, 1),
    "gamma and primaries of P3": File(lambda: with_chunks((b"gAMA", struct.pack(">I", 45_455)), (b"cHRM", _primaries(0.68, 0.32, 0.265, 0.69, 0.15, 0.06))), in_p3, 3),
    "sRGB beside a wrong gamma": File(lambda: with_chunks((b"sRGB", b"\x00"), (b"gAMA", struct.pack(">I", 100_000))), scene, 1),
    "gamma of nothing": File(lambda: with_chunks((b"gAMA", bytes(4)), (b"cHRM", bytes(32))), scene, 1),
    "PNG with bytes after its end": File(lambda: encoded(scene(), "PNG") + film(), scene, 1),
    "screenshot of an iPhone": File(lambda: with_chunks((b"sRGB", b"\x00"), (b"eXIf", exif(1)[10:]), (b"iTXt", b"XML:com.adobe.xmp\x00\x00\x00\x00\x00" + SECRET), data=encoded(screenshot(), "PNG")), screenshot, 1),
    "screenshot of an Android": File(lambda: with_chunks((b"sBIT", b"\x08\x08\x08\x08"), data=encoded(screenshot().convert("RGBA"), "PNG")), screenshot, 1),
    # WebP.
    "WebP in Display P3": File(lambda: encoded(scene(), "WEBP", quality=95, icc_profile=P3), in_p3, 8),
    "WebP in Display P3 with alpha": File(lambda: encoded(faded("RGBA"), "WEBP", lossless=True, exact=True, icc_profile=P3), lambda: _faded(in_p3()), 8),
    "WebP sideways": File(lambda: encoded(scene(), "WEBP", quality=95, exif=exif(6)[4:]), SIDEWAYS, 8),
    "WebP with bytes after its end": File(lambda: encoded(scene(), "WEBP", quality=95) + film(), scene, 8),
    "animated WebP": File(lambda: webp_of((R, G, B), (B, R, G), (G, NO, R)), lambda: plays((R, G, B), (B, R, G), (G, NO, R)), 8),
    "animated WebP that plays twice": File(lambda: webp_of((R, G, B), (B, R, G), loop=2), lambda: plays((R, G, B), (B, R, G), loop=2), 8),
    "animated WebP of one frame": File(lambda: _one_frame(), lambda: cells(RED, GREEN, BLUE), 8),
    # GIF.
    **{f"GIF of disposal {n}": File(lambda n=n: _gif_disposal(n), lambda n=n: plays((R, R, R), (R, G, R), (R, {2: NO, 3: R, 4: R}.get(n, G), B)), 1) for n in range(8)},
    "GIF of frames that add up": File(lambda: gif_of(GifFrame((R, G, B)), GifFrame((NO, B, NO)), GifFrame((G, NO, NO))), lambda: plays((R, G, B), (R, B, B), (G, B, B)), 1),
    "GIF whose first frame is a part": File(lambda: gif_of(GifFrame((G,), 1), GifFrame((B,), 2)), lambda: plays((NO, G, NO), (NO, G, B)), 1),
    "GIF whose first frame is restored": File(lambda: gif_of(GifFrame((R, R, R), disposal=3), GifFrame((B,), 2)), lambda: plays((R, R, R), (NO, NO, B)), 1),
    "GIF of one frame that is a part": File(lambda: gif_of(GifFrame((G,), 1)), lambda: cells(CLEAR, GREEN, CLEAR), 1),
    "GIF with a background": File(lambda: gif_of(GifFrame((R, NO, R), disposal=2), GifFrame((B,), 2), background=1), lambda: plays((R, NO, R), (NO, NO, B)), 1),
    "GIF without delays": File(lambda: gif_of(GifFrame((R, G, B), delay=0), GifFrame((B, R, G), delay=0)), lambda: plays((R, G, B), (B, R, G), ms=100), 1),
    "GIF of short delays": File(lambda: gif_of(GifFrame((R, G, B), delay=2), GifFrame((B, R, G), delay=3)), lambda: Shown([(ALL, 20), (SWAPPED, 30)]), 1),
    "GIF that plays once": File(lambda: gif_of(GifFrame((R, G, B)), GifFrame((B, R, G)), loop=None), lambda: plays((R, G, B), (B, R, G), loop=None), 1),
    "GIF that plays four times": File(lambda: gif_of(GifFrame((R, G, B)), GifFrame((B, R, G)), loop=3), lambda: plays((R, G, B), (B, R, G), loop=3), 1),
    "GIF of interlaced frames": File(lambda: gif_of(GifFrame((R, G, B), interlaced=True), GifFrame((B, R, G), interlaced=True)), lambda: plays((R, G, B), (B, R, G)), 1),
    "GIF without its trailer": File(lambda: gif_of(GifFrame((R, G, B)), GifFrame((B, R, G)), trailer=b""), lambda: plays((R, G, B), (B, R, G)), 1),
    "GIF with bytes after its end": File(lambda: gif_of(GifFrame((R, G, B)), GifFrame((B, R, G)), trailer=b"\x3b" + film()), lambda: plays((R, G, B), (B, R, G)), 1),
    "still GIF": File(lambda: gif_of(GifFrame((R, NO, B)), loop=None), lambda: cells(RED, CLEAR, BLUE), 1),
    # Animated PNG.
    "APNG": File(lambda: apng_of([(ALL, 0, 0, 0, 0), (SWAPPED, 0, 0, 0, 0)]), lambda: plays((R, G, B), (B, R, G)), 1),
    "APNG with a picture that is not a frame": File(lambda: apng_of([(ALL, 0, 0, 0, 0), (SWAPPED, 0, 0, 0, 0)], default=cells(GREEN, GREEN, GREEN)), lambda: plays((R, G, B), (B, R, G)), 1),
    "APNG of one frame beside a picture": File(lambda: apng_of([(ALL, 0, 0, 0, 0)], default=cells(GREEN, GREEN, GREEN)), lambda: ALL, 1),
    "APNG over nothing beside a picture": File(lambda: apng_of([(cells(GREEN), CELL, 0, 0, 1), (cells(BLUE), 2 * CELL, 0, 0, 1)], default=cells(RED, RED, RED)), lambda: plays((NO, G, NO), (NO, G, B)), 1),
    **{f"APNG of disposal {n}": File(lambda n=n: _apng_disposal(n), lambda n=n: plays((R, R, R), (R, G, R), (R, (G, NO, R)[n], B)), 1) for n in range(3)},
    "APNG of blended frames": File(lambda: apng_of([(cells(RED, RED, RED), 0, 0, 0, 0), (cells(HALF_GREEN), CELL, 0, 0, 1)]), lambda: Shown([(cells(RED, RED, RED), 120), (cells(RED, (130, 110, 45, 255), RED), 120)]), 1),
    "APNG that replaces": File(lambda: apng_of([(cells(RED, RED, RED), 0, 0, 0, 0), (cells(HALF_GREEN), CELL, 0, 0, 0)]), lambda: Shown([(cells(RED, RED, RED), 120), (cells(RED, HALF_GREEN, RED), 120)]), 1),
    "APNG that plays twice": File(lambda: apng_of([(ALL, 0, 0, 0, 0), (SWAPPED, 0, 0, 0, 0)], loop=2), lambda: plays((R, G, B), (B, R, G), loop=2), 1),
    "APNG of thirds of a second": File(lambda: apng_of([(ALL, 0, 0, 0, 0), (SWAPPED, 0, 0, 0, 0)], delay=(1, 3)), lambda: plays((R, G, B), (B, R, G), ms=333), 1),
    "APNG of delays over nothing": File(lambda: apng_of([(ALL, 0, 0, 0, 0), (SWAPPED, 0, 0, 0, 0)], delay=(12, 0)), lambda: plays((R, G, B), (B, R, G)), 1),
}  # fmt: skip


def _grey_keyed(value: int) -> Image.Image:
    image = grey_scene().convert("RGBA")
    image.putdata([CLEAR if pixel[0] == value else pixel for pixel in image.get_flattened_data()])
    return image


def _pixels(*greys: tuple[int, int]) -> Image.Image:
    image = Image.new("LA", (len(greys), 1))
    image.putdata(greys)
    return image


def _faded_palette() -> tuple[bytes, Image.Image]:
    image = scene().quantize(100)
    degrees = bytes(n * 255 // 99 for n in range(100))
    data = encoded(image, "PNG", transparency=degrees)
    shown = image.convert("RGB").convert("RGBA")
    shown.putalpha(image.copy().point([*degrees, *[255] * 156], "L"))
    return data, shown


def _faded(image: Image.Image) -> Image.Image:
    image = image.copy()
    image.putalpha(Image.linear_gradient("L").resize(image.size))
    return image


def _primaries(*numbers: float) -> bytes:
    return struct.pack(">8I", *(round(100_000 * number) for number in (0.3127, 0.3290, *numbers)))


def _one_frame() -> bytes:
    """An animation of one frame, which Pillow writes as a still picture."""
    still = encoded(ALL, "WEBP", lossless=True)
    picture = still[12:]
    size = struct.pack("<I", ALL.width - 1)[:3] + struct.pack("<I", ALL.height - 1)[:3]
    if picture[:4] == b"VP8X":
        picture = picture[18:]
    frame = bytes(6) + size + b"\x78\x00\x00\x00" + picture
    chunks = b"VP8X\x0a\x00\x00\x00\x12\x00\x00\x00" + size + b"ANIM\x06\x00\x00\x00" + bytes(6)
    body = b"WEBP" + chunks + b"ANMF" + struct.pack("<I", len(frame)) + frame
    return b"RIFF" + struct.pack("<I", len(body)) + body


# --- What is refused --------------------------------------------------------------------------------

LIMIT = 5_242_880


def filled_to_the_limit(head: bytes, element: bytes, tail: bytes = b"") -> bytes:
    """A file of the largest size that is made of its smallest element."""
    return head + element * ((LIMIT - len(head) - len(tail)) // len(element)) + tail


_GIF_HEAD = b"GIF89a" + struct.pack("<HHBBB", 8, 8, 0x80, 0, 0) + bytes(6)
SMALLEST: dict[str, Callable[[], bytes]] = {
    "JPEG of empty segments": lambda: filled_to_the_limit(b"\xff\xd8", b"\xff\xe1\x00\x02", photo()[2:]),
    "JPEG of fill bytes": lambda: filled_to_the_limit(b"\xff\xd8", b"\xff"),
    "JPEG of zeros": lambda: filled_to_the_limit(b"\xff\xd8\xff", b"\x00"),
    "JPEG of restarts": lambda: filled_to_the_limit(b"\xff\xd8", b"\xff\xd0"),
    "JPEG of starts": lambda: filled_to_the_limit(b"\xff\xd8", b"\xff\xd8"),
    "JPEG of reserved markers": lambda: filled_to_the_limit(b"\xff\xd8", b"\xff\x01"),
    "JPEG of scans": lambda: filled_to_the_limit(photo(progressive=True)[:-2], b"\xff\xda\x00\x08\x01\x01\x00\x01\x3f\x10\x00"),
    "JPEG of restarts in its scan": lambda: filled_to_the_limit(photo()[:-2], b"\xff\xd3"),
    "JPEG of markers in its scan": lambda: filled_to_the_limit(photo()[:-2], b"\xff\x02"),
    "GIF of sub-blocks": lambda: filled_to_the_limit(_GIF_HEAD + b"\x2c" + bytes(9) + b"\x02", b"\x01\x00"[:1] + b"\x44"),
    "GIF of sub-blocks in a comment": lambda: filled_to_the_limit(_GIF_HEAD + b"\x21\xfe", b"\x01\x44"),
    "GIF of comments": lambda: filled_to_the_limit(_GIF_HEAD, b"\x21\xfe\x00"),
    "GIF of junk": lambda: filled_to_the_limit(_GIF_HEAD, b"\x00"),
    "GIF of frames": lambda: filled_to_the_limit(_GIF_HEAD, b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x00"),
    "PNG of chunks": lambda: filled_to_the_limit(encoded(scene(), "PNG")[:33], chunk(b"teXt", b"")),
    "PNG of empty pixels": lambda: filled_to_the_limit(encoded(scene(), "PNG")[:33], chunk(b"IDAT", b"")),
    "WebP of chunks": lambda: filled_to_the_limit(b"RIFF" + struct.pack("<I", LIMIT - 8) + b"WEBP", b"ABCD" + bytes(4)),
}  # fmt: skip


def box(brand: bytes, *others: bytes) -> bytes:
    body = b"ftyp" + brand + bytes(4) + b"".join(others)
    return struct.pack(">I", len(body) + 4) + body + bytes(60)


# The name that a message must contain.
FOREIGN: dict[str, tuple[str, bytes]] = {
    **{f"HEIC, {brand.decode()}": ("HEIC", box(brand, b"mif1")) for brand in (b"heic", b"heix", b"hevc", b"heim", b"heis", b"msf1")},
    "HEIC of a general brand": ("HEIC", box(b"mif1", b"heic", b"miaf")),
    "AVIF": ("AVIF", box(b"avif", b"mif1", b"miaf")),
    "AVIF of a general brand": ("AVIF", box(b"mif1", b"miaf", b"avif")),
    "moving AVIF": ("AVIF", box(b"avis", b"msf1")),
    "AVIF of Pillow": ("AVIF", encoded(scene(), "AVIF")),
    "JPEG XL": ("JPEG XL", b"\xff\x0a" + bytes(40)),
    "JPEG XL in boxes": ("JPEG XL", b"\x00\x00\x00\x0cJXL \r\n\x87\n" + box(b"jxl ")),
    "JPEG 2000": ("JPEG 2000", encoded(scene(), "JPEG2000")),
    "TIFF": ("TIFF", encoded(scene(), "TIFF")),
    "big-endian TIFF": ("TIFF", encoded(scene(), "TIFF", big_tiff=True)),
    "raw picture of a camera": ("TIFF", b"MM\x00*\x00\x00\x00\x08" + bytes(60)),
    "BMP": ("BMP", encoded(scene(), "BMP")),
    "icon": ("ICO", encoded(scene(), "ICO")),
    "PPM": ("PNM", encoded(scene(), "PPM")),
    "PSD": ("PSD", b"8BPS\x00\x01" + bytes(40)),
    "SVG": ("SVG", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
    "SVG with a declaration": ("SVG", b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- drawn -->\n<!DOCTYPE svg PUBLIC 'x' 'y'>\n<svg width='1'>"),
    "SVG with a prefix": ("SVG", b"<?xml version='1.0'?><s:svg xmlns:s='http://www.w3.org/2000/svg'/>"),
    "SVG in UTF-16": ("SVG", "<svg xmlns='http://www.w3.org/2000/svg'/>".encode("utf-16")),
    "PDF": ("PDF", b"%PDF-1.7\n"),
    "PDF after a line": ("PDF", b"\n\n%PDF-1.4\n"),
    "film of an iPhone": ("MP4", box(b"qt  ", b"qt  ")),
    "film": ("MP4", box(b"isom", b"mp42")),
    "WebM": ("WebM", b"\x1aE\xdf\xa3" + bytes(40)),
}  # fmt: skip


def of_process(number: int) -> bytes:
    """A JPEG that says it is coded in this way: arithmetic, lossless, hierarchical."""
    return photo().replace(b"\xff\xc0", bytes((0xFF, number)), 1)


# A word of the sentence.
REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "empty": (lambda: b"", "empty"),
    **{f"JPEG of process {number:x}": (lambda number=number: of_process(number), "ordinary JPEG") for number in (0xC3, 0xC5, 0xC9, 0xCA, 0xCB, 0xF7)},
    "JPEG without half of its rows": (lambda: photo()[: len(photo()) // 2], "missing"),
    "JPEG of two frames": (lambda: with_segments(photo()[photo().index(b"\xff\xc0") :][:19]), "broken"),
    "a long side": (lambda: encoded(Image.new("RGB", (1, 12_001)), "PNG"), "12000"),
    "many pixels": (lambda: encoded(Image.new("1", (6_000, 4_001)), "PNG"), "24"),
    "many frames": (lambda: gif_of(*[GifFrame((R, G, B))] * 201), "200"),
    "frames of many pixels": (lambda: gif_of_frames(100, 1_000), "30"),
    "many scans": (lambda: SMALLEST["JPEG of scans"](), "parts"),
    "PNG cut off": (lambda: encoded(scene(), "PNG")[:-30], "missing"),
    "WebP cut off": (lambda: encoded(scene(), "WEBP")[:300], "broken"),
}  # fmt: skip
