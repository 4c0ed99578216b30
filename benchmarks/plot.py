"""Draws costs by size as an SVG: one line per operation, relative to the smallest size."""

import math
from collections.abc import Callable

WIDTH, HEIGHT = 760, 380
LEFT, RIGHT, TOP, BOTTOM = 56, 190, 44, 46
COLOURS = ("#1b6ca8", "#c8511b", "#2f7d32", "#7b3fa0", "#8a6d00", "#b0235f", "#00736b", "#555555", "#c79a00")
FONT = 'font-family="system-ui, sans-serif" font-size="13"'


def svg(costs: dict[str, dict[int, float]], *, goal: float) -> str:
    """`costs` are milliseconds by operation and number of rows."""
    sizes = sorted({size for by_size in costs.values() for size in by_size})
    lines = {name: [by_size[size] / by_size[sizes[0]] for size in sizes] for name, by_size in costs.items()}
    top = max(1.5, math.ceil(max(max(line) for line in lines.values()) * 4) / 4)

    def x(size: int) -> float:
        share = math.log10(size / sizes[0]) / math.log10(sizes[-1] / sizes[0])
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(ratio: float) -> float:
        return TOP + (1 - ratio / top) * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="22" {FONT} font-weight="600">CPU of one operation, relative to {sizes[0]:,} rows</text>',
    ]
    for step in range(int(top / 0.5) + 1):
        ratio = step * 0.5
        parts.append(_line(LEFT, y(ratio), WIDTH - RIGHT, y(ratio), "#e0e0e0"))
        parts.append(f'<text x="{LEFT - 8}" y="{y(ratio) + 4:.1f}" {FONT} text-anchor="end">{ratio:g} ×</text>')
    parts.append(_line(LEFT, y(goal), WIDTH - RIGHT, y(goal), "#666", dashes="5 4"))
    parts.append(f'<text x="{LEFT + 6}" y="{y(goal) - 5:.1f}" {FONT} fill="#555">goal: at most {goal:g} ×</text>')
    for size in sizes:
        parts.append(
            f'<text x="{x(size):.1f}" y="{HEIGHT - 20}" {FONT} text-anchor="middle">{size:,}'
            f"{' rows' if size == sizes[-1] else ''}</text>"
        )
    for line, colour in zip(lines.values(), COLOURS, strict=False):
        points = [(x(size), y(ratio)) for size, ratio in zip(sizes, line, strict=True)]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points]
    parts += _labels(costs, lines, sizes, y)
    title = f"CPU of {', '.join(costs)} from {sizes[0]:,} to {sizes[-1]:,} rows"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _labels(
    costs: dict[str, dict[int, float]], lines: dict[str, list[float]], sizes: list[int], y: Callable[[float], float]
) -> list[str]:
    """Each line's name and milliseconds beside its end, moved apart where they would overlap."""
    ends = sorted((y(line[-1]), name, colour) for (name, line), colour in zip(lines.items(), COLOURS, strict=False))
    parts, free = [], 0.0
    for goal, name, colour in ends:
        at = max(goal, free)
        free = at + 17
        text = f"{name}: {costs[name][sizes[-1]]:.1f} ms"
        parts.append(f'<text x="{WIDTH - RIGHT + 10}" y="{at + 4:.1f}" {FONT} fill="{colour}">{text}</text>')
    return parts


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, *, dashes: str = "") -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{dashed}/>'
