"""python -m benchmarks: all benchmarks one after the other, as one table of goal, measured and met.

Rows appear as they are finished. Each benchmark gets an empty database of its own on the server that
BENCH_DATABASE_URL names, and Redis from BENCH_REDIS_URL.

    --quick            small sizes: does everything still run, and is nothing far off?
    --only http,login  some of them
    --compare REF      the same benchmarks of another commit, three times in turns, in a column beside this one
    --json, --markdown other forms of the table
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.database import empty_database
from benchmarks.servers import ROOT

# Smaller sizes for --quick.
BENCHMARKS = {
    "writes": ["--messages", "10000", "--sends", "500"],
    "http": ["--rounds", "1", "--seconds", "1"],
    "login": ["--rounds", "1"],
    "memory": ["--logins", "50", "--requests", "500"],
    "delivery": ["--rows", "2000", "--enqueue", "200"],
    "webhooks": ["--events", "1000", "--rounds", "1"],
    "batch": ["--rows", "10000"],
    "growth": ["--sizes", "1000,10000", "--rounds", "5"],
    "sockets": ["--sockets", "100", "--rounds", "1", "--seconds", "1"],
    "client": ["--rounds", "1", "--frames", "30", "--sends", "3", "--hour", "900"],
}
DRAIN_GOAL = 5_000
TWO_WORKERS_GOAL = 1.7


@dataclass(frozen=True, slots=True)
class Row:
    work: str
    measured: float
    goal: float | None = None
    at_least: bool = True

    @property
    def met(self) -> bool | None:
        if self.goal is None:
            return None
        return self.measured >= self.goal if self.at_least else self.measured <= self.goal


def rows_of(name: str, answer: Any) -> list[Row]:
    """The --json output of a benchmark, as rows of the table."""
    if name == "delivery":
        return [
            Row("P11 rows queued a second, a commit each", answer["enqueue_per_second"]),
            Row("P11 rows drained a second by one worker", answer["drain_per_second"], DRAIN_GOAL),
            Row("P11 CPU of the worker for a row, µs", answer["drain_cpu_us_per_row"]),
            Row("P11 CPU of PostgreSQL for a row, µs", answer["drain_database_cpu_us_per_row"]),
            Row("P11 rows a second by two workers beside one", answer["two_workers_beside_one"], TWO_WORKERS_GOAL),
        ]
    if name == "http":
        return [
            *(Row(f"{row['work']}: requests/s beside the bare view", row["ratio"], row["goal"]) for row in answer),
            *(Row(f"{row['work']}: the same, lower bound", row["least_ratio"]) for row in answer),
            *(
                Row(f"{row['work']}: requests/s beside the usual stack", row["usual_ratio"], row["usual_goal"])
                for row in answer
                if "usual_ratio" in row
            ),
            *(Row(f"{row['work']}: its CPU, lower bound", row["least_cpu_ratio"]) for row in answer),
            *(
                Row(
                    f"{row['work']}: CPU with PostgreSQL beside the bare view", row["cpu_ratio"], row["cpu_goal"], False
                )
                for row in answer
            ),
        ]
    if name == "login":
        return [Row(row["work"], row["ratio"], row["goal"], at_least="logins/s" in row["work"]) for row in answer]
    if name == "writes":
        return [Row(row["work"], row["measured"], row["goal"], at_least=row["goal"] < 1) for row in answer]
    return [
        Row(row["work"], row.get("ratio", row.get("measured")), row["goal"], at_least=row.get("at_least", False))
        for row in answer
    ]


def run(name: str, *, quick: bool) -> list[Row]:
    """The rows of one benchmark; none if it fails, with a message on stderr."""
    with empty_database() as url:
        env = os.environ | {"BENCH_DATABASE_URL": url, "DATABASE_URL": url}
        answer = _json_of([f"benchmarks.{name}", *(BENCHMARKS[name] if quick else [])], ROOT, env)
    return rows_of(name, answer) if answer is not None else []


def run_in(tree: Path, name: str, *, quick: bool) -> dict[str, float]:
    """What the other commit measures, by its own benchmarks; nothing where it has none of this name."""
    command = ["benchmarks", "--only", name, *(["--quick"] if quick else [])]
    return {row["work"]: row["measured"] for row in _json_of(command, tree, dict(os.environ)) or []}


def _json_of(command: list[str], tree: Path, env: dict[str, str]) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", *command, "--json"], cwd=tree, env=env, capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(f"{' '.join(command)} failed in {tree}:\n{done.stderr[-1500:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def in_turns(name: str, other: Path | None, *, quick: bool, turns: int) -> tuple[list[Row], dict[str, float] | None]:
    """Medians of this tree and of the other one, which take turns: a load of the machine falls on both."""
    ours: dict[str, list[Row]] = defaultdict(list)
    theirs: dict[str, list[float]] = defaultdict(list)
    for _ in range(turns):
        if other is not None:
            for work, measured in run_in(other, name, quick=quick).items():
                theirs[work].append(measured)
        for row in run(name, quick=quick):
            ours[row.work].append(row)
    rows = [replace(found[0], measured=median(row.measured for row in found)) for found in ours.values()]
    return rows, {work: median(measured) for work, measured in theirs.items()} if other is not None else None


@contextmanager
def other_tree(ref: str | None) -> Iterator[Path | None]:
    """The files of another commit, in a temporary folder."""
    if ref is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        tree = Path(folder) / "tree"
        subprocess.run(["git", "worktree", "add", "--detach", "--quiet", str(tree), ref], cwd=ROOT, check=True)
        try:
            yield tree
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(tree)], cwd=ROOT, check=True)


def line(cells: list[str], *, markdown: bool) -> str:
    if markdown:
        return f"| {' | '.join(cells)} |"
    return f"{cells[0]:72}" + "".join(f"{cell:>12}" for cell in cells[1:])


def cells(row: Row, before: dict[str, float] | None) -> list[str]:
    goal = "–" if row.goal is None else f"{'≥' if row.at_least else '≤'} {row.goal:g}"
    met = "–" if row.met is None else "met" if row.met else "missed"
    shown = [row.work, goal, f"{row.measured:g}", met]
    return shown if before is None else [*shown, f"{before[row.work]:g}" if row.work in before else "–"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", metavar="NAMES", help=f"of: {', '.join(BENCHMARKS)}")
    parser.add_argument("--compare", metavar="REF")
    parser.add_argument("--turns", type=int, help="runs of each benchmark; 3 with --compare")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    names = [name for name in options.only.split(",") if name] or list(BENCHMARKS)
    if unknown := set(names) - set(BENCHMARKS):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    found: list[dict[str, Any]] = []
    failed = False
    with other_tree(options.compare) as other:
        head = ["work", "goal", "measured", "", *([options.compare] if other else [])]
        if not options.json:
            print(line(head, markdown=options.markdown))
            if options.markdown:
                print(line(["---"] * len(head), markdown=True))
        for name in names:
            turns = options.turns or (3 if other else 1)
            rows, before = in_turns(name, other, quick=options.quick, turns=turns)
            failed |= not rows
            for row in rows:
                found.append(asdict(row) | {"met": row.met} | ({"before": before.get(row.work)} if before else {}))
                if not options.json:
                    print(line(cells(row, before), markdown=options.markdown), flush=True)
    if options.json:
        print(json.dumps(found, indent=2))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
