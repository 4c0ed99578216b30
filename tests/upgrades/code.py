"""The code of a release, and that of a made-up next one, each in a folder of its own."""

import shutil
import subprocess
from pathlib import Path

from devtools.records import MIGRATIONS
from tests.server import ROOT

# What a release may do to the tables: all of it works with the code of the release before.
MIGRATION = """
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "{last}")]
    operations = [
        migrations.AddField("user", "pronouns", models.CharField(max_length=40, null=True)),
        migrations.CreateModel("Badge", [("id", models.BigAutoField(primary_key=True)), ("name", models.TextField())]),
    ]
"""


def git(*arguments: str, cwd: Path = ROOT) -> str:
    return subprocess.run(["git", *arguments], cwd=cwd, capture_output=True, text=True, check=True).stdout


def checkout(folder: Path) -> Path:
    """A copy of this checkout as it is."""
    for name in git("ls-files", "--cached", "--others", "--exclude-standard").splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def next_release(folder: Path) -> Path:
    """This checkout as it is, with a migration more."""
    checkout(folder)
    write_migration(folder / "accounts", MIGRATION)
    return folder


def write_migration(app: Path, text: str, name: str = "later") -> None:
    """Add a migration to an app of a checkout; `{last}` in its text becomes the name of the one before."""
    last = max(path.stem for path in app.glob("migrations/[0-9]*.py"))
    (app / "migrations" / f"{int(last[:4]) + 1:04}_{name}.py").write_text(text.replace("{last}", last))


def of_release(version: str, folder: Path) -> Path:
    """The code of a release."""
    folder.mkdir(parents=True, exist_ok=True)
    archive = subprocess.run(["git", "archive", commit_of(version)], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "--extract", "--directory", str(folder)], input=archive, check=True)
    return folder


def commit_of(version: str, repository: Path = ROOT) -> str:
    """The tag of a release or, in a clone without its tags, the commit that added its record (`dev.py release` makes one
    commit). Empty where the history does not reach back to it."""
    if tag := git("tag", "--list", f"v{version}", cwd=repository).strip():
        return tag
    record = f"releases/{version}/{MIGRATIONS}"
    found = git("log", "--diff-filter=A", "--format=%H", "--max-count=1", "--", record, cwd=repository).strip()
    # The oldest commit of a shallow clone seems to add every file.
    borders = shallow_borders(repository)
    return "" if found in borders else found


def shallow_borders(repository: Path) -> list[str]:
    """The oldest commits of a shallow clone; none of a whole one."""
    file = repository / git("rev-parse", "--git-path", "shallow", cwd=repository).strip()
    return file.read_text().split() if file.exists() else []
