"""Builds an ICC profile for a PNG that has none but describes its colours in numbers (cICP, gAMA and cHRM).

Imports only the standard library.
"""

import struct
from collections.abc import Callable, Mapping
from math import exp

# x and y of red, green, blue and white.
Primaries = tuple[tuple[float, float], tuple[float, float], tuple[float, float], tuple[float, float]]
Matrix = list[list[float]]
# From a value of 0 to 1 to light of 0 to 1.
Curve = Callable[[float], float]

_D65, _C = (0.3127, 0.3290), (0.310, 0.316)
_SRGB: Primaries = ((0.64, 0.33), (0.30, 0.60), (0.15, 0.06), _D65)
# By the numbers of ITU-T H.273.
_PRIMARIES: dict[int, Primaries] = {
    1: _SRGB,
    4: ((0.67, 0.33), (0.21, 0.71), (0.14, 0.08), _C),
    5: ((0.64, 0.33), (0.29, 0.60), (0.15, 0.06), _D65),
    6: ((0.630, 0.340), (0.310, 0.595), (0.155, 0.070), _D65),
    7: ((0.630, 0.340), (0.310, 0.595), (0.155, 0.070), _D65),
    9: ((0.708, 0.292), (0.170, 0.797), (0.131, 0.046), _D65),
    11: ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060), (0.314, 0.351)),
    12: ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060), _D65),
}
# The luminance shown as white, in cd/m². Brighter parts of a high-range picture become white, too.
_WHITE_NITS = 203.0


def _srgb_curve(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _power(exponent: float) -> Curve:
    return lambda value: value**exponent


def _pq(value: float) -> float:
    root = value ** (1 / 78.84375)
    light = (max(root - 0.8359375, 0) / (18.8515625 - 18.6875 * root)) ** (1 / 0.1593017578125)
    return min(1.0, 10_000 * light / _WHITE_NITS)


def _hlg(value: float) -> float:
    scene = value * value / 3 if value <= 0.5 else (exp((value - 0.55991073) / 0.17883277) + 0.28466892) / 12
    return min(1.0, 1_000 * scene**1.2 / _WHITE_NITS)


# 1, 6, 14 and 15 (television) are shown on screens like sRGB, as browsers do.
_CURVES: dict[int, Curve] = {
    **dict.fromkeys((1, 6, 13, 14, 15), _srgb_curve),
    4: _power(2.2),
    5: _power(2.8),
    8: _power(1.0),
    16: _pq,
    18: _hlg,
}


def profile_of(chunks: Mapping[bytes, bytes]) -> bytes | None:
    """An ICC profile for a PNG with these chunks; None for sRGB and for unknown values."""
    try:
        if b"cICP" in chunks:
            primaries, transfer, matrix, is_full = chunks[b"cICP"][:4]
            if matrix or not is_full or primaries not in _PRIMARIES or transfer not in _CURVES:
                return None
            colours, curve = _PRIMARIES[primaries], _CURVES[transfer]
            return None if colours == _SRGB and curve is _srgb_curve else _profile(colours, curve)
        if b"sRGB" in chunks or b"gAMA" not in chunks:
            return None
        (gamma,) = struct.unpack(">I", chunks[b"gAMA"])
        colours = _SRGB
        if b"cHRM" in chunks:
            numbers = [number / 100_000 for number in struct.unpack(">8I", chunks[b"cHRM"])]
            white, red, green, blue = zip(numbers[::2], numbers[1::2], strict=True)
            colours = (red, green, blue, white)
        is_srgb_gamma = 43_000 <= gamma <= 48_000
        if not 1_000 <= gamma <= 1_000_000 or (is_srgb_gamma and _are_close(colours, _SRGB)):
            return None
        return _profile(colours, _srgb_curve if is_srgb_gamma else _power(100_000 / gamma))
    except (ValueError, ArithmeticError, struct.error):
        return None  # invalid primaries


def _are_close(one: Primaries, other: Primaries) -> bool:
    return all(
        abs(a - b) < 0.005 for pair, same in zip(one, other, strict=True) for a, b in zip(pair, same, strict=True)
    )


def _profile(primaries: Primaries, curve: Curve) -> bytes:
    """A display profile of three primaries and one curve (ICC.1:2001-04)."""
    to_xyz = _to_pcs(primaries)
    columns = [struct.pack(">4s4x3i", b"XYZ ", *(round(65_536 * row[n]) for row in to_xyz)) for n in range(3)]
    steps = 1_024
    table = struct.pack(f">{steps}H", *(round(65_535 * min(1.0, curve(n / (steps - 1)))) for n in range(steps)))
    shared = struct.pack(">4s4xI", b"curv", steps) + table
    white = struct.pack(">4s4x3i", b"XYZ ", 63_190, 65_536, 54_061)
    bodies = [*columns, white, shared]
    names = {b"rXYZ": 0, b"gXYZ": 1, b"bXYZ": 2, b"wtpt": 3, b"rTRC": 4, b"gTRC": 4, b"bTRC": 4}
    start = 128 + 4 + 12 * len(names)
    offsets = [start + sum(map(len, bodies[:n])) for n in range(len(bodies))]
    tags = b"".join(struct.pack(">4sII", name, offsets[n], len(bodies[n])) for name, n in names.items())
    rest = struct.pack(">I", len(names)) + tags + b"".join(bodies)
    illuminant = struct.pack(">3i", 63_190, 65_536, 54_061)
    head = struct.pack(">I4xI4s4s4s12x4s28x", 128 + len(rest), 0x02400000, b"mntr", b"RGB ", b"XYZ ", b"acsp")
    return (head + illuminant).ljust(128, b"\x00") + rest


def _to_pcs(primaries: Primaries) -> Matrix:
    """From light of these primaries to XYZ under D50, by Bradford's adaptation."""
    *colours, white = ([x / y, 1.0, (1 - x - y) / y] for x, y in primaries)
    basis = [[colour[n] for colour in colours] for n in range(3)]
    amounts = _times(_inverse(basis), [[n] for n in white])
    to_xyz = [[row[n] * amounts[n][0] for n in range(3)] for row in basis]
    bradford = [[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]]
    source, target = (_times(bradford, [[n] for n in light]) for light in (white, [0.9642, 1.0, 0.8249]))
    scale = [[target[n][0] / source[n][0] if n == m else 0.0 for m in range(3)] for n in range(3)]
    return _times(_times(_inverse(bradford), _times(scale, bradford)), to_xyz)


def _times(a: Matrix, b: Matrix) -> Matrix:
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*b, strict=True)] for row in a]


def _inverse(m: Matrix) -> Matrix:
    (a, b, c), (d, e, f), (g, h, i) = m
    determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    cofactors = [
        [e * i - f * h, c * h - b * i, b * f - c * e],
        [f * g - d * i, a * i - c * g, c * d - a * f],
        [d * h - e * g, b * g - a * h, a * e - b * d],
    ]
    return [[value / determinant for value in row] for row in cofactors]
