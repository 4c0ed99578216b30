"""`dev.py release` as a maintainer runs it, in a repository of its own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core.version import VERSION
from devtools.change_log import NOTHING, UNRELEASED, parts
from devtools.records import MIGRATIONS, digests, number
from tests.server import ON_POSTGRES, ROOT
from tests.upgrades import code
from tests.upgrades.record import KINDS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not ON_POSTGRES, reason="a release records a database of each kind"),
    pytest.mark.skipif(not shutil.which("pg_dump"), reason="needs pg_dump"),
    pytest.mark.skipif(not shutil.which("npm"), reason="needs npm"),
]
NEXT = ".".join(map(str, (*number(VERSION)[:2], number(VERSION)[2] + 1)))
LINE = "- A line about something new.\n"


class Repository:
    """A copy of this checkout with a commit of its own, and what `dev.py` says there."""

    def __init__(self, folder: Path) -> None:
        self.folder = code.checkout(folder)
        # The libraries and programs are those of the tests.
        (folder / ".venv").symlink_to(Path(sys.prefix).resolve(), target_is_directory=True)
        (folder / "var").mkdir()
        for name in ("tools", "sdk-tools"):
            (ROOT / "var" / name).mkdir(parents=True, exist_ok=True)
            (folder / "var" / name).symlink_to(ROOT / "var" / name, target_is_directory=True)
        self.change_log = folder / "CHANGELOG.md"
        text = self.change_log.read_text()
        beginning = f"## {UNRELEASED}\n"
        now = f"{beginning}\n### Added\n{LINE}\n{NOTHING}\n"
        self.change_log.write_text(text.replace(beginning + parts(text)[UNRELEASED], now, 1))
        self.git("init", "--quiet")
        self.git("config", "user.name", "Parley")
        self.git("config", "user.email", "parley@example.com")
        self.git("add", "--all")
        self.commit("Begin")

    def git(self, *arguments: str) -> str:
        return code.git(*arguments, cwd=self.folder).strip()

    def commit(self, subject: str) -> None:
        self.git("commit", "--quiet", "--all", "--message", subject)

    def state(self) -> tuple[str, str, str]:
        """The commit, the tags, and what is not committed."""
        return self.git("rev-parse", "HEAD"), self.git("tag", "--list"), self.git("status", "--porcelain")

    def dev(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        inherited = {
            name: os.environ[name]
            for name in ("PATH", "HOME", "LANG", "TEST_DATABASE_URL", "TEST_REDIS_URL")
            if name in os.environ
        }
        return subprocess.run(
            [sys.executable, "dev.py", *arguments],
            cwd=self.folder,
            env=inherited,
            capture_output=True,
            text=True,
            check=False,
            timeout=800,
        )


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    return Repository(tmp_path_factory.mktemp("release") / "parley")


def dirty(repository):
    (repository.folder / "README.md").write_text("changed\n")


def untracked(repository):
    (repository.folder / "notes.txt").write_text("mine\n")


def tagged(repository):
    repository.git("tag", f"v{NEXT}")


def nothing_new(repository):
    text = repository.change_log.read_text()
    repository.change_log.write_text(text.replace(f"### Added\n{LINE}\n", "", 1))
    repository.commit("Take it back")


def no_notes(repository):
    text = repository.change_log.read_text()
    repository.change_log.write_text(text.replace("- During: nothing.\n", "", 1))
    repository.commit("Forget a note")


def edited(repository):
    path = repository.folder / "accounts" / "migrations" / "0001_initial.py"
    path.write_text(path.read_text() + "# more\n")
    repository.commit("Edit a migration")


def as_it_is(repository):
    pass


REFUSED = {
    "no version": (as_it_is, "1.2", "1.2 is not a version: it must be three numbers, such as 1.2.0."),
    "a name": (as_it_is, f"v{NEXT}", f"v{NEXT} is not a version"),
    "a version before": (as_it_is, "0.9.0", f"0.9.0 does not come after {VERSION}, the last release."),
    "the same version": (as_it_is, VERSION, f"{VERSION} does not come after {VERSION}, the last release."),
    "a dirty tree": (dirty, NEXT, "The tree is not clean"),
    "an untracked file": (untracked, NEXT, "The tree is not clean"),
    "a tag": (tagged, NEXT, f"The tag v{NEXT} exists."),
    "nothing new": (nothing_new, NEXT, "CHANGELOG.md names nothing under `## Unreleased`."),
    "no notes": (no_notes, NEXT, "miss `- During: …`"),
    "an edited migration": (edited, NEXT, "accounts/migrations/0001_initial.py is edited"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_release_that_cannot_be_made_changes_nothing(repository, case):
    change, version, sentence = REFUSED[case]
    commit, tags, _ = repository.state()
    change(repository)
    try:
        before = repository.state()
        refused = repository.dev("release", version)
        assert refused.returncode == 1
        assert sentence in refused.stderr and "Traceback" not in refused.stderr
        assert repository.state() == before
        assert not (repository.folder / "releases" / NEXT).exists()
    finally:
        repository.git("reset", "--quiet", "--hard", commit)
        repository.git("clean", "--quiet", "--force")
        for tag in set(repository.git("tag", "--list").split()) - set(tags.split()):
            repository.git("tag", "--delete", tag)


def test_a_release_is_one_commit_with_its_tag_and_holds_its_migrations(repository):
    before = repository.git("rev-parse", "HEAD")
    released = repository.dev("release", NEXT)
    assert released.returncode == 0, released.stdout + released.stderr
    assert released.stderr.endswith(f"Released {NEXT}. Next: git push --follow-tags\n")

    # A commit with nothing beside it, and an annotated tag on it.
    assert repository.git("log", "--format=%s", f"{before}..") == f"Release {NEXT}"
    assert repository.git("cat-file", "-t", f"v{NEXT}") == "tag"
    assert repository.git("rev-parse", f"v{NEXT}^{{commit}}") == repository.git("rev-parse", "HEAD")
    assert repository.git("status", "--porcelain") == ""

    # The change log has a new part, and a new unreleased one with nothing in it.
    text = repository.change_log.read_text()
    (unreleased, empty), (heading, part), *older = parts(text).items()
    assert (unreleased, empty.strip(), heading.split(" – ")[0]) == (UNRELEASED, NOTHING.strip(), NEXT)
    assert LINE in part and part.rstrip().endswith(NOTHING.rstrip())
    assert older[0][0].split(" – ")[0] == VERSION

    # Whatever tells the version tells the new one.
    changed = set(repository.git("diff", "--name-only", before).splitlines())
    record = {f"releases/{NEXT}/{name}" for kind in KINDS for name in (f"{kind}.json", f"{kind}.sql.gz")}
    record.add(f"releases/{NEXT}/{MIGRATIONS}")
    assert record < changed
    assert {"CHANGELOG.md", "core/version.py", "deploy/Containerfile"} < changed
    told = subprocess.run(
        [sys.executable, "-c", "from core.version import VERSION; print(VERSION)"],
        cwd=repository.folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert told.stdout.strip() == NEXT
    # That of the files of the web client tells a SHA-256.
    for name in sorted(changed - record - {"CHANGELOG.md", "static/built/manifest.json"}):
        added = [
            line
            for line in repository.git("diff", "--unified=0", before, "--", name).splitlines()
            if line.startswith("+") and not line.startswith("+++")
        ]
        assert all(NEXT in line for line in added), (name, added)

    recorded = json.loads((repository.folder / "releases" / NEXT / MIGRATIONS).read_text())
    assert recorded == digests(repository.folder)
    assert code.commit_of(NEXT, repository.folder) == f"v{NEXT}"

    # From then on its migrations are frozen.
    assert repository.dev("release", NEXT).returncode == 1
    edited(repository)
    (repository.folder / "messaging/migrations/0001_initial.py").rename(
        repository.folder / "messaging/migrations/0001_begin.py"
    )
    (repository.folder / "realtime/migrations/0001_initial.py").unlink()
    last = max(name for name in recorded if name.startswith("messaging/"))
    refused = repository.dev("check")
    assert refused.returncode == 1
    assert "FAILED  released migrations" in refused.stdout
    for sentence in (
        "accounts/migrations/0001_initial.py is edited: ",
        "messaging/migrations/0001_initial.py is missing: ",
        f"messaging/migrations/0001_begin.py comes before {last}, which is released",
        "realtime/migrations/0001_initial.py is missing: ",
    ):
        assert sentence in refused.stdout
    assert f"{NEXT} has released it" in refused.stdout
