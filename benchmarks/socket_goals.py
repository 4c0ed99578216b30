"""The figures of benchmarks.sockets that have a goal: ratios within one run, medians of its rounds."""

from statistics import median
from typing import Any

from benchmarks.report import Row

Measured = dict[str, dict[str, Any]]


def rows_of(measured: Measured, *, pairs: int, rounds: int) -> list[Row]:
    def ratio(what: str, beside: str, number: int, key: str) -> float:
        labels = [f"{number} pairs, round {turn + 1}" for turn in range(rounds)]
        return median(measured[f"{what}, {label}"][key] / measured[f"{beside}, {label}"][key] for label in labels)

    rest = [measured[f"message rest, {pairs} pairs, round {turn + 1}"]["per_second"] for turn in range(rounds)]
    sent = [measured[f"message ours, {pairs} pairs, round {turn + 1}"]["per_second"] for turn in range(rounds)]
    idle, channels = measured["idle ours"]["mb_per_1000"], measured["idle channels"]["mb_per_1000"]
    post, back = measured["after a POST"], measured["come back"]
    bare_post, bare_back = measured["after a bare POST"], measured["come back bare"]
    return [
        _row(
            "P7 POST to receipt: median beside that of the POST",
            post["receipt_p50_ms"] / post["post_p50_ms"],
            1.1,
            at_least=False,
        ),
        _bound("P7 POST to receipt: median", bare_post["receipt_p50_ms"] / bare_post["post_p50_ms"]),
        _row(
            "P7 POST to receipt: p99 beside the median of the POST",
            post["receipt_p99_ms"] / post["post_p50_ms"],
            2,
            at_least=False,
        ),
        _bound("P7 POST to receipt: p99", bare_post["receipt_p99_ms"] / bare_post["post_p50_ms"]),
        _row(
            f"P8 typing, {pairs} pairs: beside a bare Channels consumer",
            ratio("typing ours", "relay channels", pairs, "per_second"),
            2,
        ),
        _bound(
            f"P8 the same, {pairs} pairs, a question for each frame",
            ratio("relay checked", "relay channels", pairs, "per_second"),
        ),
        _row("P8 typing, one pair: the same", ratio("typing ours", "relay channels", 1, "per_second"), 0.8),
        _bound("P8 the same, one pair", ratio("relay checked", "relay channels", 1, "per_second")),
        _row(
            f"P8 typing, {pairs} pairs: p99 beside a consumer on the core layer",
            ratio("typing ours", "relay core layer", pairs, "p99_ms"),
            0.6,
            at_least=False,
        ),
        _row("P8 message.send: rate beside POST", median(a / b for a, b in zip(sent, rest, strict=True)), 0.9),
        _bound(
            "P8 the same, a bare consumer beside the bare view",
            ratio("message storing", "message bare rest", pairs, "per_second"),
        ),
        _row(
            "P8 message.send: CPU beside a POST to the same open sockets",
            ratio("message ours", "message rest to sockets", pairs, "cpu_ms"),
            1.1,
            at_least=False,
        ),
        _row("P9 1,000 idle sockets: memory beside a Channels consumer", idle / channels, 1, at_least=False),
        _row(
            f"P10 REST p95 while {back['sockets']} sockets resume, beside before",
            back["rest_p95_busy_ms"] / back["rest_p95_quiet_ms"],
            2,
            at_least=False,
        ),
        _bound("P10 the same", bare_back["rest_p95_busy_ms"] / bare_back["rest_p95_quiet_ms"]),
        _row("P10 events missing after that", back["missing"], 0, at_least=False),
    ]


def _row(work: str, measured: float, goal: float, *, at_least: bool = True) -> Row:
    return {"work": work, "measured": round(measured, 2), "goal": goal, "at_least": at_least}


def _bound(work: str, measured: float) -> Row:
    """What a baseline takes that does only the part that cannot be left out."""
    return {"work": f"{work}: lower bound", "measured": round(measured, 2), "goal": None}
