"""docs/upgrading.md, command by command as it stands, on an installation that goes from this release to a made-up next one."""

import os
import re
import secrets
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from core.version import VERSION
from tests.databases import TemporaryDatabase
from tests.server import ON_POSTGRES, ROOT
from tests.upgrades import code

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.skipif(not ON_POSTGRES, reason="the page is about an installation on PostgreSQL"),
]
NEXT = "99.0.0"
DEPLOYMENT = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```bash\n(.*?)^```", (ROOT / "docs" / "upgrading.md").read_text(encoding="utf-8"), re.M | re.S)
# systemd and the user `parley` are not on every machine; everything else runs.
SHIMS = {
    "systemctl": '#!/bin/sh\necho "$*" >> "$SYSTEMCTL_LOG"\n',
    "runuser": '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n',
    "sleep": "#!/bin/sh\n",
}


@pytest.fixture
def machine(tmp_path):
    """The folder and the database of an installation of this release at its tag, with a copy of the repository that has the next one."""
    copy, home = tmp_path / "repository", tmp_path / "parley"
    code.next_release(copy)
    later = next(copy.glob("accounts/migrations/*_later.py"))
    text = later.read_text()
    later.unlink()
    git = ["-c", "user.name=Parley", "-c", "user.email=parley@example.com"]
    code.git("init", "--quiet", cwd=copy)
    for version, change in ((VERSION, None), (NEXT, text)):
        if change:
            later.write_text(change)
            (copy / "core" / "version.py").write_text(f'VERSION = "{NEXT}"\n')
        code.git("add", "--all", cwd=copy)
        code.git(*git, "commit", "--quiet", "--message", f"Release {version}", cwd=copy)
        if not change:
            code.git("clone", "--quiet", str(copy), str(home), cwd=tmp_path)
            code.git("tag", f"v{version}", cwd=home)
        code.git("tag", f"v{version}", cwd=copy)
    (home / ".venv").symlink_to(Path(sys.prefix), target_is_directory=True)
    shims = tmp_path / "shims"
    shims.mkdir()
    for name, script in SHIMS.items():
        (shims / name).write_text(script)
        (shims / name).chmod(0o755)
    with TemporaryDatabase(empty=True) as url:
        (tmp_path / "parley.env").write_text(environment(tmp_path, url))
        yield tmp_path, url


def environment(folder: Path, url: str) -> str:
    """The whole environment of *Deployment*, with a database, Redis and a folder that are here."""
    (text,) = re.findall(r"^```ini\n(.*?)^```", DEPLOYMENT, re.M | re.S)
    text = re.sub("<64 random characters>", lambda _: secrets.token_hex(32), text)
    own = {"DATABASE_URL": url, "REDIS_URL": os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/0")}
    lines = [line for line in text.splitlines() if line.partition("=")[0] not in own]
    return "\n".join([*lines, *(f"{name}={value}" for name, value in own.items()), f"VAR_DIR={folder}/var", ""])


def run(folder: Path, *blocks: str) -> str:
    """Run blocks in one shell, as a person who pastes them; its output. The first error ends it."""
    (function,) = re.findall(r"^parley\(\) \(\n.*?^\)\n", DEPLOYMENT, re.M | re.S)
    script = "\n".join(["set -e", f"VERSION={NEXT}", function, *blocks])
    # The places of an installation are in this folder.
    for place, here in (
        ("/srv/parley", f"{folder}/parley"),
        ("/etc/parley/parley.env", f"{folder}/parley.env"),
        ("/var/backups/parley", f"{folder}/backups"),
    ):
        script = script.replace(place, here)
    # Its errors are looked at below: the server of the tests may run without autovacuum.
    script = script.replace("parley doctor", "parley doctor || true")
    done = subprocess.run(
        ["bash", "-c", script],
        env={
            "PATH": f"{folder}/shims:{os.environ['PATH']}",
            "HOME": str(folder),
            "SYSTEMCTL_LOG": str(folder / "systemctl.log"),
            # Everything is installed: nothing is loaded from the network.
            "PIP_NO_INDEX": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        },
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def has_the_new_column(url: str) -> bool:
    with psycopg.connect(url) as opened:
        query = (
            "SELECT 1 FROM information_schema.columns WHERE table_name = 'accounts_user' AND column_name = 'pronouns'"
        )
        return bool(opened.execute(query).fetchall())


def test_the_page_upgrades_an_installation_and_goes_back(machine):
    folder, url = machine
    (folder / "var").mkdir(mode=0o711)
    (folder / "backups").mkdir(mode=0o700)
    run(folder, "parley migrate --verbosity 0")
    assert not has_the_new_column(url)
    told = run(folder, *BLOCKS)
    assert f"\n{NEXT}\n" in told and told.endswith(f"\n{VERSION}\n")
    assert has_the_new_column(url)
    assert set(re.findall(r"^ERROR +(.*)$", told, re.M)) <= {"autovacuum is on"}
    asked = (folder / "systemctl.log").read_text().splitlines()
    units = {path.name for path in (ROOT / "deploy" / "systemd").glob("*@.service")}
    assert {re.sub(r"@\d+", "@.service", unit) for line in asked for unit in line.split()[1:]} == units
    assert len(asked) == 2 * 5
