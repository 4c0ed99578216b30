"""The change log: an unreleased part first, and upgrade notes for before, during and after in every version."""

import re

import pytest

from devtools import change_log, records
from devtools.environment import Problem
from tests.server import ROOT

pytestmark = pytest.mark.once
TEXT = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
VERSIONS = change_log.parts(TEXT)
UNRELEASED = (
    f"# Changes\n\n## Unreleased\n\n### Added\n- A thing.\n\n{change_log.NOTHING}\n## 0.9.0 – 2026-01-02\n\nOld.\n"
)


def test_the_unreleased_part_is_first_and_versions_follow_the_newest_first():
    first, *dated = VERSIONS
    assert first == change_log.UNRELEASED
    numbers = [records.number(re.fullmatch(r"(\S+) – \d{4}-\d\d-\d\d", heading)[1]) for heading in dated]
    assert numbers == sorted(set(numbers), reverse=True)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_says_what_an_upgrade_needs(version):
    assert change_log.missing_notes(VERSIONS[version]) == []


def test_a_release_dates_the_unreleased_part_and_begins_another():
    after = change_log.parts(change_log.released(UNRELEASED, "1.0.0", "2026-03-04"))
    assert [*after] == ["Unreleased", "1.0.0 – 2026-03-04", "0.9.0 – 2026-01-02"]
    assert after["Unreleased"].strip() == change_log.NOTHING.strip()
    assert "- A thing." in after["1.0.0 – 2026-03-04"] and "Old." in after["0.9.0 – 2026-01-02"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("### Added\n- A thing.\n\n", "", "names nothing"),
        ("- During: nothing.\n", "", "miss `- During: …`"),
        ("- After: nothing.\n", "- After:\n", "miss `- After: …`"),
        ("## Unreleased", "## 1.0.0 – 2026-01-03", "does not begin with"),
    ],
)
def test_a_release_without_its_notes_is_refused(old, new, words):
    with pytest.raises(Problem, match=words):
        change_log.released(UNRELEASED.replace(old, new), "1.0.0", "2026-03-04")
