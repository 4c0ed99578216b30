"""The generators of client code: programs of deploy/sdk, installed into var/sdk-tools when they are missing."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import venv
from pathlib import Path

from django.conf import settings

CONFIGURATION = settings.BASE_DIR / "deploy" / "sdk"
FILES = ("package.json", "package-lock.json")
NPM_OPTIONS = ("--no-audit", "--no-fund", "--ignore-scripts")


class GeneratorError(Exception):
    """A generator is missing and cannot be installed, or it failed. The text says why."""


def tools() -> Path:
    """The folder of the generators."""
    return Path(settings.VAR_DIR).resolve() / "sdk-tools"


def node_tools() -> Path:
    """The folder of the programs of deploy/sdk/package.json, installed when they are not those of its lock file.

    GeneratorError without Node and npm, and when npm fails.
    """
    folder = tools() / "node"
    if _lock_file(folder) == _lock_file(CONFIGURATION):
        return folder
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        raise GeneratorError("Node and npm are needed: apt-get install nodejs npm")
    tools().mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(dir=tools()))
    try:
        for name in FILES:
            shutil.copy(CONFIGURATION / name, place)
        run([npm, "ci", *NPM_OPTIONS, "--prefix", str(place)])
        # As a whole: another process sees all of it or nothing.
        shutil.rmtree(folder, ignore_errors=True)
        place.rename(folder)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return folder


def python_tools() -> Path:
    """The folder of the programs of deploy/sdk/requirements.txt, installed when they are not those of that file."""
    folder = tools() / "python"
    wanted = (CONFIGURATION / "requirements.txt").read_bytes()
    marker = folder / "installed.txt"
    if not marker.exists() or marker.read_bytes() != wanted:
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run([*pip, "-r", str(CONFIGURATION / "requirements.txt")])
        marker.write_bytes(wanted)
    return folder / "bin"


def _lock_file(folder: Path) -> bytes:
    path = folder / "package-lock.json"
    return path.read_bytes() if path.exists() else b""


def run(command: list[str], *, cwd: Path | None = None, text: str | None = None) -> str:
    """The standard output of a program that reads `text`. GeneratorError with its words when it fails."""
    done = subprocess.run(command, cwd=cwd, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise GeneratorError(f"{Path(command[0]).name} failed:\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout
