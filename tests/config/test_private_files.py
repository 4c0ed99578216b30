"""What the service writes can be read by its own user only; pictures by the proxy's user, where the proxy sends them."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx
import pytest

from server.management.commands import doctor
from tests.images import corpus
from tests.images.test_service_under_uploads import GRANIAN, granian, token_of
from tests.server import ROOT, RunningServer

pytestmark = pytest.mark.once

NOBODY = 65_534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to look with the eyes of another user")


@pytest.fixture
def folder():
    """A folder that everyone may enter: pytest's own are closed."""
    made = Path(tempfile.mkdtemp(prefix="parley-private-", dir="/tmp"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def seen_by_others(folder: Path) -> list[str]:
    """The files below a folder that another user can read, and the folders that one can list."""
    program = (
        "import os, sys\n"
        "for path in sys.stdin.read().split('\\0'):\n"
        "    try: os.listdir(path) if os.path.isdir(path) else open(path, 'rb').close()\n"
        "    except OSError: continue\n"
        "    print(os.path.relpath(path, sys.argv[1]))\n"
    )
    paths = "\0".join(str(path) for path in [folder, *folder.rglob("*")])
    command = ["/usr/bin/env", "python3", "-c", program, str(folder)]
    done = subprocess.run(
        command,
        input=paths,
        capture_output=True,
        text=True,
        check=True,
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        cwd="/",
    )
    return sorted(done.stdout.split())


def used(folder: Path, **environment: str) -> RunningServer:
    """A server that has made its folder, mailed, pushed and stored a picture; it has stopped again."""
    server = RunningServer(folder, **environment)
    server.empty = True
    old = os.umask(0o022)
    try:
        server.start(demo=True)
        headers = {"Authorization": f"Bearer {token_of(server, 'Alice')}"}
        files = {"file": ("a.jpg", corpus.jpeg())}
        stored = httpx.put(f"{server.base}/api/v1/profile/avatar", files=files, headers=headers, timeout=60)
        assert stored.status_code == 200, stored.text
        mail = {"email": "new@example.com", "password": "a long word here", "first_name": "A", "last_name": "B"}
        assert (
            httpx.post(f"{server.base}/api/v1/auth/signup", json=mail | {"language": "en"}, timeout=60).status_code
            == 201
        )
    finally:
        os.umask(old)
    return server


@needs_root
@pytest.mark.timeout(120)
@pytest.mark.parametrize("sendfile", ["", "/protected/"])
@pytest.mark.slow
def test_another_user_reads_nothing(folder, sendfile):
    var = folder / "var"
    server = used(folder, MEDIA_SENDFILE=sendfile, MEDIA_ROOT=str(folder / "media"))
    try:
        if GRANIAN.exists():
            with granian(server) as base:
                headers = {"Authorization": f"Bearer {token_of(server, 'Bob')}"}
                files = {"file": ("a.jpg", corpus.jpeg())}
                assert httpx.put(f"{base}/api/v1/profile/avatar", files=files, headers=headers, timeout=60).is_success
        names = {path.name for path in var.iterdir()}
        assert {"parley.sqlite3", "secret_key.txt", "token_keys.txt", "demo.json", "mail"} <= names
        assert list((var / "mail").iterdir())
        assert seen_by_others(var) == []
        # Even where the folder itself lets others in.
        var.chmod(0o755)
        assert seen_by_others(var) == ["."]
        assert doctor.readable_by_others(var, apart=()) == []
        media = seen_by_others(folder / "media")
        pictures = [path for path in (folder / "media").rglob("*") if path.is_file()]
        assert len(pictures) >= 2
        wanted = [str(path.relative_to(folder / "media")) for path in pictures]
        assert [name for name in media if (folder / "media" / name).is_file()] == (sorted(wanted) if sendfile else [])
    finally:
        server.kill()


@pytest.mark.slow
def test_the_folder_is_made_for_its_user_alone(tmp_path):
    var = tmp_path / "a" / "var"
    environment = {"PATH": os.environ["PATH"], "VAR_DIR": str(var), "DEBUG": "1"}
    for command in (["check"], ["migrate"]):
        done = subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            umask=0o022,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
    assert var.stat().st_mode & 0o777 == 0o700
    assert (var / "parley.sqlite3").stat().st_mode & 0o777 == 0o600


def test_the_doctor_names_what_others_can_read(db, settings, tmp_path):
    settings.VAR_DIR, settings.MEDIA_ROOT, settings.MEDIA_SENDFILE = tmp_path, tmp_path / "media", ""
    tmp_path.chmod(0o711)
    (tmp_path / "parley.sqlite3").touch(0o600)
    (tmp_path / "mail").mkdir(0o700)
    (tmp_path / "media").mkdir(0o755)

    def line():
        return next(each for each in doctor._settings() if "other users" in each.what)

    assert line().status == doctor.ERROR and "(media)" in line().what
    assert line().fix == f"chmod -R go= '{tmp_path / 'media'}'"
    settings.MEDIA_SENDFILE = "/protected/"
    assert line().status == "ok"
    (tmp_path / "parley.sqlite3").chmod(0o644)
    assert "(parley.sqlite3)" in line().what and line().status == doctor.ERROR
    tmp_path.chmod(0o700)
    assert line().status == "ok"
