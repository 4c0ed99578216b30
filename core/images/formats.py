"""Recognises formats that are not accepted by the first bytes of a file, so that an error can name them."""

import re

# Brands of HEIC and AVIF pictures and of films in the container that they share (ISO/IEC 14496-12).
_BRANDS = {
    b"avif": "AVIF",
    b"avis": "AVIF",
    **dict.fromkeys(
        (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1", b"heif"), "HEIC"
    ),
    b"crx ": "CR3",
}
_STARTS: tuple[tuple[bytes, str], ...] = (
    (b"\xff\x0a", "JPEG XL"),
    (b"\x00\x00\x00\x0cJXL \r\n\x87\n", "JPEG XL"),
    (b"\x00\x00\x00\x0cjP  \r\n\x87\n", "JPEG 2000"),
    (b"\xff\x4f\xff\x51", "JPEG 2000"),
    (b"II\xbc\x01", "JPEG XR"),
    (b"II*\x00", "TIFF"),
    (b"MM\x00*", "TIFF"),
    (b"II+\x00", "TIFF"),
    (b"MM\x00+", "TIFF"),
    (b"IIRO", "RAW"),
    (b"IIU\x00", "RAW"),
    (b"FUJIFILMCCD-RAW", "RAW"),
    (b"BM", "BMP"),
    (b"\x00\x00\x01\x00", "ICO"),
    (b"\x00\x00\x02\x00", "ICO"),
    (b"8BPS", "PSD"),
    (b"gimp xcf", "XCF"),
    (b"qoif", "QOI"),
    (b"FLIF", "FLIF"),
    (b"v/1\x01", "OpenEXR"),
    (b"#?RADIANCE", "HDR"),
    (b"\x8aMNG", "MNG"),
    (b"\x8bJNG", "JNG"),
    (b"AT&TFORM", "DjVu"),
)
_NETPBM = re.compile(rb"P[1-7fF][ \t\r\n]")
_SVG = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml.*?\?>|<!--.*?-->|<!DOCTYPE\s+svg.*?>|\s)*<(?:\w+:)?svg[\s>]", re.I | re.S
)
_LOOKED_AT = 4_096


def foreign_format(data: bytes) -> tuple[str, bool] | None:
    """The name of a known format that is not accepted, and whether it is a format of pictures; None for anything else."""
    if data[4:8] == b"ftyp":
        size = min(int.from_bytes(data[:4], "big"), _LOOKED_AT)
        brands = [data[8:12], *(data[offset : offset + 4] for offset in range(16, size, 4))]
        # An AVIF picture may name HEIC's general brand first.
        names = {_BRANDS[brand] for brand in brands if brand in _BRANDS}
        for name in ("AVIF", "HEIC", "CR3"):
            if name in names:
                return name, True
        return "MP4", False
    head = data[:_LOOKED_AT]
    for start, name in _STARTS:
        if head.startswith(start):
            return name, True
    if _NETPBM.match(head):
        return "PNM", True
    for text in (head, *_as_utf16(head)):
        if _SVG.match(text):
            return "SVG", True
    if b"%PDF-" in head[:1_024]:
        return "PDF", False
    if head.startswith((b"%!PS", b"\xc5\xd0\xd3\xc6")):
        return "PostScript", False
    if head.startswith(b"\x1aE\xdf\xa3"):
        return "WebM", False
    if head.startswith(b"RIFF") and head[8:12] == b"AVI ":
        return "AVI", False
    return None


def _as_utf16(head: bytes) -> list[bytes]:
    """The text without its zero bytes when it begins with a byte order mark of UTF-16."""
    return [head[2:].replace(b"\x00", b"")] if head[:2] in (b"\xff\xfe", b"\xfe\xff") else []
