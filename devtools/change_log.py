"""CHANGELOG.md: one part for each version, each with upgrade notes for before, during and after the upgrade."""

from __future__ import annotations

import re

from devtools.environment import Problem

UNRELEASED = "Unreleased"
HEADING = re.compile(r"^## (.+)\n", re.MULTILINE)
NOTES = "### Upgrade notes\n"
TIMES = ("Before", "During", "After")
NOTHING = NOTES + "".join(f"- {time}: nothing.\n" for time in TIMES)


def parts(text: str) -> dict[str, str]:
    """Version (`Unreleased`, `1.0.0 – 2026-11-28`) → its part, in the order of the file."""
    pieces = HEADING.split(text)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def missing_notes(part: str) -> list[str]:
    """The times about which the upgrade notes of a version say nothing."""
    notes = part.partition(NOTES)[2].partition("\n### ")[0]
    return [time for time in TIMES if not re.search(rf"^- {time}: \S", notes, re.MULTILINE)]


def released(text: str, version: str, day: str) -> str:
    """The change log in which the unreleased part has become that version, below a new unreleased part.

    Raises:
        Problem: the unreleased part is missing or empty, or its upgrade notes are not complete.
    """
    versions = parts(text)
    part = versions.get(UNRELEASED)
    if part is None or next(iter(versions)) != UNRELEASED:
        raise Problem(f"CHANGELOG.md does not begin with `## {UNRELEASED}`.")
    if not part.replace(NOTHING, "").strip():
        raise Problem(f"CHANGELOG.md names nothing under `## {UNRELEASED}`.")
    if missing := missing_notes(part):
        lines = " ".join(f"`- {time}: …`" for time in missing)
        raise Problem(
            f"CHANGELOG.md: the upgrade notes of `## {UNRELEASED}` miss {lines} (`nothing.` is an answer, too)."
        )
    heading = f"## {UNRELEASED}\n"
    return text.replace(heading, f"{heading}\n{NOTHING}\n## {version} – {day}\n", 1)
