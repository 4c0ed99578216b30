"""The code of a release is found in every clone whose history holds it: with its tags, without them, shallow or whole."""

import pytest

from devtools.records import MIGRATIONS
from tests.upgrades import code

pytestmark = pytest.mark.once
AUTHOR = ["-c", "user.name=Parley", "-c", "user.email=parley@example.com"]


@pytest.fixture
def repository(tmp_path):
    """A repository with a release of each of two versions, and a commit after each; neither has a tag."""
    folder = tmp_path / "repository"
    folder.mkdir()
    code.git("init", "--quiet", cwd=folder)
    for version in ("1.0.0", "1.1.0"):
        record = folder / "releases" / version
        record.mkdir(parents=True)
        commit(folder, record / MIGRATIONS, f"Release {version}")
        commit(folder, record / "notes.json", "Say more about it")
    return folder


def commit(folder, file, subject):
    file.write_text(subject)
    code.git("add", "--all", cwd=folder)
    code.git(*AUTHOR, "commit", "--quiet", "--message", subject, cwd=folder)


def subject(folder, name):
    return code.git("log", "--max-count=1", "--format=%s", name, cwd=folder).strip()


def test_without_a_tag_it_is_the_commit_that_added_the_record(repository):
    for version in ("1.0.0", "1.1.0"):
        assert subject(repository, code.commit_of(version, repository)) == f"Release {version}"
    assert code.commit_of("1.2.0", repository) == ""


def test_a_tag_is_taken_first(repository):
    code.git("tag", "v1.0.0", "HEAD", cwd=repository)
    assert code.commit_of("1.0.0", repository) == "v1.0.0"


@pytest.mark.parametrize(("depth", "found"), [(1, []), (2, []), (3, ["1.1.0"]), (4, ["1.1.0"])])
def test_a_shallow_clone_has_what_its_history_holds(repository, tmp_path, depth, found):
    """Its oldest commit has every file, and may be any commit."""
    clone = tmp_path / "clone"
    code.git("clone", "--quiet", f"--depth={depth}", repository.as_uri(), str(clone), cwd=tmp_path)
    assert [version for version in ("1.0.0", "1.1.0") if code.commit_of(version, clone)] == found
